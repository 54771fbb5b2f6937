"""The check below each exercise: says at once whether an answer is right, and if not, what was misunderstood.

The data it compares with is in `checks.json` beside the notebook, sealed (see `numfmt.sealed`).
"""

from __future__ import annotations

import contextlib
import copy
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from ._cards import RightCard, show_right, wrong_card
from .plain import Plain, plain, show, to_bytes
from .progressing import record
from .sealed import stretch, unlock
from .variants import index_of

DATA = "checks.json"

Inputs = Sequence[tuple[Any, ...]]
T = TypeVar("T")


class CheckFailed(AssertionError):
    """An answer isn't right yet: what was `found`, and the `hint`, if there is one. The message is both together.

    `misconception` names the recognised mistake, if any, and `exercise` the one that was checked.
    """

    exercise: str = ""
    misconception: str | None = None
    is_answered: bool = True

    def __init__(self, found: str, hint: str = "") -> None:
        super().__init__(f"{found} {hint}".rstrip())
        self.found, self.hint = found, hint

    def _render_traceback_(self) -> list[str]:
        # IPython shows this in place of a traceback: the student needs the message, not our frames.
        icon, state = ("✗", "not right yet") if self.is_answered else ("○", "open")
        heading = f"{self.exercise}: {state}" if self.exercise else state
        return wrong_card(icon, heading, (self.found, self.hint) if self.hint else (self.found,))


@dataclass(frozen=True)
class Case:
    """One thing that is checked: a `label` for people, the `outcome` as plain data, and what an error said."""

    label: str
    outcome: Plain
    error: Exception | None = None


def cases(exercise: str, answer: object, inputs: Inputs | dict[str, Inputs] | None = None) -> list[Case]:
    """Return the cases of an answer: one per input of a function, per entry of a dict, or the value itself."""
    if isinstance(answer, dict):
        found: list[Case] = []
        for name, part in answer.items():
            part_inputs = inputs.get(name) if isinstance(inputs, dict) else None
            found += cases(name, part, part_inputs)
        return found
    if inputs is None:
        return [Case(exercise, _data(exercise, answer))]
    if isinstance(inputs, dict):
        raise TypeError("inputs may be a dict only when the answer is a dict of functions")
    if not callable(answer):
        raise CheckFailed(f"{exercise} should be a function, and is now {show(answer)}.", "Run its cell again.")
    return [_call(exercise, answer, arguments) for arguments in inputs]


def _data(label: str, value: object) -> Plain:
    if value is Ellipsis:
        return None
    try:
        return plain(value)
    except TypeError as error:
        raise CheckFailed(f"{label}: {error}.") from None


def _call(name: str, function: Callable[..., object], arguments: tuple[Any, ...]) -> Case:
    label = f"{name}({', '.join(show(argument) for argument in arguments)})"
    try:
        result = function(*copy.deepcopy(arguments))
    except Exception as error:
        return Case(label, {"raises": type(error).__name__}, error)
    return Case(label, _data(label, result))


def aligned(labels: Sequence[str], found: Iterable[tuple[str, T]]) -> list[T]:
    """Return what was found under each label, in the labels' order: the entries of a dict may come in any.

    Where a label stands more than once, the first that was found comes first. KeyError if one wasn't found.
    """
    waiting: dict[str, list[T]] = {}
    for label, item in found:
        waiting.setdefault(label, []).append(item)
    return [waiting[label].pop(0) for label in labels]


def check(exercise: str, answer: object, *, inputs: Inputs | dict[str, Inputs] | None = None) -> None:
    """Check an answer against the sealed data of `exercise`; print a line if all is right.

    `answer` is plain data, a function (called with each tuple of `inputs`), or a dict of named answers
    (then `inputs` is a dict that gives the inputs of each function by name). A wrong answer raises
    `CheckFailed` with a diagnosis; an unexpected error in the student's function is raised as it is.
    """
    variants = _load(exercise)
    try:
        count = _compared(exercise, answer, inputs, variants)
    except Exception as error:
        if isinstance(error, CheckFailed):
            error.exercise = exercise
        if getattr(error, "is_answered", True):
            record(exercise, right=False)
        raise
    record(exercise, right=True)
    show_right(RightCard(exercise, "right" if count == 1 else f"all {count} cases right"))


def _compared(
    exercise: str, answer: object, inputs: Inputs | dict[str, Inputs] | None, variants: list[dict[str, Any]]
) -> int:
    """Return the number of cases, all of them right, or raise what is to be said."""
    found = cases(exercise, answer, inputs)
    sealed = variants[index_of(exercise, len(variants)) if len(variants) > 1 else 0]
    expected = _labels(sealed)
    missing = list((Counter(expected) - Counter(case.label for case in found)).elements())
    if missing or len(found) != len(expected):
        if isinstance(answer, dict) and missing:
            raise CheckFailed(f"Your answer to {exercise} lacks: {', '.join(missing)}.")
        raise ValueError(
            f"{DATA} and this cell check {exercise!r} in different ways: they come from different versions of the "
            "notebook. Take both from the same bundle."
        )
    wrong = _wrong(found, sealed)
    if wrong:
        failure = _diagnosis(wrong, found, sealed["salt"])
        is_known = failure.misconception is not None or not failure.is_answered
        if not is_known and any(_is_all_right(found, each) for each in variants if each is not sealed):
            raise CheckFailed(
                f"Your answer to {exercise} is right for another student's inputs.",
                "Run the cell that shows yours again, and compare the code that you gave "
                "numfmt.variants.use_code with the one you were sent.",
            )
        raise failure
    return len(found)


def _wrong(found: list[Case], sealed: dict[str, Any]) -> list[tuple[Case, dict[str, Any]]]:
    """Return the cases that are wrong by a table, each with its rows there."""
    in_order = aligned(_labels(sealed), [(case.label, case) for case in found])
    pairs = zip(in_order, sealed["cases"], strict=True)
    return [(case, rows) for case, rows in pairs if not _right(case.outcome, rows, sealed["salt"])]


def _is_all_right(found: list[Case], sealed: dict[str, Any]) -> bool:
    """Say whether a table is of these cases, and all of them are right."""
    return sorted(_labels(sealed)) == sorted(case.label for case in found) and not _wrong(found, sealed)


def _labels(sealed: dict[str, Any]) -> list[str]:
    return [rows["label"] for rows in sealed["cases"]]


def _right(outcome: Plain, rows: dict[str, Any], salt: str) -> bool:
    return any(stretch(form, salt)[0] == rows["right"] for form in _forms(outcome))


def _forms(outcome: Plain) -> Iterator[Plain]:
    """Yield an outcome and, if it holds whole numbers, the same in floats: where a float is asked for, 10 is 10.0.

    Of a short list, such as what a function returns together, each item may be meant in floats or not.
    """
    is_short = isinstance(outcome, list) and len(outcome) <= 4
    choices = [_item_forms(item) for item in (outcome if isinstance(outcome, list) and is_short else [outcome])]
    for items in product(*choices):
        yield list(items) if is_short else items[0]


def _item_forms(item: Plain) -> list[Plain]:
    floats = _in_floats(item)
    return [item] if to_bytes(floats) == to_bytes(item) else [item, floats]


def _in_floats(value: Plain) -> Plain:
    if isinstance(value, list):
        return [_in_floats(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**1023 and float(value) == value:
        return float(value)
    return value


def _load(exercise: str) -> list[dict[str, Any]]:
    """Return the tables of an exercise: one for each of its variants, the default first."""
    path = Path(DATA)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{DATA} is not in {Path.cwd()}. It comes with the notebook: open the notebook from its own folder, "
            "and copy the whole folder when you move it."
        ) from None
    except ValueError as error:
        raise ValueError(f"{path.resolve()} is damaged ({error}). Take a fresh copy from the bundle.") from None
    try:
        found: dict[str, Any] = data["exercises"][exercise]
    except KeyError:
        known = ", ".join(data.get("exercises", {}))
        raise ValueError(f"{DATA} has no exercise {exercise!r}; it has: {known}.") from None
    return [found, *found.get("variants", ())]


def _diagnosis(wrong: list[tuple[Case, dict[str, Any]]], found: list[Case], salt: str) -> CheckFailed:
    """Explain the wrong cases: untouched, a named mistake, an error, right but for its type, or just wrong."""
    touched = {name_of(each.label) for each in found if each.outcome is not None}
    answered = [(each, rows) for each, rows in wrong if name_of(each.label) in touched]
    if not answered:
        case = wrong[0][0]
        what = "returns None: give its body a return" if "(" in case.label else "is still None: put your answer there"
        failure = CheckFailed(f"Not answered yet: {case.label} {what}.")
        failure.is_answered = False
        return failure
    named = _named_mistake(answered, salt)
    if named is not None:
        case, mistake = named
        failure = CheckFailed(_result(case), mistake["hint"])
        failure.misconception = mistake["name"]
        return failure
    failing = next((each for each, _ in answered if each.error is not None), None)
    if failing is not None and failing.error is not None:
        failing.error.add_note(f"(raised by {failing.label}, while your answer was checked)")
        raise failing.error
    case, rows = answered[0]
    for variant, remark in _near_misses(case.outcome):
        if _right(variant, rows, salt):
            return CheckFailed(_result(case), remark)
    count = len(found)
    score = "" if count == 1 else f" {count - len(wrong)} of {count} cases are right; start with this one."
    return CheckFailed(_result(case), f"That isn't right, and not a mistake I know.{score}")


def name_of(label: str) -> str:
    """Return the name of the function or of the entry that a case's label is of."""
    return label.partition("(")[0]


def _result(case: Case) -> str:
    if case.error is not None:
        return f"{case.label} raised {type(case.error).__name__}."
    return f"{case.label} {'gave' if '(' in case.label else 'is'} {show(case.outcome)}."


def _named_mistake(wrong: list[tuple[Case, dict[str, Any]]], salt: str) -> tuple[Case, dict[str, Any]] | None:
    """Return the named mistake that explains most of the wrong cases, with the first case that shows it."""
    votes: Counter[str] = Counter()
    first: dict[str, tuple[Case, dict[str, Any]]] = {}
    for case, rows in wrong:
        for name, key in (stretch(form, salt) for form in _forms(case.outcome)):
            for mistake in (unlock(locked, key) for locked in rows["wrong"].get(name, ())):
                votes[mistake["name"]] += 1
                first.setdefault(mistake["name"], (case, mistake))
    # Of two mistakes that explain as many cases, take the one that predicts fewest others.
    best = min(votes, key=lambda name: (-votes[name], first[name][1]["shows"]), default=None)
    if best is None:
        return None
    # The entries of a dict are wrong one by one. A function that is wrong in many cases is wrong in one way:
    # a mistake that explains less than half of them, or that would have made many others, would rather mislead.
    if "(" in first[best][0].label and 2 * votes[best] < max(len(wrong), first[best][1]["shows"]):
        return None
    return first[best]


def _near_misses(value: Plain) -> Iterator[tuple[Plain, str]]:
    """Yield near misses of an answer: the same content in another type, with what to say if that is right."""
    if isinstance(value, float) and value == 0:
        yield -value, "Right, but for the sign of the zero."
    if isinstance(value, float) and value.is_integer():
        yield int(value), "The value is right, but it is a float: give a whole number (int)."
    elif isinstance(value, (bool, int)):
        yield str(value), "The digits are right: write them as text, in quotes."
        yield (int(value) if isinstance(value, bool) else bool(value)), "Right, but of another type (bool or int)."
    elif isinstance(value, str):
        bare = value.strip().replace("_", "").replace(" ", "").lower().removeprefix("0b")
        for spelling in {value.lower(), value.upper()} - {value}:
            yield spelling, f"Right, but for capitals: write {spelling!r}, as the task does."
        yield bare, "The characters are right: leave out spaces, underscores and prefixes."
        if value in ("True", "False"):
            yield value == "True", "Right, but as text: write it without quotes."
        for read in (int, float):
            with contextlib.suppress(ValueError):
                yield read(bare), "The number is right: write it without quotes."
    elif isinstance(value, list):
        whole = [int(item) for item in value if isinstance(item, float) and item.is_integer()]
        if whole and len(whole) == len(value):
            yield list(whole), "The values are right, but they are floats: use an integer type."
        if len(value) == 1:
            yield value[0], "The value is right: return it alone, not in a list or an array."
