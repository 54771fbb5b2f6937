"""The command line: `python -m numfmt table` prints the integer formats."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .formats import INTEGER_FORMATS


def table() -> str:
    """Return the integer formats as a plain-text table, one format a line."""
    rows = [("format", "bits", "min", "max", "values", "NumPy dtype")]
    rows += [
        (fmt.alias, str(fmt.bits), f"{fmt.min:,}", f"{fmt.max:,}", f"{fmt.count:,}", fmt.dtype.name)
        for fmt in INTEGER_FORMATS
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; wrong usage exits with status 2 and a line that says what there is."""
    parser = argparse.ArgumentParser(prog="python -m numfmt", description="Number formats for machine learning.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("table", help="print the integer formats: bits, range, number of values, NumPy dtype")
    parser.parse_args(arguments)
    print(table())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
