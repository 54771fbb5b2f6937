"""Ask the checker's process to run a test cell while the student's kernel answers it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import uuid
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from autograder.course import REPOSITORY
from autograder.grading.running import Outcome, Status

_HERE = Path(__file__).parent
_LINE = 64 * 1024
Serve = Callable[[str], Coroutine[Any, Any, tuple[Outcome, bool]]]
"""Runs code in the student's kernel; says what became of it, and whether the kernel can be used further."""


class Checker:
    """The checker's process of one submission, started when it is first needed and again after a deadline."""

    def __init__(self, folder: Path, sockets: Path, environment: dict[str, str]) -> None:
        self._folder, self._sockets, self._environment = folder, sockets, environment
        self._process: asyncio.subprocess.Process | None = None

    async def outcome(self, source: str, serve: Serve, seconds: float) -> tuple[Outcome, bool]:
        """Run a test cell; return its outcome, and whether the student's kernel can be used further."""
        path = self._sockets / uuid.uuid4().hex[:12]
        process = await self.start()
        await self._send(process, {"source": source, "socket": str(path)})
        await self._receive(process)  # it listens
        serving = asyncio.create_task(serve(serving_code(str(path))))
        hearing = asyncio.create_task(self._receive(process))
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
            return Outcome(Status.NOT_RUN, evalue="the checker's process ended"), (await serving)[1]
        served, usable = await serving
        return _outcome(heard, served), usable

    async def stop(self) -> None:
        """End the checker's process."""
        if self._process is not None:
            process, self._process = self._process, None
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def start(self) -> asyncio.subprocess.Process:
        """Start the process if there is none, and return it."""
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "autograder.sealed.checker",
                cwd=self._folder, env={**self._environment, "PYTHONPATH": _python_path(self._environment)},
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
                limit=_LINE,
            )  # fmt: skip
        return self._process

    async def _send(self, process: asyncio.subprocess.Process, message: dict[str, Any]) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps(message).encode() + b"\n")
        await process.stdin.drain()

    async def _receive(self, process: asyncio.subprocess.Process) -> dict[str, Any]:
        assert process.stdout is not None
        line = await process.stdout.readline()
        if not line:
            raise EOFError
        message: dict[str, Any] = json.loads(line)
        return message


def _python_path(environment: dict[str, str]) -> str:
    return os.pathsep.join([str(REPOSITORY), *filter(None, [environment.get("PYTHONPATH")])])


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
