"""The command line: `python -m numfmt table`, `python -m numfmt explain NUMBER`, `python -m numfmt census FILE`."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from . import _census_command
from ._text import aligned
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
    return f"{aligned(integers)}\n\n{aligned(floats)}"


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _explain(options: argparse.Namespace) -> None:
    print(explain(options.number, options.format))


def _table(options: argparse.Namespace) -> None:
    print(table())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; wrong usage exits with status 2 and a line that says what there is."""
    parser = argparse.ArgumentParser(prog="python -m numfmt", description="Number formats for machine learning.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("table", help="print the formats: widths, range, spacing, number of values")
    explaining = commands.add_parser("explain", help="show a number in a float format: fields, neighbours, error")
    explaining.add_argument("number", type=float, help="such as 0.1, -3e-8 or inf")
    explaining.add_argument("--format", default="bfloat16", help="such as e4m3fn, FP16 or bfloat16 (the default)")
    taking = commands.add_parser("census", help="show what each format would make of the tensors in a file")
    _census_command.configure(taking)
    words = sys.argv[1:] if arguments is None else arguments
    # argparse takes -3e-8 for an option, but not what has a space in it.
    explains = words[:1] == ["explain"]
    options = parser.parse_args([f" {word}" if explains and _is_number(word) else word for word in words])
    for stream in (sys.stdout, sys.stderr):  # names may have letters that the terminal's encoding lacks
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        {"table": _table, "explain": _explain, "census": _census_command.run}[options.command](options)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read has seen enough; what is left goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13
    except (ValueError, TypeError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except MemoryError:
        print("not enough memory; close other programs, or use a larger machine", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; nothing was changed", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
