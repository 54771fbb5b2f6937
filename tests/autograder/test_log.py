"""The log of marks: every change is there, whoever makes it, and what is there stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from autograder.cli import main
from autograder.course import Course
from autograder.grading import machine
from tests.autograder.submissions import DOUBLE, SEVEN, Here, hand_in
from tests.mini_course import SECTION, answered, mini_course

pytestmark = pytest.mark.slow


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """Return a mini course with one graded submission, whose submissions run in this process."""
    monkeypatch.setattr(machine, "choose_runner", lambda folder, stop, *more: Here(folder, stop))
    made = mini_course(tmp_path / "course")
    hand_in(made, "ada", answered(SEVEN, None))
    assert main(["grade", "--course", str(made.root)]) == 0
    return made


def log(course: Course, capsys: pytest.CaptureFixture[str], *arguments: str) -> list[tuple[Any, ...]]:
    """Return the log's changes, without number and time."""
    capsys.readouterr()
    assert main(["log", "--course", str(course.root), "--json", *arguments]) == 0
    changes = json.loads(capsys.readouterr().out)
    assert [each["number"] for each in changes] == sorted(each["number"] for each in changes)
    assert all(each["at"][:2] == "20" for each in changes)
    return [
        tuple(each[name] for name in ("student", "section", "cell", "what", "before", "after")) for each in changes
    ]


def test_grading_is_logged_and_only_what_changes(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    first = [("ada", SECTION, "seven", "auto_score", None, 1), ("ada", SECTION, "double", "auto_score", None, 0)]
    assert sorted(log(course, capsys)) == sorted(first)
    main(["grade", "--course", str(course.root), "--force"])
    assert len(log(course, capsys)) == 2
    hand_in(course, "ada", answered(SEVEN, DOUBLE))
    main(["grade", "--course", str(course.root)])
    assert log(course, capsys)[2:] == [("ada", SECTION, "double", "auto_score", 0, 2)]


def test_changes_by_others_are_logged_too(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    with Gradebook(course.database_url) as gradebook:
        grade = gradebook.find_grade("double", SECTION, SECTION, "ada")
        grade.manual_score, grade.extra_credit = 1.5, 0.25
        gradebook.db.commit()
        gradebook.db.execute(text("UPDATE submitted_notebook SET late_submission_penalty = 0.5"))
        gradebook.db.commit()
        gradebook.find_grade("double", SECTION, SECTION, "ada").manual_score = None
        gradebook.db.commit()
        gradebook.remove_student("ada")
    found = log(course, capsys)[2:]
    assert sorted(found[:2]) == [
        ("ada", SECTION, "double", "extra_credit", None, 0.25),
        ("ada", SECTION, "double", "manual_score", None, 1.5),
    ]
    assert found[2:4] == [
        ("ada", SECTION, None, "late_submission_penalty", None, 0.5),
        ("ada", SECTION, "double", "manual_score", 1.5, None),
    ]
    assert sorted(each[2:] for each in found[4:] if each[2] == "seven") == [("seven", "auto_score", 1, None)]


@pytest.mark.parametrize("statement", ["UPDATE grade_log SET after = 9", "DELETE FROM grade_log"])
def test_what_is_logged_stays(course: Course, capsys: pytest.CaptureFixture[str], statement: str) -> None:
    before = log(course, capsys)
    with Gradebook(course.database_url) as gradebook, pytest.raises(SQLAlchemyError, match="append-only"):
        gradebook.db.execute(text(statement))
    assert log(course, capsys) == before


def test_a_gradebook_from_before_the_log_gets_one(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    with Gradebook(course.database_url) as gradebook:
        gradebook.db.execute(text("DROP TABLE grade_log"))
        for (name,) in list(gradebook.db.execute(text("SELECT name FROM sqlite_master WHERE type = 'trigger'"))):
            gradebook.db.execute(text(f"DROP TRIGGER {name}"))
        gradebook.db.commit()
    assert log(course, capsys) == []
    hand_in(course, "ada", answered(SEVEN, DOUBLE))
    main(["grade", "--course", str(course.root)])
    assert log(course, capsys) == [("ada", SECTION, "double", "auto_score", 0, 2)]


def test_the_table_names_student_cell_and_points(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["log", SECTION, "--student", "ada", "--course", str(course.root)]) == 0
    out = capsys.readouterr().out
    (line,) = (line for line in out.splitlines() if "seven" in line)
    shown = [column.strip() for column in line.strip("│").split("│")]
    assert shown[0] in ("1", "2") and shown[2:] == ["ada", SECTION, "seven", "auto_score", "–", "1"]
    assert "2 changes" in out
    assert log(course, capsys, "--student", "eve") == []


def test_without_a_gradebook_the_cure_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["log", "--course", str(mini_course(tmp_path).root)]) == 2
    assert "autograder grade" in capsys.readouterr().err
