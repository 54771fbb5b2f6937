"""Take submissions from a source into submitted/, each on its own: a bad one never stops the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

from autograder.course import Course, check_student_id
from autograder.errors import CourseError
from autograder.intake.archive import open_archive
from autograder.intake.choosing import Choice, choose
from autograder.intake.entries import Entry, Listing, Refusal, is_notebook, shown
from autograder.intake.folder import list_folder, list_notebook
from autograder.intake.layout import LAYOUT, arrange, find_root
from autograder.intake.sections import masters
from autograder.intake.store import Stored, store

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

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "taken": [each.to_json() for each in self.taken],
            "refused": [each.to_json() for each in self.refused],
            "left_out": self.left_out,
        }


def collect(course: Course, source: Path, section: str | None = None, student: str | None = None) -> Report:
    """Take all submissions from a folder, a zip file or one notebook; CourseError if the call makes no sense."""
    if student is not None:
        check_student_id(student)
    if section is not None:
        course.select([section])
    known = masters(course)
    report = Report()
    with _listing(course, source) as listing:
        layout = arrange(listing, known, student, find_root(listing, source.stem, known))
        report.refused += [*listing.refused, *layout.refused]
        report.left_out += [shown(entry.path) for entry in layout.strays]
        for pile in layout.piles:
            chosen = choose(pile, known, section)
            report.left_out += [shown(entry.path) for entry in chosen.left_out]
            report.refused += _without_repeats(chosen.refused, listing.refused)
            for choice in chosen.choices:
                _take(course, choice, chosen.left_out, report)
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
    elif source.is_file() and (source.suffix.casefold() == ".zip" or is_zipfile(source)):
        with open_archive(source) as listing:
            yield listing
    else:
        raise CourseError(
            f"{source} is neither a folder nor a zip file nor a notebook.",
            "Unpack it yourself and collect the folder.",
        )


def _without_repeats(refused: Iterable[Refusal], seen: Iterable[Refusal]) -> list[Refusal]:
    """Leave out the folders without a notebook where one was refused: once is enough."""
    named = [refusal.file for refusal in seen]
    return [each for each in refused if not any(name.startswith(f"{each.file}/") for name in named)]


def _take(course: Course, choice: Choice, left_out: Iterable[Entry], report: Report) -> None:
    entry = choice.handed.entry
    name = shown(entry.path)
    try:
        stored = store(course, choice.student, choice.section, choice.handed.data, entry.modified)
    except OSError as error:
        problem = f"{name} can't be stored at {course.submitted(choice.student, choice.section)}: {error.strerror}."
        report.refused.append(Refusal(name, problem, "Check that folder's permissions and the free space."))
        return
    fresh = stored in (Stored.NEW, Stored.REPLACED)
    status = str(stored) if not fresh else "taken" if entry.path.name == f"{choice.section}.ipynb" else "renamed"
    remark = REMARKS.get(stored)
    others = [shown(each.path) for each in left_out]
    more = f" and {len(others) - 3} more" * (len(others) > 3)
    notes = [
        *choice.notes,
        *([remark] if remark else []),
        *([f"left out: {', '.join(others[:3])}{more}"] * bool(others)),
    ]
    report.taken.append(
        Taken(
            choice.student,
            choice.section,
            name,
            status,
            entry.modified,
            tuple(notes),
        )
    )
