"""The gradebook holds what it would hold after nbgrader's own autograding; it is written whole or not at all."""

from __future__ import annotations

import copy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook, SubmittedAssignment
from nbgrader.converters import Autograde
from nbgrader.preprocessors import LimitOutput, SaveAutoGrades
from sqlalchemy.exc import OperationalError

from autograder.cli import main
from autograder.course import REPOSITORY, Course, read_notebook
from autograder.grading import machine
from autograder.nbgrader_bridge import Log, course_directory
from tests.autograder.submissions import DOUBLE, SEVEN, SUBMISSIONS, Here, hand_in
from tests.mini_course import SECTION, answered, mini_course

pytestmark = pytest.mark.slow

ROWS = {
    "grades": ("name", "auto_score", "manual_score", "extra_credit", "needs_manual_grade", "score", "max_score"),
    "comments": ("name", "auto_comment", "manual_comment", "comment"),
}


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """Return a mini course whose submissions run in this process."""
    monkeypatch.setattr(machine, "choose_runner", lambda folder, stop, *more: Here(folder, stop))
    return mini_course(tmp_path / "course")


def stored(course: Course) -> dict[str, Any]:
    """Return all that the gradebook holds of each submission."""
    with Gradebook(course.database_url) as gradebook:
        found = {}
        for submission in gradebook.db.query(SubmittedAssignment):
            (notebook,) = submission.notebooks
            found[submission.student.id] = {
                "submission": (submission.timestamp, submission.score, submission.max_score, submission.extension),
                "notebook": (notebook.score, notebook.late_submission_penalty, notebook.needs_manual_grade),
                **{
                    kind: sorted(
                        tuple(getattr(each, column) for column in columns) for each in getattr(notebook, kind)
                    )
                    for kind, columns in ROWS.items()
                },
            }
        return found


def record_by_nbgrader(course: Course, student: str) -> None:
    """Write the marks of a graded notebook as nbgrader's own converter does."""
    graded = read_notebook(course.autograded(student, SECTION))
    log = Log()

    def put(_: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        return copy.deepcopy(graded), resources

    with course_directory(course, SECTION, student, log) as folders:
        converter = Autograde(coursedir=folders, log=log.logger, force=True)
        converter.sanitize_preprocessors = [put]
        converter.autograde_preprocessors = [LimitOutput, SaveAutoGrades]
        converter.start()


@pytest.mark.filterwarnings("ignore:careful", "ignore::sqlalchemy.exc.SAWarning")
def test_it_holds_what_nbgrader_would_have_written(course: Course, tmp_path: Path) -> None:
    for student, (notebook, _) in SUBMISSIONS.items():
        path = hand_in(course, student, notebook)
        if student.startswith("h"):
            (path.parent / "timestamp.txt").write_text("2026-01-31 18:00:00 CET\n")
    assert main(["grade", "--course", str(course.root)]) == 0
    ours = stored(course)
    theirs = Course.at(shutil.copytree(course.root, tmp_path / "theirs"))
    with Gradebook(theirs.database_url) as gradebook:
        for student in SUBMISSIONS:
            gradebook.remove_student(student)
    assert stored(theirs) == {}
    for student in SUBMISSIONS:
        record_by_nbgrader(theirs, student)
    assert stored(theirs) == ours
    assert {str(each["submission"][0]) for each in ours.values()} == {"None", "2026-01-31 17:00:00"}


def test_a_second_grading_changes_what_nbgrader_would_change(course: Course, tmp_path: Path) -> None:
    hand_in(course, "a", answered(SEVEN, None))
    main(["grade", "--course", str(course.root)])
    with Gradebook(course.database_url) as gradebook:
        gradebook.find_grade("double", SECTION, SECTION, "a").manual_score = 1.5
        gradebook.find_comment("double_solution", SECTION, SECTION, "a").manual_comment = "Nearly."
        gradebook.db.commit()
    theirs = Course.at(shutil.copytree(course.root, tmp_path / "theirs"))
    for each in (course, theirs):
        hand_in(each, "a", answered(None, DOUBLE))
    main(["grade", "--course", str(course.root)])
    shutil.copytree(course.root / "autograded", theirs.root / "autograded", dirs_exist_ok=True)
    record_by_nbgrader(theirs, "a")
    assert stored(theirs) == stored(course)


def test_a_mark_that_cant_be_written_leaves_everything_as_it_was(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hand_in(course, "a", answered(SEVEN, None))
    hand_in(course, "b", answered(SEVEN, None))
    main(["grade", "--course", str(course.root)])
    before, page = stored(course), course.autograded("a", SECTION).read_bytes()
    hand_in(course, "a", answered(SEVEN, DOUBLE))
    find = Gradebook.find_submission_notebook

    def locked(self: Gradebook, notebook: str, assignment: str, student: str) -> Any:
        found = find(self, notebook, assignment, student)
        if found.grades[0].auto_score is not None:
            found.grades[0].auto_score = 77.0
        raise OperationalError("", {}, Exception("database is locked"))

    with monkeypatch.context() as patched:
        patched.setattr(Gradebook, "find_submission_notebook", locked)
        capsys.readouterr()
        assert main(["grade", "--course", str(course.root), "--student", "a"]) == 1
    message = " ".join(capsys.readouterr().err.split())
    assert "The marks of a in 01_mini weren't written: database is locked" in message
    assert "grading again is safe" in message
    assert stored(course) == before
    assert course.autograded("a", SECTION).read_bytes() == page
    assert [each.name for each in course.autograded("a", SECTION).parent.parent.iterdir()] == [SECTION]
    assert main(["grade", "--course", str(course.root)]) == 0
    assert stored(course)["a"]["notebook"][0] == 3


def grade_from_two_sides(course: Course) -> None:
    """Let two processes grade halves of a class at the same time, and look whether every mark is there."""
    students = [f"s{number}" for number in range(12)]
    for student in students:
        hand_in(course, student, answered(SEVEN, DOUBLE))
    code = (
        "import sys\nfrom autograder.cli import main\nfrom autograder.grading import machine\n"
        "from tests.autograder.submissions import Here\n"
        "machine.choose_runner = lambda folder, stop, *more: Here(folder, stop)\n"
        "sys.exit(main(['grade', '--force', '--no-fork-server', *sys.argv[1:]]))"
    )
    words = [sys.executable, "-c", code, "--course", str(course.root)]
    halves = [[word for student in students[start::2] for word in ("--only", student)] for start in (0, 1)]
    graders = [subprocess.Popen([*words, *half], cwd=REPOSITORY, stderr=subprocess.PIPE) for half in halves]
    for grader in graders:
        assert grader.wait(200) == 0, grader.communicate()[1]
    assert {student: found["submission"][1] for student, found in stored(course).items()} == dict.fromkeys(
        students, 3
    )


@pytest.mark.slow
def test_two_graders_at_once_lose_nothing(course: Course) -> None:
    grade_from_two_sides(course)
