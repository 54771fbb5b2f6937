"""Of all that a student handed in, the one notebook of each section that counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from autograder.errors import CourseError
from autograder.intake.entries import Entry, Refusal, shown
from autograder.intake.layout import LAYOUT, Pile, Place
from autograder.intake.sections import GradeIds, Handed, find_section, section_in


@dataclass(frozen=True)
class Choice:
    """The notebook that counts for a student and section, remarks in plain words, and earlier attempts to keep."""

    student: str
    section: str
    handed: Handed
    notes: tuple[str, ...]
    earlier: tuple[Handed, ...] = ()


@dataclass(frozen=True)
class Chosen:
    """What was chosen from a pile, what was refused, and which files were left out."""

    choices: tuple[Choice, ...]
    refused: tuple[Refusal, ...]
    left_out: tuple[Entry, ...]


@dataclass(frozen=True)
class _Found:
    handed: Handed
    section: str | None
    place: Place


def choose(pile: Pile, known: Mapping[str, GradeIds], wanted: str | None = None) -> Chosen:
    """Choose a notebook for each section, or for the `wanted` one alone, reading all that come into question."""
    refused = list(_without_notebook(pile, wanted))
    left_out = [entry for entry, _ in pile.files if not entry.is_notebook]
    found: list[_Found] = []
    for entry, place in pile.files:
        if not entry.is_notebook:
            continue
        if wanted and (place.section or section_in(entry.path.stem, known) or wanted) != wanted:
            left_out.append(entry)
            continue
        try:
            handed = Handed.read(entry)
            found.append(_Found(handed, find_section(handed, place.section or wanted, known), place))
        except CourseError as error:
            refused.append(Refusal(shown(entry.path), error.problem, error.cure))
    choices: list[Choice] = []
    for section in known:
        candidates = [each for each in found if each.section == section and not each.place.deep]
        if candidates:
            choice, older = _newest(pile.student, section, candidates, known[section])
            choices.append(choice)
            refused += older
    there = {choice.section for choice in choices}
    for each in found:
        if each.section is not None and not each.place.deep:
            continue
        if there and (each.section is None or each.section in there):
            left_out.append(each.handed.entry)
        else:
            refused.append(_unclear(each, known))
    return Chosen(tuple(choices), tuple(refused), tuple(left_out))


def _newest(student: str, section: str, candidates: Sequence[_Found], ids: GradeIds) -> tuple[Choice, list[Refusal]]:
    by_attempt: dict[str | PurePosixPath, list[Handed]] = {}
    for each in candidates:
        by_attempt.setdefault(each.place.attempt or each.handed.entry.path.parent, []).append(each.handed)
    best = [(key, *_best_match(handed, section, ids)) for key, handed in by_attempt.items()]

    def age(one: tuple[str | PurePosixPath, Handed, tuple[str, ...]]) -> tuple[str, datetime]:
        # A download says itself which attempt is the newest; of folders the dates do.
        return one[0] if isinstance(one[0], str) else "", one[1].entry.modified

    _, handed, notes = max(best, key=age)
    older = [each for _, each, _ in best if each.data != handed.data]
    remarks = (each.place.note for each in candidates if each.handed is handed and each.place.note)
    notes = (*notes, *remarks)
    if not ids & handed.grade_ids:
        notes = (*notes, "none of the section's cells is in it by name; grading goes by their content")
    if any(each.place.attempt for each in candidates):
        return Choice(student, section, handed, notes, tuple(older)), []
    return Choice(student, section, handed, notes), [_older(each, handed, student, section) for each in older]


def _best_match(folder: Sequence[Handed], section: str, ids: GradeIds) -> tuple[Handed, tuple[str, ...]]:
    def fit(one: Handed) -> tuple[object, ...]:
        return len(ids & one.grade_ids), one.entry.modified, one.entry.path.stem == section

    best = max(folder, key=fit)
    others = sorted(shown(one.entry.path.name) for one in folder if one is not best)
    if not others:
        return best, ()
    why = "fits best" if any(fit(one)[0] != fit(best)[0] for one in folder) else "is the newest"
    return best, (f"of {len(folder)} notebooks {shown(best.entry.path.name)} {why}; not taken: {', '.join(others)}",)


def _older(older: Handed, newest: Handed, student: str, section: str) -> Refusal:
    return Refusal(
        shown(older.entry.path),
        f"{student} handed in {section} twice; {shown(newest.entry.path)} is newer and counts.",
        "Nothing to do if that is right; else remove the newer one from the source and from submitted/, "
        "and collect again.",
    )


def _unclear(found: _Found, known: Mapping[str, GradeIds]) -> Refusal:
    name = shown(found.handed.entry.path)
    if found.section is None:
        return Refusal(
            name,
            f"{name} is of no known section: neither its name nor its cells say which.",
            f"Name the section with --section ({', '.join(known)}), or ask for the right notebook.",
        )
    if found.place.section is None:
        problem = f"{name} lies in the folder {shown(found.handed.entry.path.parent.name)}, which is no section."
    else:
        problem = f"{name} lies deeper than expected."
    return Refusal(name, problem, f"Put it at {LAYOUT}, where SECTION is one of {', '.join(known)}.")


def _without_notebook(pile: Pile, wanted: str | None) -> list[Refusal]:
    with_one = {folder for entry, _ in pile.files if entry.is_notebook for folder in entry.path.parents}
    empty = [folder for folder in pile.section_folders if folder not in with_one and wanted in (None, folder.name)]
    if not with_one and not pile.section_folders:
        empty = [pile.folder]
    return [
        Refusal(
            shown(folder),
            f"There is no notebook in {shown(folder)}.",
            "Ask the student for the .ipynb file. Files of other kinds alone can't be graded.",
        )
        for folder in empty
    ]
