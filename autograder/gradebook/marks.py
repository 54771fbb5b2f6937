"""The only writer of marks, and of the folder autograded/.

What nbgrader's Autograde converter does in some thirty transactions is done in one, so that the marks of a submission
are there whole or not at all.
"""

from __future__ import annotations

import copy
import shutil
import warnings
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Grade, Gradebook, MissingEntry, SubmittedNotebook
from nbgrader.preprocessors import LimitOutput
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution, is_task
from sqlalchemy.exc import SAWarning, SQLAlchemyError
from sqlalchemy.orm import joinedload

from autograder.course import Course
from autograder.errors import CourseError
from autograder.files import replacing_folder
from autograder.gradebook.lateness import judge_lateness
from autograder.grading.result import Result
from autograder.grading.submissions import time_of_submission
from autograder.nbgrader_bridge import IGNORED

STAMP = "autograder"
"""The key of the notebook metadata that says what an autograded notebook was made from."""


def automatic_marks(gradebook: Gradebook, section: str, student: str) -> dict[str, float | None]:
    """Return the automatic marks of a submission by grade_id; none if it isn't there."""
    try:
        return {grade.name: grade.auto_score for grade in _grades(gradebook, _notebook(gradebook, section, student))}
    except MissingEntry:
        return {}
    finally:
        gradebook.db.rollback()  # hold nothing that keeps others from writing


def record(
    course: Course, gradebook: Gradebook, section: str, student: str, result: Result, stamp: dict[str, Any]
) -> None:
    """Write a sound result into the gradebook and autograded/; the stamp is kept in the autograded notebook.

    Manual marks and comments stay as they are, as with `nbgrader autograde`. CourseError if the result isn't sound,
    or if it can't be written.
    """
    if not result.is_sound:
        raise CourseError(f"The result of {student} in {section} isn't sound.", "Grade the submission again.")
    notebook = copy.deepcopy(result.notebook)
    notebook.metadata[STAMP] = stamp
    notebook, _ = LimitOutput().preprocess(notebook, {})
    path = course.autograded(student, section)
    cure = "Mend what is said above; grading again is safe."
    try:
        with replacing_folder(path.parent) as folder:
            for origin in (course.submitted(student, section).parent, course.master_path(section).parent):
                _copy_files(origin, folder)
            (folder / path.name).write_text(nbformat.v4.writes(notebook), encoding="utf-8")
            _write_marks(course, gradebook, section, student, notebook.cells)
    except SQLAlchemyError as error:
        gradebook.db.rollback()
        reason = getattr(error, "orig", None) or error
        raise CourseError(f"The marks of {student} in {section} weren't written: {reason}.", cure) from error
    except OSError as error:
        raise CourseError(f"{error.filename or path} can't be written: {error.strerror or error}.", cure) from error


def _copy_files(origin: Path, folder: Path) -> None:
    for path in sorted(origin.rglob("*")):
        inside = path.relative_to(origin)
        ignored = any(fnmatch(part, pattern) for part in inside.parts for pattern in (*IGNORED, "*.ipynb"))
        if path.is_file() and not ignored:
            (folder / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / inside)


def _write_marks(
    course: Course, gradebook: Gradebook, section: str, student: str, cells: Sequence[NotebookNode]
) -> None:
    """Write what nbgrader's Autograde and SaveAutoGrades write."""
    with warnings.catch_warnings():
        # nbgrader's way with its database objects; they are saved all the same.
        warnings.simplefilter("ignore", SAWarning)
        gradebook.update_or_create_student(student)
        submitted = time_of_submission(course, student, section)
        gradebook.update_or_create_submission(section, student, **({"timestamp": submitted} if submitted else {}))
    written = _notebook(gradebook, section, student)
    grades = {grade.name: grade for grade in _grades(gradebook, written)}
    comments = {comment.name: comment for comment in written.comments}
    for cell in cells:
        name = (cell.metadata.get("nbgrader") or {}).get("grade_id")
        if is_grade(cell):
            grade = grades[name]
            grade.auto_score, _ = determine_grade(cell)
            grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
        if is_solution(cell) or is_task(cell):
            untouched = cell.metadata.nbgrader.get("checksum") == compute_checksum(cell) and not is_task(cell)
            comments[name].auto_comment = "No response." if untouched else None
    judge_lateness(gradebook, course.configuration, written.assignment)
    gradebook.db.commit()


def _notebook(gradebook: Gradebook, section: str, student: str) -> SubmittedNotebook:
    return gradebook.find_submission_notebook(section, section, student)


def _grades(gradebook: Gradebook, notebook: SubmittedNotebook) -> list[Grade]:
    # With their cells, which hold the names: else each would be fetched by itself.
    found = gradebook.db.query(Grade).filter(Grade.notebook_id == notebook.id).options(joinedload(Grade.cell))
    return list(found)
