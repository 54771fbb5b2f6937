"""A section's limits: read from its file, overridden on the command line, heeded, and refused when they are wrong."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from autograder.cli import main
from autograder.errors import CourseError
from autograder.limits import LIMITS, Limits, read_limits, size
from tests.mini_course import SECTION, answered, mini_course


def test_without_a_file_there_are_defaults(tmp_path: Path) -> None:
    assert read_limits(tmp_path) == Limits() == Limits(30, 600, 2**20, 2**31, 64, 2**26, 2**28, 10_000)


def test_a_file_sets_some_and_the_command_line_overrides_it(tmp_path: Path) -> None:
    (tmp_path / LIMITS).write_text('cell_seconds = 5\nmemory_bytes = "1.5 GiB"\nfile_bytes = 4096\n')
    assert read_limits(tmp_path) == Limits(cell_seconds=5, memory_bytes=3 * 2**29, file_bytes=4096)
    assert read_limits(tmp_path, 7, 8) == Limits(7, 8, memory_bytes=3 * 2**29, file_bytes=4096)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("memory = 5", "there is no limit 'memory'; did you mean memory_bytes?"),
        ("wall = 5", "there is no limit 'wall'; cell_seconds, notebook_seconds, "),
        ("cell_seconds = 'long'", "cell_seconds = 'long' isn't a number above 0"),
        ("cell_seconds = 0", "isn't a number above 0"),
        ("cell_seconds = nan", "isn't a number above 0"),
        ("processes = 2.5", "isn't a whole number above 0"),
        ("processes = true", "isn't a whole number above 0"),
        ('memory_bytes = "2 GB"', "memory_bytes = '2 GB' isn't a whole number above 0"),
        ("cell_seconds: 5", "Expected '='"),
        (b"\xff", "can't decode"),
    ],
)
def test_a_wrong_file_is_named_with_the_cure(tmp_path: Path, text: str | bytes, words: str) -> None:
    (tmp_path / LIMITS).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(CourseError) as caught:
        read_limits(tmp_path)
    assert str(tmp_path / LIMITS) in caught.value.problem and words in caught.value.problem
    assert "cell_seconds = 60" in caught.value.cure


@pytest.mark.parametrize(
    ("number", "words"), [(2**31, "2 GiB"), (3 * 2**19, "1.5 MiB"), (1024, "1 KiB"), (9, "9 bytes")]
)
def test_sizes_in_words(number: int, words: str) -> None:
    assert size(number) == words


@pytest.mark.slow
def test_grading_heeds_the_file_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    course = mini_course(tmp_path)
    (course.source / SECTION / LIMITS).write_text("cell_seconds = 2")
    path = course.submitted("s1", SECTION)
    path.parent.mkdir(parents=True)
    nbformat.write(answered(seven="seven_squared_minus_42 = 7\nwhile True: pass"), path)
    assert main(["grade", "--course", str(tmp_path), "--json"]) == 0
    (graded,) = json.loads(capsys.readouterr().out)["submissions"]
    assert "The cell 'seven_solution' ran longer than 2 s and was stopped." in graded["notes"]
    (course.source / SECTION / LIMITS).write_text("cell_seconds = -2")
    assert main(["grade", "--course", str(tmp_path)]) == 2
    assert "isn't a number above 0" in capsys.readouterr().err
