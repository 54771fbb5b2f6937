"""Exporting grades: what is in nbgrader's gradebook, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.commands.export import CHOICES
from autograder.course import Course, check_student_id
from autograder.errors import CourseError, ExitCode
from autograder.exporting.formats import FORMATS
from autograder.exporting.table import plain
from autograder.gradebook.database import prepare_gradebook
from tests.mini_course import SECTION, mini_course, mini_master

# nbgrader's way with its database objects; they are saved all the same.
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

SECOND = "02_second"
POINTS = {SECTION: {"double": 2, "seven": 1}, SECOND: {"triple": 1.5, "seven": 1}}
"""The gradebook's order, which isn't the course's."""


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A course of two sections that share the grade_id `seven`."""
    opened = mini_course(tmp_path)
    second = mini_master()
    for cell in second.cells:
        mark = cell.metadata.get("nbgrader")
        if mark:
            mark["grade_id"] = mark["grade_id"].replace("double", "triple")
    path = opened.source / SECOND / f"{SECOND}.ipynb"
    path.parent.mkdir()
    nbformat.write(second, path)
    prepare_gradebook(opened)
    with Gradebook(f"sqlite:///{opened.database}") as gradebook:
        for section, cells in POINTS.items():
            gradebook.add_assignment(section, duedate=datetime(2025, 3, 1))
            gradebook.add_notebook(section, section)
            for name, points in cells.items():
                gradebook.add_grade_cell(name, section, section, max_score=points, cell_type="code")
    return opened


def grade(course: Course, student: str, section: str, manual: bool = False, **points: float | None) -> None:
    with Gradebook(f"sqlite:///{course.database}") as gradebook:
        gradebook.update_or_create_student(student)
        gradebook.update_or_create_submission(section, student)
        for name, value in points.items():
            one = gradebook.find_grade(name, section, section, student)
            if manual:
                one.manual_score = value
            else:
                one.auto_score = value
        gradebook.db.commit()


def export(course: Course, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str, str]:
    code = main(["export", "csv", "--course", str(course.root), *options])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def fill(course: Course) -> None:
    grade(course, "s99", SECTION, seven=1, double=2)
    grade(course, "s01", SECOND, seven=1, triple=0.5)
    grade(course, "s01", SECTION, seven=0, double=2)


def test_rows_are_sorted_and_columns_are_in_course_order(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    fill(course)
    code, out, _ = export(course, capsys)
    assert code == ExitCode.OK
    assert out.splitlines() == [
        "student_id,section,score,max_score,to_grade,01_mini.seven,double,02_second.seven,triple",
        "s01,01_mini,2,3,0,0,2,,",
        "s01,02_second,1.5,2.5,0,,,1,0.5",
        "s99,01_mini,3,3,0,1,2,,",
    ]


def test_one_section_has_only_its_own_columns(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    fill(course)
    _, out, _ = export(course, capsys, "--section", SECTION)
    assert out.splitlines() == [
        "student_id,section,score,max_score,to_grade,seven,double",
        "s01,01_mini,2,3,0,0,2",
        "s99,01_mini,3,3,0,1,2",
    ]


def test_json_holds_the_same_rows_as_the_csv(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    fill(course)
    _, text, _ = export(course, capsys)
    _, document, _ = export(course, capsys, "--json")
    rows = json.loads(document)
    assert rows[1] == {
        "student_id": "s01",
        "section": SECOND,
        "score": 1.5,
        "max_score": 2.5,
        "to_grade": 0,
        "01_mini.seven": None,
        "double": None,
        "02_second.seven": 1,
        "triple": 0.5,
    }
    as_text = [{name: "" if value is None else str(value) for name, value in row.items()} for row in rows]
    assert list(csv.DictReader(io.StringIO(text))) == as_text


def test_manual_marks_go_first_and_a_cell_that_waits_for_a_person_is_empty(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    grade(course, "s01", SECTION, seven=0, double=2)
    grade(course, "s01", SECTION, manual=True, seven=0.5)
    grade(course, "s02", SECTION, seven=1)
    _, out, _ = export(course, capsys)
    assert out.splitlines()[1:] == ["s01,01_mini,2.5,3,0,0.5,2", "s02,01_mini,1,3,1,1,"]


def test_the_penalty_for_lateness_is_taken_off_but_not_below_zero(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    grade(course, "s01", SECTION, seven=1, double=2)
    grade(course, "s02", SECTION, seven=1, double=0)
    with Gradebook(f"sqlite:///{course.database}") as gradebook:
        for student, penalty in (("s01", 0.5), ("s02", 5)):
            gradebook.find_submission_notebook(SECTION, SECTION, student).late_submission_penalty = penalty
        gradebook.db.commit()
    _, out, _ = export(course, capsys)
    assert [line.split(",")[2] for line in out.splitlines()[1:]] == ["2.5", "0"]


def test_a_submission_without_marks_is_left_out_and_named(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    fill(course)
    grade(course, "s02", SECTION)
    code, out, err = export(course, capsys)
    assert code == ExitCode.PROBLEMS
    assert "s02" not in out
    assert f"s02 has no marks in {SECTION}" in err


@pytest.mark.parametrize("gradebook", ["zero rows", "no tables", "no file"])
def test_without_grades_nothing_is_written(
    course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str], gradebook: str
) -> None:
    if gradebook != "zero rows":
        course.database.unlink()
    if gradebook == "no tables":
        course.database.touch()
    code, out, err = export(course, capsys, "--to", str(tmp_path / "grades.csv"))
    assert code == ExitCode.USAGE
    assert not out
    assert "autograder grade" in err
    assert not (tmp_path / "grades.csv").exists()
    assert gradebook != "no file" or not course.database.exists()


def test_a_damaged_gradebook_is_named(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    course.database.write_bytes(b"not a database, but long enough to be looked at as one" * 20)
    code, _, err = export(course, capsys)
    assert code == ExitCode.USAGE
    assert str(course.database) in err and "backup" in err


def test_a_gradebook_of_an_old_nbgrader_is_named(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    fill(course)
    with sqlite3.connect(course.database) as connection:
        connection.execute("ALTER TABLE submitted_assignment DROP COLUMN extension")
    code, _, err = export(course, capsys)
    assert code == ExitCode.USAGE
    assert "db upgrade" in err


def test_an_unknown_section_is_a_wrong_call(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    fill(course)
    code, out, err = export(course, capsys, "--section", "07_none")
    assert (code, out) == (ExitCode.USAGE, "")
    assert SECTION in err


def test_a_file_is_written_whole(course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(course)
    _, text, _ = export(course, capsys)
    to = tmp_path / "exports" / "grades.csv"
    code, out, err = export(course, capsys, "--to", str(to))
    assert (code, out) == (ExitCode.OK, "")
    assert str(to) in err
    assert to.read_text(encoding="utf-8") == text
    assert [path.name for path in to.parent.iterdir()] == ["grades.csv"]
    code, _, err = export(course, capsys, "--to", str(to.parent))
    assert code == ExitCode.USAGE
    assert "can't be written" in err


def test_text_is_quoted_and_no_text_is_a_formula(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    for student in ('=HYPERLINK("x")', "+1", "-1", "@SUM(1)", "a, b", 'quote"', "ü7"):
        grade(course, student, SECTION, seven=1, double=0)
    _, out, _ = export(course, capsys)
    students = [row["student_id"] for row in csv.DictReader(io.StringIO(out))]
    assert students == ["'+1", "'-1", '\'=HYPERLINK("x")', "'@SUM(1)", "a, b", 'quote"', "ü7"]


@pytest.mark.parametrize("student", ["=1", "+1", "-1", "@1", "\t1", "\r1", "1\n"])
def test_collected_ids_can_not_start_a_formula(student: str) -> None:
    with pytest.raises(CourseError):
        check_student_id(student)


@pytest.mark.parametrize(
    ("number", "text"), [(1.0, "1"), (0, "0"), (0.5, "0.5"), (0.1 + 0.2, "0.3"), (1 / 3, "0.333333333"), (-0.0, "0")]
)
def test_numbers_are_plain(number: float, text: str) -> None:
    assert str(plain(number)) == text


def test_the_command_offers_every_format() -> None:
    assert set(CHOICES) == set(FORMATS)
