"""The submissions of a section as they are compared: what is the student's own, cell by cell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbformat import from_dict

from autograder.course import MAX_NOTEBOOK_BYTES, Course, read_notebook
from autograder.errors import CourseError
from autograder.grading.matching import Piece, pieces
from autograder.grading.template import slots, template
from autograder.similarity.comparing import Alike, compare
from autograder.similarity.tokens import Passage, passages


@dataclass(frozen=True)
class Given:
    """What students were given: the cells of the released notebook, and the passages in them."""

    cells: frozenset[tuple[str, str]]
    passages: frozenset[int]


@dataclass(frozen=True)
class Own:
    """A student's cells that hold something of their own, each with its passages that the master hasn't."""

    student: str
    cells: tuple[tuple[Piece, tuple[Passage, ...]], ...]

    @property
    def codes(self) -> frozenset[int]:
        """All passages that are the student's own."""
        return frozenset(passage.code for _, found in self.cells for passage in found)


@dataclass(frozen=True)
class Comparison:
    """The pairs that are alike, the submissions they are of, and those that can't be read."""

    submissions: tuple[Own, ...]
    pairs: tuple[Alike, ...]
    unreadable: tuple[CourseError, ...]


def compare_section(course: Course, section: str, threshold: float) -> Comparison:
    """Compare all submissions of a section; CourseError if there are fewer than two."""
    students = [each for each in course.students(section) if not each.startswith(".")]
    if len(students) < 2:
        problem = f"There are {len(students)} submissions of {section} in {course.root / 'submitted'}."
        raise CourseError(problem, "Two are needed to compare: autograder collect SOURCE")
    given = _given(course, section)
    found: list[Own] = []
    unreadable: list[CourseError] = []
    for student in students:
        try:
            found.append(Own(student, tuple(_own_cells(course.submitted(student, section), given))))
        except CourseError as error:
            unreadable.append(error)
    return Comparison(tuple(found), tuple(compare([each.codes for each in found], threshold)), tuple(unreadable))


def _given(course: Course, section: str) -> Given:
    # The slots' sources, for hidden tests and solutions were never given.
    released = [Piece(slot.kind, slot.source, None, None) for slot in slots(template(course.master(section)))]
    cells = frozenset((piece.kind, piece.tidy) for piece in released)
    return Given(cells, frozenset(each.code for piece in released for each in passages(piece)))


def _own_cells(path: Path, given: Given) -> Iterator[tuple[Piece, tuple[Passage, ...]]]:
    for piece in _pieces(path):
        if (piece.kind, piece.tidy) in given.cells or piece.kind == "raw":
            continue
        own = tuple(each for each in passages(piece) if each.code not in given.passages)
        if own:
            yield piece, own


def _pieces(path: Path) -> tuple[Piece, ...]:
    """Return the cells of a notebook. To validate it, as grading does, would take most of the time."""
    try:
        if path.stat().st_size <= MAX_NOTEBOOK_BYTES:
            data = json.loads(path.read_bytes().decode("utf-8-sig"))
            if isinstance(data, dict) and data.get("nbformat") == 4 and isinstance(data.get("cells"), list):
                return pieces(from_dict(data))
    except (OSError, ValueError, RecursionError):
        pass
    return pieces(read_notebook(path))
