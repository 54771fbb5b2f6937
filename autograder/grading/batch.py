"""Grade many submissions: several run at a time, one writer, and none stops or loses another."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook

from autograder.course import Course
from autograder.errors import CourseError
from autograder.gradebook.database import open_gradebook
from autograder.gradebook.marks import record
from autograder.grading import scratch
from autograder.grading.machine import Place
from autograder.grading.registration import ensure_registered
from autograder.grading.result import Result, State
from autograder.grading.stamp import is_in_gradebook, key_of, make_stamp, read_stamp
from autograder.grading.submissions import Submission, find_notebook
from autograder.limits import read_limits
from autograder.variants import code_of


@dataclass(frozen=True)
class Graded:
    """A submission with its result as plain data (see Result.to_json), or with what kept it from being graded."""

    submission: Submission
    file: Path
    result: dict[str, Any] | None = None
    error: CourseError | None = None
    unchanged: bool = False


def grade_all(
    course: Course,
    submissions: Sequence[Submission],
    place: Place,
    *,
    cell_seconds: float | None = None,
    notebook_seconds: float | None = None,
    force: bool = False,
) -> Iterator[Graded]:
    """Grade the submissions and yield each when it is written to the gradebook, or can't be.

    Only the caller's thread writes. When the iteration is broken off, what runs is called off and what was yielded is
    kept. The limits are those of the sections, but for the seconds that are given. CourseError if the place can't
    grade.
    """
    scratch.sweep()
    runner, limits, secret = place.runner, {}, course.configuration.secret
    for section in dict.fromkeys(each.section for each in submissions):
        limits[section] = read_limits(course.master_path(section).parent, cell_seconds, notebook_seconds)
        ensure_registered(course, section)
    pool = ThreadPoolExecutor(max(1, place.at_a_time))
    with contextlib.ExitStack() as left:
        gradebook = left.enter_context(open_gradebook(course))
        left.callback(pool.shutdown, cancel_futures=True)
        left.callback(place.stop.set)
        waiting: dict[Future[Result], tuple[Submission, str]] = {}
        for each in submissions:
            try:
                notebook = find_notebook(course, each)
                code = code_of(secret, each.student)
                key = key_of(course, each.student, each.section, limits[each.section], runner, code)
            except CourseError as error:
                yield _refused(course, each, error)
                continue
            stamp = read_stamp(course.autograded(each.student, each.section))
            same = not force and stamp.get("key") == key
            if same and is_in_gradebook(gradebook, each.student, each.section, stamp):
                yield Graded(each, course.submitted(each.student, each.section), stamp, unchanged=True)
                continue
            # The notebook is read when its turn comes, so that a large class isn't in memory all at once.
            future = pool.submit(place.grade, each.section, notebook, limits[each.section], code)
            waiting[future] = (each, key)
        for future in as_completed(waiting):
            # For the same reason a result isn't kept longer than it is needed.
            yield _write(course, gradebook, *waiting.pop(future), future)


def deserves_another_try(course: Course, submission: Submission) -> bool:
    """Say whether a submission has no result yet, or one in which a limit on time was met."""
    stamp = read_stamp(course.autograded(submission.student, submission.section))
    return not stamp or any(cell["state"] == State.TIMEOUT for cell in stamp["cells"])


def _write(course: Course, gradebook: Gradebook, submission: Submission, key: str, future: Future[Result]) -> Graded:
    file = course.submitted(submission.student, submission.section)
    try:
        result = future.result()
        if not result.is_sound:
            return _refused(course, submission, _unsound(file, result))
        stamp = make_stamp(key, result)
        record(course, gradebook, submission.section, submission.student, result, stamp)
    except CourseError as error:
        return _refused(course, submission, error)
    except Exception as error:  # a defect of ours must not stop the others; it is reported like any problem
        problem = f"{file} couldn't be graded: {type(error).__name__}: {error}"
        return _refused(course, submission, CourseError(problem, "Please report this, with the notebook."))
    return Graded(submission, file, stamp)


def _unsound(file: Path, result: Result) -> CourseError:
    reasons = [note for note in result.notes if note.startswith("Grading failed")]
    reasons += [cell.message for cell in result.cells if cell.message]
    return CourseError(
        f"{file} couldn't be graded, twice: {reasons[0] if reasons else 'no reason is known'}",
        "Its old marks, if any, still stand. Grade it again; if that doesn't help, look at its code.",
    )


def _refused(course: Course, submission: Submission, error: CourseError) -> Graded:
    return Graded(submission, course.submitted(submission.student, submission.section), error=error)
