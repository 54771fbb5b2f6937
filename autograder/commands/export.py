"""`autograder export`: write the grades as a file for other systems."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from autograder.console import print_json, warn
from autograder.course import Course
from autograder.errors import CourseError, ExitCode
from autograder.files import write_whole

CHOICES = ("csv",)
"""The names in `exporting.formats.FORMATS`, which is slow to import."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `export`."""
    parser.add_argument("format", choices=CHOICES, help="csv: a row a student and section, a column a graded cell")
    parser.add_argument(
        "--section", action="append", default=[], metavar="SECTION", help="only this one (may be given several times)"
    )
    parser.add_argument("--to", type=Path, metavar="FILE", help="the file to write (default: standard output)")


def run(course: Course, options: argparse.Namespace) -> int:
    """Export, to a file or to standard output."""
    # nbgrader takes seconds to import, which --help shouldn't wait for.
    from autograder.exporting.formats import FORMATS
    from autograder.exporting.table import read_grades

    table = read_grades(course, course.select(options.section))
    text = FORMATS[options.format](table)
    if options.to:
        try:
            write_whole(options.to, text.encode())
        except OSError as error:
            problem = f"{options.to} can't be written: {error.strerror}."
            raise CourseError(problem, "Check the folder's permissions, or name another file with --to.") from error
        warn(f"{len(table.rows)} grades written to {options.to}")
    if options.json:
        print_json(table.records())
    elif not options.to:
        sys.stdout.write(text)
    for student, section in table.ungraded:
        warn(f"{student} has no marks in {section} yet and was left out; run `autograder grade {section}`.")
    return ExitCode.PROBLEMS if table.ungraded else ExitCode.OK
