"""What was collected: whose submissions of which sections, and when they were handed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from nbgrader.utils import parse_utc

from autograder.course import Course, check_student_id
from autograder.errors import CourseError
from autograder.intake.store import TIMESTAMP


@dataclass(frozen=True)
class Submission:
    """A submission: whose and of which section."""

    student: str
    section: str


def find_submissions(course: Course, sections: Sequence[str], students: Sequence[str]) -> tuple[Submission, ...]:
    """Return the submissions of these sections, of these students or all; CourseError if there are none."""
    found = tuple(
        Submission(student, section)
        for section in sections
        for student in course.students(section)
        if not student.startswith(".")
    )
    if not found:
        what = ", ".join(sections)
        problem = f"There are no submissions of {what} in {course.root / 'submitted'}."
        raise CourseError(problem, "Take them in first: autograder collect SOURCE")
    for student in students:
        if student not in {each.student for each in found}:
            known = ", ".join(sorted({each.student for each in found})[:20])
            raise CourseError(f"There is no submission of '{student}'.", f"There are submissions of: {known}.")
    return tuple(each for each in found if not students or each.student in students)


def find_notebook(course: Course, submission: Submission) -> Path:
    """Return the path of a submission's notebook; CourseError if it, its id or its date is unfit to be graded."""
    student, section = check_student_id(submission.student), submission.section
    path = course.submitted(student, section)
    if not path.is_file():
        others = sorted(each.name for each in path.parent.glob("*.ipynb")) if path.parent.is_dir() else []
        there = f"it holds {', '.join(others)}" if others else "it holds no notebook"
        rename = f"Rename the right one to {path.name}" if others else "Ask the student for it"
        raise CourseError(
            f"{path.parent} lacks {path.name} ({there}).", f"{rename}, or take it in with `autograder collect`."
        )
    time_of_submission(course, student, section)
    return path


def time_of_submission(course: Course, student: str, section: str) -> datetime | None:
    """Return when a submission was handed in (UTC), if a file beside it says so; CourseError if it holds no date."""
    path = course.submitted(student, section).with_name(TIMESTAMP)
    try:
        text = path.read_text(encoding="utf-8", errors="replace").strip()
        return parse_utc(text) if text else None
    except FileNotFoundError:
        return None
    except (ValueError, OverflowError):
        cure = "Write it as 2026-01-31 18:00:00 UTC, or delete the file."
        raise CourseError(f"{path} holds no date that can be read.", cure) from None
