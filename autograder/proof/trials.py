"""Notebooks to prove exercises with: answered in a given way, with test cells taken apart, without needless cells."""

from __future__ import annotations

import copy
import symtable
from collections.abc import Mapping

from nbformat import NotebookNode

from autograder.proof.exercises import Exercise, find_exercises, split_tests
from autograder.sealed.names import global_reads

HIDDEN = "__hidden"
"""The grade_id of the cell with an exercise's hidden tests alone is the exercise's grade_id plus this."""


def with_answers(master: NotebookNode, answers: Mapping[str, str]) -> NotebookNode:
    """Return the master with the solution cells of these exercises (by grade_id) replaced; the others stay solved."""
    answered = copy.deepcopy(master)
    for exercise in find_exercises(master):
        if exercise.grade_id in answers:
            answered.cells[exercise.solution_index].source = answers[exercise.grade_id]
    return answered


def with_tests_apart(master: NotebookNode) -> NotebookNode:
    """Return the master with each test cell cut in two: the visible check (no points), then the hidden tests."""
    apart = copy.deepcopy(master)
    by_index = {exercise.tests_index: exercise for exercise in find_exercises(master)}
    apart.cells = []
    for index, cell in enumerate(copy.deepcopy(master.cells)):
        apart.cells += _halves(cell, by_index[index]) if index in by_index else [cell]
    return apart


def with_tests_of(master: NotebookNode, names: frozenset[str]) -> NotebookNode:
    """Return the master without the test cells of other exercises than these."""
    left_out = {each.tests_index for each in find_exercises(master) if each.grade_id not in names}
    fewer = copy.copy(master)
    fewer.cells = [cell for index, cell in enumerate(master.cells) if index not in left_out]
    return fewer


def needed_cells(notebook: NotebookNode) -> frozenset[str]:
    """Return the ids of the code cells that exercises need: theirs, and those that make the names which they read.

    It reads the code without running it, so a cell may be missing that changes an object in place; a proof that fails
    without a cell has to be tried with all of them.
    """
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    kept: dict[str, NotebookNode] = {cell["id"]: cell for cell in code if "nbgrader" in cell.metadata}
    makers = {cell["id"]: names for cell in code if (names := _names(cell.source)) is not None}
    kept |= {cell["id"]: cell for cell in code if cell["id"] not in makers}  # one that Python can't read
    waiting = list(kept)
    while waiting:
        _, read = makers.get(waiting.pop(), (frozenset(), frozenset()))
        for cell in code:
            if cell["id"] not in kept and makers[cell["id"]][0] & read:
                kept[cell["id"]] = cell
                waiting.append(cell["id"])
    return frozenset(kept)


def _names(source: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the names that a cell makes, and the names that it reads from other cells; None if it isn't Python."""
    try:
        table = symtable.symtable(source, "cell", "exec")
    except (SyntaxError, ValueError):
        return None
    made = frozenset(each.get_name() for each in table.get_symbols() if each.is_assigned() or each.is_imported())
    return made, frozenset(global_reads(table))


def only(notebook: NotebookNode, ids: frozenset[str]) -> NotebookNode:
    """Return the notebook with these code cells only; texts and nbgrader's cells stay."""
    short = copy.copy(notebook)
    short.cells = [
        cell
        for cell in notebook.cells
        if cell.cell_type != "code" or "nbgrader" in cell.metadata or cell["id"] in ids
    ]
    return short


def _halves(cell: NotebookNode, exercise: Exercise) -> list[NotebookNode]:
    visible, hidden = copy.deepcopy(cell), copy.deepcopy(cell)
    visible.source, hidden.source = split_tests(cell.source)
    visible.metadata.nbgrader.points = 0
    hidden.metadata.nbgrader.grade_id = hidden.id = exercise.grade_id + HIDDEN
    return [visible, hidden]
