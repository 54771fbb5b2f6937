"""Submissions of the mini section with the marks that they deserve, and a runner that needs no kernel."""

from __future__ import annotations

import copy
import signal
import threading
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.course import Course
from autograder.grading.running import Outcome, Run, Status
from autograder.limits import Limits
from tests.mini_course import SECTION, answered, mini_master

SEVEN = "seven_squared_minus_42 = 7"
DOUBLE = "def double(number):\n    return 2 * number"
MARKERS = f"{DOUBLE}\n### BEGIN HIDDEN TESTS\nmine = 'my own words'"
WARNS = """
import sys, warnings
def double(number):
    warnings.warn('careful')
    print('!', file=sys.stderr)
    return 2 * number
"""

Marks = tuple[float, float]
"""The points of the cells `seven` and `double`."""


def hacked() -> NotebookNode:
    """Return wrong answers with all that metadata can do in stock nbgrader to get marks for them."""
    notebook = answered("seven_squared_minus_42 = 8", "def double(number):\n    return 1")
    for cell in notebook.cells:
        cell.metadata["tags"] = ["skip-execution"]
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.update(points=100, locked=False, grade_id=cell.metadata.nbgrader.grade_id)
            cell.source = "5.0" if cell.metadata.nbgrader.grade else cell.source
    return notebook


def nameless() -> NotebookNode:
    """Return right answers in a notebook that lost its metadata and a test cell."""
    notebook = answered(SEVEN, DOUBLE)
    notebook.cells = [cell for cell in notebook.cells if cell["id"] != "double"]
    for cell in notebook.cells:
        cell.metadata = {}
    return notebook


SUBMISSIONS: dict[str, tuple[NotebookNode, Marks]] = {
    "reference": (mini_master(), (1, 2)),
    "stub": (answered(None, None), (0, 0)),
    "eight": (answered("seven_squared_minus_42 = 8", DOUBLE), (0, 2)),
    "adds_two": (answered(SEVEN, "def double(number):\n    return number + 2"), (1, 0)),
    "hidden": (answered(SEVEN, "def double(number):\n    return min(number, 10**9) * 2"), (1, 0)),
    "warns": (answered(SEVEN, WARNS), (1, 2)),
    "hacked": (hacked(), (0, 0)),
    "nameless": (nameless(), (1, 2)),
    "markers": (answered(SEVEN, MARKERS), (1, 2)),
}
"""From student to submission and marks."""


def hand_in(course: Course, student: str, content: NotebookNode | str | None) -> Path:
    """Put a submission into submitted/ and return the notebook's path; None leaves the folder empty."""
    path = course.submitted(student, SECTION)
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        path.write_text(content, encoding="utf-8")
    elif content is not None:
        nbformat.write(content, path)
    return path


class Here:
    """A runner that runs the cells in this process, with the outcomes that a kernel would report."""

    name = "plain"

    def __init__(self, folder: Path | None = None, stop: threading.Event | None = None) -> None:
        self.folder, self.stop = folder, stop

    def __call__(self, notebook: NotebookNode, limits: Limits) -> Run:
        """Run the cells."""
        namespace: dict[str, Any] = {}
        outcomes = {}
        for cell in notebook.cells:
            if cell.cell_type == "code":
                try:
                    exec(cell.source, namespace)
                    outcomes[cell["id"]] = Outcome(Status.OK)
                except Exception as error:
                    outcomes[cell["id"]] = Outcome(Status.ERROR, type(error).__name__, str(error))
        return Run(copy.deepcopy(notebook), outcomes)


def heed_ctrl_c() -> None:
    """Let a child process hear Ctrl-C (as `preexec_fn`): a shell starts its background jobs deaf to it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
