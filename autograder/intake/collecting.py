"""Take submissions from a source into submitted/, each on its own: a bad one never stops the others."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import is_zipfile

from autograder.course import Course, check_student_id
from autograder.errors import CourseError
from autograder.intake.archive import open_archive, unpack
from autograder.intake.choosing import Choice, choose
from autograder.intake.downloads import Exchange
from autograder.intake.entries import Entry, Listing, Refusal, is_notebook, is_zip, shown
from autograder.intake.folder import list_folder, list_notebook
from autograder.intake.layout import LAYOUT, Pile, Place, arrange, find_root
from autograder.intake.roster import Roster
from autograder.intake.sections import Handed, masters
from autograder.intake.sorting import find_download, sort_download
from autograder.intake.store import SECRET, Stored, keep, store

_IS_SECRET = re.compile(rb"[0-9a-f]{1,256}\s*")

REMARKS = {
    Stored.REPLACED: "the submission before it is kept in attempts/",
    Stored.EARLIER: "a newer submission counts; this one is kept in attempts/",
}
"""What a report says of a submission that isn't the only one."""


@dataclass(frozen=True)
class Taken:
    """A submission that was taken: from which file, what became of it, and remarks in plain words."""

    student: str
    section: str
    file: str
    status: str
    """taken, unchanged, renamed (taken from a file of another name) or earlier (kept as an earlier attempt)."""
    submitted: datetime
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the submission as plain data."""
        data = vars(self) | {"submitted": self.submitted.isoformat(), "notes": list(self.notes)}
        return data


@dataclass
class Report:
    """What was taken from a source, what was refused, and the files that were left where they are."""

    taken: list[Taken] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    system: str = ""
    """The system whose download the source is, if any."""

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "system": self.system or None,
            "taken": [each.to_json() for each in self.taken],
            "refused": [each.to_json() for each in self.refused],
            "left_out": self.left_out,
        }


def collect(
    course: Course,
    source: Path,
    section: str | None = None,
    student: str | None = None,
    roster: Roster | None = None,
) -> Report:
    """Take all submissions from a folder, a zip file or one notebook; CourseError if the call makes no sense.

    Folder and zip file may be a download of Canvas, Moodle or Blackboard, or the inbound folder of an exchange.
    """
    if student is not None:
        check_student_id(student)
    if section is not None:
        course.select([section])
    known = masters(course)
    report = Report()
    with _listing(course, source) as listing:
        download = find_download(listing, source.stem)
        secrets = _secrets(listing) if download and isinstance(download[0], Exchange) else {}
        if download:
            report.system = download[0].title
            layout = sort_download(listing, *download, known, roster, student)
        else:
            layout = arrange(listing, known, student, find_root(listing, source.stem, known))
        report.refused += [*listing.refused, *layout.refused]
        report.left_out += [shown(entry.path) for entry in layout.strays if entry.path.name != SECRET]
        names = _folded(course)
        for pile in layout.piles:
            other = names.setdefault(pile.student.casefold(), pile.student)
            if other != pile.student:
                report.refused.append(_collision(pile, other))
                continue
            pile = _with_unpacked(pile, report)
            chosen = choose(pile, known, section)
            report.left_out += [shown(entry.path) for entry in chosen.left_out]
            report.refused += _without_repeats(chosen.refused, report.refused)
            for choice in chosen.choices:
                _take(course, choice, chosen.left_out, secrets, report)
    if not report.taken and not report.refused:
        problem = f"There is no submission of {section or 'any section'} in {source}."
        report.refused.append(Refusal(str(source), problem, f"The layout is {LAYOUT}."))
    return report


@contextmanager
def _listing(course: Course, source: Path) -> Iterator[Listing]:
    if not source.exists():
        raise CourseError(f"{source} doesn't exist.", "Name a folder, a zip file or a notebook.")
    if source.is_dir():
        if source.resolve() == (course.root / "submitted").resolve():
            problem = f"{source} holds what was collected already."
            raise CourseError(problem, "Name the folder with what was handed in.")
        yield list_folder(source)
    elif source.is_file() and is_notebook(source.name):
        yield list_notebook(source)
    elif source.is_file() and (is_zip(source.name) or is_zipfile(source)):
        with open_archive(source) as listing:
            yield listing
    else:
        raise CourseError(
            f"{source} is neither a folder nor a zip file nor a notebook.",
            "Unpack it yourself and collect the folder.",
        )


def _folded(course: Course) -> dict[str, str]:
    """Return the students of submitted/ by their id in small letters."""
    folder = course.root / "submitted"
    return {path.name.casefold(): path.name for path in folder.iterdir()} if folder.is_dir() else {}


def _collision(pile: Pile, other: str) -> Refusal:
    return Refusal(
        shown(pile.folder),
        f"The student ids {pile.student} and {other} differ in capitals alone; many disks hold but one of them.",
        f"If both are one person, collect this folder on its own with --student {other}; else rename it.",
    )


def _with_unpacked(pile: Pile, report: Report) -> Pile:
    """Return the pile with what is in its zip files, if it is of a download; zip files inside those stay shut."""
    files: list[tuple[Entry, Place]] = []
    for entry, place in pile.files:
        if not (place.attempt and is_zip(entry.path.name)):
            files.append((entry, place))
            continue
        inner = unpack(entry)
        report.refused += inner.refused
        files += [(each, place) for each in inner.entries]
    return replace(pile, files=tuple(files))


def _without_repeats(refused: Iterable[Refusal], seen: Iterable[Refusal]) -> list[Refusal]:
    """Leave out the folders without a notebook where one was refused: once is enough."""
    named = [refusal.file for refusal in seen]
    return [each for each in refused if not any(f"{name}/".startswith(f"{each.file}/") for name in named)]


def _secrets(listing: Listing) -> dict[PurePosixPath, bytes]:
    """Return the secrets of an exchange's submissions by their folders."""
    found = {}
    for entry in listing.entries:
        if entry.path.name == SECRET:
            with contextlib.suppress(CourseError):
                data = entry.read()
                if _IS_SECRET.fullmatch(data):
                    found[entry.path.parent] = data
    return found


def _take(
    course: Course,
    choice: Choice,
    left_out: Iterable[Entry],
    secrets: Mapping[PurePosixPath, bytes],
    report: Report,
) -> None:
    others = [shown(each.path) for each in left_out]
    more = f" and {len(others) - 3} more" * (len(others) > 3)
    notes = (*choice.notes, *([f"left out: {', '.join(others[:3])}{more}"] * bool(others)))
    secret = secrets.get(choice.handed.entry.path.parent)
    _write(course, choice, choice.handed, notes, partial(store, secret=secret), report)
    for handed in choice.earlier:
        _write(course, choice, handed, (), keep, report)


def _write(
    course: Course,
    choice: Choice,
    handed: Handed,
    notes: tuple[str, ...],
    write: Callable[[Course, str, str, bytes, datetime], Stored],
    report: Report,
) -> None:
    entry = handed.entry
    name = shown(entry.path)
    try:
        stored = write(course, choice.student, choice.section, handed.data, entry.modified)
    except OSError as error:
        problem = f"{name} can't be stored at {course.submitted(choice.student, choice.section)}: {error.strerror}."
        report.refused.append(Refusal(name, problem, "Check that folder's permissions and the free space."))
        return
    fresh = stored in (Stored.NEW, Stored.REPLACED)
    status = str(stored) if not fresh else "taken" if entry.path.name == f"{choice.section}.ipynb" else "renamed"
    remark = REMARKS.get(stored)
    notes = (*([remark] if remark else []), *notes)
    report.taken.append(Taken(choice.student, choice.section, name, status, entry.modified, notes))
