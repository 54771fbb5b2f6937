"""From recorded outcomes to `checks.json`: right answers by sealed name, wrong ones each with a locked hint."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from autograder.course import CHECKS, Course
from autograder.errors import CourseError
from autograder.proof.catalogue import Entry
from autograder.proof.recording import Outcomes, Recorded
from numfmt.checks import aligned, name_of
from numfmt.sealed import lock, stretch

SCHEMA = 1


def seal(section: str, recorded: Recorded, catalogue: Mapping[str, Entry]) -> dict[str, Any]:
    """Return the content of a section's checks.json; the same input gives the same bytes."""
    exercises = {
        grade_id: _seal_exercise(f"{section}.{grade_id}", variants, catalogue.get(grade_id, Entry(())))
        for grade_id, variants in recorded.items()
    }
    return {"schema": SCHEMA, "section": section, "exercises": exercises}


def variant_counts(course: Course, section: str) -> dict[str, int]:
    """Return how many variants each exercise of a section has that has some, by its sealed checks."""
    exercises = json.loads((course.source / section / CHECKS).read_text("utf-8"))["exercises"]
    return {name: 1 + len(each["variants"]) for name, each in exercises.items() if "variants" in each}


def _seal_exercise(name: str, variants: Sequence[Outcomes], entry: Entry) -> dict[str, Any]:
    """Return the table of an exercise, and those of its other variants, if it has some."""
    first, *others = [
        _seal_variant(f"{name}.{number}" if number else name, outcomes, entry)
        for number, outcomes in enumerate(variants)
    ]
    return {**first, "variants": others} if others else first


def _seal_variant(salt: str, outcomes: Outcomes, entry: Entry) -> dict[str, Any]:
    labels = [label for label, _ in outcomes[""]]
    by_answer = {name: _in_order(salt, name, labels, found) for name, found in outcomes.items()}
    _tell_apart(salt, by_answer)
    right = by_answer[""]
    rows: list[dict[str, Any]] = [
        {"label": label, "right": stretch(outcome, salt)[0], "wrong": {}}
        for label, outcome in zip(labels, right, strict=True)
    ]
    for wrong in entry.wrong:
        given = by_answer[wrong.name]
        # What an answer leaves at None throughout, it doesn't answer: that is no part of the mistake.
        touched = {name_of(label) for label, outcome in zip(labels, given, strict=True) if outcome is not None}
        differing = [
            i for i, label in enumerate(labels) if name_of(label) in touched and not _same(given[i], right[i])
        ]
        mistake = {"name": wrong.name, "hint": wrong.hint, "shows": len(differing)}
        for i in differing:
            name, key = stretch(given[i], salt)
            rows[i]["wrong"].setdefault(name, []).append(lock(mistake, key))
    return {"salt": salt, "cases": rows}


def _in_order(exercise: str, name: str, labels: list[str], found: list[Any]) -> list[Any]:
    """Return an answer's outcomes in the order of the solution's cases."""
    if sorted(label for label, _ in found) != sorted(labels):
        raise CourseError(
            f"In {exercise}, the answer '{name}' gives {len(found)} cases, the solution {len(labels)}, or others.",
            "Each answer must define the names that the check asks for.",
        )
    return aligned(labels, found)


def _tell_apart(exercise: str, outcomes: Mapping[str, list[Any]]) -> None:
    seen: dict[str, str] = {}
    for name, found in outcomes.items():
        twin = seen.setdefault(repr(found), name)
        if twin != name:
            raise CourseError(
                f"In {exercise}, the visible check can't tell '{name}' from '{twin or 'the right answer'}'.",
                "Add an input to the check on which they differ.",
            )


def _same(a: Any, b: Any) -> bool:
    return repr(a) == repr(b)
