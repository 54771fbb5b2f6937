"""The sheets that Canvas and Moodle import: a row a student, a column a section."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from autograder.errors import CourseError
from autograder.exporting.quoting import to_text
from autograder.exporting.table import GradeTable, plain
from autograder.intake.roster import Person, Roster

_CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
_POINTS = "    Points Possible"
"""How Canvas names its second row."""


def to_canvas(table: GradeTable, roster: Roster | None) -> str:
    """Return a sheet for Canvas's Grades > Import: https://community.canvaslms.com, `How do I import grades`.

    With the gradebook that Canvas exported as the roster, rows and columns carry Canvas's own names and ids, so that
    nothing has to be mapped; else a section is a new assignment of its name.
    """
    sections = _sections(table)
    header = [_canvas_column(section, roster) for section in sections]
    rows = [[_POINTS, "", "", "", "", *_most(table, sections)]]
    for student, person in _people(table, roster):
        known = person.row if person else {}
        own = (person.name or student, person.ids.get("canvas", ""), "", student, "") if person else _bare(student)
        rows.append([*(known.get(name) or value for name, value in zip(_CANVAS, own, strict=True))])
        rows[-1] += _scores(table, student, sections)
    return to_text([*_CANVAS, *header], rows)


def to_moodle(table: GradeTable, roster: Roster | None) -> str:
    """Return a sheet for Moodle: the grading worksheet filled in, if that is the roster; else one to import.

    A worksheet is of one assignment, so the table must be of one section. For Grades > Import, map
    `ID number` to `useridnumber`.
    """
    sections = _sections(table)
    people = list(_people(table, roster))
    headers = list(roster.people[0].row) if roster and roster.people else []
    if not {"Identifier", "Grade"} <= set(headers):
        rows = [
            [student, person.name if person else "", *_scores(table, student, sections)] for student, person in people
        ]
        return to_text(["ID number", "Full name", *sections], rows)
    if len(sections) != 1:
        raise CourseError(
            f"Moodle's grading worksheet is of one assignment, but there are grades of {', '.join(sections)}.",
            "Name one section with --section.",
        )
    filled = (
        {**person.row, "Grade": score}
        for student, person in people
        if person
        for score in _scores(table, student, sections)
    )
    return to_text(headers, ([row[name] for name in headers] for row in filled))


def strangers(table: GradeTable, roster: Roster | None) -> tuple[str, ...]:
    """Return the students that have grades but aren't in the roster."""
    known = {person.student for person in roster.people} if roster else None
    return tuple(sorted({row.student for row in table.rows if known is not None and row.student not in known}))


def _people(table: GradeTable, roster: Roster | None) -> Iterable[tuple[str, Person | None]]:
    people = {person.student: person for person in roster.people} if roster else {}
    for student in sorted({row.student for row in table.rows} - set(strangers(table, roster))):
        yield student, people.get(student)


def _sections(table: GradeTable) -> list[str]:
    return sorted({row.section for row in table.rows})


def _scores(table: GradeTable, student: str, sections: Sequence[str]) -> list[object]:
    scores: Mapping[str, float] = {row.section: row.score for row in table.rows if row.student == student}
    return [plain(scores[section]) if section in scores else "" for section in sections]


def _most(table: GradeTable, sections: Sequence[str]) -> list[object]:
    return [plain(max(row.max_score for row in table.rows if row.section == section)) for section in sections]


def _bare(student: str) -> tuple[str, str, str, str, str]:
    return student, "", "", student, ""


def _canvas_column(section: str, roster: Roster | None) -> str:
    """Return the header that Canvas knows the section's assignment by, `NAME (NUMBER)`, if the roster has it."""
    headers = roster.people[0].row if roster and roster.people else {}
    return next((name for name in headers if name.rpartition(" (")[0].strip() == section), section)
