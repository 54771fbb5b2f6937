"""`autograder verify`: the course's exercises are proven, and each kind of fault is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.course import REPOSITORY, Course
from autograder.grading.result import CellResult, State
from autograder.proof.catalogue import MINIMUM, WrongAnswer
from autograder.proof.exercises import Exercise, find_exercises
from autograder.proof.verify import ExerciseProof, WrongProof
from tests.mini_course import SECTION, mini_course


def proof(**changes: object) -> ExerciseProof:
    """Return the proof of a sound exercise, but for the changes."""
    sound = {
        "section": "01_test",
        "exercise": Exercise("f", 2.0, 0, 1),
        "reference": CellResult("f", State.PASSED, 2.0),
        "stub": CellResult("f", State.FAILED, 2.0),
        "wrong": tuple(mistake(f"w{k}") for k in range(MINIMUM)),
    }
    return ExerciseProof(**{**sound, **changes})  # type: ignore[arg-type]


def mistake(
    name: str, score: float = 0.0, said: str = "f(1) gave 2. The hint.", state: State = State.FAILED
) -> WrongProof:
    return WrongProof(WrongAnswer(name, "The hint.", ""), score, said, state)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, None),
        ({"reference": CellResult("f", State.FAILED, 2.0, "gave 3")}, "solution doesn't pass: gave 3"),
        ({"reference": CellResult("f", State.INFRA_ERROR, 2.0)}, "solution doesn't pass"),
        ({"stub": CellResult("f", State.PASSED, 2.0)}, "stub earns 2 points"),
        ({"stub": CellResult("f", State.INFRA_ERROR, 2.0)}, "stub earns 0 points (infra_error)"),
        ({"wrong": tuple(mistake(f"w{k}") for k in range(3))}, "at least 4"),
        ({"wrong": (*proof().wrong, mistake("lucky", 2.0, state=State.PASSED))}, "'lucky' passes the hidden tests"),
        ({"wrong": (*proof().wrong, mistake("mute", said=""))}, "gets another hint in the visible check: none"),
        ({"wrong": (*proof().wrong, mistake("other", said="Another hint."))}, "'other' gets another hint"),
        ({"wrong": (*proof().wrong, mistake("slow", state=State.TIMEOUT))}, "'slow' runs into a time limit"),
        ({"wrong": (*proof().wrong, mistake("lost", state=State.INFRA_ERROR))}, "'lost' couldn't be graded"),
    ],
)
def test_every_kind_of_fault_is_named(changes: dict[str, object], words: str | None) -> None:
    faults = proof(**changes).faults
    assert (words is None and faults == ()) or (words is not None and [each for each in faults if words in each])


def test_the_json_has_a_null_where_the_hint_was_not_given() -> None:
    data = proof(wrong=(mistake("told"), mistake("mute", said="What?"))).to_json()
    assert [each["hint"] for each in data["wrong"]] == ["The hint.", None]


@pytest.mark.slow
def test_a_section_with_too_few_mistakes_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mini_course(tmp_path)
    assert main(["verify", SECTION, "--course", str(tmp_path), "--json"]) == 1
    printed = capsys.readouterr()
    exercises = json.loads(printed.out)["exercises"]
    for each, points in zip(exercises, (1, 2), strict=True):
        assert (each["reference"], each["stub"], each["points"]) == (points, 0, points)
        assert each["wrong"][0]["score"] == 0 and each["wrong"][0]["hint"]
        assert each["faults"] == ["it has 1 named wrong answers; at least 4 are needed"]
    assert "01_mini, seven: it has 1 named wrong answers" in printed.err


def test_an_unknown_section_is_refused_before_any_work(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "01_integer"]) == 2
    assert "Did you mean 01_integers?" in capsys.readouterr().err


@pytest.mark.slow
def test_the_course_is_proven(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--json", "--course", str(REPOSITORY)]) == 0
    exercises = json.loads(capsys.readouterr().out)["exercises"]
    course = Course.at(REPOSITORY)
    expected = [(s, each.grade_id) for s in course.sections for each in find_exercises(course.master(s))]
    assert [(each["section"], each["grade_id"]) for each in exercises] == expected
    for each in exercises:
        assert each["reference"] == each["points"] > 0 == each["stub"]
        assert len(each["wrong"]) >= MINIMUM
        assert all(wrong["score"] == 0 and wrong["hint"] for wrong in each["wrong"])
