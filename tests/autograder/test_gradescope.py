"""Gradescope: run_autograder from the zip file, in folders laid out as there, gives the marks of grading here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.cli import main
from autograder.course import Course
from autograder.errors import CourseError, ExitCode
from autograder.gradescope.results import to_results
from autograder.grading.result import CellResult, Result, State
from autograder.grading.seam import grade
from autograder.proof.catalogue import read_catalogue
from tests.mini_course import SECTION, answered, mini_course, mini_master
from tests.samples import make_samples

DOUBLE = "def double(number):\n    return number + number"


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return mini_course(tmp_path / "course")


def lay_out(root: Path, course: Course, section: str, *options: str) -> Path:
    """Do what Gradescope does: unpack the zip file to source/, and copy run_autograder beside it."""
    path = root / "autograder.zip"
    command = ["export", "gradescope", section, "--course", str(course.root), "--to", str(path), *options]
    assert main(command) == ExitCode.OK
    with ZipFile(path) as archive:
        archive.extractall(root / "source")
    for name in ("submission", "results"):
        (root / name).mkdir()
    shutil.copyfile(root / "source" / "run_autograder", root / "run_autograder")
    (root / "run_autograder").chmod(0o755)
    return root


def run(root: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "AUTOGRADER_PYTHON": sys.executable}
    return subprocess.run([root / "run_autograder"], cwd=root, env=environment, capture_output=True, text=True)


def results(root: Path, submission: NotebookNode | bytes, name: str = "my homework.ipynb") -> dict[str, Any]:
    data = submission if isinstance(submission, bytes) else nbformat.writes(submission).encode()
    (root / "submission" / name).write_bytes(data)
    done = run(root)
    assert done.returncode == 0, done.stderr
    read: dict[str, Any] = json.loads((root / "results" / "results.json").read_text())
    return read


@pytest.mark.slow
def test_the_marks_are_those_of_grading_here(course: Course, tmp_path: Path) -> None:
    root = lay_out(tmp_path / "autograder", course, SECTION)
    for submission in (
        answered(double=DOUBLE),
        answered(),
        answered(seven="seven_squared_minus_42 = 8", double=DOUBLE),
    ):
        expected = {cell.grade_id: (cell.points, cell.max_points) for cell in grade(mini_master(), submission).cells}
        found = results(root, submission)
        assert {each["name"]: (each["score"], each["max_score"]) for each in found["tests"]} == expected
        assert {each["visibility"] for each in found["tests"]} == {"after_due_date"}
        assert found["extra_data"]["runner"] == "sealed"
        assert "score" not in found  # it would stand in for the tests' sum


@pytest.mark.slow
def test_a_section_of_the_course_is_graded_with_the_library_from_the_zip_file(tmp_path: Path) -> None:
    course, section = Course.at(tmp_path), "01_integers"
    samples = make_samples(section, course.master(section), read_catalogue(course.catalogue_path(section)))
    root = lay_out(tmp_path / "autograder", course, section)
    for name in ("complete", "half_done"):
        found = results(root, samples[name].notebook)
        assert {each["name"]: each["score"] for each in found["tests"]} == samples[name].expected.points


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "name", "said"),
    [(b"", f"{SECTION}.ipynb", "is empty"), (b"{", "x.ipynb", "is not a notebook"), (b"hi", "x.txt", "no notebook")],
)
def test_a_submission_that_cannot_be_graded_says_why(
    course: Course, tmp_path: Path, data: bytes, name: str, said: str
) -> None:
    found = results(lay_out(tmp_path / "autograder", course, SECTION), data, name)
    assert found["score"] == 0 and said in found["output"] and len(found["output"].splitlines()) == 2


@pytest.mark.slow
def test_a_machine_that_cannot_isolate_writes_no_result(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = lay_out(tmp_path / "autograder", course, SECTION)
    nbformat.write(answered(), root / "submission" / "x.ipynb")
    broken = root / "source" / "autograder" / "sealed" / "diagnosis.py"
    broken.write_text(broken.read_text() + "\n\ndef obstacle():\n    return 'There is no bubblewrap'\n")
    done = run(root)
    assert done.returncode == ExitCode.PROBLEMS and "There is no bubblewrap" in done.stderr
    assert not list((root / "results").iterdir())


def test_the_zip_file_has_what_gradescope_asks_for_and_nothing_that_grading_does_not_need(
    course: Course, tmp_path: Path
) -> None:
    lay_out(tmp_path / "autograder", course, SECTION, "--visibility", "after_published", "--unsafe")
    with ZipFile(tmp_path / "autograder" / "autograder.zip") as archive:
        modes = {info.filename: info.external_attr >> 16 for info in archive.infolist()}
        settings = json.loads(archive.read("gradescope.json"))
    assert modes["setup.sh"] == modes["run_autograder"] == 0o100755
    assert settings == {
        "section": SECTION,
        "visibility": "after_published",
        "unsafe": True,
        "secret": None,
        "student_id": "sid",
    }
    assert {name for name in modes if name.startswith("notebooks/")} == {
        f"notebooks/{SECTION}/{SECTION}.ipynb",
        f"notebooks/{SECTION}/checks.json",
    }
    assert {"requirements.lock", "tools/bootstrap.py", "src/numfmt/__init__.py", "autograder/cli.py"} <= set(modes)


@pytest.mark.parametrize("names", [[], [SECTION, SECTION]])
def test_gradescope_is_for_one_section(course: Course, names: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "gradescope", *names, "--course", str(course.root)]) == ExitCode.USAGE
    assert "one section" in capsys.readouterr().err


def test_only_exercises_without_hidden_tests_show_at_once() -> None:
    master = mini_master()
    seven = next(cell for cell in master.cells if cell["id"] == "seven")
    seven.source = "assert seven_squared_minus_42 == 7"
    cells = (CellResult("seven", State.PASSED, 1), CellResult("double", State.FAILED, 2, "double fails on 2**70"))
    found = to_results(Result(cells, master, 1.0, "sealed", ("a note",)), master, "after_published")
    assert [(each["name"], each["visibility"]) for each in found["tests"]] == [
        ("seven", "visible"),
        ("double", "after_published"),
    ]
    assert found["stdout_visibility"] == "hidden" and found["output"] == "a note"


def test_a_failure_of_grading_is_never_a_result() -> None:
    cells = (CellResult("seven", State.INFRA_ERROR, 1, "the kernel didn't start"),)
    with pytest.raises(CourseError, match="the kernel didn't start"):
        to_results(Result(cells, mini_master(), 1.0, "sealed"), mini_master(), "visible")
