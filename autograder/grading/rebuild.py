"""Rebuild a submission on the pristine master: only the student's code is taken, everything else is ours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from autograder.grading.matching import Matching, Piece, match, pieces
from autograder.grading.template import Role, Slot, slots, template, tidy
from autograder.parsing import is_python


@dataclass(frozen=True)
class Rebuilt:
    """The notebook to run, hidden tests included, and what had to be repaired, in plain words."""

    notebook: NotebookNode
    notes: tuple[str, ...]


def rebuild(master: NotebookNode, submission: NotebookNode) -> Rebuilt:
    """Return the master with the student's answers, changed code cells and own code cells in it.

    Test cells, texts, metadata, tags, outputs and the kernelspec are the master's; nothing in the submission but
    the source of its cells has any effect, and its cell ids and grade_ids only say which cell is which.
    """
    base = template(master)
    matching = match(slots(base), pieces(submission))
    remarks: dict[str, list[str]] = defaultdict(list)
    for index, (slot, cell) in enumerate(zip(matching.slots, base.cells, strict=True)):
        found = matching.found.get(index)
        piece = matching.pieces[found] if found is not None else None
        source = _student_source(slot, piece)
        if source is not None:
            cell.source = source
        for remark in _remarks(matching, index, piece):
            remarks[remark].append(slot.grade_id or "a code cell")
    base.cells = list(_with_own_cells(matching, base.cells))
    return Rebuilt(base, tuple(_sentence(remark, names) for remark, names in remarks.items()))


def _student_source(slot: Slot, piece: Piece | None) -> str | None:
    """Return the source that replaces the master's, or None."""
    if piece is None or not piece.tidy or slot.role in (Role.TESTS, Role.FIXED):
        return None
    if piece.tidy == slot.source or (slot.role is Role.CODE and not _compiles(piece.source)):
        return None
    return piece.source


def _compiles(source: str) -> bool:
    try:
        return is_python(TransformerManager().transform_cell(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _with_own_cells(matching: Matching, cells: list[NotebookNode]) -> Iterator[NotebookNode]:
    """Yield the template's cells, each followed by the student's own code cells that followed it."""
    own: dict[int, list[Piece]] = defaultdict(list)
    slot_of = {piece: slot for slot, piece in matching.found.items()}
    free = set(matching.own_code())
    place = -1
    for index, piece in enumerate(matching.pieces):
        place = slot_of.get(index, place)
        if index in free:
            own[_below_restored(matching, place)].append(piece)
    ids = {cell["id"] for cell in cells}
    fresh = (name for number in count(1) if (name := f"own-{number}") not in ids)
    for index in range(-1, len(cells)):
        if index >= 0:
            yield cells[index]
        for piece in own[index]:
            cell = new_code_cell(piece.source)
            cell["id"] = next(fresh)
            yield cell


def _below_restored(matching: Matching, place: int) -> int:
    """Move a place below the answer cells that were missing there: their stubs mustn't undo what follows."""
    for index in range(place + 1, len(matching.slots)):
        role = matching.slots[index].role
        if index in matching.found or role is Role.TESTS:
            break
        if role is Role.SOLUTION:
            place = index
    return place


def _remarks(matching: Matching, index: int, piece: Piece | None) -> Iterator[str]:
    slot = matching.slots[index]
    if slot.role is Role.SOLUTION:
        if piece is None or not piece.tidy:
            yield "Missing or empty, so it counts as not answered: {}."
        elif piece.kind != slot.kind and slot.kind == "code":
            yield f"Run as code though it had become a {piece.kind} cell: {{}}."
        if index in matching.guessed and matching.answer(index):
            yield "Had lost its name and was recognised by its content: {}."
        if index in matching.doubled:
            yield "There more than once; the filled-in one counts: {}."
    elif slot.role is Role.TESTS:
        if piece is None:
            yield "Test cell was missing and is back: {}."
        elif piece.tidy not in (slot.source, tidy(slot.full_source)) or piece.kind != "code":
            yield "Test cell had been changed; the original was run: {}."
        if index in matching.doubled:
            yield "Test cell was there more than once; one was run: {}."
    elif slot.role is Role.CODE:
        if piece is None or not piece.tidy:
            yield "Missing, so the original was run: {}."
        elif not _compiles(piece.source) and piece.tidy != slot.source:
            yield "Had a syntax error, so the original was run: {}."


def _sentence(remark: str, names: list[str]) -> str:
    return remark.format(", ".join(dict.fromkeys(names)))
