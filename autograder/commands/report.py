"""`autograder report`: show how the class did."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from autograder.console import print_json, print_table, say
from autograder.course import Course
from autograder.errors import CourseError, ExitCode
from autograder.files import write_whole

if TYPE_CHECKING:
    from autograder.reporting.results import SectionResults


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `report`."""
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="sections to report on (default: all)")
    parser.add_argument("--to", type=Path, metavar="FILE", help="the page (default: report/class.html)")


def run(course: Course, options: argparse.Namespace) -> int:
    """Write the page, and list the sections."""
    sections = course.select(options.sections)

    from autograder.reporting.page import make_page
    from autograder.reporting.results import read_results

    results = tuple(read_results(course, sections))
    to = options.to or course.root / "report" / "class.html"
    try:
        write_whole(to, make_page(results).encode("utf-8", "replace"))
    except OSError as failure:
        problem = f"{to} can't be written: {failure.strerror}."
        raise CourseError(problem, "Check the folder's permissions, or name another file with --to.") from failure
    if options.json:
        print_json({"sections": [_as_json(each) for each in results], "page": str(to)})
    else:
        columns = ("section", "#students", "#median", "#of", "hardest exercise", "most frequent mistake")
        print_table("The class", columns, map(_row, results))
        say(f"Distributions, exercises and misconceptions: {to}")
    return ExitCode.OK


def _row(results: SectionResults) -> tuple[Any, ...]:
    hardest = results.hardest[0] if results.states else "–"
    first = results.misconceptions[0] if results.misconceptions else None
    mistake = f"{first.exercise}: {first.name} ({first.students})" if first else "–"
    middle = f"{median(results.scores):g}"
    return (results.section, len(results.scores), middle, f"{results.max_score:g}", hardest, mistake)


def _as_json(results: SectionResults) -> dict[str, Any]:
    return {
        "section": results.section,
        "max_score": results.max_score,
        "scores": sorted(results.scores),
        "exercises": {name: dict(states) for name, states in results.states.items()},
        "misconceptions": [asdict(each) for each in results.misconceptions],
        "unnamed": dict(results.unnamed),
    }
