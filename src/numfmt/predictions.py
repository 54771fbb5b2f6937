"""Predictions: write down a guess before the next cell reveals the result. Nothing here is graded."""

from __future__ import annotations

import math
from numbers import Real

from .plain import show

_guesses: dict[str, object] = {}


def predict(key: str, guess: object = ...) -> None:
    """Store the reader's guess for prediction `key`; an Ellipsis (`...`) is no guess yet."""
    if guess is ...:
        _guesses.pop(key, None)
        print(f"Prediction {key}: replace the ... by your guess and run this cell, before you read on.")
        return
    _guesses[key] = guess
    print(f"Prediction {key}: you say {show(guess)}. Run the next cell.")


def reveal(key: str, result: object) -> None:
    """Print the result of prediction `key` and how far off the stored guess was."""
    print(f"Result {key}: {show(result)}. {_verdict(_guesses.get(key, ...), result)}")


def _verdict(guess: object, result: object) -> str:
    if guess is ...:
        return "You made no prediction this time."
    said = f"You said {show(guess)}"
    if show(guess) == show(result):
        return f"{said}: exactly right."
    if not (_is_number(guess) and _is_number(result)):
        return f"{said}."
    return f"{said}: {_distance(float(guess), float(result))}."  # type: ignore[arg-type]


def _is_number(value: object) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(float(value))
    except OverflowError:
        return False


def _distance(guess: float, result: float) -> str:
    if guess == result:
        return "exactly right"
    if guess * result > 0:
        ratio = max(guess / result, result / guess)
        if ratio >= 1.05:
            return f"off by a factor of {ratio:,.3g}"
    elif guess * result < 0:
        return f"the sign is different, and you are off by {abs(guess - result):,.6g}"
    return f"off by {abs(guess - result):,.6g}"
