"""A download by student: which file is whose, by the roster where the system's ids aren't the course's."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import PurePosixPath

from autograder.course import check_student_id
from autograder.errors import CourseError
from autograder.intake.downloads import Download, Moodle, Origin, recognise
from autograder.intake.entries import Entry, Listing, Refusal, is_notebook, is_zip, shown
from autograder.intake.layout import SOURCE, Layout, Pile, Place
from autograder.intake.roster import Roster


def find_download(listing: Listing, name: str) -> tuple[Download, PurePosixPath] | None:
    """Return the kind of download that a source is, and the folder that zipping it again may have put around it."""
    paths = [entry.path for entry in listing.entries]
    tops = {path.parts[0] for path in paths}
    inner = [PurePosixPath(*path.parts[1:]) for path in paths if len(path.parts) > 1]
    kind = recognise(paths)
    if kind is not None:
        return kind, SOURCE
    if len(tops) == 1 and name.startswith(tuple(tops)):
        kind = recognise(inner)
    return (kind, PurePosixPath(*tops)) if kind else None


def sort_download(
    listing: Listing,
    kind: Download,
    root: PurePosixPath,
    sections: Collection[str],
    roster: Roster | None = None,
    student: str | None = None,
) -> Layout:
    """Sort the files of a download by student; with `student` only that one's count."""
    users = roster.ids(kind.key) if roster else ()
    files: dict[str, list[tuple[Entry, Place]]] = {}
    refused: dict[str, Refusal] = {}
    strays: list[Entry] = []
    for entry in listing.entries:
        wanted = is_notebook(entry.path.name) or is_zip(entry.path.name)
        origin = kind.read(entry.path.relative_to(root), users)
        if origin is None:
            if wanted:
                refused[str(entry.path)] = _unknown_name(entry, kind)
            else:
                strays.append(entry)
            continue
        try:
            owner = _owner(kind, origin, roster)
            place = Place(owner, _section(origin, sections), False, origin.attempt, _note(entry, origin))
        except CourseError as error:
            # One row a person, not one for every file of theirs.
            name = shown(entry.path)
            refused.setdefault(
                f"{origin.user}: {error.problem}", Refusal(name, f"{name}: {error.problem}", error.cure)
            )
            continue
        if student in (None, owner):
            modified = origin.when or entry.modified
            files.setdefault(owner, []).append((replace(entry, modified=modified), place))
    piles = (Pile(owner, _folder(found), tuple(found), ()) for owner, found in sorted(files.items()))
    return Layout(tuple(piles), tuple(refused.values()), tuple(strays))


def _owner(kind: Download, origin: Origin, roster: Roster | None) -> str:
    # The exchange's names are the course's own.
    if roster is not None and kind.key != "exchange":
        return roster.find(kind.key, origin.user, origin.name)
    if isinstance(kind, Moodle):
        raise CourseError(
            f"Moodle's names say only that this is {origin.name or origin.user}, which is no student id.",
            "Give a roster with --roster FILE: Moodle's grading worksheet with ID numbers will do.",
        )
    return check_student_id(origin.user)


def _section(origin: Origin, sections: Collection[str]) -> str | None:
    if origin.section is not None and origin.section not in sections:
        problem = f"it is handed in for {shown(origin.section)}, which is no section of the course."
        raise CourseError(problem, f"The sections are: {', '.join(sections)}.")
    return origin.section


def _note(entry: Entry, origin: Origin) -> str:
    if origin.section is not None and entry.owner not in (None, origin.user):
        return f"the file belongs to the account {entry.owner}, not to {origin.user}: who handed it in?"
    return origin.note


def _unknown_name(entry: Entry, kind: Download) -> Refusal:
    name = shown(entry.path)
    return Refusal(
        name,
        f"{name} lies in a download of {kind.title}, but has no name that {kind.title} gives.",
        "Collect it on its own with --student ID, or download the submissions again and leave the names as they are.",
    )


def _folder(found: list[tuple[Entry, Place]]) -> PurePosixPath:
    """Return what a report names if there is no notebook among a student's files."""
    return found[0][0].path
