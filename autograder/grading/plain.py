"""The plain runner: a process of its own per submission, with wall-clock limits, in a scratch folder.

It keeps honest mistakes from doing harm (loops, floods, crashes). It is no sandbox: the code runs as the grader's own
user.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import nbformat
from nbformat import NotebookNode

from autograder.grading import scratch as scratch_folder
from autograder.grading.processes import MARK, end_job
from autograder.grading.running import Interrupted, Outcome, Run, RunnerError, Status
from autograder.limits import Limits
from autograder.sealed.forking import NoFork, Process, fork
from autograder.sealed.groups import sweep

WORKER = "autograder.grading.worker"

_GRACE = 150.0
"""Seconds beyond the notebook's limit for starting and stopping; then the worker itself counts as stuck."""


@dataclass(frozen=True)
class PlainRunner:
    """Runs notebooks beside copies of the files that ship from `folder`; setting `stop` calls all its runs off.

    With the student's `code`, exercises have that student's variants.
    """

    folder: Path | None = None
    stop: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)
    code: str = ""

    @property
    def name(self) -> str:
        """How results name this runner."""
        return "plain"

    def __call__(self, notebook: NotebookNode, limits: Limits) -> Run:
        """Run the notebook in a new process; nothing of it is left afterwards, whatever happens."""
        mark, server = uuid.uuid4().hex, self._server()  # which may take some seconds to get ready
        with scratch_folder.new_folder() as name:
            scratch = Path(name).resolve()
            scratch_folder.fill(scratch, self.folder, self.code)
            environment = {**scratch_folder.environment(scratch), MARK: mark}
            request = {
                "notebook": notebook,
                "limits": limits.to_json(),
                "scratch": str(scratch),
                "environment": environment,
                "sealed": self._is_sealed(),
                "server": server,
                "grader": os.getpid(),
            }
            try:
                answer = self._ask(request, scratch, environment, time.monotonic() + limits.notebook_seconds + _GRACE)
            finally:
                end_job(mark)
                sweep()
        return _read(answer)

    def _is_sealed(self) -> bool:
        """Say whether the kernel is isolated (see `autograder.sealed.isolation`); here it isn't."""
        return False

    def _server(self) -> str:
        """Return the path to ask a fork server at (see `autograder.sealed.forking`); here there is none."""
        return ""

    def _ask(self, request: dict[str, Any], scratch: Path, environment: Mapping[str, str], deadline: float) -> bytes:
        # Files, not pipes: nothing has to be taken in while the process runs.
        with TemporaryFile() as given, TemporaryFile() as answered, TemporaryFile() as complained:
            given.write(json.dumps(request).encode())
            given.seek(0)
            process = self._born((given, answered, complained), scratch, environment)
            try:
                self._wait(process, deadline)
            finally:
                process.kill()
                process.wait()
            answer, complaint = (_whole(file) for file in (answered, complained))
        if not answer:
            lines = complaint.decode("utf-8", "replace").strip().splitlines()
            reason = lines[-1] if lines else "no reason given"
            raise RunnerError(f"the process that runs the notebook ended early ({reason})")
        return answer

    def _born(self, streams: Sequence[IO[bytes]], scratch: Path, environment: Mapping[str, str]) -> Process:
        """Start a worker with these three streams."""
        if self._server():
            with contextlib.suppress(NoFork):
                numbers = [each.fileno() for each in streams]
                return fork(self._server(), WORKER, numbers, environment, folder=str(scratch))
        stdin, stdout, stderr = streams
        return subprocess.Popen(
            [sys.executable, "-m", WORKER],
            cwd=scratch,
            env={**environment, "PYTHONPATH": scratch_folder.python_path(environment)},
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )

    def _wait(self, process: Process, deadline: float) -> None:
        while True:
            try:
                process.wait(0.1)
                return
            except subprocess.TimeoutExpired:
                if self.stop.is_set():
                    raise Interrupted from None
                if time.monotonic() > deadline:
                    raise RunnerError("the process that runs the notebook got stuck") from None


def _whole(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


plain = PlainRunner()
"""The plain runner for a section without files of its own."""


def _read(answer: bytes) -> Run:
    try:
        # Lone surrogates, which a student can print, could be written to no file.
        data = json.loads(json.dumps(json.loads(answer), ensure_ascii=False).encode("utf-8", "replace"))
        if "error" in data:
            raise RunnerError(str(data["error"]))
        outcomes = {
            name: Outcome(Status(each["status"]), each["ename"], each["evalue"], each["line"], each["is_cut"])
            for name, each in data["outcomes"].items()
        }
        return Run(nbformat.from_dict(data["notebook"]), outcomes)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RunnerError(f"the answer of the process that runs the notebook is malformed ({error!r})") from error
