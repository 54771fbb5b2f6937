"""The sealed runner: as the plain one, with the student's kernel behind walls."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from autograder.errors import CourseError
from autograder.grading.plain import PlainRunner
from autograder.sealed.diagnosis import obstacle
from autograder.sealed.forking import ForkServer


@dataclass(frozen=True)
class SealedRunner(PlainRunner):
    """Runs notebooks as PlainRunner does, in a kernel that can reach nothing but its own working folder."""

    server: ForkServer | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """How results name this runner."""
        return "sealed"

    def _is_sealed(self) -> bool:
        return True

    def _server(self) -> str:
        return self.server.address() if self.server else ""


def choose_runner(
    folder: Path,
    stop: threading.Event | None = None,
    unsafe: bool = False,
    server: ForkServer | None = None,
    code: str = "",
) -> PlainRunner:
    """Return the sealed runner; where isolation isn't there, CourseError, or with `unsafe` the plain runner.

    `code` is the student's, for variants.
    """
    stop = stop or threading.Event()
    problem = obstacle()
    if problem is None:
        return SealedRunner(folder, stop, code, server)
    if unsafe:
        return PlainRunner(folder, stop, code)
    raise CourseError(
        f"Student code can't be isolated here. {problem}.",
        "`autograder doctor` says more. If you trust every submission, grade with --unsafe; each result will say so.",
    )
