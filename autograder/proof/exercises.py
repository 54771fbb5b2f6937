"""The exercises of a master notebook: a solution cell, the test cell after it, and the two parts of the tests."""

from __future__ import annotations

from dataclasses import dataclass

from nbformat import NotebookNode

from autograder.errors import CourseError
from autograder.regions import RegionKind, split_cell


@dataclass(frozen=True)
class Exercise:
    """An exercise: the test cell's `grade_id` and `points`, and where its two cells are in the notebook."""

    grade_id: str
    points: float
    solution_index: int
    tests_index: int


def _nbgrader(cell: NotebookNode) -> dict[str, object]:
    return dict(cell.metadata.get("nbgrader") or {})


def find_exercises(master: NotebookNode) -> tuple[Exercise, ...]:
    """Return the exercises of a master in order; a test cell without its solution cell before it is an error."""
    found = []
    for index, cell in enumerate(master.cells):
        mark = _nbgrader(cell)
        if not mark.get("grade") or mark.get("solution"):
            continue
        grade_id = str(mark["grade_id"])
        solution = f"{grade_id}_solution"
        before = [i for i, each in enumerate(master.cells[:index]) if _nbgrader(each).get("grade_id") == solution]
        if len(before) != 1:
            raise CourseError(
                f"The test cell '{grade_id}' has {len(before)} solution cells named '{solution}' before it.",
                "Each exercise is one solution cell and one test cell after it.",
            )
        found.append(Exercise(grade_id, float(str(mark["points"])), before[0], index))
    return tuple(found)


def split_tests(source: str) -> tuple[str, str]:
    """Split a test cell into its visible part and its hidden part (without the markers)."""
    parts = split_cell(source)
    hidden = [line for region in parts.regions if region.kind is RegionKind.HIDDEN_TESTS for line in region.lines]
    return "\n".join(parts.public).strip(), "\n".join(hidden).strip()
