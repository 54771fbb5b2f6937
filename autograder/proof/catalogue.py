"""The catalogue of named wrong answers beside each master notebook (`wrong_answers.toml`)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.errors import CourseError

MINIMUM = 4
"""The least number of named wrong answers that an exercise must have."""


@dataclass(frozen=True)
class WrongAnswer:
    """A plausible mistake: its `name`, the `hint` that it earns, and the `answer`, source of a solution cell."""

    name: str
    hint: str
    answer: str


@dataclass(frozen=True)
class Entry:
    """What the catalogue says of one exercise: its wrong answers, and solution lines that are no secret."""

    wrong: tuple[WrongAnswer, ...]
    public: tuple[str, ...] = ()


def read_catalogue(path: Path) -> dict[str, Entry]:
    """Read a catalogue: from grade_id to entry, in the file's order."""
    cure = "See CONTRIBUTING.md for the catalogue's form."
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CourseError(f"{path} doesn't exist.", "Each section needs a catalogue of wrong answers.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseError(f"{path} is not valid TOML: {error}.", cure) from None
    try:
        return {grade_id: _entry(item) for grade_id, item in data.items()}
    except (KeyError, TypeError, AttributeError) as error:
        problem = f"{path} has an incomplete entry: {error!r}"
        raise CourseError(problem, "Each [[ID.wrong]] has name, hint and answer, all text.") from None


def _entry(item: Mapping[str, Any]) -> Entry:
    wrong = tuple(
        WrongAnswer(one["name"].strip(), " ".join(one["hint"].split()), one["answer"].strip("\n"))
        for one in item.get("wrong", [])
    )
    public = item.get("public", [])
    if not isinstance(public, list):
        raise TypeError("public must be a list of lines")
    return Entry(wrong, tuple(public))
