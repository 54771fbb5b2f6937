"""`autograder export`: write the grades, or the autograder itself, as a file for other systems."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from autograder.console import print_json, say, warn
from autograder.course import Course
from autograder.errors import CourseError, ExitCode
from autograder.files import write_whole

CHOICES = ("csv", "json", "canvas", "moodle")
"""The names in `exporting.formats.FORMATS`, which is slow to import."""

GRADESCOPE = "gradescope"
"""The one format that is of no grades: see `autograder.gradescope`."""

VISIBILITIES = ("after_due_date", "after_published", "visible")
"""When students may see the marks of exercises with hidden tests. Gradescope's `hidden` isn't among them: it is for
tests without points."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `export`."""
    parser.add_argument(
        "format",
        choices=(*CHOICES, GRADESCOPE),
        help="csv, json: a row a student and section, a column a graded cell; canvas, moodle: a sheet to import "
        "there, a column a section; gradescope: the zip file of an autograder for one section",
    )
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="sections to export (default: all)")
    parser.add_argument(
        "--section", action="append", default=[], metavar="SECTION", help="the same (may be given several times)"
    )
    parser.add_argument("--to", type=Path, metavar="FILE", help="the file to write (default: standard output)")
    parser.add_argument(
        "--roster", type=Path, metavar="FILE", help="for canvas and moodle: whose ids are whose (see collect)"
    )
    parser.add_argument(
        "--visibility",
        choices=VISIBILITIES,
        default=VISIBILITIES[0],
        help="for gradescope: when students see the marks of exercises with hidden tests (default: after_due_date)",
    )
    parser.add_argument(
        "--student-id",
        choices=("sid", "email"),
        default="sid",
        help="for gradescope, with variants: which of its ids are the course's (default: sid, its Student ID)",
    )
    parser.add_argument(
        "--unsafe", action="store_true", help="for gradescope: grade there also if student code can't be isolated"
    )


def run(course: Course, options: argparse.Namespace) -> int:
    """Export, to a file or to standard output."""
    names = [*options.sections, *options.section]
    return _autograder(course, names, options) if options.format == GRADESCOPE else _grades(course, names, options)


def _grades(course: Course, names: list[str], options: argparse.Namespace) -> int:
    # nbgrader takes seconds to import, which --help shouldn't wait for.
    from autograder.exporting.formats import FORMATS
    from autograder.exporting.sheets import strangers
    from autograder.exporting.table import read_grades
    from autograder.intake.roster import read_roster

    roster = read_roster(options.roster) if options.roster else None
    table = read_grades(course, course.select(names))
    text = FORMATS[options.format](table, roster)
    if options.to:
        _write(options.to, text.encode())
        warn(f"{len(table.rows)} grades written to {options.to}")
    if options.json:
        print_json(table.records())
    elif not options.to:
        sys.stdout.write(text)
    for student, section in table.ungraded:
        warn(f"{student} has no marks in {section} yet and was left out; run `autograder grade {section}`.")
    unknown = strangers(table, roster)
    for student in unknown:
        warn(f"{student} has marks but isn't in {options.roster} and was left out; add a row and export again.")
    return ExitCode.PROBLEMS if table.ungraded or unknown else ExitCode.OK


def _autograder(course: Course, names: list[str], options: argparse.Namespace) -> int:
    from autograder.gradescope.archive import build
    from autograder.gradescope.run import Settings

    if len(names) != 1:
        raise CourseError(
            "Gradescope's autograder is for one section.", "Name it: autograder export gradescope SECTION"
        )
    (section,) = course.select(names)
    to = options.to or Path(f"gradescope_{section}.zip")
    secret = course.configuration.secret
    _write(to, build(course, Settings(section, options.visibility, options.unsafe, secret, options.student_id)))
    if options.json:
        print_json({"section": section, "file": str(to), "visibility": options.visibility, "unsafe": options.unsafe})
    else:
        say(f"The autograder of {section} is in {to}, with solutions and hidden tests: give it to Gradescope alone.")
    return ExitCode.OK


def _write(to: Path, data: bytes) -> None:
    try:
        write_whole(to, data)
    except OSError as error:
        problem = f"{to} can't be written: {error.strerror}."
        raise CourseError(problem, "Check the folder's permissions, or name another file with --to.") from error
