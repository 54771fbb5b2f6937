"""What to read again: found from the marks, shown on top of the feedback page."""

from __future__ import annotations

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from autograder.rereading import Missed, WhatToReadAgain, advice, missed
from tests.mini_course import cell


def scored(name: str, score: float) -> NotebookNode:
    made = cell("tests", name, "assert True", 2)
    made.metadata.nbgrader["score"] = score
    return made


LECTURE = new_notebook(
    cells=[
        new_markdown_cell("# A lecture"),
        scored("early", 0),
        new_markdown_cell("## 1.1 · Bits\n\nText.\n\n### Exercise 1.1 · Count"),
        cell("solution", "count_solution", "..."),
        scored("count", 2),
        new_markdown_cell("### Exercise 1.2 · Flip"),
        scored("flip", 1),
        new_markdown_cell("## 1.2 · Bytes\n\n#### Not a heading of a section"),
        scored("swap", 0),
    ]
)


def test_it_names_section_and_exercise_of_what_was_missed() -> None:
    assert list(missed(LECTURE)) == [
        Missed("", "", "early"),
        Missed("1.1 · Bits", "Exercise 1.2 · Flip", "flip"),
        Missed("1.2 · Bytes", "", "swap"),
    ]


def test_each_section_is_a_line_with_links_to_its_exercises() -> None:
    notebook, _ = WhatToReadAgain().preprocess(LECTURE.copy(), {})
    lines = notebook.cells[0].source.splitlines()
    assert lines[2:] == [
        "- **The beginning**, then try again: [early](#early)",
        "- **1.1 · Bits**, then try again: [Exercise 1.2 · Flip](#flip)",
        "- **1.2 · Bytes**, then try again: [swap](#swap)",
    ]


def test_who_missed_nothing_is_told_so() -> None:
    assert "every exercise got all its points" in advice(())
