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
    from autograder.grading.batch import Graded


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `grade`."""
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="sections to grade (default: all)")
    parser.add_argument(
        "--student", action="append", default=[], metavar="ID", help="only this student (may be given several times)"
    )
    parser.add_argument(
        "--workers",
        type=_count,
        default=os.cpu_count() or 1,
        metavar="N",
        help="run N at a time (default: all cores)",
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

    with contextlib.closing(ForkServer()) as server:
        if options.fork_server and any(map(course.students, sections)):
            server.begin()  # it gets ready while this process is still importing

        from autograder.grading.batch import grade_all
        from autograder.grading.submissions import find_submissions

        submissions = find_submissions(course, sections, options.student)
        results = grade_all(
            course,
            submissions,
            workers=options.workers,
            cell_seconds=options.timeout_cell,
            notebook_seconds=options.timeout_notebook,
            force=options.force,
            unsafe=options.unsafe,
            server=server if options.fork_server else None,
        )
        graded = []
        for each in track(results, len(submissions), "grade"):
            graded.append(each)
            if each.error is not None:
                warn(each.error)
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
            }
        )
    else:
        print_table("Grades", ("student", "section", "#score", "test cells", "notes"), map(_row, graded))
        same = sum(each.unchanged for each in graded)
        kept = f", {same} of them unchanged since they were graded (--force grades them again)" if same else ""
        say(f"{len(graded) - len(problems)} of {len(graded)} submissions are in {course.database}{kept}.")
    return ExitCode.PROBLEMS if problems else ExitCode.OK


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
