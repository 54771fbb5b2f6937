"""Whose files are whose: STUDENT/SECTION/*.ipynb, STUDENT/*.ipynb, or all files of one named student."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import PurePosixPath

from autograder.course import check_student_id
from autograder.errors import CourseError
from autograder.intake.entries import Entry, Listing, Refusal, is_zip, shown

LAYOUT = "STUDENT/SECTION/NOTEBOOK.ipynb or STUDENT/NOTEBOOK.ipynb"

SOURCE = PurePosixPath()
"""The source itself, seen from inside."""


@dataclass(frozen=True)
class Place:
    """Where a file belongs: to whom, to which section, and whether that is deeper than expected.

    In a download `attempt` sorts the attempts of a student, and `note` is a remark on the file.
    """

    student: str | None
    section: str | None
    deep: bool
    attempt: str = ""
    note: str = ""


@dataclass(frozen=True)
class Pile:
    """All that lies in one student's folder: the files with their places, and the sections' folders."""

    student: str
    folder: PurePosixPath
    files: tuple[tuple[Entry, Place], ...]
    section_folders: tuple[PurePosixPath, ...]


@dataclass(frozen=True)
class Layout:
    """A source by student, with what was refused and the files that are nobody's."""

    piles: tuple[Pile, ...]
    refused: tuple[Refusal, ...]
    strays: tuple[Entry, ...]


def find_root(listing: Listing, name: str, sections: Collection[str]) -> PurePosixPath:
    """Return the folder around all students: the source itself, or the one folder that zipping a folder adds.

    `name` is the source's without its ending: `inbox` or `inbox (1)` for a folder `inbox`. A folder with but one
    folder inside may be a student's, so that one is never taken for it.
    """
    paths = {entry.path for entry in listing.entries} | listing.folders
    inner = {path.parts[1] for path in paths if len(path.parts) > 1}
    notebooks = [entry.path for entry in listing.entries if entry.is_notebook]
    tops = {path.parts[0] for path in paths}
    is_student = inner & set(sections) or any(len(path.parts) <= 2 for path in notebooks)
    several = len({path.parts[1] for path in notebooks if len(path.parts) > 2}) > 1
    if len(tops) == 1 and several and not is_student and all(name.startswith(top) for top in tops):
        return PurePosixPath(*tops)
    return SOURCE


def arrange(
    listing: Listing, sections: Collection[str], student: str | None = None, root: PurePosixPath = SOURCE
) -> Layout:
    """Arrange a source by student; the students' folders lie in `root`.

    With `student` only that student's folder counts; if there is none, the whole source is that student's.
    """
    skip = len(root.parts)
    named = any(path.parts[skip : skip + 1] == (student,) for path in listing.folders)
    owner = None if named else student
    files: dict[str, list[tuple[Entry, Place]]] = {}
    folders: dict[str, list[PurePosixPath]] = {}
    refused: list[Refusal] = []
    strays: list[Entry] = []
    for entry in listing.entries:
        place = _locate(entry.path.parts[skip:-1], sections, owner)
        if place.student is None:
            refusal = _nobodys(entry)
            if refusal and student is None:
                refused.append(refusal)
            else:
                strays.append(entry)
        elif student in (None, place.student):
            files.setdefault(place.student, []).append((entry, place))
    for folder in sorted(listing.folders):
        place = _locate(folder.parts[skip:], sections, owner)
        if place.student is not None and student in (None, place.student):
            folders.setdefault(place.student, []).extend([folder] if place.section and not place.deep else [])
    students = sorted(files.keys() | folders.keys())
    bad = [one for one in students if not _is_id(one)]
    refused += [_bad_id(one, sections) for one in bad]
    # The folder `a` of an id `a/b` isn't a student that forgot the notebook.
    outer = {one for one in students if one not in files and any(each.startswith(f"{one}/") for each in bad)}
    piles = (
        Pile(
            one,
            root if owner else root / one,
            tuple(files.get(one, ())),
            tuple(folders.get(one, ())),
        )
        for one in students
        if one not in bad and one not in outer
    )
    return Layout(tuple(piles), tuple(refused), tuple(strays))


def _locate(folder: tuple[str, ...], sections: Collection[str], owner: str | None) -> Place:
    known = next((index for index, name in enumerate(folder) if name in sections), None)
    if owner is not None:
        return Place(owner, folder[0] if known == 0 else None, len(folder) > (1 if known == 0 else 0))
    if known is not None:
        return Place("/".join(folder[:known]) or None, folder[known], len(folder) > known + 1)
    return Place(folder[0] if folder else None, None, len(folder) > 1)


def _is_id(student: str) -> bool:
    try:
        check_student_id(student)
    except CourseError:
        return False
    return True


def _bad_id(student: str, sections: Collection[str]) -> Refusal:
    try:
        check_student_id(student)
    except CourseError as error:
        where = f"The folder's files were left out. The layout is {LAYOUT}." if "/" in student else ""
        return Refusal(shown(student), f"{error.problem}.", " ".join(filter(None, (error.cure, where))))
    raise ValueError(f"{student} is a student id")


def _nobodys(entry: Entry) -> Refusal | None:
    name = shown(entry.path)
    if entry.is_notebook:
        cure = f"Put it at {LAYOUT}, or collect the file on its own with --student ID."
        return Refusal(name, f"Whose notebook is {name}? It lies in no student's folder.", cure)
    if is_zip(entry.path.name):
        cure = "Collect it on its own: autograder collect FILE.zip (with --student ID if it is one student's)."
        return Refusal(name, f"{name} is a zip file inside the source; it wasn't opened.", cure)
    return None
