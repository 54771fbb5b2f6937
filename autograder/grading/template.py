"""The pristine notebook that every submission is rebuilt on: the master as nbgrader's SaveCells stores it."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests, ClearOutput, ClearSolutions, ComputeChecksums, LockCells

from autograder.settings import nbgrader_settings

CELL_ID = re.compile(r"[a-zA-Z0-9-_]{1,64}")
"""What nbformat 4.5 allows as a cell's id."""

_DEFINITION = re.compile(
    r"^(?:async\s+)?(?:def|class)\s+(\w+)"  # a function or class
    r"|^(\w+(?:\s*,\s*\w+)*)\s*(?::[^=\n]*)?=(?!=)",  # a variable, or several
    re.MULTILINE,
)


class Role(StrEnum):
    """What a cell of the master is for."""

    SOLUTION = "solution"
    TESTS = "tests"
    CODE = "code"
    """Code without a grade, such as imports and demonstrations: students may change it."""
    FIXED = "fixed"
    """Text and locked cells."""


@dataclass(frozen=True)
class Slot:
    """A place in the template: its role, the name that messages use, and the source that students were given."""

    role: Role
    grade_id: str | None
    cell_id: str
    kind: str
    source: str
    full_source: str
    """The source with the hidden tests."""

    @cached_property
    def names(self) -> frozenset[str]:
        """The functions, classes and variables that the cell defines."""
        return defined_names(self.source)


def defined_names(source: str) -> frozenset[str]:
    """Return the names defined at the left margin; works on code that doesn't parse, too."""
    found = (first or second for first, second in _DEFINITION.findall(source))
    return frozenset(name.strip() for names in found for name in names.split(","))


def tidy(source: str) -> str:
    """Return the source without differences that editors make: line ends, trailing space, blank lines around."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def template(master: NotebookNode) -> NotebookNode:
    """Return the student's version of a master, hidden tests kept, with checksums as nbgrader stores them."""
    notebook = copy.deepcopy(master)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    _make_ids_unique(notebook)
    settings = nbgrader_settings()
    for step in (LockCells, ClearSolutions, ClearOutput, ComputeChecksums):
        notebook, _ = step(config=settings).preprocess(notebook, {})
    return notebook


def slots(notebook: NotebookNode) -> tuple[Slot, ...]:
    """Return the slots of a template, one per cell."""
    visible, _ = ClearHiddenTests().preprocess(copy.deepcopy(notebook), {})
    return tuple(_slot(full, seen.source) for full, seen in zip(notebook.cells, visible.cells, strict=True))


def _slot(cell: NotebookNode, visible: str) -> Slot:
    mark = cell.metadata.get("nbgrader") or {}
    if mark.get("solution"):
        role = Role.SOLUTION
    elif mark.get("grade"):
        role = Role.TESTS
    else:
        role = Role.CODE if cell.cell_type == "code" and not mark.get("locked") else Role.FIXED
    named = any(mark.get(key) for key in ("solution", "grade", "locked", "task"))
    grade_id = str(mark["grade_id"]) if named else None
    return Slot(role, grade_id, cell["id"], cell.cell_type, tidy(visible), cell.source)


def _make_ids_unique(notebook: NotebookNode) -> None:
    seen: set[str] = set()
    for number, cell in enumerate(notebook.cells):
        if not CELL_ID.fullmatch(str(cell.get("id", ""))) or cell["id"] in seen:
            cell["id"] = f"cell-{number}"
        seen.add(cell["id"])
