"""Which cell of a submission belongs to which cell of the master, also when an editor lost or doubled the names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from nbformat import NotebookNode
from rapidfuzz import fuzz

from autograder.grading.template import Role, Slot, defined_names, tidy
from autograder.parsing import is_python

_ALIKE = 60.0
"""Two sources with this ratio (of 100) or more are taken for versions of each other."""

_COMPARED = 4_000
"""Sources are compared by their first characters only, so that a huge cell costs no more than another."""


@dataclass(frozen=True)
class Piece:
    """A submitted cell, reduced to what counts; all else in it, its metadata above all, has no effect."""

    kind: str
    source: str
    cell_id: str | None
    grade_id: str | None

    @cached_property
    def tidy(self) -> str:
        """The source without differences that editors make."""
        return tidy(self.source)

    @cached_property
    def names(self) -> frozenset[str]:
        """What the cell defines."""
        return defined_names(self.source)

    @cached_property
    def may_be_code(self) -> bool:
        """Whether the cell is code, or text that reads as code."""
        return self.kind == "code" or is_python(self.source)


def pieces(submission: NotebookNode) -> tuple[Piece, ...]:
    """Return the cells of a submission, whatever strange things their metadata holds."""
    return tuple(_piece(cell) for cell in submission.get("cells") or [] if isinstance(cell, dict))


def _piece(cell: dict[str, Any]) -> Piece:
    source = cell.get("source", "")
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    metadata = cell.get("metadata")
    mark = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = mark.get("grade_id") if isinstance(mark, dict) else None
    return Piece(
        str(cell.get("cell_type", "raw")),
        # A lone surrogate can't be sent to a kernel or written to a file.
        text.encode("utf-8", "replace").decode("utf-8"),
        cell["id"] if isinstance(cell.get("id"), str) else None,
        grade_id if isinstance(grade_id, str) else None,
    )


def alike(a: str, b: str) -> float:
    """Return how alike two sources are, from 0 to 100."""
    return float(fuzz.ratio(a[:_COMPARED], b[:_COMPARED]))


@dataclass
class Matching:
    """The piece of each slot that has one, the pieces that are mere copies, and how the pieces were found."""

    slots: Sequence[Slot]
    pieces: Sequence[Piece]
    found: dict[int, int] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)
    doubled: set[int] = field(default_factory=set)
    guessed: set[int] = field(default_factory=set)

    def free(self) -> list[int]:
        """Return the pieces that have no slot yet and aren't copies."""
        taken = set(self.found.values()) | self.dropped
        return [index for index in range(len(self.pieces)) if index not in taken]

    def own_code(self) -> list[int]:
        """Return the code cells with something in them that have no slot yet and aren't copies."""
        return [index for index in self.free() if self.pieces[index].kind == "code" and self.pieces[index].tidy]

    def answer(self, slot: int) -> str | None:
        """Return the tidy source of the slot's piece if it has one that is neither blank nor the stub."""
        source = self.pieces[self.found[slot]].tidy if slot in self.found else ""
        return source if source and source != self.slots[slot].source else None

    def of_role(self, *roles: Role) -> list[int]:
        """Return the slots of these roles."""
        return [index for index, slot in enumerate(self.slots) if slot.role in roles]


def match(slots: Sequence[Slot], pieces: Sequence[Piece]) -> Matching:
    """Match the pieces to the slots: by grade_id, by cell id, by equal source, then by likeness and order."""
    matching = Matching(slots, pieces)
    for step in (_by_grade_id, _by_cell_id, _by_source, _solutions_by_likeness, _code_by_likeness, _drop_copies):
        step(matching)
    return matching


def _by_grade_id(m: Matching) -> None:
    for index, slot in enumerate(m.slots):
        named = [each for each in m.free() if slot.grade_id and m.pieces[each].grade_id == slot.grade_id]
        named = [each for each in named if not _belongs_elsewhere(m, slot, m.pieces[each])]
        if not named:
            continue
        best = max((_worth(m, slot, each), each) for each in named)[1]
        m.found[index] = best
        if len(named) > 1:
            m.doubled.add(index)
        for other in set(named) - {best}:
            if slot.role is Role.TESTS and alike(m.pieces[other].tidy, slot.source) >= _ALIKE:
                m.dropped.add(other)


def _belongs_elsewhere(m: Matching, slot: Slot, piece: Piece) -> bool:
    """Say whether a cell carries the name of one exercise (by copy and paste) but answers another."""
    if slot.role is not Role.SOLUTION:
        return False
    others = (each for each in m.slots if each.role is Role.SOLUTION and each is not slot and each.names)
    return bool(slot.names) and not piece.names & slot.names and any(each.names <= piece.names for each in others)


def _worth(m: Matching, slot: Slot, index: int) -> tuple[Any, ...]:
    piece = m.pieces[index]
    if slot.role is not Role.SOLUTION:
        return piece.tidy == slot.source, alike(piece.tidy, slot.source), -index
    tests = [i for i, each in enumerate(m.pieces) if each.grade_id == _tests_after(m, slot)]
    # Of two answers, the test below sees the later one.
    in_time = not tests or index < tests[0]
    written = bool(piece.tidy) and piece.tidy != slot.source
    return written, bool(piece.tidy), slot.names <= piece.names, in_time, index if in_time else -index


def _tests_after(m: Matching, solution: Slot) -> str | None:
    after = list(m.slots)[list(m.slots).index(solution) + 1 :]
    return next((slot.grade_id for slot in after if slot.role is Role.TESTS), None)


def _by_cell_id(m: Matching) -> None:
    names = {slot.grade_id for slot in m.slots if slot.grade_id}
    for index, slot in enumerate(m.slots):
        waiting = index not in m.found or (slot.role is Role.SOLUTION and m.answer(index) is None)
        for each in m.free() if waiting else ():
            piece = m.pieces[each]
            same = piece.cell_id == slot.cell_id and piece.grade_id not in names
            # A text that became code is the student's own code now.
            if (
                same
                and not _belongs_elsewhere(m, slot, piece)
                and (slot.role is not Role.FIXED or piece.kind == slot.kind)
            ):
                _take(m, index, each)
                break


def _by_source(m: Matching) -> None:
    for index, slot in enumerate(m.slots):
        if index not in m.found and slot.role is not Role.SOLUTION:
            wanted = (slot.kind, slot.source)
            equal = (each for each in m.free() if (m.pieces[each].kind, m.pieces[each].tidy) == wanted)
            first = next(equal, None)
            if first is not None:
                m.found[index] = first


def _solutions_by_likeness(m: Matching) -> None:
    waiting = [index for index in m.of_role(Role.SOLUTION) if m.answer(index) is None]
    candidates = [index for index in m.free() if m.pieces[index].tidy]
    scored = []
    for slot in waiting:
        low, high = _window(m, slot, m.of_role(Role.SOLUTION))
        for index in candidates:
            likeness = _solution_likeness(m, slot, m.pieces[index], low < index < high)
            if likeness is not None:
                scored.append((likeness, -slot, -index))
    _take_best(m, scored)


def _solution_likeness(m: Matching, index: int, piece: Piece, near: bool) -> tuple[bool, float, float] | None:
    slot = m.slots[index]
    if piece.tidy == slot.source:
        return None
    shared = len(piece.names & slot.names) / len(slot.names) if slot.names else 0.0
    likeness = alike(piece.tidy, slot.source)
    # Where the answer cell is there, untouched, only a cell beside it that defines all its names replaces it.
    untouched = index in m.found
    fits = near and shared == 1.0 if untouched else bool(shared) or (near and likeness >= _ALIKE)
    return (near, shared, likeness) if fits and piece.may_be_code else None


def _code_by_likeness(m: Matching) -> None:
    scored = []
    candidates = m.own_code()
    for slot in m.of_role(Role.CODE):
        if slot in m.found:
            continue
        low, high = _window(m, slot, range(len(m.slots)))
        for index in candidates:
            likeness = alike(m.pieces[index].tidy, m.slots[slot].source)
            if low < index < high and likeness >= _ALIKE:
                scored.append(((True, 0.0, likeness), -slot, -index))
    _take_best(m, scored)


def _window(m: Matching, slot: int, anchors: Iterable[int]) -> tuple[int, int]:
    """Return the pieces between which the slot's piece is expected: those of its nearest matched neighbours."""
    known = [index for index in anchors if index in m.found and index != slot]
    low = max((index for index in known if index < slot), default=None)
    high = min((index for index in known if index > slot), default=None)
    return (-1 if low is None else m.found[low], len(m.pieces) if high is None else m.found[high])


def _take_best(m: Matching, scored: list[tuple[tuple[bool, float, float], int, int]]) -> None:
    slots, taken = set[int](), set[int]()
    for _, slot, index in sorted(scored, reverse=True):
        if slot not in slots and index not in taken:
            slots.add(slot)
            taken.add(index)
            _take(m, -slot, -index)


def _take(m: Matching, slot: int, index: int) -> None:
    if slot in m.found:
        m.dropped.add(m.found[slot])
    m.found[slot] = index
    if m.slots[slot].role is Role.SOLUTION:
        m.guessed.add(slot)


def _drop_copies(m: Matching) -> None:
    """Drop what would undo an answer or repeat it: further copies of stubs, answers and test cells."""
    copies: dict[str, int] = {}
    for index in m.of_role(Role.SOLUTION, Role.TESTS):
        for source in (m.slots[index].source, tidy(m.slots[index].full_source), m.answer(index)):
            if source:
                copies.setdefault(source, index)
    for index in m.own_code():
        piece = m.pieces[index]
        if piece.tidy in copies:
            m.dropped.add(index)
            m.doubled.add(copies[piece.tidy])
