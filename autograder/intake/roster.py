"""A roster: the CSV file that says which of the course's student ids belongs to an id of another system."""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.course import check_student_id
from autograder.errors import CourseError

_HEADERS = {
    "student_id": ("student_id", "sis login id", "id number"),
    "canvas": ("canvas_id", "id"),
    "moodle": ("moodle_id", "identifier"),
    "blackboard": ("blackboard_id", "username"),
    "name": ("name", "full name", "student"),
}
"""The columns that count. The first name is ours; the others are those of the gradebook that Canvas exports and of
Moodle's grading worksheet, which so are rosters already."""

_FORMAT = "A roster has the columns student_id and, as far as needed, canvas_id, moodle_id, blackboard_id and name."


@dataclass(frozen=True)
class Person:
    """A row of the roster: the course's id, the ids elsewhere by system, the full name, and the row as it stands."""

    student: str
    ids: Mapping[str, str]
    name: str
    row: Mapping[str, str]


@dataclass(frozen=True)
class Roster:
    """The people of a roster file."""

    path: Path
    people: tuple[Person, ...]

    def ids(self, system: str) -> tuple[str, ...]:
        """Return all ids of a system."""
        return tuple(person.ids[system] for person in self.people if system in person.ids)

    def find(self, system: str, user: str, name: str) -> str:
        """Return the student with this id in the system, else with this name; CourseError if not just one has it."""
        found = [person for person in self.people if person.ids.get(system) == user]
        if not found and name:
            found = [person for person in self.people if _plain(person.name) == _plain(name)]
        what = f"{name} ({user})" if name else user
        if not found:
            column = f"{system}_id" + (" or name" if name else "")
            raise CourseError(f"{what} isn't in the roster {self.path}.", f"Add a row; its {column} is compared.")
        if len(found) > 1:
            both = ", ".join(person.student for person in found)
            raise CourseError(
                f"{what} is several people in the roster {self.path}: {both}.",
                f"Tell them apart by {system}_id, or collect each one's files with --student.",
            )
        return found[0].student


def read_roster(path: Path) -> Roster:
    """Read a roster; CourseError names the line that is wrong."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CourseError(f"The roster {path} can't be read: {error.strerror}.", "Check the name.") from error
    except UnicodeDecodeError as error:
        raise CourseError(f"The roster {path} isn't UTF-8 text.", "Save it as CSV UTF-8.") from error
    lines = text.splitlines()
    delimiter = ";" if lines and ";" in lines[0] and "," not in lines[0] else ","
    reader = csv.DictReader(lines, delimiter=delimiter, strict=True)
    try:
        columns = _columns(reader.fieldnames or ())
        if "student_id" not in columns:
            raise CourseError(f"The roster {path} has no column student_id.", _FORMAT)
        people = [_person(row, columns) for row in reader if (row.get(columns["student_id"]) or "").strip()]
    except csv.Error as error:
        raise CourseError(f"The roster {path} is no CSV (line {reader.line_num}: {error}).", _FORMAT) from error
    except CourseError as error:
        where = f"{path}, line {reader.line_num}: " if reader.line_num > 1 else ""
        raise CourseError(f"{where}{error.problem}", error.cure) from error
    names = [person.student for person in people]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise CourseError(f"The roster {path} has {twice[0]} twice.", "Keep one row a student.")
    return Roster(path, tuple(people))


def _columns(headers: object) -> dict[str, str]:
    """Return the header of each column that counts."""
    given = {str(header).strip().casefold(): str(header) for header in headers} if isinstance(headers, list) else {}
    return {
        column: next(given[name] for name in names if name in given)
        for column, names in _HEADERS.items()
        if any(name in given for name in names)
    }


def _person(row: Mapping[str, str], columns: Mapping[str, str]) -> Person:
    values = {column: (row.get(header) or "").strip() for column, header in columns.items()}
    # Moodle's worksheet writes `Participant 12` for the 12 of its downloads.
    values["moodle"] = values.get("moodle", "").rpartition(" ")[2]
    ids = {system: values[system] for system in ("canvas", "moodle", "blackboard") if values.get(system)}
    clean = {str(key): value or "" for key, value in row.items() if key is not None}
    return Person(check_student_id(values["student_id"]), ids, values.get("name", ""), clean)


def _plain(name: str) -> str:
    """Return a name as it is compared: systems drop signs, and `Family, Given` may stand for `Given Family`."""
    last, comma, first = name.partition(",")
    text = unicodedata.normalize("NFKC", f"{first} {last}" if comma else name).casefold()
    return "".join(each for each in text if each.isalnum())
