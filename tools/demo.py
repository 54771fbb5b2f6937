"""The instructor's whole loop on sample submissions: release, collect, grade, feedback, export (`make demo`).

python -m tools.demo [SECTION...]    the samples of these sections (default: the first)
"""

from __future__ import annotations

import argparse
import csv
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.console import print_table, say
from autograder.course import Course
from autograder.errors import CourseError
from autograder.proof.catalogue import read_catalogue
from tests.samples import make_samples

ROOT = Path(__file__).resolve().parent.parent
COURSE = ROOT / "build" / "demo"
PROBLEMS = 1
"""The exit code of a step that finished and reported problems; the samples hold bad submissions on purpose."""


def commands(course: Path, sections: Sequence[str]) -> list[list[str]]:
    """Return the steps' arguments for Python, in order, on the course folder `course`."""
    autograder = ["-m", "autograder"]
    return [
        [*autograder, "release", "--to", str(course / "release"), "--course", str(course)],
        ["-m", "tests.samples", str(course / "inbox"), *(word for name in sections for word in ("--section", name))],
        [*autograder, "collect", str(course / "inbox"), "--course", str(course)],
        [*autograder, "grade", *sections, "--course", str(course)],
        [*autograder, "feedback", *sections, "--course", str(course)],
        [*autograder, "export", "csv", "--course", str(course), "--to", str(course / "grades.csv")],
    ]


def tolerated(command: Sequence[str]) -> set[int]:
    """Return the exit codes after which the demo goes on: making and releasing must work, the rest may report."""
    return {0, PROBLEMS} if command[1] == "autograder" and command[2] != "release" else {0}


def run_all(steps: Sequence[Sequence[str]], run: Callable[[Sequence[str]], int]) -> int:
    """Run the steps until one ends with a code that isn't tolerated; return that code, or 0."""
    for step in steps:
        print(f"\n$ {shorten(step)}", flush=True)
        code = run(step)
        if code not in tolerated(step):
            print(f"The demo stopped: `{shorten(step)}` ended with exit code {code}.", file=sys.stderr)
            return code
    return 0


def shorten(step: Sequence[str]) -> str:
    """Return a step as a person would type it in the project folder."""
    words = [word.removeprefix(f"{ROOT}/") for word in step]
    return " ".join(["autograder", *words[2:]] if words[1] == "autograder" else ["python", *words])


@dataclass(frozen=True)
class Mark:
    """A sample's marks: those in the exported grades (None without), and those that it must get."""

    student: str
    section: str
    score: float | None
    expected: float
    max_score: float

    @property
    def is_right(self) -> bool:
        """Whether the sample got what it must get."""
        return self.score == self.expected


def marks(course: Course, sections: Sequence[str], grades: Path) -> tuple[Mark, ...]:
    """Return the marks of the samples of these sections, by section and student, from the exported grades."""
    with grades.open(newline="", encoding="utf-8") as file:
        scores = {(row["student_id"], row["section"]): float(row["score"]) for row in csv.DictReader(file)}
    return tuple(
        Mark(student, section, scores.get((student, section)), sample.expected.score, sample.expected.max_score)
        for section in sections
        for student, sample in sorted(
            make_samples(section, course.master(section), read_catalogue(course.catalogue_path(section))).items()
        )
    )


def report(course: Course, found: Sequence[Mark]) -> int:
    """Print the grades beside the expected ones and where the feedback is; 1 if a grade isn't what it must be."""
    rows = [
        (
            each.student,
            each.section,
            "–" if each.score is None else f"{each.score:g}",
            f"{each.expected:g}",
            f"{each.max_score:g}",
            course.feedback(each.student, each.section).relative_to(course.root),
        )
        for each in found
    ]
    print_table("Grades of the samples", ("student", "section", "#score", "#expected", "#of", "feedback page"), rows)
    wrong = [each.student for each in found if not each.is_right]
    verdict = f"NOT as expected: {', '.join(wrong)}" if wrong else "each as expected"
    say(f"{len(found)} samples graded, {verdict}. The feedback pages are in {course.root / 'feedback'}.")
    lab = ROOT / ".venv/bin/jupyter"
    say(f"In nbgrader's formgrader: `cd {course.root}`, `{lab} lab`, then Formgrader in the menu Nbgrader.")
    return PROBLEMS if wrong else 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo from an empty course folder."""
    parser = argparse.ArgumentParser(prog="python -m tools.demo", description="Go through the instructor's loop.")
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="sections (default: the first)")
    options = parser.parse_args(argv)
    shutil.rmtree(COURSE, ignore_errors=True)
    COURSE.mkdir(parents=True)
    shutil.copy(ROOT / "nbgrader_config.py", COURSE)  # so that formgrader opens there
    course = Course.at(COURSE)
    try:
        sections = course.select(options.sections or course.sections[:1])
    except CourseError as error:
        parser.error(str(error))
    steps = commands(COURSE, sections)
    code = run_all(steps, lambda step: subprocess.run([sys.executable, *step], cwd=ROOT).returncode)
    return code or report(course, marks(course, sections, COURSE / "grades.csv"))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("The demo was interrupted; `make demo` starts it anew.")
