"""`autograder similarity`: show which submissions of a section are alike."""

from __future__ import annotations

import argparse
from pathlib import Path

from autograder.console import print_json, print_table, say, warn
from autograder.course import Course
from autograder.errors import CourseError, ExitCode
from autograder.files import write_whole


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `similarity`."""
    parser.add_argument("section", metavar="SECTION", help="the section whose submissions are compared")
    parser.add_argument(
        "--threshold",
        type=_share,
        default=0.6,
        metavar="T",
        help="report pairs that are at least so alike, from 0 to 1 (default: 0.6)",
    )
    parser.add_argument("--to", type=Path, metavar="FILE", help="the page (default: similarity/SECTION.html)")


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} isn't a number from 0 to 1")
    return value


def run(course: Course, options: argparse.Namespace) -> int:
    """Compare the submissions, write the page and list the pairs."""
    (section,) = course.select([options.section])

    from autograder.similarity.page import make_page
    from autograder.similarity.submissions import compare_section

    found = compare_section(course, section, options.threshold)
    to = options.to or course.root / "similarity" / f"{section}.html"
    try:
        write_whole(to, make_page(section, options.threshold, found).encode("utf-8", "replace"))
    except OSError as failure:
        problem = f"{to} can't be written: {failure.strerror}."
        raise CourseError(problem, "Check the folder's permissions, or name another file with --to.") from failure
    students = [each.student for each in found.submissions]
    pairs = [(students[pair.first], students[pair.second], pair) for pair in found.pairs]
    if options.json:
        print_json(
            {
                "section": section,
                "threshold": options.threshold,
                "compared": len(students),
                "pairs": [
                    {"students": [a, b], "similarity": round(pair.similarity, 3), "shared_passages": pair.shared}
                    for a, b, pair in pairs
                ],
                "problems": [{"problem": error.problem, "cure": error.cure} for error in found.unreadable],
                "page": str(to),
            }
        )
    else:
        rows = ((a, b, f"{pair.similarity:.0%}", pair.shared) for a, b, pair in pairs)
        print_table(f"Alike in {section}", ("student", "and", "#alike", "#shared passages"), rows)
        say(f"{len(students)} submissions compared. Side by side, for you to judge: {to}")
    for error in found.unreadable:
        warn(error)
    return ExitCode.PROBLEMS if found.unreadable else ExitCode.OK
