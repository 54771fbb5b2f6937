"""Run a notebook's cells in a kernel, whatever they do: loop, flood, end Python, refuse to be interrupted."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from queue import Empty
from typing import Any

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient.client import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from autograder.grading.output import Budget, merge_streams
from autograder.grading.running import KERNEL_DIED, NOTEBOOK_TIMEOUT, Outcome, Status
from autograder.grading.scratch import clear
from autograder.limits import Limits
from autograder.sealed import provisioner
from autograder.sealed.checking import Checker

_TIMED_OUT = "AutograderTimeout"
_PATIENCE = 3.0
"""Seconds that a kernel has to answer after it was interrupted."""

_WHOLE_NOTEBOOK = 16
"""The outputs of a notebook may have this many times the bytes of a cell."""

_ANSI = re.compile(r"\x1b\[[0-9;]*m")


async def execute(
    notebook: NotebookNode,
    limits: Limits,
    scratch: Path,
    environment: dict[str, str],
    is_sealed: bool = False,
    server: str = "",
) -> dict[str, Outcome]:
    """Run the code cells in order, put their outputs into the notebook, and return their outcomes by cell id.

    A cell that ends the kernel, or that can't be interrupted, costs only itself: a new kernel runs the student's
    earlier cells again (no test cells, no cell that ended a kernel), and the next cell goes on there.
    """
    session = _Session(notebook, limits, scratch, environment, is_sealed, server)
    try:
        await session.start()
        return {notebook.cells[index]["id"]: await session.outcome(index) for index in _code(notebook)}
    finally:
        await session.close()


def _code(notebook: NotebookNode) -> Iterator[int]:
    return (i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code" and cell.source.strip())


def _is_tests(cell: NotebookNode) -> bool:
    mark = cell.metadata.get("nbgrader") or {}
    return bool(mark.get("grade")) and not mark.get("solution")


class _Session:
    """A kernel that is replaced when it dies."""

    def __init__(
        self,
        notebook: NotebookNode,
        limits: Limits,
        scratch: Path,
        environment: dict[str, str],
        is_sealed: bool,
        server: str,
    ) -> None:
        self._notebook, self._limits, self._scratch, self._environment = notebook, limits, scratch, environment
        self._metadata = _sealed(scratch, limits, server) if is_sealed else {}
        self._client: _Client | None = None
        self._checker = Checker(scratch / "check", scratch / "ipc", environment, server)
        self._deadline = float("inf")
        self._lethal: set[int] = set()
        self._budget = Budget(limits.output_bytes, _WHOLE_NOTEBOOK * limits.output_bytes)

    async def start(self) -> None:
        checker = asyncio.create_task(self._checker.start())  # both take their time
        self._client = await _Client.started(
            self._notebook, self._scratch, self._environment, self._budget, self._metadata
        )
        await checker
        self._deadline = min(self._deadline, time.monotonic() + self._limits.notebook_seconds)

    async def close(self) -> None:
        await self._checker.stop()
        await self.stop()

    async def stop(self) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            await client.end()
            clear(self._scratch)

    async def outcome(self, index: int) -> Outcome:
        """Run a cell, in a new kernel if need be."""
        if self._client is not None and not await self._client.is_alive():
            await self.stop()
        while self._client is None:
            if self._seconds() <= 0:
                return Outcome(Status.TIMEOUT, NOTEBOOK_TIMEOUT)
            await self.start()
            await self._replay(index)
        return await self._run(self._notebook, index)

    async def _replay(self, end: int) -> None:
        notebook = copy.deepcopy(self._notebook)
        for index in _code(notebook):
            if index < end and index not in self._lethal and not _is_tests(notebook.cells[index]):
                await self._run(notebook, index)
                if self._client is None:
                    return

    async def _run(self, notebook: NotebookNode, index: int) -> Outcome:
        seconds = self._seconds()
        if seconds <= 0:
            return Outcome(Status.TIMEOUT, NOTEBOOK_TIMEOUT)
        assert self._client is not None
        allowed = min(seconds, self._limits.cell_seconds)
        if _is_tests(notebook.cells[index]):
            outcome, usable = await self._checked(notebook.cells[index].source, allowed)
        else:
            outcome, usable = await self._client.run(notebook, index, allowed)
        if not usable:
            self._lethal.add(index)
            await self.stop()
        if outcome.status is Status.TIMEOUT and seconds < self._limits.cell_seconds:
            return Outcome(Status.TIMEOUT, NOTEBOOK_TIMEOUT)
        return outcome

    async def _checked(self, source: str, seconds: float) -> tuple[Outcome, bool]:
        """Run a test cell in the checker's process, while the kernel answers for the student's names."""
        client = self._client
        assert client is not None

        async def serve(code: str) -> tuple[Outcome, bool]:
            return await client.run(new_notebook(cells=[new_code_cell(code)]), 0, seconds)

        return await self._checker.outcome(source, serve, seconds + _PATIENCE)

    def _seconds(self) -> float:
        return self._deadline - time.monotonic()


class _Specs(KernelSpecManager):  # type: ignore[misc]
    """Knows one kernel: this very Python, and no kernelspec of the user or the system."""

    metadata: dict[str, Any]

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=argv, display_name="Python 3", language="python", metadata=self.metadata)


def _sealed(scratch: Path, limits: Limits, server: str) -> dict[str, Any]:
    """Return the metadata of a kernelspec that puts kernels behind the walls."""
    config = {"scratch": str(scratch), "limits": limits.to_json(), "server": server}
    return {"kernel_provisioner": {"provisioner_name": provisioner.NAME, "config": config}}


class _Client(NotebookClient):  # type: ignore[misc]
    """nbclient with a budget for outputs, which remembers what the kernel replied."""

    @classmethod
    async def started(
        cls,
        notebook: NotebookNode,
        scratch: Path,
        environment: dict[str, str],
        budget: Budget,
        metadata: dict[str, Any],
    ) -> _Client:
        specs = _Specs()
        specs.metadata = metadata
        manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=specs)
        if not metadata and len(str(scratch)) < 80:  # a socket's path may have about 100 bytes
            manager.transport, manager.ip = "ipc", str(scratch / "ipc" / "kernel")
        client = cls(
            notebook,
            km=manager,
            allow_errors=True,
            error_on_timeout={"ename": _TIMED_OUT, "evalue": "", "traceback": []},
            interrupt_on_timeout=True,
            raise_on_iopub_timeout=False,
            startup_timeout=120,
        )
        client.budget, client.reply, client.seconds = budget, None, 0.0
        client.timeout_func = lambda cell: client.seconds
        client.on_cell_executed = client._remember
        await client.async_start_new_kernel(cwd=str(scratch / "work"), env=environment)
        await client._connect()
        return client

    async def _connect(self) -> None:
        """Wait until the kernel answers on both channels, as nbclient does, but not for more messages to come."""
        self.kc = self.km.client()
        self.kc.start_channels()
        self.kc.allow_stdin = False
        deadline = time.monotonic() + self.startup_timeout
        while time.monotonic() < deadline:
            self.kc.kernel_info()
            with contextlib.suppress(Empty):
                await self.kc.get_shell_msg(timeout=1)
                await self.kc.get_iopub_msg(timeout=0.2)
                return
            if not await self.is_alive():
                raise RuntimeError("the kernel ended before it answered")
        raise RuntimeError(f"the kernel didn't answer within {self.startup_timeout} s")

    async def end(self) -> None:
        """Kill the kernel and close the connection."""
        await self.km.shutdown_kernel(now=True)
        if self.kc is not None:
            self.kc.stop_channels()

    async def is_alive(self) -> bool:
        """Say whether the kernel's process is there."""
        return bool(await self.km.is_alive())

    async def run(self, notebook: NotebookNode, index: int, seconds: float) -> tuple[Outcome, bool]:
        """Run a cell; return its outcome, and whether the kernel can be used further."""
        outcome, usable = await self._outcome(notebook, index, seconds)
        return replace(outcome, is_cut=self.budget.was_exceeded), usable

    async def _outcome(self, notebook: NotebookNode, index: int, seconds: float) -> tuple[Outcome, bool]:
        self.nb, self.reply, self.seconds = notebook, None, seconds
        self.budget.start_cell()
        cell = notebook.cells[index]
        try:
            await self.async_execute_cell(cell, index)
        except DeadKernelError:
            reason = getattr(self.km.provisioner, "stopped_for", "")
            return Outcome(Status.ERROR, KERNEL_DIED, reason), False
        except Exception as error:  # a message that nbclient can't take in
            return Outcome(Status.NOT_RUN, evalue=f"{type(error).__name__}: {error}"), False
        finally:
            cell.outputs = merge_streams(cell.get("outputs", []))
        content: dict[str, Any] = self.reply or {}
        ename, evalue = str(content.get("ename", "")), str(content.get("evalue", ""))
        if content.get("status") == "ok":
            return Outcome(Status.OK), True
        if content.get("status") != "error":
            return Outcome(Status.NOT_RUN, evalue=f"the kernel replied {content.get('status')!r}"), True
        if ename == _TIMED_OUT:
            return Outcome(Status.TIMEOUT), await self._answers()
        return Outcome(Status.ERROR, ename, evalue, _line(content)), True

    async def _answers(self) -> bool:
        """Say whether the kernel still answers after it was interrupted."""
        self.seconds = _PATIENCE
        try:
            message = self.kc.kernel_info()
            return bool(await asyncio.wait_for(self.async_wait_for_reply(message), _PATIENCE))
        except (TimeoutError, DeadKernelError):
            return False

    def _remember(self, execute_reply: dict[str, Any], **_: Any) -> None:
        self.reply = execute_reply["content"]

    def process_message(self, msg: dict[str, Any], cell: NotebookNode, cell_index: int) -> NotebookNode | None:
        """Take in a message of the kernel, unless it goes beyond the budget."""
        if msg["msg_type"].startswith("comm"):
            return None
        fitting = self.budget.fit(msg)
        return None if fitting is None else super().process_message(fitting, cell, cell_index)


def _line(content: dict[str, Any]) -> int | None:
    """Return the line of the cell in which the error arose or through which it passed, from IPython's traceback."""
    traceback = _ANSI.sub("", "\n".join(map(str, content.get("traceback") or [])))
    found = re.search(rf"In\s?\[{content.get('execution_count')}\], line (\d+)", traceback)
    return int(found[1]) if found else None
