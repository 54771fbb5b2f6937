"""`autograder doctor`: say what isolation this machine has, part by part, and what keeps it from grading safely."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from importlib.metadata import version

from autograder.console import print_json, print_table, say
from autograder.course import Course
from autograder.errors import ExitCode
from autograder.limits import LIMITS, read_limits, size


def configure(parser: argparse.ArgumentParser) -> None:
    """`doctor` has no arguments of its own."""


def run(course: Course, options: argparse.Namespace) -> int:
    """Try what isolates student code, and tell; also what a submission of each section may use."""
    from autograder.sealed.diagnosis import obstacle, parts

    problem = obstacle()
    limits = {section: read_limits(course.master_path(section).parent) for section in course.sections}
    if options.json:
        print_json(
            {
                "isolation": problem is None,
                "problem": problem,
                "parts": [asdict(part) for part in parts()],
                "limits": {section: each.to_json() for section, each in limits.items()},
                "nbgrader": version("nbgrader"),
            }
        )
        return ExitCode.OK if problem is None else ExitCode.PROBLEMS
    rows = [("✓" if part.is_there else "✗", part.name, part.finding) for part in parts()]
    print_table("Isolation", ("", "part", "what was found"), rows)
    print_table(
        "Limits",
        ("section", "#s a cell", "#s a notebook", "#output a cell", "#memory", "#processes", "#a file", "#all files"),
        (
            (
                section, f"{each.cell_seconds:g}", f"{each.notebook_seconds:g}", size(each.output_bytes),
                size(each.memory_bytes), each.processes, size(each.file_bytes),
                f"{size(each.disk_bytes)} in {each.files:,}",
            )
            for section, each in limits.items()
        ),
    )  # fmt: skip
    if problem is None:
        say(f"Student code can be isolated here. nbgrader is {version('nbgrader')}.")
        say(f"A section's {LIMITS} sets other limits.")
        return ExitCode.OK
    say(f"Student code can't be isolated here. {problem}.")
    say("Until then `autograder grade` refuses, unless you say --unsafe.")
    return ExitCode.PROBLEMS
