"""Feedback pages: nbgrader's own GenerateFeedback on the autograded notebooks, without the hidden tests."""

from __future__ import annotations

from pathlib import Path

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.converters import GenerateFeedback
from nbgrader.preprocessors import ClearHiddenTests, GetGrades

from autograder.course import Course
from autograder.nbgrader_bridge import Log, course_directory, nbgrader_errors

PREPROCESSORS = (ClearHiddenTests, GetGrades, CSSHTMLHeaderPreprocessor)
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
