"""`autograder feedback`: wrong calls are refused before any page is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.cli import main
from autograder.errors import ExitCode
from tests.mini_course import SECTION, mini_course


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Nothing has been graded"),
        ([SECTION, "--student", "nobody"], "Nothing has been graded"),
        (["02_mini"], "There is no section '02_mini'"),
    ],
)
def test_without_grades_there_is_no_feedback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    mini_course(tmp_path)
    assert main(["feedback", *arguments, "--course", str(tmp_path)]) == ExitCode.USAGE
    printed = capsys.readouterr()
    assert words in printed.err and printed.out == ""


def test_a_student_without_grades_is_named_beside_those_who_have_some(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course = mini_course(tmp_path)
    page = course.autograded("graded", SECTION)
    page.parent.mkdir(parents=True)
    page.write_text("{}", encoding="utf-8")
    code = main(["feedback", "--student", "graded", "--student", "nobody", "--course", str(tmp_path)])
    assert code == ExitCode.USAGE
    assert "Nothing of 'nobody' has been graded" in capsys.readouterr().err
    assert not course.feedback("graded", SECTION).exists()


def test_one_page_that_fails_does_not_stop_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    course = mini_course(tmp_path)
    for student in ("broken", "other"):
        page = course.autograded(student, SECTION)
        page.parent.mkdir(parents=True)
        page.write_text("{", encoding="utf-8")
    assert main(["feedback", "--course", str(tmp_path)]) == ExitCode.PROBLEMS
    complaints = capsys.readouterr().err
    assert "No feedback for broken" in complaints and "No feedback for other" in complaints
