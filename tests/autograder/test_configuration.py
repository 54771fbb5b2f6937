"""course.toml: what it may say, and what is said about one that is wrong."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.configuration import Configuration, LatePolicy, read_configuration
from autograder.course import Course
from autograder.errors import CourseError

WHOLE = """
[gradebook]
url = "postgresql+psycopg://grader:secret@db.example.org/course"

[late]
percent_a_day = 10
most_percent = 50
grace_minutes = 15

[due]
01_mini = 2026-01-31T18:00:00+01:00

[extensions.01_mini]
ada = 2026-02-03T18:00:00Z

[variants]
secret = "not to be guessed"
"""


def test_everything_that_it_may_say(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text(WHOLE)
    assert read_configuration(tmp_path) == Configuration(
        "postgresql+psycopg://grader:secret@db.example.org/course",
        LatePolicy(10, 50, 15),
        {"01_mini": datetime(2026, 1, 31, 17, tzinfo=UTC)},
        {"01_mini": {"ada": datetime(2026, 2, 3, 18, tzinfo=UTC)}},
        "not to be guessed",
    )
    assert "guessed" not in repr(read_configuration(tmp_path))
    assert Course.at(tmp_path).database_name == "postgresql+psycopg://grader@db.example.org/course"


def test_a_folder_without_one_has_the_defaults(tmp_path: Path) -> None:
    assert read_configuration(tmp_path) == read_configuration(tmp_path / "missing") == Configuration()
    assert Course.at(tmp_path).database_name == str(tmp_path / "gradebook.db")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[late", "course.toml: Expected"),
        ("late = 3", r"late must be a table: \[late\]"),
        ("[lat]", "there is no lat; did you mean late?"),
        ("[late]\npercent_day = 3", "there is no late.percent_day; did you mean late.percent_a_day?"),
        ("[late]\npercent_a_day = -3", "late.percent_a_day = -3 isn't a number from 0"),
        ("[late]\npercent_a_day = true", "late.percent_a_day = True isn't a number from 0"),
        ("[late]\npercent_a_day = nan", "isn't a number from 0"),
        ("[late]\nmost_percent = 200", "late.most_percent = 200 is more than 100"),
        ("[due]\n01_mini = 2026-01-31T18:00:00", "due.01_mini = .* is no time with a zone, such as 2026-01-31T18"),
        ("[due]\n01_mini = 2026-01-31", "is no time with a zone"),
        ("[extensions.01_mini]\nada = 2026-01-31T18:00:00Z", r"extensions.01_mini needs a time in \[due\]"),
        ("[gradebook]\nurl = 'gradebook.db'", "is no address such as 'postgresql"),
        ("[gradebook]\nfile = 'x'", "there is no gradebook.file; url?"),
        ("[variants]\nsecret = 'short'", "variants.secret must be a text of at least 16 characters"),
        ("[variants]\nsecret = 1234567890123456", "variants.secret must be a text of at least 16"),
        ("[variants]\nkey = 'x'", "there is no variants.key; secret?"),
        ("\udcff", "can't decode"),
    ],
)
def test_a_wrong_one_is_explained(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "course.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(CourseError, match=message) as raised:
        read_configuration(tmp_path)
    assert str(tmp_path / "course.toml") in str(raised.value) and raised.value.cure


def test_a_command_names_the_file_and_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "course.toml").write_text("[lat]")
    assert main(["export", "csv", "--course", str(tmp_path)]) == 2
    assert f"{tmp_path / 'course.toml'}: there is no lat" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("seconds", "lost"),
    [(0, 0), (900, 0), (901, 1), (86_400, 1), (86_401, 2), (4 * 86_400, 4), (5 * 86_400, 5), (90 * 86_400, 5)],
)
def test_what_lateness_costs(seconds: float, lost: float) -> None:
    assert LatePolicy(10, 50, 15).penalty(10.0, seconds) == pytest.approx(lost)
    assert LatePolicy().penalty(10.0, seconds) == 0
