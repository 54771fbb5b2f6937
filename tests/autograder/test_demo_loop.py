"""The whole loop on the sample submissions, as `make demo` runs it: collect, grade, feedback, export."""

from __future__ import annotations

import csv
import io
import json
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder.cli import main
from autograder.course import REPOSITORY, Course
from autograder.errors import ExitCode
from tests.mini_course import SECTION, mini_course
from tests.samples import Expected, refused_files, write_samples

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Loop:
    """What the commands reported, one after the other."""

    course: Course
    inbox: Path
    section: str
    expected: dict[str, Expected]
    """The marks of the students that are graded."""
    students: set[str]
    """All students that are collected."""
    choice: list[str]
    """The options that choose whom to grade."""
    collected: dict[str, Any]
    graded: dict[str, Any]


def report(expected: ExitCode, *command: str) -> Any:
    """Run a command and return the JSON document that it prints."""
    out = io.StringIO()
    with redirect_stdout(out):
        code = main([*command, "--json"])
    assert code == expected, out.getvalue()
    return json.loads(out.getvalue())


@pytest.fixture(scope="module", params=[SECTION, Course.at(REPOSITORY).sections[0]])
def loop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Loop:
    section = str(request.param)
    root = tmp_path_factory.mktemp("course")
    # A folder without notebooks of its own takes this checkout's.
    course = mini_course(root) if section == SECTION else Course.at(root)
    inbox = tmp_path_factory.mktemp("inbox")
    marks = write_samples(course, section, inbox)
    # `autograder verify` proves each named wrong answer; a kernel for each of them here would take minutes.
    wrong = [student for student in marks if student.startswith("wrong_")]
    expected = {student: each for student, each in marks.items() if student not in wrong[2:]}
    choice = [word for student in expected for word in ("--student", student)]
    where = ("--course", str(root))
    collected = report(ExitCode.PROBLEMS, "collect", str(inbox), *where)
    graded = report(ExitCode.OK, "grade", section, *choice, *where)
    return Loop(course, inbox, section, expected, set(marks), choice, collected, graded)


def test_the_bad_samples_are_named_and_the_others_are_graded(loop: Loop) -> None:
    assert sorted(each["file"] for each in loop.collected["refused"]) == sorted(refused_files(loop.section))
    assert all(each["problem"] and each["cure"] for each in loop.collected["refused"])
    assert {each["student"] for each in loop.collected["taken"]} == loop.students
    assert {each["student"] for each in loop.graded["submissions"]} == set(loop.expected)
    assert loop.graded["problems"] == []


def test_every_cell_of_every_sample_gets_the_expected_marks(loop: Loop) -> None:
    marks = {
        each["student"]: {cell["grade_id"]: cell["points"] for cell in each["cells"]}
        for each in loop.graded["submissions"]
    }
    assert marks == {student: dict(each.points) for student, each in loop.expected.items()}


def test_the_export_holds_the_same_marks(loop: Loop) -> None:
    out = io.StringIO()
    with redirect_stdout(out):
        assert main(["export", "csv", "--course", str(loop.course.root)]) == ExitCode.OK
    rows = {row["student_id"]: row for row in csv.DictReader(io.StringIO(out.getvalue()))}
    assert rows.keys() == loop.expected.keys()
    for student, expected in loop.expected.items():
        row = rows[student]
        assert (float(row["score"]), float(row["max_score"])) == (expected.score, expected.max_score)
        assert {name: float(row[name]) for name in expected.points} == expected.points


def test_every_sample_has_a_feedback_page(loop: Loop) -> None:
    report(ExitCode.OK, "feedback", "--course", str(loop.course.root))
    assert all(loop.course.feedback(student, loop.section).is_file() for student in loop.expected)


def test_running_the_loop_again_changes_nothing(loop: Loop) -> None:
    where = ("--course", str(loop.course.root))
    again = report(ExitCode.PROBLEMS, "collect", str(loop.inbox), *where)
    assert {each["status"] for each in again["taken"]} == {"unchanged"}
    graded = report(ExitCode.OK, "grade", loop.section, *loop.choice, *where)
    assert all(each["unchanged"] for each in graded["submissions"])
    scores = {each["student"]: each["score"] for each in graded["submissions"]}
    assert scores == {student: each.score for student, each in loop.expected.items()}
