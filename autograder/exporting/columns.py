"""The columns of an export: one a graded cell, in course order, each with a name of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from nbformat import NotebookNode

FIXED = ("student_id", "section", "score", "max_score", "to_grade")
"""The columns before those of the cells; `to_grade` is how many of these still wait for a person."""


def in_course_order(names: Iterable[str], master: NotebookNode) -> tuple[str, ...]:
    """Return the grade_ids in the master's order; those that it lacks (it was changed since) come last, sorted."""
    marks = (cell.metadata.get("nbgrader") or {} for cell in master.cells)
    places = {str(mark.get("grade_id")): place for place, mark in enumerate(marks)}
    return tuple(sorted(names, key=lambda name: (places.get(name, len(places)), name)))


def name_columns(cells: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], str]:
    """Return the column of each (section, grade_id): the grade_id, or SECTION.GRADE_ID where that isn't unique."""
    uses = Counter(name for names in cells.values() for name in names) + Counter(FIXED)
    return {
        (section, name): name if uses[name] == 1 else f"{section}.{name}"
        for section, names in cells.items()
        for name in names
    }
