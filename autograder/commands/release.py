"""`autograder release`: build the student bundle and register the sections in the gradebook."""

from __future__ import annotations

import argparse
from pathlib import Path

from autograder.console import print_json, say, warn
from autograder.course import Course
from autograder.errors import ExitCode


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `release`."""
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="what the bundle is to hold (default: all)")
    parser.add_argument(
        "--to", type=Path, metavar="DIR", help="folder of the bundle (default: release/ in the course folder)"
    )
    parser.add_argument("--force", action="store_true", help="replace files of the bundle that were changed since")


def run(course: Course, options: argparse.Namespace) -> int:
    """Release, and say where the bundle is, or which answers leak from it."""
    # nbgrader takes a second to import, which no other command and no --help should wait for.
    from autograder.releasing.release import release

    bundle = options.to.resolve() if options.to else course.root / "release"
    result = release(course, course.select(options.sections), bundle, force=options.force)
    for leak in result.leaks:
        warn(str(leak))
    if result.leaks:
        warn(f"Refused because of the leaks above ({len(result.leaks)}); {bundle} was left as it was.")
    if options.json:
        print_json(result.to_json())
    elif not result.leaks:
        say(f"{bundle}: {result.files} files; sections: {', '.join(result.sections)}. No answer leaks from it.")
    return ExitCode.PROBLEMS if result.leaks else ExitCode.OK
