"""Where submissions are graded: what a place must offer, and this machine as the one at hand."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from threading import Event
from typing import Protocol

from nbformat import NotebookNode

from autograder.course import Course, read_notebook
from autograder.grading.result import Result
from autograder.grading.seam import grade_again_if_unsound
from autograder.limits import Limits
from autograder.sealed.forking import ForkServer
from autograder.sealed.runner import choose_runner


class Place(Protocol):
    """Where submissions are graded; threads share it."""

    stop: Event
    """Setting it calls off all that runs."""

    @property
    def at_a_time(self) -> int:
        """How many submissions to give it at a time."""

    @property
    def runner(self) -> str:
        """How results name its runner; CourseError where student code can't be isolated and should be."""

    def grade(self, section: str, notebook: Path, limits: Limits, code: str = "") -> Result:
        """Grade the submission of the student with this code for variants; CourseError if its file is unfit."""


class Machine:
    """This machine. Threads are enough to use all its cores: each submission runs in processes of its own."""

    def __init__(
        self, course: Course, workers: int = 1, unsafe: bool = False, server: ForkServer | None = None
    ) -> None:
        self.stop, self.at_a_time = Event(), workers
        self._course, self._unsafe, self._server = course, unsafe, server
        self._master = cache(course.master)

    @property
    def runner(self) -> str:
        """How results name the runner."""
        return choose_runner(self._course.source, self.stop, self._unsafe, self._server).name

    def grade(self, section: str, notebook: Path, limits: Limits, code: str = "") -> Result:
        """Grade a submission."""
        master: NotebookNode = self._master(section)
        folder = self._course.master_path(section).parent
        runner = choose_runner(folder, self.stop, self._unsafe, self._server, code)
        return grade_again_if_unsound(master, read_notebook(notebook), runner, limits)
