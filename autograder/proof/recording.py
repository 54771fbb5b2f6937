"""What the visible checks see: the outcomes of the reference solutions and of each named wrong answer.

Run as `python -m autograder.proof.recording SECTION_FOLDER < MASTER.ipynb` in a process of its own: it executes
the master's cells (trusted code) in that folder, as a student's kernel would, and prints the outcomes as JSON.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
from nbformat import NotebookNode

from autograder.course import CATALOGUE, parse_notebook
from autograder.errors import CourseError
from autograder.proof.catalogue import read_catalogue
from autograder.proof.exercises import Exercise, find_exercises, split_tests

Outcomes = dict[str, list[Any]]
"""{"": cases of the reference, NAME: cases of the wrong answer NAME}; a case is [label, outcome]."""

Recorded = dict[str, list[Outcomes]]
"""From grade_id to the outcomes with each of the exercise's variants (see `numfmt.variants`), the default first."""


def record(folder: Path, master: NotebookNode) -> Recorded:
    """Record the outcomes of a master's checks in a separate process that runs in the section's `folder`."""
    environment = os.environ | {"MPLBACKEND": "Agg"}
    command = [sys.executable, "-m", "autograder.proof.recording", str(folder)]
    source = nbformat.writes(master)
    done = subprocess.run(command, cwd=folder, env=environment, input=source, capture_output=True, text=True)
    if done.returncode:
        problem = done.stderr.strip().splitlines()
        raise CourseError(
            f"The checks of {folder.name} can't be recorded: {problem[-1] if problem else 'no message'}",
            "Run the cell's code by hand to see all of it.",
        )
    recorded: Recorded = json.loads(done.stdout)
    return recorded


def _record_here(folder: Path, master: NotebookNode) -> Recorded:
    recorded, counts = _with_choice(folder, master, 0)
    strange = sorted(counts.keys() - recorded.keys())
    if strange:
        raise ValueError(f"variant({strange[0]!r}, …) names no exercise; the exercises are: {', '.join(recorded)}")
    found = {grade_id: [outcomes] for grade_id, outcomes in recorded.items()}
    for choice in range(1, max(counts.values(), default=1)):
        again, _ = _with_choice(folder, master, choice)
        for grade_id, count in counts.items():
            if choice < count:
                found[grade_id].append(again[grade_id])
    return found


def _with_choice(folder: Path, master: NotebookNode, choice: int) -> tuple[dict[str, Outcomes], dict[str, int]]:
    """Return the outcomes of each exercise if it has this of its inputs, and how many inputs it has."""
    from numfmt import variants

    counts: dict[str, int] = {}

    def index_of(exercise: str, count: int) -> int:
        if counts.setdefault(exercise, count) != count:
            raise ValueError(
                f"variant({exercise!r}, …) has {counts[exercise]} inputs in one cell, {count} in another"
            )
        return min(choice, count - 1)

    with mock.patch.object(variants, "index_of", index_of):
        return _outcomes_of_all(folder, master), counts


def _outcomes_of_all(folder: Path, master: NotebookNode) -> dict[str, Outcomes]:
    catalogue = read_catalogue(folder / CATALOGUE)
    exercises = find_exercises(master)
    by_solution = {each.solution_index: each for each in exercises}
    by_tests = {each.tests_index: each for each in exercises}
    namespace: dict[str, Any] = {"__name__": "__main__"}
    before: dict[str, dict[str, Any]] = {}
    recorded: dict[str, Outcomes] = {}
    for index, cell in enumerate(master.cells):
        if cell.cell_type != "code":
            continue
        if index in by_tests:
            exercise = by_tests[index]
            entry = catalogue.get(exercise.grade_id)
            wrong = {each.name: each.answer for each in entry.wrong} if entry else {}
            outcomes = {"": _outcomes(exercise, cell, namespace, "")}
            for name, answer in wrong.items():
                outcomes[name] = _outcomes(exercise, cell, before[exercise.grade_id], answer)
            recorded[exercise.grade_id] = outcomes
            continue
        if index in by_solution:
            before[by_solution[index].grade_id] = dict(namespace)
        exec(compile(cell.source, f"<cell {index}>", "exec"), namespace)
    return recorded


def _outcomes(exercise: Exercise, tests: NotebookNode, namespace: dict[str, Any], answer: str) -> list[Any]:
    from numfmt import checks

    seen: list[list[Any]] = []

    def recorder(name: str, answer: object, *, inputs: Any = None) -> None:
        if name != exercise.grade_id:
            raise ValueError(f"the test cell '{exercise.grade_id}' checks '{name}': the two names must agree")
        seen.append([[case.label, case.outcome] for case in checks.cases(name, answer, inputs)])

    scratch = dict(namespace)
    exec(compile(answer, f"<answer to {exercise.grade_id}>", "exec"), scratch)
    visible, _ = split_tests(tests.source)
    with mock.patch.object(checks, "check", recorder):
        exec(compile(visible, f"<tests {exercise.grade_id}>", "exec"), scratch)
    if len(seen) != 1:
        raise ValueError(f"the visible part of '{exercise.grade_id}' must call check once, not {len(seen)} times")
    return seen[0]


def main() -> int:
    """Print the outcomes of the section in the folder named on the command line."""
    folder = Path(sys.argv[1]).resolve()
    chatter = io.StringIO()
    with contextlib.redirect_stdout(chatter):
        recorded = _record_here(folder, parse_notebook(sys.stdin.read()))
    json.dump(recorded, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
