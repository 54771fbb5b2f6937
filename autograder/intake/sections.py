"""Which section a notebook belongs to: by where it lies, by its name, or by the cells inside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nbformat import NotebookNode

from autograder.course import Course, parse_notebook
from autograder.errors import CourseError
from autograder.intake.entries import AGAIN, Entry, shown

GradeIds = frozenset[str]


@dataclass(frozen=True)
class Handed:
    """A notebook that was handed in and can be read: its file, its bytes and the grade_ids inside."""

    entry: Entry
    data: bytes
    grade_ids: GradeIds

    @classmethod
    def read(cls, entry: Entry) -> Handed:
        """Read and check the notebook; CourseError says what is wrong with it."""
        data = entry.read()
        try:
            notebook = parse_notebook(data.decode("utf-8-sig"))
        except ValueError as error:
            raise CourseError(f"{shown(entry.path)} is not a notebook: {error}.", AGAIN) from error
        return cls(entry, data, grade_ids(notebook))


def grade_ids(notebook: NotebookNode) -> GradeIds:
    """Return the grade_ids of a notebook's cells, whatever strange things its metadata holds."""
    marks = (cell.get("metadata", {}).get("nbgrader") for cell in notebook.cells)
    names = (mark.get("grade_id") for mark in marks if isinstance(mark, dict))
    return frozenset(name for name in names if isinstance(name, str))


def masters(course: Course) -> dict[str, GradeIds]:
    """Return the grade_ids of every section's master."""
    return {section: grade_ids(course.master(section)) for section in course.sections}


def find_section(handed: Handed, folder: str | None, known: Mapping[str, GradeIds]) -> str | None:
    """Return the notebook's section, or None; `folder` is the section whose folder it lies in, or that was asked for.

    CourseError if that, or the file's name, contradicts the cells inside.
    """
    inside = {section: len(ids & handed.grade_ids) for section, ids in known.items() if ids & handed.grade_ids}
    section = folder or section_in(handed.entry.path.stem, known)
    if section is None:
        best = max(inside.values(), default=0)
        found = [each for each, count in inside.items() if count == best]
        return found[0] if len(found) == 1 else None
    if inside and section not in inside:
        raise CourseError(
            f"{shown(handed.entry.path)} should be of {section}, but holds the cells of {', '.join(inside)}.",
            "Ask for the right notebook, or put this one into the right folder under its right name.",
        )
    return section


def section_in(name: str, known: Mapping[str, GradeIds]) -> str | None:
    """Return the one section whose name occurs in a file's name."""
    found = [section for section in known if section in name]
    # Of 01_int and 01_integers the longer one is meant.
    found = [one for one in found if not any(one != other and one in other for other in found)]
    return found[0] if len(found) == 1 else None
