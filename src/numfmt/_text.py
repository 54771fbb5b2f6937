"""Plain text: tables, and names of others that may hold anything."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows of cells as lines, the first column aligned left and the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *rest in rows:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def printable(text: str) -> str:
    """Return text of one line that any terminal and any file takes: what isn't printable becomes an escape."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
