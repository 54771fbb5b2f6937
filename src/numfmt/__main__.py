"""The command line: `python -m numfmt table`, `python -m numfmt explain NUMBER`, `python -m numfmt census FILE`."""

from __future__ import annotations

import argparse
import html
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from ._arrays import Array
from ._text import aligned
from .explaining import explain
from .float_format import FLOAT_FORMATS
from .formats import INTEGER_FORMATS
from .tallying import census_of_blocks
from .tensor_files import BLOCK, Tensor, read_tensors


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


def _census(options: argparse.Namespace) -> None:
    tensors = read_tensors(options.file)
    if options.tensor is not None:
        chosen = [each for each in tensors if each.name == options.tensor]
        if not chosen:
            there = ", ".join(each.name for each in tensors) or "none"
            raise ValueError(f"{options.file} has no tensor {options.tensor!r}; there are: {there}")
        tensors = chosen
    found = [census_of_blocks(_watched(each), options.format, each.name) for each in tensors]
    if options.html:
        page = "".join(each._repr_html_() for each in found)
        options.html.write_text(_PAGE.format(title=html.escape(options.file.name), body=page), encoding="utf-8")
    if options.json:
        described = zip(tensors, found, strict=True)
        rows = [{"dtype": tensor.dtype, "shape": tensor.shape, **each.to_dict()} for tensor, each in described]
        print(json.dumps({"file": str(options.file), "tensors": rows}, indent=1, allow_nan=False))
    else:
        print("\n\n".join(map(str, found)) or f"{options.file} holds no tensors")


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Census of {title}</title>
<meta name="viewport" content="width=device-width"><style>
:root {{ color-scheme: light dark; }} body {{ font-family: sans-serif; overflow-x: auto; }}
table {{ border-collapse: collapse; margin-bottom: 2em; }} th, td {{ padding: 0.2em 0.6em; }}
caption {{ font-weight: bold; padding: 0.4em; }}
</style></head><body><h1>Census of {title}</h1>{body}</body></html>
"""


def _watched(tensor: Tensor) -> Iterable[Array]:
    """Return the tensor's blocks, with a progress bar if someone watches and rich, which draws it, is there."""
    if not sys.stderr.isatty():
        return tensor.blocks()
    try:
        from rich.console import Console
        from rich.progress import track
    except ImportError:
        return tensor.blocks()
    total = -(-tensor.size // BLOCK)
    console = Console(stderr=True)
    return track(tensor.blocks(), description=tensor.name, total=total, console=console, transient=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; wrong usage exits with status 2 and a line that says what there is."""
    parser = argparse.ArgumentParser(prog="python -m numfmt", description="Number formats for machine learning.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("table", help="print the formats: widths, range, spacing, number of values")
    explaining = commands.add_parser("explain", help="show a number in a float format: fields, neighbours, error")
    explaining.add_argument("number", type=float, help="such as 0.1, -3e-8 or inf")
    explaining.add_argument("--format", default="bfloat16", help="such as e4m3fn, FP16 or bfloat16 (the default)")
    taking = commands.add_parser("census", help="show what each format would make of the tensors in a file")
    taking.add_argument("file", type=Path, help="a .npy, .npz or .safetensors file; it may be larger than memory")
    taking.add_argument("--tensor", metavar="NAME", help="only this one (default: all)")
    taking.add_argument("--format", action="append", help="a format to try, may be repeated (default: all but E8M0)")
    taking.add_argument("--json", action="store_true", help="print JSON instead of tables")
    taking.add_argument("--html", type=Path, metavar="PAGE", help="also write an HTML page with a bar for each share")
    words = sys.argv[1:] if arguments is None else arguments
    # argparse takes -3e-8 for an option, but not what has a space in it.
    options = parser.parse_args([f" {word}" if _is_number(word) else word for word in words])
    try:
        {"table": _table, "explain": _explain, "census": _census}[options.command](options)
    except (ValueError, TypeError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; nothing was changed", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
