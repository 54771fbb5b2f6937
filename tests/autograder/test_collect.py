"""Collecting: which files are taken for whose submission of what, and that nothing is ever lost."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.converters import Autograde
from nbgrader.converters.base import BaseConverter
from nbgrader.coursedir import CourseDirectory

from autograder.cli import main
from autograder.course import Course
from autograder.errors import CourseError, ExitCode
from autograder.files import write_whole
from autograder.intake.collecting import Report, collect
from autograder.nbgrader_bridge import IGNORED
from tests.mini_course import SECTION, answered, mini_course, mini_master

SECOND = "02_second"
NOON = datetime(2025, 3, 1, 12, 0, tzinfo=UTC)
LATER = datetime(2025, 3, 2, 9, 30, 15, tzinfo=UTC)


def text(notebook: NotebookNode) -> bytes:
    return nbformat.writes(notebook).encode()


ANSWERED = text(answered())
OTHER = text(answered(seven="seven_squared_minus_42 = 8"))
UNNAMED = text(new_notebook(cells=[new_code_cell("1 + 1")]))


def second_notebook() -> NotebookNode:
    """Return a notebook of another section: the mini master under other grade_ids."""
    notebook = mini_master()
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.grade_id = f"second_{cell.metadata.nbgrader.grade_id}"
    return notebook


@pytest.fixture
def course(tmp_path: Path) -> Course:
    opened = mini_course(tmp_path / "course")
    write_whole(opened.source / SECOND / f"{SECOND}.ipynb", text(second_notebook()))
    return opened


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    folder = tmp_path / "inbox"
    folder.mkdir()
    return folder


def put(path: Path, data: bytes = ANSWERED, when: datetime = NOON) -> Path:
    write_whole(path, data)
    os.utime(path, (when.timestamp(), when.timestamp()))
    return path


def taken(report: Report) -> list[tuple[str, str, str]]:
    return [(each.student, each.section, each.status) for each in report.taken]


def stored(course: Course) -> set[str]:
    root = course.root / "submitted"
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("name", "data", "options", "section", "status"),
    [
        (f"s01/{SECTION}/{SECTION}.ipynb", ANSWERED, {}, SECTION, "taken"),
        (f"s01/{SECTION}.ipynb", ANSWERED, {}, SECTION, "taken"),
        (f"s01/{SECTION}/homework final (2).ipynb", ANSWERED, {}, SECTION, "renamed"),
        ("s01/Untitled.ipynb", ANSWERED, {}, SECTION, "renamed"),
        ("s01/Untitled.ipynb", text(second_notebook()), {}, SECOND, "renamed"),
        (f"s01/{SECTION}-Copy1.ipynb", UNNAMED, {}, SECTION, "renamed"),
        (f"s01/{SECTION}/Untitled.ipynb", UNNAMED, {}, SECTION, "renamed"),
        ("s01/Untitled.ipynb", UNNAMED, {"section": SECTION}, SECTION, "renamed"),
        ("s01/HOMEWORK.IPYNB", ANSWERED, {}, SECTION, "renamed"),
        (f"{SECTION}/{SECTION}.ipynb", ANSWERED, {"student": "s01"}, SECTION, "taken"),
        ("Untitled.ipynb", ANSWERED, {"student": "s01"}, SECTION, "renamed"),
    ],
)
def test_a_submission_is_taken_by_its_place_its_name_or_its_cells(
    course: Course, inbox: Path, name: str, data: bytes, options: dict[str, str], section: str, status: str
) -> None:
    put(inbox / name, data)
    report = collect(course, inbox, **options)
    assert not report.refused
    assert taken(report) == [("s01", section, status)]
    assert stored(course) == {f"s01/{section}/{section}.ipynb", f"s01/{section}/timestamp.txt"}
    assert course.submitted("s01", section).read_bytes() == data


def test_one_notebook_is_taken_with_the_name_of_its_student(course: Course, inbox: Path) -> None:
    report = collect(course, put(inbox / "anything.ipynb"), student="s01@uni.example")
    assert taken(report) == [("s01@uni.example", SECTION, "renamed")]


def test_nbgrader_reads_the_date_of_the_file_in_utc(course: Course, inbox: Path) -> None:
    put(inbox / "s01" / f"{SECTION}.ipynb", when=LATER)
    collect(course, inbox)
    folders = CourseDirectory(root=str(course.root))
    assert folders.get_existing_timestamp(str(course.submitted("s01", SECTION).parent)) == LATER.replace(tzinfo=None)


def test_a_date_in_the_future_is_the_date_of_collecting(course: Course, inbox: Path) -> None:
    put(inbox / "s01" / f"{SECTION}.ipynb", when=datetime(2100, 1, 1, tzinfo=UTC))
    collect(course, inbox)
    folders = CourseDirectory(root=str(course.root))
    found = folders.get_existing_timestamp(str(course.submitted("s01", SECTION).parent))
    assert found is not None and found <= datetime.now(UTC).replace(tzinfo=None)


def test_what_systems_leave_behind_is_ignored_and_other_files_are_left_out(course: Course, inbox: Path) -> None:
    put(inbox / "s01" / SECTION / f"{SECTION}.ipynb")
    for name in (".ipynb_checkpoints/x-checkpoint.ipynb", f"._{SECTION}.ipynb", ".DS_Store", "__MACOSX/x.ipynb"):
        put(inbox / "s01" / SECTION / name, b"no notebook")
    put(inbox / "__MACOSX" / "s01" / f"._{SECTION}.ipynb", b"no notebook")
    put(inbox / "s01" / SECTION / "data.csv", b"1,2\n")
    put(inbox / "s01" / "numfmt" / "trial.ipynb", UNNAMED)
    report = collect(course, inbox)
    assert not report.refused
    assert set(report.left_out) == {f"s01/{SECTION}/data.csv", "s01/numfmt/trial.ipynb"}
    assert "data.csv" in report.taken[0].notes[-1]
    assert stored(course) == {f"s01/{SECTION}/{SECTION}.ipynb", f"s01/{SECTION}/timestamp.txt"}


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        ({"a.ipynb": (UNNAMED, LATER), "b.ipynb": (ANSWERED, NOON)}, "b.ipynb"),
        ({f"{SECTION}.ipynb": (UNNAMED, LATER), "b.ipynb": (ANSWERED, NOON)}, "b.ipynb"),
        ({f"{SECTION}.ipynb": (OTHER, NOON), "mine.ipynb": (ANSWERED, LATER)}, "mine.ipynb"),
        ({f"{SECTION}-Copy1.ipynb": (OTHER, NOON), f"{SECTION}.ipynb": (ANSWERED, NOON)}, f"{SECTION}.ipynb"),
    ],
)
def test_of_several_notebooks_the_best_match_then_the_newest_is_taken_and_named(
    course: Course, inbox: Path, files: dict[str, tuple[bytes, datetime]], chosen: str
) -> None:
    for name, (data, when) in files.items():
        put(inbox / "s01" / SECTION / name, data, when)
    report = collect(course, inbox)
    assert not report.refused
    assert [each.file for each in report.taken] == [f"s01/{SECTION}/{chosen}"]
    note = report.taken[0].notes[0]
    assert chosen in note and all(name in note for name in files)
    assert course.submitted("s01", SECTION).read_bytes() == files[chosen][0]


def test_sections_are_told_apart_and_one_can_be_taken_alone(course: Course, inbox: Path) -> None:
    put(inbox / "s01" / f"{SECTION}.ipynb")
    put(inbox / "s01" / "the other.ipynb", text(second_notebook()))
    put(inbox / "s02" / SECOND / f"{SECOND}.ipynb", text(second_notebook()))
    assert taken(collect(course, inbox, section=SECOND, student="s02")) == [("s02", SECOND, "taken")]
    report = collect(course, inbox)
    assert set(taken(report)) == {("s01", SECTION, "taken"), ("s01", SECOND, "renamed"), ("s02", SECOND, "unchanged")}
    only = collect(course, inbox, section=SECTION)
    assert [(each.student, each.section) for each in only.taken] == [("s01", SECTION)]


def no_mode(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def link(path: Path) -> None:
    elsewhere = put(path.parents[3] / "elsewhere.ipynb")
    path.unlink()
    path.symlink_to(elsewhere)


def link_folder(path: Path) -> None:
    path.parent.rename(path.parents[3] / "elsewhere")
    path.parent.symlink_to(path.parents[3] / "elsewhere", target_is_directory=True)


def content(data: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(data)

    return write


def big(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(33 * 1024 * 1024)


def move(to: str) -> Callable[[Path], None]:
    def rename(path: Path) -> None:
        target = path.parents[2] / to
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
        for folder in path.parents[:2]:
            if not any(folder.iterdir()):
                folder.rmdir()

    return rename


@pytest.mark.parametrize(
    ("spoil", "file", "problem", "cure"),
    [
        (content(b""), f"bad/{SECTION}/{SECTION}.ipynb", "is empty", "hand the notebook in again"),
        (
            content(ANSWERED[:300]),
            f"bad/{SECTION}/{SECTION}.ipynb",
            "is not a notebook",
            "hand the notebook in again",
        ),
        (content(b"\xff\xfe"), f"bad/{SECTION}/{SECTION}.ipynb", "is not a notebook", "hand the notebook in again"),
        (content(b"[" * 10**6), f"bad/{SECTION}/{SECTION}.ipynb", "is not a notebook", "hand the notebook in again"),
        (big, f"bad/{SECTION}/{SECTION}.ipynb", "33 MiB", "Clear its outputs"),
        (link, f"bad/{SECTION}/{SECTION}.ipynb", "is a link", "Put the file itself"),
        (link_folder, f"bad/{SECTION}", "is a link", "Put the file itself"),
        (no_mode, f"bad/{SECTION}/{SECTION}.ipynb", "not an ordinary file", "Remove it"),
        (Path.unlink, f"bad/{SECTION}", "There is no notebook in", "Ask the student"),
        (move("bad/99_none/x.ipynb"), "bad/99_none/x.ipynb", "99_none, which is no section", SECTION),
        (content(text(second_notebook())), f"bad/{SECTION}/{SECTION}.ipynb", f"holds the cells of {SECOND}", "right"),
        (move("bad name/01_mini.ipynb"), "bad name", "can't be a student id", "no slash, no space"),
        (move("bad\\name/01_mini.ipynb"), "bad\\name", "can't be a student id", "no slash, no space"),
        (move("=cmd/01_mini.ipynb"), "=cmd", "can't be a student id", "starting with a letter or digit"),
        (move("\x1b[2Jx/01_mini.ipynb"), "\\x1b[2Jx", "can't be a student id", "no slash, no space"),
        (move(f"b/ad/{SECTION}/x.ipynb"), "b/ad", "can't be a student id", "no slash"),
        (
            move(f"bad/{SECTION}/old/x.ipynb"),
            f"bad/{SECTION}/old/x.ipynb",
            "lies deeper than expected",
            "SECTION is one",
        ),
        (move("x.ipynb"), "x.ipynb", "Whose notebook is", "--student"),
        (move("all.zip"), "all.zip", "zip file inside the source", "on its own"),
    ],
    ids=lambda value: value if isinstance(value, str) else getattr(value, "__name__", ""),
)
def test_bad_input_is_a_row_of_the_report_and_the_others_go_on(
    course: Course,
    inbox: Path,
    capsys: pytest.CaptureFixture[str],
    spoil: Callable[[Path], None],
    file: str,
    problem: str,
    cure: str,
) -> None:
    put(inbox / "s01" / SECTION / f"{SECTION}.ipynb")
    put(inbox / "s99" / f"{SECTION}.ipynb")
    spoil(put(inbox / "bad" / SECTION / f"{SECTION}.ipynb"))
    code = main(["collect", str(inbox), "--course", str(course.root), "--json"])
    report = json.loads(capsys.readouterr().out)
    assert code == ExitCode.PROBLEMS
    assert [(each["student"], each["status"]) for each in report["taken"]] == [("s01", "taken"), ("s99", "taken")]
    assert [each["file"] for each in report["refused"]] == [file]
    assert problem in report["refused"][0]["problem"]
    assert cure in report["refused"][0]["cure"]
    assert {name.split("/")[0] for name in stored(course)} == {"s01", "s99"}


def test_a_notebook_of_no_known_section_is_refused_unless_the_section_is_named(course: Course, inbox: Path) -> None:
    put(inbox / "s01" / "Untitled.ipynb", UNNAMED)
    report = collect(course, inbox)
    assert not report.taken
    assert "no known section" in report.refused[0].problem
    assert "--section" in report.refused[0].cure
    assert taken(collect(course, inbox, section=SECTION)) == [("s01", SECTION, "renamed")]


def test_an_empty_folder_of_a_student_is_named(course: Course, inbox: Path) -> None:
    put(inbox / "s01" / f"{SECTION}.ipynb")
    (inbox / "empty").mkdir()
    put(inbox / "only_data" / "data.csv", b"1\n")
    report = collect(course, inbox)
    assert [each.file for each in report.refused] == ["empty", "only_data"]


def test_an_empty_source_is_a_problem(course: Course, inbox: Path) -> None:
    report = collect(course, inbox)
    assert not report.taken
    assert "There is no submission" in report.refused[0].problem


def test_of_two_submissions_in_one_source_the_newest_counts_and_the_report_says_so(
    course: Course, inbox: Path
) -> None:
    put(inbox / "s01" / SECTION / f"{SECTION}.ipynb", OTHER, NOON)
    put(inbox / "s01" / f"{SECTION}.ipynb", ANSWERED, LATER)
    report = collect(course, inbox)
    assert course.submitted("s01", SECTION).read_bytes() == ANSWERED
    assert [(each.file, "twice" in each.problem) for each in report.refused] == [
        (f"s01/{SECTION}/{SECTION}.ipynb", True)
    ]


def attempts(course: Course) -> dict[str, bytes]:
    folder = course.submitted("s01", SECTION).parent / "attempts"
    return {path.name: path.read_bytes() for path in folder.glob("*")} if folder.is_dir() else {}


def test_collecting_again_keeps_every_version_and_the_newest_counts(course: Course, inbox: Path) -> None:
    path = inbox / "s01" / f"{SECTION}.ipynb"
    put(path, OTHER, NOON)
    assert collect(course, inbox).taken[0].status == "taken"
    assert collect(course, inbox).taken[0].status == "unchanged"
    assert not attempts(course)

    put(path, ANSWERED, LATER)
    assert collect(course, inbox).taken[0].status == "taken"
    assert attempts(course) == {"2025-03-01T12-00-00Z.ipynb": OTHER}
    assert course.submitted("s01", SECTION).read_bytes() == ANSWERED

    put(path, OTHER, NOON)
    assert collect(course, inbox).taken[0].status == "unchanged"
    put(path, UNNAMED, NOON)
    assert collect(course, inbox).taken[0].status == "earlier"
    assert collect(course, inbox).taken[0].status == "unchanged"
    assert attempts(course) == {"2025-03-01T12-00-00Z.ipynb": OTHER, "2025-03-01T12-00-00Z-2.ipynb": UNNAMED}
    assert course.submitted("s01", SECTION).read_bytes() == ANSWERED


@pytest.mark.parametrize("ignored", [[], list(IGNORED)], ids=["nbgrader's own settings", "the course's settings"])
def test_nbgrader_neither_grades_nor_copies_earlier_attempts(course: Course, inbox: Path, ignored: list[str]) -> None:
    for data, when in ((OTHER, NOON), (ANSWERED, LATER)):
        put(inbox / "s01" / f"{SECTION}.ipynb", data, when)
        collect(course, inbox)
    assert attempts(course)
    folders = CourseDirectory(root=str(course.root), assignment_id=SECTION, ignore=ignored)
    converter = Autograde(coursedir=folders)
    converter.init_notebooks()
    assert converter.assignments == {str(path.parent): [str(path)] for path in [course.submitted("s01", SECTION)]}
    BaseConverter.init_assignment(converter, SECTION, "s01")
    copied = {path.name for path in (course.root / "autograded").rglob("*") if path.is_file()}
    assert copied == {"timestamp.txt"}


def test_a_submission_copied_by_hand_is_kept_too(course: Course, inbox: Path) -> None:
    put(course.submitted("s01", SECTION), OTHER, NOON)
    put(inbox / "s01" / f"{SECTION}.ipynb", ANSWERED, LATER)
    collect(course, inbox)
    assert list(attempts(course).values()) == [OTHER]
    assert course.submitted("s01", SECTION).read_bytes() == ANSWERED


@pytest.mark.parametrize("stop_at", range(1, 5))
def test_an_interruption_loses_nothing_and_collecting_again_finishes(
    course: Course, inbox: Path, monkeypatch: pytest.MonkeyPatch, stop_at: int
) -> None:
    put(inbox / "s01" / f"{SECTION}.ipynb", OTHER, NOON)
    collect(course, inbox)
    put(inbox / "s01" / f"{SECTION}.ipynb", ANSWERED, LATER)
    writes = 0

    def sync(descriptor: int) -> None:
        nonlocal writes
        writes += 1
        if writes == stop_at:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", sync)
        if stop_at <= 3:
            with pytest.raises(KeyboardInterrupt):
                collect(course, inbox)
        else:
            collect(course, inbox)
    whole = {f"s01/{SECTION}/{SECTION}.ipynb", f"s01/{SECTION}/timestamp.txt"}
    kept = f"s01/{SECTION}/attempts/2025-03-01T12-00-00Z.ipynb"
    assert whole <= stored(course) <= whole | {kept}
    assert OTHER in {course.submitted("s01", SECTION).read_bytes(), *attempts(course).values()}
    collect(course, inbox)
    assert stored(course) == whole | {kept}
    assert course.submitted("s01", SECTION).read_bytes() == ANSWERED
    folders = CourseDirectory(root=str(course.root))
    assert folders.get_existing_timestamp(str(course.submitted("s01", SECTION).parent)) == LATER.replace(tzinfo=None)


def test_a_folder_that_is_in_the_way_is_a_row_of_the_report(course: Course, inbox: Path) -> None:
    put(inbox / "s01" / f"{SECTION}.ipynb")
    put(inbox / "s02" / f"{SECTION}.ipynb")
    put(course.root / "submitted" / "s01", b"a file")
    report = collect(course, inbox)
    assert taken(report) == [("s02", SECTION, "taken")]
    assert "can't be stored" in report.refused[0].problem


@pytest.mark.parametrize(
    ("source", "options", "problem"),
    [
        ("nowhere", [], "doesn't exist"),
        ("notes.txt", [], "neither a folder nor a zip file nor a notebook"),
        ("inbox", ["--section", "01_minni"], "Did you mean 01_mini"),
        ("inbox", ["--student", "a/b"], "can't be a student id"),
        ("inbox", ["--student", "a\\b"], "can't be a student id"),
        ("course/submitted", [], "collected already"),
    ],
)
def test_a_wrong_call_does_nothing(
    course: Course,
    inbox: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    source: str,
    options: list[str],
    problem: str,
) -> None:
    put(inbox / "s01" / f"{SECTION}.ipynb")
    put(tmp_path / "notes.txt", b"notes")
    (course.root / "submitted").mkdir()
    code = main(["collect", str(tmp_path / source), *options, "--course", str(course.root)])
    assert code == ExitCode.USAGE
    assert problem in capsys.readouterr().err
    assert not stored(course)


def test_the_report_in_words(course: Course, inbox: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(inbox / "s01" / "mine.ipynb")
    (inbox / "s02").mkdir()
    assert main(["collect", str(inbox), "--course", str(course.root)]) == ExitCode.PROBLEMS
    out, err = capsys.readouterr()
    assert "renamed" in out and "s01/mine.ipynb" in out and "1 submission, 1 file refused" in out
    assert "There is no notebook in s02" in err and "Ask the student" in err
    (inbox / "s02").rmdir()
    assert main(["collect", str(inbox), "--course", str(course.root)]) == ExitCode.OK


def test_writing_leaves_the_old_file_or_the_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "file", b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, b"new")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes() == b"old"


def test_only_one_students_folder_counts_when_the_student_is_named(course: Course, inbox: Path) -> None:
    put(inbox / "s01" / f"{SECTION}.ipynb")
    put(inbox / "s02" / f"{SECTION}.ipynb")
    assert taken(collect(course, inbox, student="s02")) == [("s02", SECTION, "taken")]
    mistyped = collect(course, inbox, student="bobb")
    assert not mistyped.taken
    assert len(mistyped.refused) == 2
    with pytest.raises(CourseError):
        collect(course, inbox, student="s02/")
