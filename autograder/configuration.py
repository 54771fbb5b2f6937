"""What `course.toml` in a course folder sets: the gradebook, when sections are due, what lateness costs, a secret."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.errors import CourseError

CONFIGURATION = "course.toml"
"""The file in a course folder; a folder without one has the defaults."""

_DAY = 24 * 60 * 60
_SHORTEST_SECRET = 16
_TABLES = ("gradebook", "late", "due", "extensions", "variants")


@dataclass(frozen=True)
class LatePolicy:
    """What a late submission loses: a share of its own points for each day that has begun."""

    percent_a_day: float = 0.0
    most_percent: float = 100.0
    grace_minutes: float = 0.0
    """So much later is still in time."""

    def penalty(self, score: float, seconds: float) -> float:
        """Return the points that a submission with this score loses which is so many seconds late."""
        if seconds <= 60 * self.grace_minutes:
            return 0.0
        return score * min(math.ceil(seconds / _DAY) * self.percent_a_day, self.most_percent) / 100


@dataclass(frozen=True)
class Configuration:
    """The settings of a course folder."""

    gradebook: str | None = None
    """The address of a gradebook that isn't the file gradebook.db, as SQLAlchemy writes it."""
    late: LatePolicy = LatePolicy()
    due: Mapping[str, datetime] = field(default_factory=dict)
    """When each section is due."""
    extensions: Mapping[str, Mapping[str, datetime]] = field(default_factory=dict)
    """By section: when it is due for students who have more time."""
    secret: str | None = field(default=None, repr=False)
    """What students' codes are derived from (see `autograder.variants`); it stays with the instructor."""


def read_configuration(folder: Path) -> Configuration:
    """Return the settings of a course folder; CourseError, with the place and the cure, if its file is wrong."""
    path = folder / CONFIGURATION
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return Configuration()
    except NotADirectoryError:
        return Configuration()
    except OSError as error:
        raise CourseError(f"{path} can't be read: {error.strerror}.", "Check the file's permissions.") from error
    except ValueError as error:  # no TOML, or no UTF-8 text
        raise CourseError(f"{path}: {error}.", "Mend that line, or delete the file to have the defaults.") from error
    try:
        return _configuration(found)
    except ValueError as error:
        raise CourseError(f"{path}: {error}.", "docs/instructors.md shows what it may hold.") from error


def _configuration(found: dict[str, Any]) -> Configuration:
    _check_names(found, _TABLES, "")
    tables = {name: _table(found.get(name, {}), name) for name in _TABLES}
    _check_names(tables["gradebook"], ("url",), "gradebook.")
    url = tables["gradebook"].get("url")
    if url is not None and (not isinstance(url, str) or "://" not in url):
        raise ValueError(f"gradebook.url = {url!r} is no address such as 'postgresql+psycopg://host/database'")
    _check_names(tables["late"], [each.name for each in fields(LatePolicy)], "late.")
    _check_names(tables["variants"], ("secret",), "variants.")
    secret = tables["variants"].get("secret")
    if secret is not None and (not isinstance(secret, str) or len(secret) < _SHORTEST_SECRET):
        raise ValueError(f"variants.secret must be a text of at least {_SHORTEST_SECRET} characters")
    due = {section: _time(value, f"due.{section}") for section, value in tables["due"].items()}
    extensions = {}
    for section, students in tables["extensions"].items():
        name = f"extensions.{section}"
        if section not in due:
            raise ValueError(f"{name} needs a time in [due] that {section} is due for the others")
        extensions[section] = {
            student: _time(value, f"{name}.{student}") for student, value in _table(students, name).items()
        }
    late = LatePolicy(**{name: _number(value, f"late.{name}") for name, value in tables["late"].items()})
    return Configuration(url, late, due, extensions, secret)


def _check_names(table: Mapping[str, Any], known: list[str] | tuple[str, ...], where: str) -> None:
    for name in table:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            raise ValueError(
                f"there is no {where}{name}; {f'did you mean {where}{near[0]}' if near else ', '.join(known)}?"
            )


def _table(value: object, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{name} must be a table: [{name}]")
    return value


def _time(value: object, name: str) -> datetime:
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise ValueError(f"{name} = {value!r} is no time with a zone, such as 2026-01-31T18:00:00Z")
    return value.astimezone(UTC)


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
        raise ValueError(f"{name} = {value!r} isn't a number from 0")
    if "percent" in name and value > 100:
        raise ValueError(f"{name} = {value!r} is more than 100")
    return float(value)
