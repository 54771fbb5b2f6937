"""Grade a large class: 600 submissions of section 1 with known marks, the grader killed three times in between.

    python benchmarks/load.py                 the whole class, ten minutes or more
    python benchmarks/load.py --many 20       fewer
    python benchmarks/load.py --write         put the result into benchmarks/README.md too

Each student answers each exercise right, or leaves it out, or makes one of the mistakes that the catalogue names; so
the marks are known before anything is graded. The grader is killed with SIGKILL at random moments and started again.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import psutil
from run import markdown, processor, write_down

from autograder.course import REPOSITORY, Course, read_notebook
from autograder.gradebook.database import open_gradebook
from autograder.gradebook.marks import record
from autograder.grading.machine import Machine
from autograder.limits import read_limits
from autograder.proof.catalogue import read_catalogue
from autograder.proof.exercises import find_exercises
from autograder.sealed.forking import ForkServer
from tests.samples import released, right_answers

SECTION = "01_integers"
KILLS = 3


def hand_in(course: Course, many: int, chance: random.Random) -> dict[str, float]:
    """Write the submissions of so many students; return the marks that each must get."""
    master = course.master(SECTION)
    exercises, right = find_exercises(master), right_answers(master)
    catalogue, stubs = read_catalogue(course.catalogue_path(SECTION)), released(master)
    expected = {}
    for number in range(many):
        student, notebook = f"s{number:03}", nbformat.from_dict(json.loads(json.dumps(stubs)))
        expected[student] = 0.0
        for exercise in exercises:
            luck = chance.random()
            if luck < 0.7:
                notebook.cells[exercise.solution_index].source = right[exercise.grade_id]
                expected[student] += exercise.points
            elif luck < 0.95:
                wrong = chance.choice(catalogue[exercise.grade_id].wrong)
                notebook.cells[exercise.solution_index].source = wrong.answer
        path = course.submitted(student, SECTION)
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)
    return expected


@dataclass
class Watched:
    """What was seen of the grader: its memory in MiB over time, and how much each run got done."""

    memory: list[float] = field(default_factory=list)
    done: list[int] = field(default_factory=list)
    seconds: float = 0.0


def grade(course: Course, many: int, workers: int, chance: random.Random) -> Watched:
    """Run the grader to its end, in spite of the kills."""
    command = [sys.executable, "-m", "autograder", "grade", SECTION, "--course", str(course.root), "--json"]
    command += ["--workers", str(workers)]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    goals = sorted(chance.uniform(0.1, 0.9) * many for _ in range(KILLS))
    watched, started = Watched(), time.monotonic()
    for goal in (*goals, None):
        with tempfile.TemporaryFile() as complaints:
            grader = subprocess.Popen(
                command, env=environment, cwd=course.root, stdout=subprocess.DEVNULL, stderr=complaints
            )
            while grader.poll() is None:
                with contextlib.suppress(psutil.Error):
                    watched.memory.append(psutil.Process(grader.pid).memory_info().rss / 2**20)
                if goal is not None and _done(course) >= goal:
                    grader.send_signal(signal.SIGKILL)
                time.sleep(0.5)
            if goal is None and grader.returncode:
                complaints.seek(0)
                raise SystemExit(complaints.read().decode())
        watched.done.append(_done(course))
        print(f"{watched.done[-1]} of {many} are graded", file=sys.stderr, flush=True)
    watched.seconds = time.monotonic() - started
    return watched


def _done(course: Course) -> int:
    return len(list((course.root / "autograded").glob(f"*/{SECTION}/*.ipynb")))


def marks(course: Course) -> dict[str, float]:
    """Return the marks that the export says."""
    command = [sys.executable, "-m", "autograder", "export", "csv", SECTION, "--course", str(course.root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=REPOSITORY)
    return {row["student_id"]: float(row["score"]) for row in csv.DictReader(io.StringIO(done.stdout))}


def seconds_to_record(course: Course, students: Mapping[str, float]) -> float:
    """Return the seconds that writing the marks and the files of a graded submission takes."""
    folder = course.master_path(SECTION).parent
    server = ForkServer()
    with contextlib.closing(server), open_gradebook(course) as gradebook:
        place = Machine(course, server=server)
        student = next(iter(students))
        result = place.grade(SECTION, course.submitted(student, SECTION), read_limits(folder))
        stamp = read_notebook(course.autograded(student, SECTION)).metadata["autograder"]
        started = time.perf_counter()
        for _ in range(20):
            record(course, gradebook, SECTION, student, result, stamp)
        return (time.perf_counter() - started) / 20


@contextlib.contextmanager
def course_folder() -> Iterator[Course]:
    """Yield a course folder of its own, with the one section."""
    with tempfile.TemporaryDirectory(prefix="load-", dir="/tmp") as name:
        shutil.copytree(REPOSITORY / "notebooks" / SECTION, Path(name, "notebooks", SECTION))
        yield Course.at(name)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Grade a large class with known marks, killed three times.")
    parser.add_argument("--many", type=int, default=600, metavar="N", help="students (default: 600)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="default: all cores")
    parser.add_argument("--seed", type=int, default=0, help="of mistakes and kills (default: 0)")
    parser.add_argument("--write", action="store_true", help="put the result into benchmarks/README.md")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with course_folder() as course:
        expected = hand_in(course, options.many, chance)
        watched = grade(course, options.many, options.workers, chance)
        found = marks(course)
        database = seconds_to_record(course, expected)
    wrong = sorted(student for student in expected if found.get(student) != expected[student])
    each = watched.seconds / options.many
    quarter = max(1, len(watched.memory) // 4)
    rows = [
        {
            "submissions": options.many, "as known": len(expected) - len(wrong), "a minute": 60 / each,
            "seconds each": each, "of them writing marks": database,
            "grader's MiB, 2nd quarter": max(watched.memory[quarter : 2 * quarter]),
            "last quarter": max(watched.memory[-quarter:]),
        }
    ]  # fmt: skip
    killed = ", ".join(map(str, watched.done[:-1]))
    head = f"{processor()}, {os.cpu_count()} cores, {options.workers} workers"
    text = f"{head}; killed when {killed} submissions were done.\n\n{markdown(rows)}"
    print(text)
    if options.write:
        write_down("load", text)
    for student in wrong:
        print(f"{student} got {found.get(student)}, not {expected[student]}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
