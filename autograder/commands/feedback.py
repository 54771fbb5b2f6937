"""`autograder feedback`: write a feedback page for each graded submission."""

from __future__ import annotations

import argparse

from autograder.console import print_json, print_table, say, track, warn
from autograder.course import Course
from autograder.errors import CourseError, ExitCode


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `feedback`."""
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="sections to write about (default: all)")
    parser.add_argument(
        "--student", action="append", default=[], metavar="ID", help="only this student (may be given several times)"
    )


def run(course: Course, options: argparse.Namespace) -> int:
    """Write the pages; one that fails doesn't stop the others."""
    from autograder.feedback import graded, write_feedback

    sections = course.select(options.sections)
    wanted = [(section, student) for section in sections for student in graded(course, section)]
    if not wanted:
        raise CourseError(f"Nothing has been graded in {course.root}.", "Run `autograder grade` first.")
    known = {student for _, student in wanted}
    for student in options.student:
        if student not in known:
            graded_ones = ", ".join(sorted(known)[:20])
            raise CourseError(f"Nothing of '{student}' has been graded.", f"Graded are: {graded_ones}.")
    if options.student:
        wanted = [each for each in wanted if each[1] in options.student]
    pages, problems = [], []
    for section, student in track(wanted, len(wanted), "feedback"):
        try:
            pages.append((student, section, write_feedback(course, section, student)))
        except CourseError as error:
            problems.append({"student": student, "section": section, "problem": error.problem, "cure": error.cure})
            warn(error)
    if options.json:
        written = [{"student": student, "section": section, "page": str(page)} for student, section, page in pages]
        print_json({"pages": written, "problems": problems})
    else:
        rows = [(student, section, page.relative_to(course.root)) for student, section, page in pages]
        print_table("Feedback", ("student", "section", "page"), rows)
        say(f"{len(pages)} pages in {course.root / 'feedback'}")
    return ExitCode.PROBLEMS if problems else ExitCode.OK
