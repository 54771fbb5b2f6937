"""The plain runner: a process of its own per submission, with wall-clock limits, in a scratch folder.

It keeps honest mistakes from doing harm (loops, floods, crashes). It is no sandbox: the code runs as the grader's own
user.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.course import REPOSITORY
from autograder.grading import scratch as scratch_folder
from autograder.grading.processes import MARK, end_job
from autograder.grading.running import Interrupted, Limits, Outcome, Run, RunnerError, Status

_GRACE = 150.0
"""Seconds beyond the notebook's limit for starting and stopping; then the worker itself counts as stuck."""


@dataclass(frozen=True)
class PlainRunner:
    """Runs notebooks beside copies of the files that ship from `folder`; setting `stop` calls all its runs off."""

    folder: Path | None = None
    stop: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)

    @property
    def name(self) -> str:
        """How results name this runner."""
        return "plain"

    def __call__(self, notebook: NotebookNode, limits: Limits) -> Run:
        """Run the notebook in a new process; nothing of it is left afterwards, whatever happens."""
        mark = uuid.uuid4().hex
        with scratch_folder.new_folder() as name:
            scratch = Path(name).resolve()
            scratch_folder.fill(scratch, self.folder)
            environment = {**scratch_folder.environment(scratch), MARK: mark}
            request = {
                "notebook": notebook,
                "limits": asdict(limits),
                "scratch": str(scratch),
                "environment": environment,
                "walls": self._isolation(),
            }
            try:
                answer = self._ask(request, scratch, environment, time.monotonic() + limits.notebook_seconds + _GRACE)
            finally:
                end_job(mark)
        return _read(answer)

    def _isolation(self) -> dict[str, Any] | None:
        """Return what isolates the kernel (see `autograder.sealed.isolation.Walls`); here nothing does."""
        return None

    def _ask(self, request: dict[str, Any], scratch: Path, environment: Mapping[str, str], deadline: float) -> bytes:
        paths = [str(REPOSITORY), *filter(None, [environment.get("PYTHONPATH")])]
        # A file, not a pipe: `communicate`, interrupted by its timeout, forgets what a full pipe hasn't taken yet.
        with TemporaryFile() as given:
            given.write(json.dumps(request).encode())
            given.seek(0)
            process = subprocess.Popen(
                [sys.executable, "-m", "autograder.grading.worker"],
                cwd=scratch,
                env={**environment, "PYTHONPATH": os.pathsep.join(paths)},
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        with process:
            try:
                return self._wait(process, deadline)
            finally:
                process.kill()

    def _wait(self, process: subprocess.Popen[bytes], deadline: float) -> bytes:
        while True:
            try:
                answer, complaint = process.communicate(timeout=0.1)
            except subprocess.TimeoutExpired:
                if self.stop.is_set():
                    raise Interrupted from None
                if time.monotonic() > deadline:
                    raise RunnerError("the process that runs the notebook got stuck") from None
                continue
            if process.returncode or not answer:
                lines = complaint.decode("utf-8", "replace").strip().splitlines()
                reason = lines[-1] if lines else f"exit code {process.returncode}"
                raise RunnerError(f"the process that runs the notebook ended early ({reason})")
            return answer


plain = PlainRunner()
"""The plain runner for a section without files of its own."""


def _read(answer: bytes) -> Run:
    try:
        # Lone surrogates, which a student can print, could be written to no file.
        data = json.loads(json.dumps(json.loads(answer), ensure_ascii=False).encode("utf-8", "replace"))
        if "error" in data:
            raise RunnerError(str(data["error"]))
        outcomes = {
            name: Outcome(Status(each["status"]), each["ename"], each["evalue"], each["line"])
            for name, each in data["outcomes"].items()
        }
        return Run(nbformat.from_dict(data["notebook"]), outcomes)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RunnerError(f"the answer of the process that runs the notebook is malformed ({error!r})") from error
