"""From a result to Gradescope's results.json: the same marks, and nothing of a hidden test before its time.

The format: https://gradescope-autograders.readthedocs.io/en/latest/specs/
"""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode

from autograder.errors import CourseError
from autograder.grading.result import Result, State
from autograder.regions import RegionKind, split_cell


def to_results(result: Result, master: NotebookNode, visibility: str) -> dict[str, Any]:
    """Return the result as Gradescope reads it: a test case an exercise; CourseError if grading itself failed.

    Whether an exercise with hidden tests is right shows only when `visibility` says, else one could try until the
    hidden tests are known. Until then Gradescope shows no total either.
    """
    if not result.is_sound:
        reason = next((cell.message for cell in result.cells if cell.state is State.INFRA_ERROR), "no reason known")
        raise CourseError(f"Grading failed: {reason}", "Rerun the autograder for this submission.")
    hidden = _with_hidden_tests(master)
    return {
        "tests": [
            {
                "name": cell.grade_id,
                "score": cell.points,
                "max_score": cell.max_points,
                "status": "passed" if cell.state is State.PASSED else "failed",
                "output": cell.message,
                "output_format": "text",
                "visibility": visibility if cell.grade_id in hidden else "visible",
            }
            for cell in result.cells
        ],
        "output": "\n".join(result.notes),
        "output_format": "text",
        "execution_time": round(result.seconds, 1),
        "stdout_visibility": "hidden",
        "extra_data": {"runner": result.runner},
    }


def refused(error: CourseError) -> dict[str, Any]:
    """Return what Gradescope shows for a submission that can't be graded: no points, the problem and the cure."""
    return {"score": 0, "output": f"{error.problem}\n{error.cure}", "output_format": "text", "tests": []}


def _with_hidden_tests(master: NotebookNode) -> frozenset[str]:
    marks = ((cell, cell.metadata.get("nbgrader") or {}) for cell in master.cells)
    return frozenset(
        str(mark["grade_id"])
        for cell, mark in marks
        if mark.get("grade") and split_cell(cell.source).has(RegionKind.HIDDEN_TESTS)
    )
