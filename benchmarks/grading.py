"""Measure how many submissions a minute are graded: by stock nbgrader, and sealed with one worker and with two.

    python benchmarks/grading.py              40 submissions of section 2, which imports torch
    python benchmarks/grading.py --many 4     4 of them, to see that everything runs
    python benchmarks/grading.py --write      put the table into benchmarks/README.md too

All ways grade the same right answers in one run. Stock means `nbgrader autograde` as nbgrader ships it: one
submission after the other, in a kernel with all the rights of whoever grades.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import nbformat
import psutil
from run import README, Row, markdown, processor

from autograder.course import REPOSITORY, Course
from autograder.releasing.generate import register
from autograder.releasing.release import release

SECTION = "02_floats"
BEGIN, END = "<!-- grading: begin -->\n", "<!-- grading: end -->\n"


@contextmanager
def course_of(many: int) -> Iterator[Course]:
    """Yield a course folder with so many submissions of the section, collected and not yet graded."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir="/tmp") as name:
        root = Path(name)
        shutil.copytree(REPOSITORY / "notebooks" / SECTION, root / "notebooks" / SECTION)
        course = Course.at(root)
        register(course, SECTION)
        release(course, (SECTION,), root / "release")
        answers = course.master(SECTION)
        for cell in answers.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        for number in range(many):
            student = root / "submitted" / f"student{number:02}" / SECTION
            shutil.copytree(course.source / SECTION, student, ignore=shutil.ignore_patterns("*.md", "*.toml"))
            nbformat.write(answers, student / f"{SECTION}.ipynb")
        yield course


def stock(course: Course) -> list[str]:
    """Return the command of stock nbgrader."""
    command = [sys.executable, "-m", "nbgrader", "autograde", SECTION, "--force"]
    options = {"root": str(course.root), "source_directory": "notebooks", "db_url": f"sqlite:///{course.database}"}
    return [*command, *(f"--CourseDirectory.{name}={value}" for name, value in options.items())]


def sealed(course: Course, workers: int, *more: str) -> list[str]:
    """Return our command."""
    command = [sys.executable, "-m", "autograder", "grade", SECTION, "--force", "--course", str(course.root)]
    return [*command, "--workers", str(workers), *more]


def measure(name: str, command: Sequence[str], course: Course, many: int, workers: int) -> Row:
    """Run a command to its end; return submissions a minute and the peak of memory of a worker in MiB."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "JUPYTER_CONFIG_DIR": str(course.root / "none")}
    peak, done = [0.0], threading.Event()
    started = time.monotonic()
    process = subprocess.Popen(command, cwd=course.root, env=environment, stdout=subprocess.DEVNULL)
    watching = threading.Thread(target=_watch, args=(process.pid, peak, done))
    watching.start()
    code = process.wait()
    seconds = time.monotonic() - started
    done.set()
    watching.join()
    if code:
        raise SystemExit(f"{name} failed: {' '.join(command)}")
    print(f"{name}: {60 * many / seconds:.1f} submissions a minute", file=sys.stderr, flush=True)
    return {
        "way": name, "submissions a minute": 60 * many / seconds, "seconds each": seconds / many,
        "MiB a worker": peak[0] / workers / 2**20,
    }  # fmt: skip


def _watch(root: int, peak: list[float], done: threading.Event) -> None:
    """Keep the largest sum, over the processes below `root`, of memory that each has to itself or its share of."""
    while not done.wait(0.5):
        total = 0
        for process in psutil.Process(root).children(recursive=True) if psutil.pid_exists(root) else ():
            try:
                text = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
            except OSError:
                continue
            found = re.search(r"^Pss:\s+(\d+)", text, re.MULTILINE)
            total += int(found[1]) * 1024 if found else 0
        peak[0] = max(peak[0], total)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Measure how many submissions a minute are graded.")
    parser.add_argument("--many", type=int, default=40, metavar="N", help="grade N submissions (default: 40)")
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/README.md")
    options = parser.parse_args()
    many = max(1, options.many)
    with course_of(many) as course:
        rows = [
            measure("stock nbgrader", stock(course), course, many, 1),
            measure("sealed, 1 worker", sealed(course, 1), course, many, 1),
            measure("sealed, 2 workers", sealed(course, 2), course, many, 2),
            measure("sealed, 2 workers, no fork server", sealed(course, 2, "--no-fork-server"), course, many, 2),
        ]
    for row in rows:
        row["× stock"] = row["submissions a minute"] / rows[0]["submissions a minute"]
    text = f"{processor()}, {os.cpu_count()} cores; {many} submissions of {SECTION}.\n\n{markdown(rows)}"
    print(text)
    if options.write:
        before, _, rest = README.read_text(encoding="utf-8").partition(BEGIN)
        README.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
