"""The sealed runner: as the plain one, with the student's kernel behind walls."""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from autograder.errors import CourseError
from autograder.grading.plain import PlainRunner
from autograder.sealed.forking import ForkServer
from autograder.sealed.isolation import Walls, obstacle


@dataclass(frozen=True)
class SealedRunner(PlainRunner):
    """Runs notebooks as PlainRunner does, in a kernel that can reach nothing but its own working folder."""

    walls: Walls = field(default_factory=Walls)
    server: ForkServer | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """How results name this runner."""
        return "sealed"

    def _isolation(self) -> dict[str, Any] | None:
        return asdict(self.walls)

    def _server(self) -> str:
        return self.server.address() if self.server else ""


def choose_runner(
    folder: Path, stop: threading.Event | None = None, unsafe: bool = False, server: ForkServer | None = None
) -> PlainRunner:
    """Return the sealed runner; where isolation isn't there, CourseError, or with `unsafe` the plain runner."""
    stop = stop or threading.Event()
    problem = obstacle()
    if problem is None:
        return SealedRunner(folder, stop, server=server)
    if unsafe:
        return PlainRunner(folder, stop)
    raise CourseError(
        f"Student code can't be isolated here. {problem}.",
        "`autograder doctor` says more. If you trust every submission, grade with --unsafe; each result will say so.",
    )
