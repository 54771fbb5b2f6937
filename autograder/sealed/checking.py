"""Ask the checker's process to run a test cell while the student's kernel answers it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import uuid
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from autograder.grading.running import Outcome, Status
from autograder.grading.scratch import python_path
from autograder.sealed import memory
from autograder.sealed.forking import NoFork, Process, fork

_HERE = Path(__file__).parent
_LINE = 64 * 1024
_PROGRAM = "autograder.sealed.checker"
Serve = Callable[[str], Coroutine[Any, Any, tuple[Outcome, bool]]]
"""Runs code in the student's kernel; says what became of it, and whether the kernel can be used further."""


class Checker:
    """The checker's process of one submission, started when it is first needed and again after a deadline."""

    def __init__(self, folder: Path, sockets: Path, environment: dict[str, str], server: str = "") -> None:
        self._folder, self._sockets, self._environment, self._server = folder, sockets, environment, server
        self._process: Process | None = None
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    async def outcome(self, source: str, serve: Serve, seconds: float) -> tuple[Outcome, bool]:
        """Run a test cell; return its outcome, and whether the student's kernel can be used further."""
        path = self._sockets / uuid.uuid4().hex[:12]
        await self.start()
        await self._send({"source": source, "socket": str(path)})
        await self._receive()  # it listens
        serving = asyncio.create_task(serve(serving_code(str(path))))
        hearing = asyncio.create_task(self._receive())
        done, _ = await asyncio.wait({serving, hearing}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if serving in done and hearing not in done:
            # The kernel has ended, or its code left off: the checker sees that too, unless nobody ever called it.
            await asyncio.wait({hearing}, timeout=2.0)
        if not hearing.done():
            await self.stop()
            hearing.cancel()
            with contextlib.suppress(asyncio.CancelledError, EOFError):
                await hearing
            served, usable = await serving
            if served.status is Status.OK:
                return Outcome(
                    Status.ERROR, "NoAnswer", "your code keeps the grader from reading your answers"
                ), usable
            return served, usable
        try:
            heard = hearing.result()
        except EOFError:
            await self.stop()
            return Outcome(Status.NOT_RUN, evalue="the checker's process ended"), (await serving)[1]
        served, usable = await serving
        return _outcome(heard, served), usable

    async def stop(self) -> None:
        """End the checker's process."""
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            await asyncio.to_thread(process.wait)
            self._writer.close()

    async def start(self) -> None:
        """Start the process if there is none."""
        if self._process is None:
            ours, theirs = socket.socketpair()
            with theirs:
                self._process = self._born(theirs)
            self._reader, self._writer = await asyncio.open_unix_connection(sock=ours, limit=_LINE)

    def _born(self, stream: socket.socket) -> Process:
        if self._server:
            with contextlib.suppress(NoFork), open(os.devnull, "wb") as nowhere:
                streams = [stream.fileno(), stream.fileno(), nowhere.fileno()]
                environment = {**self._environment, memory.FOLDER: str(Path(self._server).parent / "memory")}
                return fork(self._server, _PROGRAM, streams, environment, folder=str(self._folder))
        return subprocess.Popen(
            [sys.executable, "-m", _PROGRAM],
            cwd=self._folder, env={**self._environment, "PYTHONPATH": python_path(self._environment)},
            stdin=stream.fileno(), stdout=stream.fileno(), stderr=subprocess.DEVNULL,
        )  # fmt: skip

    async def _send(self, message: dict[str, Any]) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")
        await self._writer.drain()

    async def _receive(self) -> dict[str, Any]:
        line = await self._reader.readline()
        if not line:
            raise EOFError
        message: dict[str, Any] = json.loads(line)
        return message


def serving_code(path: str) -> str:
    """Return the code that makes the student's kernel answer at a socket, leaving no name behind."""
    texts = ((_HERE / name).read_text(encoding="utf-8") for name in ("codec.py", "bridge.py"))
    # The bridge's import is for readers and tools: there its codec stands right above it.
    text = "\n".join(texts).replace("from autograder.sealed.codec import", "# from codec:")
    return f"(lambda space: (exec({text!r}, space), space['serve']({path!r}, globals())))({{}}) and None"


def _outcome(heard: dict[str, Any], served: Outcome) -> Outcome:
    status = heard.get("status")
    if status == "ok":
        return Outcome(Status.OK)
    if status == "error":
        return Outcome(Status.ERROR, str(heard["ename"]), str(heard["evalue"]), heard["line"])
    if status == "broken":
        return Outcome(Status.NOT_RUN, evalue=str(heard["evalue"]))
    if status in ("gone", "deaf"):
        if served.status in (Status.TIMEOUT, Status.ERROR):
            return served
        return Outcome(Status.ERROR, "NoAnswer", "your code keeps the grader from reading your answers")
    return Outcome(Status.NOT_RUN, evalue=f"the checker replied {status!r}")
