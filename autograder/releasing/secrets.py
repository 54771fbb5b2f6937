"""The lines that students must never see: solutions, hidden tests, and the catalogue's wrong answers."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from autograder.course import CATALOGUE, Course, read_notebook
from autograder.errors import CourseError
from autograder.proof.catalogue import Entry, read_catalogue
from autograder.regions import CellParts, Region, RegionKind, split_cell
from autograder.releasing.matching import squeeze
from autograder.releasing.trivial import gives_nothing_away

_KINDS = {
    RegionKind.SOLUTION: "solution",
    RegionKind.HIDDEN_TESTS: "hidden test",
    RegionKind.MARK_SCHEME: "mark scheme",
}


@dataclass(frozen=True)
class Secret:
    """A line: what it is ("solution"), whose it is ("01_integers/wrap"), its number there, and its text, squeezed."""

    kind: str
    owner: str
    line: int
    squeezed: str


def collect_secrets(course: Course) -> tuple[Secret, ...]:
    """Return the secrets of every master and catalogue in the course, released or not."""
    masters = sorted(course.source.glob("*/*.ipynb"))
    if not masters:
        raise CourseError(f"There is no master notebook in {course.source}.", "Name the course with --course.")
    return tuple(secret for path in masters for secret in _secrets_of(path))


def _secrets_of(path: Path) -> Iterator[Secret]:
    notebook = read_notebook(path)
    catalogue = path.parent / CATALOGUE
    entries = read_catalogue(catalogue) if catalogue.exists() else {}
    shown: dict[str, tuple[str, ...]] = {}
    for number, cell in enumerate(notebook.cells, 1):
        parts = _parts(path, number, cell)
        name = str((cell.metadata.get("nbgrader") or {}).get("grade_id", f"cell {number}"))
        exercise = name.removesuffix("_solution")
        shown[name] = parts.public
        public = {squeeze(line) for line in entries.get(exercise, Entry(())).public}
        for region in parts.regions:
            owner = f"{path.parent.name}/{exercise}"
            yield from _lines(_KINDS[region.kind], owner, region.lines, public)
    for exercise, entry in entries.items():
        # A wrong answer replaces its whole cell, and so repeats what students are given there.
        given = shown.get(f"{exercise}_solution", ())
        public = {squeeze(line) for line in (*entry.public, *given)}
        for wrong in entry.wrong:
            owner = f"{path.parent.name}/{exercise} ({wrong.name})"
            yield from _lines("wrong answer", owner, tuple(wrong.answer.splitlines()), public)


def _parts(path: Path, number: int, cell: NotebookNode) -> CellParts:
    try:
        parts = split_cell(cell.source)
    except ValueError as error:
        cure = "Give each region one line with BEGIN and one with END."
        raise CourseError(f"{path}, cell {number}: its markers don't pair up: {error}.", cure) from None
    mark = cell.metadata.get("nbgrader") or {}
    if mark.get("solution") and not parts.has(RegionKind.SOLUTION):
        # nbgrader replaces a solution cell without a region as a whole.
        whole = Region(RegionKind.SOLUTION, parts.public)
        return CellParts((), (whole, *parts.regions))
    return parts


def _lines(kind: str, owner: str, lines: tuple[str, ...], public: set[str]) -> Iterator[Secret]:
    is_answer = kind != "hidden test"
    for number, line in enumerate(lines, 1):
        for form in dict.fromkeys((line, _without_comment(line))):
            squeezed = squeeze(form)
            if squeezed not in public and not gives_nothing_away(form, is_answer=is_answer):
                yield Secret(kind, owner, number, squeezed)


def _without_comment(line: str) -> str:
    if "#" not in line:
        return line
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.strip()).readline):
            if token.type == tokenize.COMMENT:
                indent = line[: len(line) - len(line.lstrip())]
                return indent + line.strip()[: token.start[1]].rstrip()
    except (tokenize.TokenError, IndentationError):
        pass  # A line of a longer statement or of a text: it stays one secret as a whole.
    return line
