"""The only writer of marks: nbgrader's own Autograde converter, given the result instead of a kernel."""

from __future__ import annotations

import copy
from typing import Any

from nbformat import NotebookNode
from nbgrader.converters import Autograde
from nbgrader.preprocessors import AssignLatePenalties, CheckCellMetadata, LimitOutput, SaveAutoGrades

from autograder.course import Course
from autograder.errors import CourseError
from autograder.grading.result import Result
from autograder.nbgrader_bridge import Log, course_directory, nbgrader_errors

STAMP = "autograder"
"""The key of the notebook metadata that says what an autograded notebook was made from."""


class _Put:
    """A preprocessor that puts a finished notebook in place of whatever was submitted."""

    def __init__(self, notebook: NotebookNode) -> None:
        self._notebook = notebook

    def __call__(self, notebook: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        return copy.deepcopy(self._notebook), resources


def record(course: Course, section: str, student: str, result: Result, stamp: dict[str, Any]) -> None:
    """Write a sound result into the gradebook and autograded/; the stamp is kept in the autograded notebook.

    Manual marks and comments stay as they are, as with `nbgrader autograde`. CourseError if the result isn't sound.
    """
    if not result.is_sound:
        raise CourseError(f"The result of {student} in {section} isn't sound.", "Grade the submission again.")
    notebook = copy.deepcopy(result.notebook)
    notebook.metadata[STAMP] = stamp
    log = Log()
    with course_directory(course, section, student, log) as folders:
        converter = Autograde(coursedir=folders, log=log.logger, force=True)
        converter.sanitize_preprocessors = [_Put(notebook)]
        converter.autograde_preprocessors = [LimitOutput, SaveAutoGrades, AssignLatePenalties, CheckCellMetadata]
        doing = f"The marks of {student} in {section} weren't written"
        with nbgrader_errors(log, doing, "Read the reason above; grading again is safe."):
            converter.start()
