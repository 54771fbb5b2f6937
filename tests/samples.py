"""Sample submissions of any section, good and bad, with the marks that each must get.

`python -m tests.samples FOLDER` writes them for every section: an inbox for `autograder collect`.
"""

from __future__ import annotations

import argparse
import copy
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from zipfile import ZipFile

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests, ClearOutput, ClearSolutions, ComputeChecksums, LockCells

from autograder.console import print_table, say, warn
from autograder.course import Course
from autograder.errors import CourseError, ExitCode
from autograder.proof.catalogue import Entry, read_catalogue
from autograder.proof.exercises import Exercise, find_exercises
from autograder.regions import MARKERS
from autograder.settings import nbgrader_settings

Edit = Callable[[int, NotebookNode], Iterable[NotebookNode]]


@dataclass(frozen=True)
class Expected:
    """The marks that a sample must get: points and attainable points of each test cell by grade_id."""

    points: Mapping[str, float]
    max_points: Mapping[str, float]

    @property
    def score(self) -> float:
        return sum(self.points.values())

    @property
    def max_score(self) -> float:
        return sum(self.max_points.values())


@dataclass(frozen=True)
class Sample:
    """A submission, the name of its file without .ipynb, and its marks."""

    notebook: NotebookNode
    stem: str
    expected: Expected


def released(master: NotebookNode) -> NotebookNode:
    """Return what students get: solutions, hidden tests and outputs taken out by nbgrader's own steps."""
    notebook = copy.deepcopy(master)
    settings = nbgrader_settings()
    for step in (ClearSolutions, LockCells, ClearOutput, ClearHiddenTests, ComputeChecksums):
        notebook, _ = step(config=settings).preprocess(notebook, {})
    return notebook


def right_answers(master: NotebookNode) -> dict[str, str]:
    """Return the solution of each exercise by grade_id, without the markers around it."""
    return {
        exercise.grade_id: "\n".join(
            line
            for line in master.cells[exercise.solution_index].source.splitlines()
            if not any(marker in line for marker in MARKERS)
        )
        for exercise in find_exercises(master)
    }


def make_samples(section: str, master: NotebookNode, catalogue: Mapping[str, Entry]) -> dict[str, Sample]:
    """Return the samples that can be graded, by the name of their student."""
    exercises = find_exercises(master)
    names = [exercise.grade_id for exercise in exercises]
    right = right_answers(master)

    def answered(answers: Mapping[str, str]) -> NotebookNode:
        notebook = released(master)
        for exercise in exercises:
            if exercise.grade_id in answers:
                notebook.cells[exercise.solution_index].source = answers[exercise.grade_id]
        return notebook

    def sample(notebook: NotebookNode, earned: Iterable[str], stem: str = section) -> Sample:
        most = {exercise.grade_id: exercise.points for exercise in exercises}
        nbformat.validate(notebook)
        return Sample(notebook, stem, Expected({name: most[name] * (name in earned) for name in most}, most))

    half = names[: (len(names) + 1) // 2]
    samples = {
        "complete": sample(answered(right), names),
        "half_done": sample(answered({name: right[name] for name in half}), half),
        "untouched": sample(released(master), []),
        "renamed_file": sample(answered(right), names, "my homework, final version (2)"),
        "cells_deleted": sample(edit(answered(right), _delete(exercises, master)), names[:-1]),
        "cells_duplicated": sample(edit(answered(right), _duplicate(exercises, released(master))), names),
    }
    wrong_ones = list(wrong_answers(catalogue))
    for k, wrong in enumerate(wrong_ones, 1):
        samples[f"wrong_{k:0{len(str(len(wrong_ones)))}}"] = sample(
            answered(right | wrong), [name for name in names if name not in wrong]
        )
    return samples


def wrong_answers(catalogue: Mapping[str, Entry]) -> Iterator[dict[str, str]]:
    """Yield the first named wrong answer of every exercise, then the second of every one that has two, ..."""
    for k in range(max((len(entry.wrong) for entry in catalogue.values()), default=0)):
        yield {name: entry.wrong[k].answer for name, entry in catalogue.items() if k < len(entry.wrong)}


def edit(notebook: NotebookNode, change: Edit) -> NotebookNode:
    """Replace each cell by those that `change` gives for it and its place."""
    notebook.cells = [new for index, cell in enumerate(notebook.cells) for new in change(index, cell)]
    return notebook


def _delete(exercises: Sequence[Exercise], master: NotebookNode) -> Edit:
    """Delete every other test cell, the first text, and the last exercise altogether."""
    text = next(index for index, cell in enumerate(master.cells) if cell.cell_type == "markdown")
    last = exercises[-1]
    gone = {each.tests_index for each in exercises[::2]} | {text, last.solution_index, last.tests_index}
    return lambda index, cell: () if index in gone else (cell,)


def _duplicate(exercises: Sequence[Exercise], stubs: NotebookNode) -> Edit:
    """Duplicate cells as editors do: in turn the answer, the answer as plain code, the stub above, and the tests."""
    numbers = count(1)
    turn = {each.solution_index: number % 4 for number, each in enumerate(exercises)}
    tests = {each.tests_index for number, each in enumerate(exercises) if number % 2}

    def copied(cell: NotebookNode) -> NotebookNode:
        twin = copy.deepcopy(cell)
        twin["id"] = f"copy-{next(numbers)}"
        return twin

    def change(index: int, cell: NotebookNode) -> Iterator[NotebookNode]:
        if turn.get(index) == 2:
            yield copied(stubs.cells[index])
        yield cell
        if turn.get(index) in (0, 3) or index in tests:
            yield copied(cell)
        elif turn.get(index) == 1:
            plain = copied(cell)
            plain.metadata = NotebookNode()
            yield plain

    return change


def write_samples(course: Course, section: str, folder: Path) -> dict[str, Expected]:
    """Write all samples of a section into `folder`; return the marks of those that can be graded, by student."""
    samples = make_samples(section, course.master(section), read_catalogue(course.catalogue_path(section)))
    for student, sample in samples.items():
        _write(folder / student / section / f"{sample.stem}.ipynb", nbformat.writes(sample.notebook))
    whole = nbformat.writes(samples["complete"].notebook)
    _write(folder / "corrupt" / section / f"{section}.ipynb", whole[: len(whole) // 2])
    _write(folder / "slash" / "in_id" / section / f"{section}.ipynb", whole)
    (folder / "no_notebook" / section).mkdir(parents=True, exist_ok=True)
    with ZipFile(folder / f"slash_in_id_{section}.zip", "w") as archive:
        archive.writestr(f"slash/in_id/{section}/{section}.ipynb", whole)
        archive.writestr(f"complete/{section}/{section}.ipynb", whole)
    return {student: sample.expected for student, sample in samples.items()}


def refused_files(section: str) -> tuple[str, ...]:
    """Return the files of a written folder that collecting must refuse, as its report names them."""
    return (
        f"corrupt/{section}/{section}.ipynb",
        "slash/in_id",
        f"no_notebook/{section}",
        f"slash_in_id_{section}.zip",
    )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Write the samples and print the marks that they must get."""
    parser = argparse.ArgumentParser(prog="python -m tests.samples", description="Write sample submissions.")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where to: FOLDER/STUDENT/SECTION/*.ipynb")
    parser.add_argument(
        "--section", action="append", default=[], metavar="SECTION", help="only this one (default: all)"
    )
    parser.add_argument(
        "--course", type=Path, default=Path(), metavar="DIR", help="course folder (default: this one)"
    )
    options = parser.parse_args(argv)
    try:
        course = Course.at(options.course)
        written = {each: write_samples(course, each, options.folder) for each in course.select(options.section)}
    except CourseError as error:
        warn(error)
        return ExitCode.USAGE
    for section, expected in written.items():
        rows = ((student, f"{each.score:g}", f"{each.max_score:g}") for student, each in sorted(expected.items()))
        print_table(f"{section}: expected marks", ("student", "#score", "#of"), rows)
        say(f"To be refused: {', '.join(refused_files(section))}\n")
    say(f"Written to {options.folder}")
    return ExitCode.OK


if __name__ == "__main__":
    sys.exit(main())
