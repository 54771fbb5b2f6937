"""nbgrader's own commands and formgrader work on the course folder, and give the same marks as ours."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from autograder.course import REPOSITORY, Course
from tests.autograder.submissions import SUBMISSIONS, hand_in
from tests.mini_course import SECTION, mini_course

pytestmark = pytest.mark.slow

STUDENTS = ("reference", "hidden", "warns", "hacked")
TOKEN = "for-the-test"


def nbgrader(course: Course, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nbgrader", *arguments]
    return subprocess.run(command, cwd=course.root, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Return a course folder that stock commands released and graded."""
    course = mini_course(tmp_path_factory.mktemp("stock"))
    shutil.copyfile(REPOSITORY / "nbgrader_config.py", course.root / "nbgrader_config.py")
    for student in STUDENTS:
        hand_in(course, student, SUBMISSIONS[student][0])
    released = nbgrader(course, "generate_assignment", SECTION)
    assert released.returncode == 0, released.stderr
    hand_in(course, "corrupt", "{")
    graded = nbgrader(course, "autograde", SECTION)
    assert graded.returncode == 1 and "corrupt" in graded.stderr
    return course


def test_generate_assignment_ships_no_answers(course: Course) -> None:
    folder = course.root / "release" / SECTION
    assert {path.name for path in folder.iterdir()} == {f"{SECTION}.ipynb", "checks.json"}
    text = (folder / f"{SECTION}.ipynb").read_text()
    assert "# YOUR CODE HERE\\n" in text and "raise NotImplementedError" not in text
    assert "sum([" not in text and "2**70" not in text


def test_autograde_gives_the_marks_that_are_deserved(course: Course) -> None:
    with Gradebook(f"sqlite:///{course.database}") as gradebook:
        for student in STUDENTS:
            grades = gradebook.find_submission_notebook(SECTION, SECTION, student).grades
            points = {grade.name: grade.auto_score for grade in grades}
            assert (points["seven"], points["double"]) == SUBMISSIONS[student][1], student
            assert not any(grade.needs_manual_grade for grade in grades)


def test_generate_feedback_hides_the_hidden_tests(course: Course) -> None:
    made = nbgrader(course, "generate_feedback", SECTION, "--student", "hidden")
    assert made.returncode == 0, made.stderr
    page = course.feedback("hidden", SECTION).read_text(encoding="utf-8")
    assert "(Score: 1.0 / 3.0)" in page and "double fails on a large number" in page
    assert "HIDDEN TESTS" not in page and '<span class="mi">70</span>' not in page


def test_a_course_folder_without_masters_takes_those_of_the_checkout(tmp_path: Path) -> None:
    shutil.copyfile(REPOSITORY / "nbgrader_config.py", tmp_path / "nbgrader_config.py")
    script = (
        "from nbgrader.apps import NbGraderApp as App; a = App(); a.initialize([]); print(a.config.CourseDirectory)"
    )
    command = [sys.executable, "-c", script]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert f"'source_directory': {str(REPOSITORY / 'notebooks')!r}" in shown.stdout, shown.stdout + shown.stderr


@contextmanager
def served(course: Course) -> Iterator[str]:
    """Serve formgrader on the course folder and yield the address of its API."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ("--no-browser", "--allow-root", f"--port={port}", f"--IdentityProvider.token={TOKEN}")
    command = [sys.executable, "-m", "jupyter_server", *options, f"--ServerApp.root_dir={course.root}"]
    with subprocess.Popen(command, cwd=course.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            yield f"http://127.0.0.1:{port}/formgrader/api"
        finally:
            server.terminate()


def ask(address: str, method: str = "GET") -> Any:
    request = urllib.request.Request(address, method=method, headers={"Authorization": f"token {TOKEN}"})
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                return json.load(reply)
        except (ConnectionError, urllib.error.URLError):
            assert time.monotonic() < deadline
            time.sleep(0.3)


def test_formgrader_lists_the_course_and_its_button_grades(course: Course) -> None:
    with Gradebook(f"sqlite:///{course.database}") as gradebook:
        gradebook.find_grade("double", SECTION, SECTION, "warns").auto_score = 0
        gradebook.db.commit()
    with served(course) as api:
        listed = ask(f"{api}/assignments")
        assert [(each["name"], each["max_score"]) for each in listed] == [(SECTION, 3)]
        assert ask(f"{api}/submission/{SECTION}/warns/autograde", "POST")["success"]
        scores = {each["student"]: each["score"] for each in ask(f"{api}/submissions/{SECTION}")}
    assert {student: scores[student] for student in STUDENTS} == {
        student: sum(SUBMISSIONS[student][1]) for student in STUDENTS
    }
