"""CSV that spreadsheets read as it is meant."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def to_text(header: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV (RFC 4180, with plain line ends), in which no text is taken for a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(harmless, header))
    writer.writerows(map(harmless, row) for row in rows)
    return text.getvalue()


def harmless(value: object) -> object:
    """Return text that no spreadsheet takes for a formula: an apostrophe marks it as text; a sign alone is none."""
    starts = isinstance(value, str) and value.startswith(_FORMULA) and len(value) > 1
    return f"'{value}" if starts else value
