"""What a master notebook must have before it may be released; nbgrader itself lets much of this pass."""

from __future__ import annotations

from pathlib import Path

from nbformat import NotebookNode

from autograder.course import CHECKS, Course
from autograder.errors import CourseError
from autograder.regions import RegionKind, split_cell


def check_master(course: Course, section: str) -> None:
    """Raise an error that names file, cell and cure if the section isn't fit to be released."""
    path = course.master_path(section)
    if not (path.parent / CHECKS).is_file():
        raise CourseError(
            f"{path.parent / CHECKS} doesn't exist: students would get no answer from the visible checks.",
            f"Run `make notebooks SECTION={section}`; it seals the checks beside the notebook.",
        )
    for number, cell in enumerate(course.master(section).cells, 1):
        _check_cell(path, number, cell)


def _check_cell(path: Path, number: int, cell: NotebookNode) -> None:
    mark = cell.metadata.get("nbgrader") or {}
    name = f"cell {number} ({mark['grade_id']})" if "grade_id" in mark else f"cell {number}"
    try:
        parts = split_cell(cell.source)
    except ValueError as error:
        cure = "Give each region one line with BEGIN and one with END."
        raise CourseError(f"{path}, {name}: its markers don't pair up: {error}.", cure) from None
    if cell.cell_type != "code" or not mark:
        return
    solution, grade = bool(mark.get("solution")), bool(mark.get("grade"))
    if solution and not grade and not parts.has(RegionKind.SOLUTION):
        raise CourseError(
            f"{path}, {name}: the solution cell has no solution region.",
            "Put ### BEGIN SOLUTION and ### END SOLUTION around what students have to write.",
        )
    if grade and not solution and not parts.has(RegionKind.HIDDEN_TESTS):
        raise CourseError(
            f"{path}, {name}: the test cell has no hidden tests, so answers typed in by hand would pass.",
            "Put ### BEGIN HIDDEN TESTS and ### END HIDDEN TESTS around tests on other inputs.",
        )
