"""`autograder collect`: take in submissions from a folder, a zip file or one notebook."""

from __future__ import annotations

import argparse
from collections.abc import Sized
from pathlib import Path

from autograder.console import print_json, print_table, say, warn
from autograder.course import Course
from autograder.errors import CourseError, ExitCode


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `collect`."""
    parser.add_argument(
        "source",
        type=Path,
        metavar="SOURCE",
        help="folder or zip file with STUDENT/SECTION/*.ipynb or STUDENT/*.ipynb, a download of Canvas, Moodle or "
        "Blackboard, the inbound folder of nbgrader's exchange, or one notebook with --student",
    )
    parser.add_argument("--section", metavar="SECTION", help="take this section alone; unnamed notebooks are of it")
    parser.add_argument(
        "--student", metavar="ID", help="take this student alone; a source without student folders is theirs"
    )
    parser.add_argument(
        "--roster",
        type=Path,
        metavar="FILE",
        help="CSV with student_id and canvas_id, moodle_id, blackboard_id or name: whose a download's ids are",
    )


def run(course: Course, options: argparse.Namespace) -> int:
    """Collect, and report each submission and each file that was refused."""
    # Reading notebooks takes a second to import, which --help shouldn't wait for.
    from autograder.intake.collecting import collect
    from autograder.intake.roster import read_roster

    roster = read_roster(options.roster) if options.roster else None
    report = collect(course, options.source, options.section, options.student, roster)
    if options.json:
        print_json(report.to_json())
    elif report.taken:
        rows = ((each.student, each.section, each.status, each.file, "; ".join(each.notes)) for each in report.taken)
        title = f"Collected (as {report.system} names files)" if report.system else "Collected"
        print_table(title, ("student", "section", "status", "from", "notes"), rows)
    for refusal in report.refused:
        warn(CourseError(refusal.problem, refusal.cure))
    if not options.json:
        counts = f"{_count(report.taken, 'submission')}, {_count(report.refused, 'file')} refused"
        say(f"In {course.root / 'submitted'}: {counts}.")
    return ExitCode.PROBLEMS if report.refused else ExitCode.OK


def _count(items: Sized, noun: str) -> str:
    return f"{len(items)} {noun}{'' if len(items) == 1 else 's'}"
