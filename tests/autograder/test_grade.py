"""`autograder grade`: marks as deserved, problems named, nothing lost, nothing done twice."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from sqlalchemy import text

from autograder.cli import main
from autograder.course import MAX_NOTEBOOK_BYTES, Course, read_notebook
from autograder.grading import machine
from autograder.grading.processes import MARK
from autograder.grading.running import Outcome, Run, RunnerError, Status
from autograder.limits import Limits
from tests.autograder.submissions import DOUBLE, SEVEN, SUBMISSIONS, Here, hand_in, heed_ctrl_c
from tests.jobs import wait_for
from tests.mini_course import SECTION, answered, mini_course

pytestmark = pytest.mark.slow

Report = tuple[int, dict[str, Any]]


def grade(course: Course, *arguments: str) -> Report:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = main(["grade", "--course", str(course.root), "--json", *arguments])
    return code, json.loads(out.getvalue() or "{}")


def marks(course: Course) -> dict[str, tuple[float | None, ...]]:
    """Return the automatic marks in the gradebook."""
    with Gradebook(f"sqlite:///{course.database}") as gradebook:
        found = gradebook.notebook_submissions(SECTION, SECTION)
        return {
            each.student.id: tuple(sorted_by_name[name] for name in ("seven", "double"))
            for each in found
            for sorted_by_name in [{grade.name: grade.auto_score for grade in each.grades}]
        }


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """Return a mini course whose submissions run in this process."""
    monkeypatch.setattr(machine, "choose_runner", lambda folder, stop, *more: Here(folder, stop))
    return mini_course(tmp_path / "a course (draft) [2]")


@pytest.mark.filterwarnings("ignore:careful")
def test_everyone_gets_what_they_deserve(course: Course) -> None:
    for student, (notebook, _) in SUBMISSIONS.items():
        hand_in(course, student, notebook)
    code, report = grade(course)
    assert (code, report["problems"]) == (0, [])
    got = {each["student"]: tuple(cell["points"] for cell in each["cells"]) for each in report["submissions"]}
    assert got == marks(course) == {student: points for student, (_, points) in SUBMISSIONS.items()}
    assert all((each["section"], each["max_score"]) == (SECTION, 3) for each in report["submissions"])
    assert [each["student"] for each in report["submissions"]] == sorted(SUBMISSIONS)
    notes = {each["student"]: each["notes"] for each in report["submissions"]}
    assert notes["reference"] == []
    assert any("recognised by its content" in note for note in notes["nameless"])


def test_bad_submissions_are_named_and_the_others_graded(course: Course) -> None:
    hand_in(course, "good", answered(SEVEN, DOUBLE))
    corrupt = hand_in(course, "corrupt", '{"cells": [')
    missing = hand_in(course, "missing", None)
    renamed = hand_in(course, "renamed", None)
    (renamed.parent / "homework.ipynb").write_text("{}")
    huge = hand_in(course, "huge", None)
    with huge.open("wb") as sparse:
        sparse.truncate(MAX_NOTEBOOK_BYTES + 1)
    undated = hand_in(course, "undated", answered())
    (undated.parent / "timestamp.txt").write_text("yesterday-ish")
    (course.root / "submitted" / "odd id" / SECTION).mkdir(parents=True)
    code, report = grade(course)
    assert code == 1
    assert [each["student"] for each in report["submissions"]] == ["good"]
    assert marks(course) == {"good": (1, 2)}
    problems = {each["file"]: each for each in report["problems"]}
    for path, problem, cure in (
        (corrupt, "not JSON", "again"),
        (missing, "it holds no notebook", "Ask the student"),
        (renamed, "it holds homework.ipynb", "Rename the right one to 01_mini.ipynb"),
        (huge, "32 MiB", "Clear its outputs"),
        (undated, "timestamp.txt holds no date", "delete the file"),
        (course.submitted("odd id", SECTION), "'odd id' can't be a student id", "letters"),
    ):
        found = problems.pop(str(path))
        assert problem in found["problem"] and cure in found["cure"], found
    assert not problems


def test_wrong_calls_do_nothing(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    hand_in(course, "good", answered())
    for arguments, message in (
        (["02_other"], "There is no section '02_other'(.|\n)*01_mini"),
        (["--student", "nobody"], "no submission of 'nobody'(.|\n)*good"),
    ):
        assert main(["grade", "--course", str(course.root), *arguments]) == 2
        error = capsys.readouterr().err
        assert re.search(message, error), error
    for arguments in (["--workers", "0"], ["--timeout-cell", "-1"], ["--timeout-notebook", "soon"]):
        with pytest.raises(SystemExit, match="2"):
            main(["grade", "--course", str(course.root), *arguments])
    assert not course.database.exists()


def test_without_submissions_the_cure_is_named(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grade", "--course", str(course.root)]) == 2
    assert "autograder collect" in capsys.readouterr().err


def refuse(self: Here, notebook: NotebookNode, limits: Limits) -> Run:
    raise AssertionError("this must not run again")


def test_unchanged_work_is_not_done_again(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    for student in ("a", "b"):
        hand_in(course, student, answered(SEVEN, DOUBLE))
    first = grade(course)[1]["submissions"]
    with monkeypatch.context() as patched:
        patched.setattr(Here, "__call__", refuse)
        code, again = grade(course)
        assert (code, again["submissions"]) == (0, [{**each, "unchanged": True} for each in first])
    hand_in(course, "a", answered(SEVEN, None))
    report = grade(course)[1]["submissions"]
    assert [(each["student"], each["score"], each["unchanged"]) for each in report] == [
        ("a", 1, False),
        ("b", 3, True),
    ]


@pytest.mark.parametrize(
    "cause", ["force", "limits", "master", "date", "gradebook gone", "mark gone", "autograded gone"]
)
def test_whatever_a_mark_depends_on_makes_it_graded_anew(course: Course, cause: str) -> None:
    path = hand_in(course, "a", answered(SEVEN, DOUBLE))
    grade(course)
    arguments = []
    if cause == "force":
        arguments = ["--force"]
    elif cause == "limits":
        arguments = ["--timeout-cell", "31"]
    elif cause == "master":
        master = course.master_path(SECTION)
        master.write_text(master.read_text().replace("2**70", "2**71").replace("2**71) == 2**71", "2**71) == 2**72"))
    elif cause == "date":
        (path.parent / "timestamp.txt").write_text("2026-01-31 18:00:00 UTC")
    elif cause == "gradebook gone":
        course.database.unlink()
    elif cause == "mark gone":
        with Gradebook(f"sqlite:///{course.database}") as gradebook:
            gradebook.find_grade("double", SECTION, SECTION, "a").auto_score = 0
            gradebook.db.commit()
    else:
        course.autograded("a", SECTION).unlink()
    code, report = grade(course, *arguments)
    assert code == 0
    assert [(each["score"], each["unchanged"]) for each in report["submissions"]] == [(3, False)]
    assert marks(course) == {"a": (1, 2)}


def test_only_the_named_students_are_graded(course: Course) -> None:
    for student in ("a", "b", "c"):
        hand_in(course, student, answered(SEVEN, DOUBLE))
    report = grade(course, SECTION, "--only", "a", "--student", "c")[1]
    assert [each["student"] for each in report["submissions"]] == ["a", "c"]
    assert set(marks(course)) == {"a", "c"}


def test_failed_means_what_has_no_result_or_ran_out_of_time(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    for student, answer in {
        "fine": DOUBLE,
        "wrong": "def double(number): ...",
        "slow": "slow = 1\n" + DOUBLE,
    }.items():
        hand_in(course, student, answered(SEVEN, answer))
    run = Here.__call__

    def limited(self: Here, notebook: NotebookNode, limits: Limits) -> Run:
        done = run(self, notebook, limits)
        if "slow = 1" in str(notebook) and limits.cell_seconds < 60:
            done.outcomes["double"] = Outcome(Status.TIMEOUT)  # type: ignore[index]
        return done

    monkeypatch.setattr(Here, "__call__", limited)
    assert marks_of(grade(course)) == {"fine": 3, "wrong": 1, "slow": 1}
    hand_in(course, "new", answered(SEVEN, None))
    report = grade(course, "--failed", "--timeout-cell", "60")
    assert marks_of(report) == {"new": 1, "slow": 3}
    assert not any(each["unchanged"] for each in report[1]["submissions"])
    assert marks_of(grade(course, "--failed")) == {}
    assert marks(course) == {"fine": (1, 2), "wrong": (1, 0), "slow": (1, 2), "new": (1, 0)}


def marks_of(report: Report) -> dict[str, float]:
    return {each["student"]: each["score"] for each in report[1]["submissions"]}


def test_a_failure_of_grading_is_tried_again_then_reported_and_old_marks_stay(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    for student in ("a", "b"):
        hand_in(course, student, answered(SEVEN, DOUBLE))
    grade(course)
    calls = []

    def broken(self: Here, notebook: NotebookNode, limits: Limits) -> Run:
        calls.append(1)
        raise RunnerError("no kernel today")

    with monkeypatch.context() as patched:
        patched.setattr(Here, "__call__", broken)
        code, report = grade(course, "--force", "--student", "a")
    assert (code, len(calls), report["submissions"]) == (1, 2, [])
    assert "no kernel today" in report["problems"][0]["problem"]
    assert marks(course) == {"a": (1, 2), "b": (1, 2)}
    assert course.autograded("a", SECTION).exists()


def test_a_defect_of_ours_stops_only_one_submission(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    for student in ("a", "b"):
        hand_in(course, student, answered(SEVEN, DOUBLE if student == "a" else None))
    run = Here.__call__

    def defect(self: Here, notebook: NotebookNode, limits: Limits) -> Run:
        if "2 * number" in str(notebook):
            raise ZeroDivisionError("a defect")
        return run(self, notebook, limits)

    monkeypatch.setattr(Here, "__call__", defect)
    code, report = grade(course)
    assert (code, [each["student"] for each in report["submissions"]]) == (1, ["b"])
    assert "ZeroDivisionError: a defect" in report["problems"][0]["problem"]


def test_manual_marks_and_comments_survive(course: Course) -> None:
    hand_in(course, "a", answered(SEVEN, None))
    grade(course)
    with Gradebook(f"sqlite:///{course.database}") as gradebook:
        gradebook.find_grade("double", SECTION, SECTION, "a").manual_score = 1.5
        gradebook.find_comment("double_solution", SECTION, SECTION, "a").manual_comment = "Nearly."
        gradebook.db.commit()
    hand_in(course, "a", answered(None, DOUBLE))
    grade(course)
    with Gradebook(f"sqlite:///{course.database}") as gradebook:
        assert gradebook.find_grade("double", SECTION, SECTION, "a").score == 1.5
        assert gradebook.find_comment("double_solution", SECTION, SECTION, "a").comment == "Nearly."
        assert gradebook.find_submission_notebook(SECTION, SECTION, "a").score == 1.5
        assert gradebook.find_comment("seven_solution", SECTION, SECTION, "a").comment == "No response."


def test_the_autograded_notebook_holds_nothing_of_the_submission_but_code(course: Course) -> None:
    notebook = answered(SEVEN, DOUBLE)
    notebook.metadata["autograder"] = {"key": "forged"}
    notebook.cells[0].source = "<script>"
    path = hand_in(course, "a", notebook)
    (path.parent / "checks.json").write_text("forged")
    grade(course)
    autograded = read_notebook(course.autograded("a", SECTION))
    assert autograded.cells[0].source == "# A tiny section"
    assert autograded.metadata.autograder.key != "forged"
    beside = course.autograded("a", SECTION).parent
    assert "forged" not in (beside / "checks.json").read_text()
    assert {each.name for each in beside.iterdir()} == {f"{SECTION}.ipynb", "checks.json"}


def test_the_table_shows_marks_states_and_notes(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    hand_in(course, "good", answered(SEVEN, DOUBLE))
    hand_in(course, "mixed", answered(SEVEN, "def double(number):\n    return 1 / 0"))
    hand_in(course, "bad", "{")
    assert main(["grade", "--course", str(course.root)]) == 1
    out, err = capsys.readouterr()
    rows = {words[1]: line for line in out.splitlines() if len(words := line.split()) > 3}
    assert "3/3" in rows["good"] and "2 passed" in rows["good"]
    assert "1/3" in rows["mixed"] and "1 passed, 1 student error" in rows["mixed"]
    assert "not graded" in rows["bad"] and "not JSON" in err
    assert "2 of 3 submissions" in out
    assert "grade: 3/3" in err


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_finished_and_leaves_nothing_running(tmp_path: Path) -> None:
    course = mini_course(tmp_path)
    hand_in(course, "a", answered(SEVEN, DOUBLE))
    hand_in(course, "b", answered("import time; time.sleep(100)", DOUBLE))
    hand_in(course, "c", answered(SEVEN, DOUBLE))
    scratch = Path(tempfile.mkdtemp(prefix="t", dir="/tmp"))  # short, as sockets lie in it
    command = [sys.executable, "-m", "autograder", "grade", "--course", str(course.root), "--workers", "1"]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    grader = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, preexec_fn=heed_ctrl_c)
    deadline = time.monotonic() + 180
    while not (course.autograded("a", SECTION).exists() and list(scratch.glob("autograder-run-*"))):
        assert time.monotonic() < deadline and grader.poll() is None
        time.sleep(0.1)
    time.sleep(1)
    grader.send_signal(signal.SIGINT)
    _, err = grader.communicate(timeout=30)
    assert grader.returncode == 130
    assert "Interrupted" in err and "Traceback" not in err
    assert marks(course) == {"a": (1, 2)}
    assert not list(scratch.iterdir())
    assert not [pid for pid in Path("/proc").glob("[0-9]*") if str(scratch) in _environment(pid)]


@pytest.mark.slow
def test_killed_at_any_moment_and_started_again_it_comes_to_the_same_grades(tmp_path: Path) -> None:
    course, chance = mini_course(tmp_path), random.Random(1)
    answers = {"right": (SEVEN, DOUBLE), "half": (SEVEN, None), "wrong": ("seven_squared_minus_42 = 8", DOUBLE)}
    points = {"right": (1, 2), "half": (1, 0), "wrong": (0, 2)}
    expected = {f"{kind}{number}": points[kind] for kind in points for number in range(3)}
    for student in expected:
        hand_in(course, student, answered(*answers[student[:-1]]))
    scratch = Path(tempfile.mkdtemp(prefix="t", dir="/tmp"))
    command = [sys.executable, "-m", "autograder", "grade", "--course", str(course.root), "--workers", "2"]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    done, kills = 0, 0
    while done < len(expected):
        grader = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        goal = min(done + chance.randint(1, 3), len(expected))
        while _graded(course) < goal and grader.poll() is None:
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.3))  # so that it dies in the middle of things
        kills += grader.poll() is None
        grader.kill()
        grader.wait()
        assert _graded(course) >= done, "what was graded is lost"
        done = _graded(course)
    assert kills >= 3
    last = subprocess.run([*command, "--json"], env=environment, capture_output=True, check=True)
    report = json.loads(last.stdout)
    got = {each["student"]: tuple(cell["points"] for cell in each["cells"]) for each in report["submissions"]}
    assert (report["problems"], got) == ([], expected) and marks(course) == expected
    with Gradebook(course.database_url) as gradebook:
        logged = [tuple(row) for row in gradebook.db.execute(text("SELECT student, cell FROM grade_log"))]
    assert sorted(logged) == sorted((student, cell) for student in expected for cell in ("seven", "double"))
    wait_for(lambda: not list(scratch.iterdir()), 20)
    scratch.rmdir()


def _graded(course: Course) -> int:
    return len(list(course.root.glob(f"autograded/*/{SECTION}/*.ipynb")))


def _environment(process: Path) -> str:
    try:
        text = (process / "environ").read_text(errors="replace")
    except OSError:
        return ""
    return text if MARK in text else ""


RUN_FOR_REAL = ("reference", "stub", "adds_two", "hidden", "warns", "hacked", "markers")


@dataclass(frozen=True)
class Whole:
    """A course that was graded with real kernels."""

    course: Course
    code: int
    report: dict[str, Any]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    course = mini_course(tmp_path_factory.mktemp("course"))
    for student in RUN_FOR_REAL:
        hand_in(course, student, SUBMISSIONS[student][0])
    return Whole(course, *grade(course))


@pytest.mark.slow
def test_kernels_give_the_same_marks(whole: Whole) -> None:
    got = {each["student"]: tuple(cell["points"] for cell in each["cells"]) for each in whole.report["submissions"]}
    assert got == marks(whole.course) == {student: SUBMISSIONS[student][1] for student in RUN_FOR_REAL}
    assert whole.code == 0


@pytest.mark.slow
def test_students_learn_why(whole: Whole) -> None:
    messages = {
        (each["student"], cell["grade_id"]): cell["message"]
        for each in whole.report["submissions"]
        for cell in each["cells"]
    }
    assert messages["stub", "seven"] == "Replace None by your answer."
    assert messages["hacked", "seven"] == "Eight is one too many."
    assert messages["adds_two", "double"] == "You added two; doubling multiplies by two."
    assert messages["hidden", "double"] == "double fails on a large number"
    assert messages["reference", "double"] == ""


@pytest.mark.slow
def test_feedback_shows_marks_and_hints_but_no_hidden_test(whole: Whole, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["feedback", "--course", str(whole.course.root)]) == 0
    assert "7 pages" in capsys.readouterr().out
    for student in RUN_FOR_REAL:
        points = SUBMISSIONS[student][1]
        page = whole.course.feedback(student, SECTION).read_text(encoding="utf-8")
        assert f"(Score: {float(sum(points))} / 3.0)" in page
        if student != "markers":
            assert "HIDDEN TESTS" not in page
        for secret in ("7_000", "2**70", '<span class="mi">70</span>'):
            assert secret not in page
    assert "Eight is one too many." in whole.course.feedback("hacked", SECTION).read_text(encoding="utf-8")
    assert "my own words" in whole.course.feedback("markers", SECTION).read_text(encoding="utf-8")
