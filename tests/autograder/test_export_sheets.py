"""The sheets for Canvas and Moodle: their own names and ids where the roster has them, and quoting that holds."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.course import Course
from autograder.errors import ExitCode
from autograder.exporting.sheets import to_canvas, to_moodle
from autograder.exporting.table import GradeTable, Row
from autograder.intake.roster import Roster, read_roster
from tests.autograder.test_export import course, fill, grade  # noqa: F401
from tests.mini_course import SECTION

# nbgrader's way with its database objects; they are saved all the same.
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

SECOND = "02_second"
TABLE = GradeTable(
    (
        Row("s01", SECTION, 2.0, 3.0, {}),
        Row("s01", SECOND, 1.5, 2.5, {}),
        Row("s02", SECTION, 0.1 + 0.2, 3.0, {}),
    ),
    (),
    (),
)


def roster(folder: Path, text: str) -> Roster:
    (folder / "roster.csv").write_text(text, encoding="utf-8")
    return read_roster(folder / "roster.csv")


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_canvas_gets_back_the_rows_and_columns_of_its_own_gradebook(tmp_path: Path) -> None:
    text = (
        f"Student,ID,SIS User ID,SIS Login ID,Section,{SECTION} (991),Final Score\n"
        "    Points Possible,,,,,3,(read only)\n"
        '"Family, Given ""GG""",4711,S-1,s01,Group A,,\n"=1+1",4712,S-2,s02,Group B,,\n'
    )
    sheet = rows(to_canvas(TABLE, roster(tmp_path, text)))
    assert sheet[0]["Student"] == "    Points Possible"
    assert (sheet[0][f"{SECTION} (991)"], sheet[0][SECOND]) == ("3", "2.5")
    assert sheet[1] == {
        "Student": 'Family, Given "GG"',
        "ID": "4711",
        "SIS User ID": "S-1",
        "SIS Login ID": "s01",
        "Section": "Group A",
        f"{SECTION} (991)": "2",
        SECOND: "1.5",
    }
    assert sheet[2]["Student"] == "'=1+1"
    assert (sheet[2][f"{SECTION} (991)"], sheet[2][SECOND]) == ("0.3", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [(None, ("s01", "", "s01")), ("student_id,canvas_id,name\ns01,4711,Given\ns02,1,B\n", ("Given", "4711", "s01"))],
)
def test_canvas_is_given_what_is_known(tmp_path: Path, text: str | None, expected: tuple[str, str, str]) -> None:
    first = rows(to_canvas(TABLE, roster(tmp_path, text) if text else None))[1]
    assert (first["Student"], first["ID"], first["SIS Login ID"]) == expected
    assert first[SECTION] == "2"


def test_moodle_gets_its_grading_worksheet_filled_in(tmp_path: Path) -> None:
    text = (
        'Identifier,"Full name","ID number","Email address",Status,Grade,"Maximum grade","Last modified (grade)"\n'
        'Participant 12,"Given Family",s01,s01@uni.example,Submitted,,3.00,-\n'
    )
    table = GradeTable(TABLE.rows[:1], (), ())
    assert to_moodle(table, roster(tmp_path, text)).splitlines() == [
        "Identifier,Full name,ID number,Email address,Status,Grade,Maximum grade,Last modified (grade)",
        "Participant 12,Given Family,s01,s01@uni.example,Submitted,2,3.00,-",
    ]


def test_moodle_gets_a_sheet_to_import_without_one(tmp_path: Path) -> None:
    assert to_moodle(TABLE, None).splitlines() == [
        f"ID number,Full name,{SECTION},{SECOND}",
        "s01,,2,1.5",
        "s02,,0.3,",
    ]


def test_the_command_names_students_who_are_not_in_the_roster(
    course: Course,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fill(course)
    (tmp_path / "r.csv").write_text("student_id,canvas_id\ns01,1\n")
    options = ["--course", str(course.root), "--roster", str(tmp_path / "r.csv")]
    assert main(["export", "canvas", SECTION, *options]) == ExitCode.PROBLEMS
    captured = capsys.readouterr()
    assert [row["SIS Login ID"] for row in rows(captured.out)] == ["", "s01"]
    assert "s99 has marks but isn't in" in captured.err


def test_a_worksheet_of_one_assignment_is_not_filled_with_two(
    course: Course,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fill(course)
    (tmp_path / "r.csv").write_text("Identifier,ID number,Grade\nParticipant 1,s01,\nParticipant 2,s99,\n")
    options = ["--course", str(course.root), "--roster", str(tmp_path / "r.csv")]
    assert main(["export", "moodle", *options]) == ExitCode.USAGE
    assert "--section" in capsys.readouterr().err
    assert main(["export", "moodle", SECTION, *options]) == ExitCode.OK


def test_json_is_a_format_too(course: Course, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: F811
    grade(course, "s01", SECTION, seven=1, double=0)
    assert main(["export", "json", "--course", str(course.root)]) == ExitCode.OK
    assert json.loads(capsys.readouterr().out)[0]["score"] == 1
