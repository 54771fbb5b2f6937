"""Measure how many submissions a minute are graded: by stock nbgrader, and sealed with one worker and with two.

    python benchmarks/grading.py              40 submissions of section 1, which imports torch
    python benchmarks/grading.py --section 02_floats    of another section
    python benchmarks/grading.py --quick      2 of them, to see that everything runs
    python benchmarks/grading.py --write      put the table into benchmarks/README.md too

All ways grade the same right answers in one run. Stock means `nbgrader autograde` as nbgrader ships it: one
submission after the other, in a kernel with all the rights of whoever grades. Where the time of a sealed submission
goes is found by leaving parts of the notebook out.
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
from functools import partial
from pathlib import Path

import nbformat
import psutil
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader.utils import is_grade
from run import Row, Work, markdown, medians, processor, write_down

from autograder.course import REPOSITORY, Course
from autograder.grading.rebuild import rebuild
from autograder.limits import read_limits
from autograder.releasing.generate import register
from autograder.releasing.release import release
from autograder.sealed.forking import ForkServer
from autograder.sealed.runner import SealedRunner


@contextmanager
def course_of(section: str, many: int) -> Iterator[Course]:
    """Yield a course folder with so many submissions of the section, collected and not yet graded."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir="/tmp") as name:
        root = Path(name)
        shutil.copytree(REPOSITORY / "notebooks" / section, root / "notebooks" / section)
        course = Course.at(root)
        register(course, section)
        release(course, (section,), root / "release")
        answers = course.master(section)
        for cell in answers.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        for number in range(many):
            student = root / "submitted" / f"student{number:02}" / section
            shutil.copytree(course.source / section, student, ignore=shutil.ignore_patterns("*.md", "*.toml"))
            nbformat.write(answers, student / f"{section}.ipynb")
        yield course


def stock(course: Course, section: str) -> list[str]:
    """Return the command of stock nbgrader."""
    command = [sys.executable, "-m", "nbgrader", "autograde", section, "--force"]
    options = {"root": str(course.root), "source_directory": "notebooks", "db_url": f"sqlite:///{course.database}"}
    return [*command, *(f"--CourseDirectory.{name}={value}" for name, value in options.items())]


def sealed(course: Course, section: str, workers: int, *more: str) -> list[str]:
    """Return our command."""
    command = [sys.executable, "-m", "autograder", "grade", section, "--force", "--course", str(course.root)]
    return [*command, "--workers", str(workers), *more]


def measure(name: str, command: Sequence[str], course: Course, many: int, workers: int) -> Row:
    """Run a command to its end; return submissions a minute and the peak of memory of a worker in MiB."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "JUPYTER_CONFIG_DIR": str(course.root / "none")}
    peak, done = [0.0], threading.Event()
    started = time.monotonic()
    process = subprocess.Popen(
        command, cwd=course.root, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    watching = threading.Thread(target=_watch, args=(process.pid, peak, done))
    watching.start()
    complaints = process.communicate()[1]
    seconds = time.monotonic() - started
    done.set()
    watching.join()
    if process.returncode:
        sys.stderr.buffer.write(complaints)
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


def breakdown(course: Course, section: str, whole: float, is_forked: bool) -> Row:
    """Return the seconds that each part of a submission takes, one at a time; `whole` is what all of it takes."""
    folder, limits = course.master_path(section).parent, read_limits(course.master_path(section).parent)
    notebook = rebuild(course.master(section), course.master(section)).notebook
    imports = [new_code_cell(line) for line in sorted(set(_imports(notebook)))]
    own = [cell for cell in notebook.cells if not is_grade(cell)]
    server = ForkServer() if is_forked else None
    runner = SealedRunner(folder, server=server)
    works: dict[str, Work | None] = {
        name: partial(runner, notebook.copy() | {"cells": cells}, limits)
        for name, cells in {"kernel": [], "imports": imports, "student's cells": own, "tests": notebook.cells}.items()
    }
    upto = [*medians(works, 3).values(), whole]
    if server:
        server.close()
    names = [*works, "database, files and start-up"]
    return {
        "seconds each": "forked" if is_forked else "started",
        **{name: after - before for name, before, after in zip(names, [0.0, *upto], upto, strict=False)},
    }


def _imports(notebook: NotebookNode) -> Iterator[str]:
    for cell in notebook.cells:
        if cell.cell_type == "code" and not is_grade(cell):
            yield from re.findall(r"^(?:import|from) .*[^(]$", cell.source, re.MULTILINE)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Measure how many submissions a minute are graded.")
    parser.add_argument("--many", type=int, default=40, metavar="N", help="grade N submissions (default: 40)")
    parser.add_argument("--quick", action="store_true", help="grade two, to see that everything runs")
    parser.add_argument("--section", default="01_integers", metavar="NAME", help="of which section")
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/README.md")
    options = parser.parse_args()
    many, section = 2 if options.quick else max(1, options.many), options.section
    with course_of(section, many) as course:
        rows = [
            measure("stock nbgrader", stock(course, section), course, many, 1),
            measure("sealed, 1 worker", sealed(course, section, 1), course, many, 1),
            measure("sealed, 2 workers", sealed(course, section, 2), course, many, 2),
            measure("sealed, 1 worker, started", sealed(course, section, 1, "--no-fork-server"), course, many, 1),
        ]
        parts = [breakdown(course, section, rows[n]["seconds each"], n == 1) for n in (1, 3)]
    for row in rows:
        row["× stock"] = row["submissions a minute"] / rows[0]["submissions a minute"]
    head = f"{processor()}, {os.cpu_count()} cores; {many} submissions of {section}."
    text = f"{head}\n\n{markdown(rows)}\n{markdown(parts)}"
    print(text)
    if options.write:
        write_down("grading", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
