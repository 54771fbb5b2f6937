"""Notebooks to prove exercises with: the master answered in a given way, and with its test cells taken apart."""

from __future__ import annotations

import copy
from collections.abc import Mapping

from nbformat import NotebookNode

from autograder.proof.exercises import Exercise, find_exercises, split_tests

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


def _halves(cell: NotebookNode, exercise: Exercise) -> list[NotebookNode]:
    visible, hidden = copy.deepcopy(cell), copy.deepcopy(cell)
    visible.source, hidden.source = split_tests(cell.source)
    visible.metadata.nbgrader.points = 0
    hidden.metadata.nbgrader.grade_id = hidden.id = exercise.grade_id + HIDDEN
    return [visible, hidden]
