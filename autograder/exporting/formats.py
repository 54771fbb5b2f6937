"""The formats of an export, each a function from the table of grades to the file's text."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

from autograder.exporting.table import GradeTable

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_csv(table: GradeTable) -> str:
    """Return the table as CSV (RFC 4180, with plain line ends); cells that a section lacks are empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, table.header, lineterminator="\n")
    writer.writeheader()
    for record in table.records():
        writer.writerow({name: _harmless(value) for name, value in record.items()})
    return text.getvalue()


def _harmless(value: object) -> object:
    """Return text that no spreadsheet takes for a formula: an apostrophe marks it as text."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


FORMATS: dict[str, Callable[[GradeTable], str]] = {"csv": to_csv}
"""Every format by the name that `autograder export` knows it by."""
