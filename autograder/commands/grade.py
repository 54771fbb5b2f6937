"""`autograder grade`: run the submissions and write the gradebook."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from autograder.console import print_json, print_table, say, track, warn
from autograder.course import Course
from autograder.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.grading.batch import Graded
    from autograder.grading.machine import Place
    from autograder.sealed.forking import ForkServer


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `grade`."""
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="sections to grade (default: all)")
    parser.add_argument(
        "--only",
        "--student",
        dest="students",
        action="append",
        default=[],
        metavar="ID",
        help="only this student (may be given several times)",
    )
    parser.add_argument(
        "--failed",
        action="store_true",
        help="only what couldn't be graded before, or met a limit on time (for another try with a higher one)",
    )
    parser.add_argument(
        "--workers",
        type=_count,
        default=os.cpu_count() or 1,
        metavar="N",
        help="run N at a time (default: all cores)",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="run them on the Dask cluster whose scheduler is at this address, such as tcp://host:8786",
    )
    parser.add_argument(
        "--timeout-cell",
        type=_seconds,
        metavar="S",
        help="seconds a cell may run (default: the section's, mostly 30)",
    )
    parser.add_argument(
        "--timeout-notebook",
        type=_seconds,
        metavar="S",
        help="seconds a notebook may run (default: the section's, mostly 600)",
    )
    parser.add_argument("--force", action="store_true", help="grade also what hasn't changed since it was graded")
    parser.add_argument(
        "--unsafe", action="store_true", help="where student code can't be isolated, run it with your own rights"
    )
    parser.add_argument(
        "--no-fork-server",
        dest="fork_server",
        action="store_false",
        help="start each process anew instead of forking it from one that has imported torch (slower, same marks)",
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} isn't a whole number from 1")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} isn't a number of seconds above 0")
    return value


def run(course: Course, options: argparse.Namespace) -> int:
    """Grade the submissions; one that can't be graded doesn't stop the others."""
    sections = course.select(options.sections)

    from autograder.sealed.forking import ForkServer

    with contextlib.ExitStack() as left:
        server = left.enter_context(contextlib.closing(ForkServer()))
        if options.fork_server and not options.scheduler and any(map(course.students, sections)):
            server.begin()  # it gets ready while this process is still importing

        from autograder.gradebook.lateness import settle_lateness
        from autograder.grading.batch import deserves_another_try, grade_all
        from autograder.grading.submissions import find_submissions

        submissions = find_submissions(course, sections, options.students)
        if options.failed:
            submissions = tuple(each for each in submissions if deserves_another_try(course, each))
        results = grade_all(
            course,
            submissions,
            left.enter_context(_place(course, options, server)),
            cell_seconds=options.timeout_cell,
            notebook_seconds=options.timeout_notebook,
            force=options.force or options.failed,
        )
        graded = []
        for each in track(results, len(submissions), "grade"):
            graded.append(each)
            if each.error is not None:
                warn(each.error)
        late = settle_lateness(course, sections)
    graded.sort(key=lambda each: (each.submission.section, each.submission.student))
    problems = [each for each in graded if each.error is not None]
    if options.json:
        print_json(
            {
                "submissions": [_as_json(each) for each in graded if each.result is not None],
                "problems": [
                    {"file": str(each.file), "problem": each.error.problem, "cure": each.error.cure}
                    for each in problems
                    if each.error is not None
                ],
                "late": [{"student": student, "section": section} for student, section in late],
            }
        )
    else:
        print_table("Grades", ("student", "section", "#score", "test cells", "notes"), map(_row, graded))
        same = sum(each.unchanged for each in graded)
        kept = f", {same} of them unchanged since they were graded (--force grades them again)" if same else ""
        say(f"{len(graded) - len(problems)} of {len(graded)} submissions are in {course.database_name}{kept}.")
        if late:
            say(f"{len(late)} submissions lose points for being late; `autograder log` says how many.")
    return ExitCode.PROBLEMS if problems else ExitCode.OK


@contextlib.contextmanager
def _place(course: Course, options: argparse.Namespace, server: ForkServer) -> Iterator[Place]:
    """Yield the place where submissions are graded: a cluster, or this machine."""
    if options.scheduler:
        from autograder.grading.cluster import Cluster

        with Cluster(course, options.scheduler, options.unsafe) as cluster:
            yield cluster
    else:
        from autograder.grading.machine import Machine

        yield Machine(course, options.workers, options.unsafe, server if options.fork_server else None)


def _as_json(graded: Graded) -> dict[str, Any]:
    result = graded.result or {}
    kept = {name: result[name] for name in ("score", "max_score", "cells", "notes", "runner")}
    return {
        "student": graded.submission.student,
        "section": graded.submission.section,
        **kept,
        "unchanged": graded.unchanged,
    }


def _row(graded: Graded) -> tuple[str, ...]:
    names = (graded.submission.student, graded.submission.section)
    if graded.result is None:
        return (*names, "–", "not graded", graded.error.problem if graded.error else "")
    states = Counter(cell["state"] for cell in graded.result["cells"])
    counts = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in states.items())
    score = f"{graded.result['score']:g}/{graded.result['max_score']:g}"
    return (*names, score, counts, " ".join(graded.result["notes"]))
