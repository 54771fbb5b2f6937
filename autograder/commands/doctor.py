"""`autograder doctor`: say what keeps this machine from grading safely."""

from __future__ import annotations

import argparse
from importlib.metadata import version

from autograder.console import print_json, say
from autograder.course import Course
from autograder.errors import ExitCode


def configure(parser: argparse.ArgumentParser) -> None:
    """`doctor` has no arguments of its own."""


def run(course: Course, options: argparse.Namespace) -> int:
    """Try what isolates student code, and tell."""
    from autograder.sealed.isolation import Walls, find_bwrap, obstacle

    problem, walls = obstacle(), Walls()
    if options.json:
        print_json({"isolation": problem is None, "problem": problem, "bwrap": find_bwrap()})
    elif problem is None:
        say(f"Student code can be isolated: {find_bwrap()} works, and nbgrader is {version('nbgrader')}.")
        say(
            "Its process has no network, sees no other process and no file but Python's and its own, has no "
            f"capabilities, at most {walls.processes} processes and files of {walls.file_bytes // 2**20} MiB."
        )
    else:
        say(f"Student code can't be isolated here. {problem}.")
        say("Until then `autograder grade` refuses, unless you say --unsafe.")
    return ExitCode.OK if problem is None else ExitCode.PROBLEMS
