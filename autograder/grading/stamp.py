"""The stamp in an autograded notebook: what it was made from and what came out, so that nothing is done twice."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook

from autograder.course import Course
from autograder.errors import CourseError
from autograder.gradebook.marks import STAMP, automatic_marks
from autograder.grading.result import Result
from autograder.intake.store import TIMESTAMP
from autograder.limits import Limits


def make_stamp(key: str, result: Result) -> dict[str, Any]:
    """Return the stamp of a result."""
    return {"key": key, **result.to_json()}


def key_of(course: Course, student: str, section: str, limits: Limits, runner: str, code: str = "") -> str:
    """Return a digest of all that a submission's grade depends on: its files, the section's files, the settings.

    The student's code for variants is among them.
    """
    submission = course.submitted(student, section)
    inputs = [submission, submission.with_name(TIMESTAMP)]
    inputs += sorted(path for path in course.master_path(section).parent.rglob("*") if path.is_file())
    digest = hashlib.sha256(repr((limits, runner, version_here(), *filter(None, [code]))).encode())
    try:
        for path in inputs:
            if path.is_file():
                with path.open("rb") as content:
                    digest.update(path.name.encode() + hashlib.file_digest(content, "sha256").digest())
    except OSError as error:
        raise CourseError(f"{error.filename} can't be read: {error.strerror}.", "Check its permissions.") from error
    return digest.hexdigest()


def version_here() -> str:
    """Return the version of this package; grades made by different ones may differ."""
    try:
        return version("numfmt-course")
    except PackageNotFoundError:
        return "not installed"


def read_stamp(path: Path) -> dict[str, Any]:
    """Return the stamp of an autograded notebook, or an empty one if it has none."""
    try:
        stamp: dict[str, Any] = json.loads(path.read_bytes())["metadata"][STAMP]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return stamp


def is_in_gradebook(gradebook: Gradebook, student: str, section: str, stamp: dict[str, Any]) -> bool:
    """Say whether the gradebook holds the automatic marks of the stamp."""
    stored = automatic_marks(gradebook, section, student)
    return bool(stored) and all(stored.get(cell["grade_id"]) == cell["points"] for cell in stamp["cells"])
