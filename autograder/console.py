"""What every command prints: tables and JSON on standard output, progress and errors on standard error."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from autograder.errors import CourseError

Item = TypeVar("Item")


def _console(stream: Any) -> Console:
    # Off a terminal a fixed generous width keeps table rows whole in logs and pipes.
    return Console(file=stream, width=None if stream.isatty() else 160, highlight=False, soft_wrap=False)


def say(text: str) -> None:
    """Print a line on standard output, as it is (no markup)."""
    _console(sys.stdout).print(text, markup=False, soft_wrap=True)


def warn(error: CourseError | str) -> None:
    """Print a problem and its cure on standard error."""
    _console(sys.stderr).print(str(error), markup=False, soft_wrap=True)


def print_json(data: Any) -> None:
    """Print `data` as one JSON document on standard output."""
    json.dump(data, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; columns whose header starts with '#' are right-aligned numbers."""
    table = Table(title=title, title_justify="left", header_style="bold")
    for column in columns:
        table.add_column(column.removeprefix("#"), justify="right" if column.startswith("#") else "left")
    for row in rows:
        table.add_row(*(escape_cell(value) for value in row))
    _console(sys.stdout).print(table)


def escape_cell(value: object) -> str:
    """Return a value as table text in which nothing is taken for markup."""
    return str(value).replace("[", r"\[")


@contextmanager
def progress(total: int, doing: str) -> Iterator[Callable[[], None]]:
    """Yield a function to call after each of `total` steps; bar and time left go to standard error.

    Off a terminal each step is a line, so that a log shows how far the work got.
    """
    console = _console(sys.stderr)
    if not console.is_terminal:
        done = itertools.count(1)
        yield lambda: console.print(f"{doing}: {next(done)}/{total}", markup=False)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda: bar.advance(task)


def track(items: Iterable[Item], total: int, doing: str) -> Iterator[Item]:
    """Yield the items with a progress bar, one step an item."""
    with progress(total, doing) as done:
        for item in items:
            yield item
            done()
