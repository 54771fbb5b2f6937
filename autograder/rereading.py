"""What to read again: the sections of a lecture in which a student missed marks, at the top of the feedback page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution

_HEADING = re.compile(r"^(#{2,3}) +(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Missed:
    """A test cell without all its points, with the headings that it stands below ("" where there is none)."""

    section: str
    exercise: str
    grade_id: str


def missed(notebook: NotebookNode) -> Iterator[Missed]:
    """Yield the test cells that didn't get all their points; GetGrades has put into them how many they got."""
    section = exercise = ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for level, text in _HEADING.findall(cell.source):
                section, exercise = (text, "") if level == "##" else (section, text)
        elif is_grade(cell) and not is_solution(cell):
            mark = cell.metadata["nbgrader"]
            if mark.get("score", 0) < mark["points"]:
                yield Missed(section, exercise, mark["grade_id"])


def advice(found: Sequence[Missed]) -> str:
    """Return the advice as Markdown, a line a section; the exercises link to their test cells."""
    if not found:
        return "**Nothing to read again:** every exercise got all its points."
    lines = []
    for section in dict.fromkeys(each.section for each in found):
        exercises = "; ".join(
            f"[{each.exercise or each.grade_id}](#{each.grade_id})" for each in found if each.section == section
        )
        lines.append(f"- **{section or 'The beginning'}**, then try again: {exercises}")
    return "\n".join(["**What to read again**", "", *lines])


class WhatToReadAgain(NbGraderPreprocessor):  # type: ignore[misc]
    """Puts the advice above a graded notebook."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Return the notebook with a text cell in front."""
        cell = new_markdown_cell(advice(tuple(missed(nb))))
        nb.cells.insert(0, cell)
        return nb, resources
