"""`autograder codes`: give each student a code, which decides the inputs where an exercise has variants."""

from __future__ import annotations

import argparse
import secrets
from pathlib import Path

from autograder.configuration import CONFIGURATION
from autograder.console import print_json, print_table, say
from autograder.course import Course, check_student_id
from autograder.errors import CourseError, ExitCode


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `codes`."""
    parser.add_argument("students", nargs="*", metavar="ID", help="whose codes (default: all who have handed in)")
    parser.add_argument("--roster", type=Path, metavar="FILE", help="everyone in this roster (see collect)")
    parser.add_argument("--to", type=Path, metavar="FILE", help="write them as CSV: student_id, code")


def run(course: Course, options: argparse.Namespace) -> int:
    """Print the codes, or write them to a file."""
    from autograder.exporting.quoting import to_text
    from autograder.files import write_whole
    from autograder.intake.roster import read_roster
    from autograder.variants import code_of

    secret = course.configuration.secret
    if secret is None:
        raise CourseError(
            f"{course.root / CONFIGURATION} has no secret, so everybody has the default inputs and needs no code.",
            "To have variants, write into it, and never change it again:\n"
            f'[variants]\nsecret = "{secrets.token_hex(16)}"',
        )
    students = [check_student_id(each) for each in options.students]
    if options.roster:
        students += [person.student for person in read_roster(options.roster).people]
    if not students:
        students = [name for section in course.sections for name in course.students(section)]
    codes = {student: code_of(secret, student) for student in sorted(set(students))}
    if not codes:
        raise CourseError("Nobody has handed in yet.", "Name students, or give a --roster.")
    if options.to:
        write_whole(options.to, to_text(("student_id", "code"), codes.items()).encode())
    if options.json:
        print_json(codes)
    elif options.to:
        say(f"{len(codes)} codes are in {options.to}. Give each student the own one.")
    else:
        print_table("Codes", ("student", "code"), codes.items())
        say("Give each student the own one; numfmt.variants.use_code(CODE) keeps it in the student's folder.")
    return ExitCode.OK
