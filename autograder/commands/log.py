"""`autograder log`: show every change of a mark, whoever made it."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from autograder.console import print_json, print_table, say
from autograder.course import Course
from autograder.errors import ExitCode


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `log`."""
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="sections to show (default: all)")
    parser.add_argument(
        "--student", action="append", default=[], metavar="ID", help="only this student (may be given several times)"
    )


def run(course: Course, options: argparse.Namespace) -> int:
    """Print the log, from the oldest change on."""
    sections = course.select(options.sections)

    from autograder.gradebook.database import read_gradebook
    from autograder.gradebook.log import read_log

    with read_gradebook(course) as gradebook:
        changes = list(read_log(gradebook.db.connection(), sections, options.student))
    if options.json:
        print_json([asdict(each) for each in changes])
        return ExitCode.OK
    columns = ("#", "time (UTC)", "student", "section", "cell", "what", "#before", "#after")
    rows = (
        (
            *(each.number, each.at, each.student or "", each.section or "", each.cell or "", each.what),
            *(_points(each.before), _points(each.after)),
        )
        for each in changes
    )
    print_table("Changes of marks", columns, rows)
    say(f"{len(changes)} changes in {course.database_name}.")
    return ExitCode.OK


def _points(number: float | None) -> str:
    return "–" if number is None else f"{number:g}"
