"""Make sure that the gradebook knows a section as its master is now, also if it was never released from here."""

from __future__ import annotations

from nbgrader.api import MissingEntry
from nbgrader.utils import is_grade, is_locked, is_solution

from autograder.course import Course
from autograder.gradebook.database import open_gradebook
from autograder.grading.template import template
from autograder.releasing.generate import register

Registered = dict[str, tuple[str, float | None]]
"""From grade_id to the checksum and the points of each cell that nbgrader keeps."""


def ensure_registered(course: Course, section: str) -> None:
    """Register the section in the course's gradebook unless it is there as the master has it."""
    if _stored(course, section) != _wanted(course, section):
        register(course, section)


def _wanted(course: Course, section: str) -> Registered:
    wanted: Registered = {}
    for cell in template(course.master(section)).cells:
        if is_grade(cell) or is_solution(cell) or is_locked(cell):
            mark = cell.metadata["nbgrader"]
            wanted[mark["grade_id"]] = (mark["checksum"], float(mark["points"]) if is_grade(cell) else None)
    return wanted


def _stored(course: Course, section: str) -> Registered | None:
    with open_gradebook(course) as gradebook:
        try:
            notebook = gradebook.find_notebook(section, section)
        except MissingEntry:
            return None
        points = {cell.name: float(cell.max_score) for cell in notebook.grade_cells}
        return {cell.name: (cell.checksum, points.get(cell.name)) for cell in notebook.source_cells}
