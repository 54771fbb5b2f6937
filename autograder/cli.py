"""The command line: one parser, one module per command in `autograder.commands`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from autograder.console import warn
from autograder.course import Course
from autograder.errors import CourseError, ExitCode

COMMANDS = {
    "release": "build the student bundle and register the sections in the gradebook",
    "codes": "give each student a code for inputs of one's own, where exercises have variants",
    "collect": "take in submissions from a folder or a zip file",
    "grade": "run the submissions and write the gradebook",
    "feedback": "write a feedback page for each graded submission",
    "export": "write the grades as a file for other systems",
    "log": "show every change of a mark, from the oldest on",
    "report": "show how the class did: scores, hard exercises, frequent mistakes",
    "similarity": "show which submissions of a section are alike, for people to judge",
    "doctor": "say whether student code can be isolated on this machine",
    "verify": "prove every exercise: solution, stub and named wrong answers",
}


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="autograder",
        description="Release, collect, grade and prove the course's notebooks.",
        epilog="Exit codes: 0 all well, 1 finished with problems (the report names them), "
        "2 wrong call or course folder, 130 interrupted. Every command takes --help.",
    )
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command = subparsers.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        command.add_argument(
            "--course", type=Path, default=Path(), metavar="DIR", help="course folder (default: this folder)"
        )
        command.add_argument("--json", action="store_true", help="print one JSON document instead of text")
        # Each command module imports what it needs, so `autograder --help` stays quick.
        import_module(f"autograder.commands.{name}").configure(command)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = build_parser().parse_args(argv)
    run = import_module(f"autograder.commands.{options.command}").run
    try:
        return int(run(Course.at(options.course), options))
    except CourseError as error:
        warn(error)
        return ExitCode.USAGE
    except KeyboardInterrupt:
        warn("Interrupted; what was finished before is kept.")
        return ExitCode.INTERRUPTED
