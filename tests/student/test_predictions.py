"""Predictions: what a reader is told about a guess."""

from __future__ import annotations

import numpy as np
import pytest

from numfmt.predictions import predict, reveal


@pytest.mark.parametrize(
    ("guess", "result", "verdict"),
    [
        (2000, 769, "You said 2000: off by a factor of 2.6."),
        (769, 769, "You said 769: exactly right."),
        (16.0, 16, "You said 16.0: exactly right."),
        (-56, np.int8(-56), "You said -56: exactly right."),
        (200, -56, "You said 200: the sign is different, and you are off by 256."),
        (0, 5, "You said 0: off by 5."),
        (100, 101, "You said 100: off by 1."),
        ("silent", "warning", "You said 'silent'."),
        (True, False, "You said True."),
        (float("inf"), 3, "You said inf."),
        (10**400, 3, f"You said {'1' + '0' * 58}…."),
    ],
)
def test_a_guess_is_measured(guess: object, result: object, verdict: str, capsys: pytest.CaptureFixture[str]) -> None:
    predict("t", guess)
    reveal("t", result)
    assert capsys.readouterr().out.splitlines()[-1].endswith(verdict)


def test_without_a_guess_the_result_still_shows(capsys: pytest.CaptureFixture[str]) -> None:
    predict("u", ...)
    reveal("u", 42)
    reveal("never asked", 7)
    lines = capsys.readouterr().out.splitlines()
    assert "replace the ..." in lines[0]
    assert lines[1:] == [
        "Result u: 42. You made no prediction this time.",
        "Result never asked: 7. You made no prediction this time.",
    ]


def test_a_withdrawn_guess_is_forgotten(capsys: pytest.CaptureFixture[str]) -> None:
    predict("v", 1)
    predict("v", ...)
    reveal("v", 2)
    assert "no prediction" in capsys.readouterr().out
