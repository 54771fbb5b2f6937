"""The command line: `python -m numfmt table` prints the formats, `python -m numfmt explain` one number in one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .explaining import explain
from .float_format import FLOAT_FORMATS
from .formats import INTEGER_FORMATS


def table() -> str:
    """Return the formats as two plain-text tables, integers and floats, one format a line."""
    integers = [("format", "bits", "min", "max", "values", "NumPy dtype")]
    integers += [
        (fmt.alias, str(fmt.bits), f"{fmt.min:,}", f"{fmt.max:,}", f"{fmt.count:,}", fmt.dtype.name)
        for fmt in INTEGER_FORMATS
    ]
    figures = ("max", "smallest normal", "smallest subnormal", "eps", "finite values")
    floats: list[tuple[str, ...]] = [("format", "e, m, bias", *figures, "name")]
    floats += [
        (
            str(fmt),
            f"{fmt.exponent_bits}, {fmt.mantissa_bits}, {fmt.bias}",
            f"{float(fmt.max):.6g}",
            f"{float(fmt.smallest_normal):.6g}",
            "none" if fmt.smallest_subnormal is None else f"{float(fmt.smallest_subnormal):.6g}",
            f"{fmt.eps:.6g}",
            f"{fmt.count_finite:,}",
            fmt.name,
        )
        for fmt in FLOAT_FORMATS
    ]
    return f"{_aligned(integers)}\n\n{_aligned(floats)}"


def _aligned(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]
    return "\n".join(lines)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; wrong usage exits with status 2 and a line that says what there is."""
    parser = argparse.ArgumentParser(prog="python -m numfmt", description="Number formats for machine learning.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("table", help="print the formats: widths, range, spacing, number of values")
    explaining = commands.add_parser("explain", help="show a number in a float format: fields, neighbours, error")
    explaining.add_argument("number", type=float, help="such as 0.1, -3e-8 or inf")
    explaining.add_argument("--format", default="bfloat16", help="such as e4m3fn, FP16 or bfloat16 (the default)")
    words = sys.argv[1:] if arguments is None else arguments
    # argparse takes -3e-8 for an option, but not what has a space in it.
    options = parser.parse_args([f" {word}" if _is_number(word) else word for word in words])
    if options.command == "table":
        print(table())
        return 0
    try:
        print(explain(options.number, options.format))
    except (ValueError, TypeError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
