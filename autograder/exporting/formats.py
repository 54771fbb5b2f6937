"""The formats of an export, each a function from the table of grades, and a roster, to the file's text."""

from __future__ import annotations

import json
from collections.abc import Callable

from autograder.exporting.quoting import to_text
from autograder.exporting.sheets import to_canvas, to_moodle
from autograder.exporting.table import GradeTable
from autograder.intake.roster import Roster


def to_csv(table: GradeTable, roster: Roster | None = None) -> str:
    """Return the table as CSV; cells that a section lacks are empty."""
    return to_text(table.header, (record.values() for record in table.records()))


def to_json(table: GradeTable, roster: Roster | None = None) -> str:
    """Return the rows as a JSON list of objects; cells that a section lacks are null."""
    return json.dumps(table.records(), indent=2, ensure_ascii=False) + "\n"


FORMATS: dict[str, Callable[[GradeTable, Roster | None], str]] = {
    "csv": to_csv,
    "json": to_json,
    "canvas": to_canvas,
    "moodle": to_moodle,
}
"""Every format of grades by the name that `autograder export` knows it by."""
