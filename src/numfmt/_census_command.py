"""`python -m numfmt census FILE`: what each format would make of the tensors in a file."""

from __future__ import annotations

import argparse
import difflib
import html
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ._arrays import Array
from ._text import printable
from .tallying import Census, census_of_blocks
from .tensor_files import Tensor, read_tensors

_LONG = 4_000_000
"""Numbers in a file for which a progress bar is worth its lines: a second or so."""
_MANY = 50
"""How many names a message may list."""

Watch = Callable[[Tensor], Iterator[Array]]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("file", type=Path, help="a .npy, .npz or .safetensors file; it may be larger than memory")
    parser.add_argument("--tensor", metavar="NAME", help="only this one (default: all)")
    parser.add_argument("--format", action="append", help="a format to try, may be repeated (default: all but E8M0)")
    parser.add_argument(
        "--json", action="store_true", help="print JSON instead of tables; null where a figure is none"
    )
    parser.add_argument("--html", type=Path, metavar="PAGE", help="also write an HTML page with a bar for each share")


def run(options: argparse.Namespace) -> None:
    """Take the census and print it; ValueError, TypeError and OSError say in a line what is wrong."""
    tensors = _chosen(options.file, read_tensors(options.file), options.tensor)
    for tensor in tensors:
        tensor.check()
    if options.html is not None:
        _check_page(options.html, options.file)
    with _watching(sum(tensor.size for tensor in tensors)) as watch:
        found = [census_of_blocks(watch(each), options.format, each.name) for each in tensors]
    print(_json(options.file, tensors, found) if options.json else _text(options.file, found))
    if options.html is not None:
        try:
            options.html.write_text(_page(options.file, found), encoding="utf-8")
        except OSError as error:
            raise _unwritable(options.html, error.strerror or str(error)) from None


def _chosen(path: Path, tensors: Sequence[Tensor], name: str | None) -> Sequence[Tensor]:
    if name is None:
        return tensors
    chosen = [each for each in tensors if name in (each.name, printable(each.name))]
    if chosen:
        return chosen
    names = [printable(each.name) for each in tensors]
    more = f" and {len(names) - _MANY:,} more" if len(names) > _MANY else ""
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}? There are" if near else "there are"
    there = f"{', '.join(names[:_MANY])}{more}" if names else "none"
    raise ValueError(f"{printable(str(path))} has no tensor '{printable(name)}'; {hint}: {there}")


def _check_page(page: Path, source: Path) -> None:
    """Find out before the work whether the page can be written, and keep it from taking the place of the data."""
    if page.is_dir():
        raise _unwritable(page, "it is a folder")
    if not page.parent.is_dir():
        raise _unwritable(page, "there is no such folder")
    if page.exists() and page.samefile(source):
        raise _unwritable(page, "it is the file to be read")


def _unwritable(page: Path, why: str) -> ValueError:
    return ValueError(f"{printable(str(page))} can't be written: {why}; name another file after --html")


@contextmanager
def _watching(size: int) -> Iterator[Watch]:
    """Yield what gives the blocks of a tensor, with a progress bar if it takes long and someone watches.

    rich draws it; without rich there is none.
    """
    if size < _LONG or not sys.stderr.isatty():
        yield lambda tensor: tensor.blocks()
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
    except ImportError:
        yield lambda tensor: tensor.blocks()
        return
    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=size)

        def blocks(tensor: Tensor) -> Iterator[Array]:
            progress.update(task, description=printable(tensor.name))
            for block in tensor.blocks():
                yield block
                progress.advance(task, block.size)

        yield blocks


def _text(path: Path, found: Sequence[Census]) -> str:
    return "\n\n".join(map(str, found)) or f"{printable(str(path))} holds no tensors"


def _json(path: Path, tensors: Sequence[Tensor], found: Sequence[Census]) -> str:
    described = zip(tensors, found, strict=True)
    rows = [{"dtype": tensor.dtype, "shape": tensor.shape, **each.to_dict()} for tensor, each in described]
    return json.dumps({"file": str(path), "tensors": rows}, indent=1, allow_nan=False)


def _page(path: Path, found: Sequence[Census]) -> str:
    title = html.escape(printable(path.name))
    return _PAGE.format(title=title, body="\n".join(each._repr_html_() for each in found) or "<p>No tensors.</p>")


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Census of {title}</title>
<meta name="viewport" content="width=device-width"><style>
:root {{ color-scheme: light dark; }} body {{ font-family: sans-serif; overflow-x: auto; }}
table {{ border-collapse: collapse; margin-bottom: 2em; }} th, td {{ padding: 0.2em 0.6em; }}
caption {{ font-weight: bold; padding: 0.4em; }}
</style></head><body><h1>Census of {title}</h1>{body}</body></html>
"""
