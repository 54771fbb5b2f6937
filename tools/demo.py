"""The instructor's whole loop on sample submissions: release, collect, grade, feedback, export (`make demo`)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COURSE = ROOT / "build" / "demo"
PROBLEMS = 1
"""The exit code of a step that finished and reported problems; the samples hold bad submissions on purpose."""


def commands(course: Path) -> list[list[str]]:
    """Return the steps' arguments for Python, in order, on the course folder `course`."""
    autograder = ["-m", "autograder"]
    return [
        [*autograder, "release", "--to", str(course / "release"), "--course", str(course)],
        ["-m", "tests.samples", str(course / "inbox")],
        [*autograder, "collect", str(course / "inbox"), "--course", str(course)],
        [*autograder, "grade", "--course", str(course)],
        [*autograder, "feedback", "--course", str(course)],
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


def main() -> int:
    """Run the demo from an empty course folder."""
    shutil.rmtree(COURSE, ignore_errors=True)
    COURSE.mkdir(parents=True)
    return run_all(commands(COURSE), lambda step: subprocess.run([sys.executable, *step], cwd=ROOT).returncode)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("The demo was interrupted; `make demo` starts it anew.")
