"""Feedback pages: nbgrader's own GenerateFeedback on the autograded notebooks, without the hidden tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbformat import NotebookNode
from nbgrader.converters import GenerateFeedback
from nbgrader.preprocessors import ClearHiddenTests, GetGrades
from nbgrader.utils import is_grade, is_solution

from autograder.course import Course
from autograder.nbgrader_bridge import Log, course_directory, nbgrader_errors


class HideTests(ClearHiddenTests):  # type: ignore[misc]
    """Takes hidden tests out of test cells; elsewhere its markers are the student's own words, and stay."""

    def preprocess_cell(self, cell: NotebookNode, resources: Any, cell_index: int) -> tuple[NotebookNode, Any]:
        """Clear a test cell."""
        if is_grade(cell) and not is_solution(cell):
            return super().preprocess_cell(cell, resources, cell_index)  # type: ignore[no-any-return]
        return cell, resources


PREPROCESSORS = (HideTests, GetGrades, CSSHTMLHeaderPreprocessor)
"""The steps of a feedback page: nbgrader's, after hidden tests are taken out."""


def graded(course: Course, section: str) -> tuple[str, ...]:
    """Return the students whose submission of the section has been graded, sorted by id."""
    found = (course.root / "autograded").glob(f"*/{section}/{section}.ipynb")
    return tuple(sorted(path.parent.parent.name for path in found))


def write_feedback(course: Course, section: str, student: str) -> Path:
    """Write the feedback page of a graded submission and return its path."""
    log = Log()
    doing = f"No feedback for {student} in {section}"
    with (
        course_directory(course, section, student, log) as folders,
        nbgrader_errors(log, doing, f"Grade it again: autograder grade {section} --student {student} --force"),
    ):
        converter = GenerateFeedback(coursedir=folders, log=log.logger, force=True)
        converter.preprocessors = list(PREPROCESSORS)
        converter.start()
    return course.feedback(student, section)
