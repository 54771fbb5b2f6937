"""Late submissions lose what course.toml says, computed anew each time, also by nbgrader's own commands."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.course import REPOSITORY, Course
from autograder.grading import machine
from tests.autograder.submissions import DOUBLE, SEVEN, Here, hand_in
from tests.mini_course import SECTION, answered, mini_course

pytestmark = pytest.mark.slow

DUE = f"[due]\n{SECTION} = 2026-01-31T18:00:00Z\n"
TEN = "[late]\npercent_a_day = 10\n"
WHEN = {
    "in_time": "2026-01-31 17:59:00 UTC",
    "an_hour": "2026-01-31 19:00:00 UTC",
    "three_days": "2026-02-03 12:00:00 UTC",
    "undated": None,
}


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """Return a mini course with submissions of 3 points, which run in this process."""
    monkeypatch.setattr(machine, "choose_runner", lambda folder, stop, *more: Here(folder, stop))
    made = mini_course(tmp_path / "course")
    for student, when in WHEN.items():
        path = hand_in(made, student, answered(SEVEN, DOUBLE))
        if when:
            path.with_name("timestamp.txt").write_text(when)
    return made


def configure(course: Course, text: str) -> None:
    (course.root / "course.toml").write_text(text)


def grade(course: Course, capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """Grade, and return who loses points."""
    capsys.readouterr()
    assert main(["grade", "--course", str(course.root), "--json", *arguments]) == 0
    return [each["student"] for each in json.loads(capsys.readouterr().out)["late"]]


def scores(course: Course, capsys: pytest.CaptureFixture[str]) -> dict[str, float]:
    capsys.readouterr()
    assert main(["export", "csv", "--course", str(course.root)]) == 0
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    return {row["student_id"]: float(row["score"]) for row in rows}


def test_late_ones_lose_a_share_for_each_day(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    configure(course, TEN + DUE)
    assert grade(course, capsys) == ["an_hour", "three_days"]
    assert scores(course, capsys) == pytest.approx({"in_time": 3, "an_hour": 2.7, "three_days": 2.1, "undated": 3})


def test_without_a_policy_or_a_deadline_nobody_does(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("", TEN, DUE):
        configure(course, text)
        assert grade(course, capsys) == []
        assert set(scores(course, capsys).values()) == {3}


def test_extensions_deadlines_and_manual_points_count_anew_each_time(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    configure(course, TEN + DUE)
    grade(course, capsys)
    more_time = f"[extensions.{SECTION}]\nthree_days = 2026-02-02T18:00:00Z\n"
    configure(course, TEN + DUE + more_time)
    assert grade(course, capsys) == ["an_hour", "three_days"]
    assert scores(course, capsys)["three_days"] == pytest.approx(2.7)
    with Gradebook(course.database_url) as gradebook:
        gradebook.find_grade("double", SECTION, SECTION, "three_days").manual_score = 1
        gradebook.db.commit()
        assert gradebook.find_submission(SECTION, "three_days").extension == timedelta(days=2)
    grade(course, capsys)
    assert scores(course, capsys)["three_days"] == pytest.approx(1.8)
    configure(course, TEN + DUE.replace("2026-01-31", "2026-02-28") + more_time)
    assert grade(course, capsys) == ["three_days"]
    configure(course, TEN + DUE.replace("2026-01-31", "2026-02-28"))
    assert grade(course, capsys) == []
    assert scores(course, capsys)["an_hour"] == 3


def test_what_the_gradebook_says_holds_where_the_file_says_nothing(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    configure(course, TEN)
    grade(course, capsys)
    with Gradebook(course.database_url) as gradebook:
        gradebook.update_or_create_assignment(SECTION, duedate="2026-01-31 18:00:00 UTC")
        gradebook.grant_extension(SECTION, "an_hour", hours=2)
    assert grade(course, capsys) == ["three_days"]


def test_people_are_told(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    configure(course, TEN + DUE)
    assert main(["grade", "--course", str(course.root)]) == 0
    assert "2 submissions lose points for being late" in capsys.readouterr().out


@pytest.mark.slow
def test_stock_autograde_takes_the_same_points(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    configure(course, TEN + DUE)
    grade(course, capsys)
    with Gradebook(course.database_url) as gradebook:
        for submission in gradebook.assignment_submissions(SECTION):
            submission.notebooks[0].late_submission_penalty = 99
        gradebook.db.commit()
    shutil.copyfile(REPOSITORY / "nbgrader_config.py", course.root / "nbgrader_config.py")
    command = [sys.executable, "-m", "nbgrader", "autograde", SECTION, "--force", "--student"]
    for student in ("three_days", "in_time"):
        done = subprocess.run([*command, student], cwd=course.root, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
    found = scores(course, capsys)
    assert (found["three_days"], found["in_time"]) == (pytest.approx(2.1), 3)
