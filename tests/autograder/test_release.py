"""`autograder release` from end to end: whole or not at all, and never over anybody's work."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import nbformat
import pytest

from autograder.cli import main
from autograder.course import Course
from autograder.errors import CourseError
from autograder.releasing import release as releasing
from autograder.releasing.assemble import Project
from autograder.releasing.leakgate import Leak
from autograder.releasing.release import release
from autograder.releasing.swap import replacing
from tests.autograder.bundle_parts import mini_project
from tests.mini_course import SECTION, mini_course, mini_master

pytestmark = pytest.mark.slow

SOLUTION = "return sum([number, number])"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return mini_project(tmp_path / "project")


@pytest.fixture
def course(tmp_path: Path, project: Project, monkeypatch: pytest.MonkeyPatch) -> Course:
    monkeypatch.setattr(releasing, "Project", lambda: project)
    return mini_course(tmp_path / "course")


def snapshot(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run(course: Course, *arguments: str) -> int:
    return main(["release", "--course", str(course.root), *arguments])


def leave_nothing_half_made(folder: Path) -> None:
    assert [path.name for path in folder.iterdir() if ".release." in path.name] == []


def test_release_says_what_it_did(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(course) == 0
    out, err = capsys.readouterr()
    assert out == (
        f"{course.root / 'release'}: {len(snapshot(course.root / 'release'))} files; sections: {SECTION}. "
        "No answer leaks from it.\n"
    )
    assert err == ""
    assert (course.root / "release" / SECTION / f"{SECTION}.ipynb").is_file()
    leave_nothing_half_made(course.root)


def test_release_as_json_into_another_folder(
    course: Course, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(course, SECTION, "--to", str(tmp_path / "new" / "place"), "--json") == 0
    out, err = capsys.readouterr()
    files = len(snapshot(tmp_path / "new" / "place"))
    assert json.loads(out) == {
        "bundle": str(tmp_path / "new" / "place"),
        "sections": [SECTION],
        "files": files,
        "leaks": [],
    }
    assert err == ""


def test_release_registers_the_section(course: Course) -> None:
    assert run(course) == 0
    with sqlite3.connect(course.database) as database:
        assert database.execute("SELECT name FROM assignment").fetchall() == [(SECTION,)]


def test_a_second_release_changes_nothing(course: Course) -> None:
    assert run(course) == 0
    before = snapshot(course.root / "release")
    assert run(course) == 0
    assert snapshot(course.root / "release") == before


def plant(course: Course) -> None:
    (course.master_path(SECTION).parent / "notes.txt").write_text(f"Hint:\n{SOLUTION}\n")


def test_a_leak_is_refused_and_the_old_bundle_stays(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(course) == 0
    before = snapshot(course.root / "release")
    capsys.readouterr()
    plant(course)
    assert run(course) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{SECTION}/notes.txt, line 2: solution: line 1 of {SECTION}/double" in err
    assert "Refused" in err and SOLUTION not in err
    assert snapshot(course.root / "release") == before
    leave_nothing_half_made(course.root)


def test_a_first_release_with_a_leak_leaves_neither_bundle_nor_gradebook(course: Course) -> None:
    plant(course)
    assert run(course) == 1
    assert {path.name for path in course.root.iterdir()} == {"notebooks"}


def test_leaks_as_json(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    plant(course)
    assert run(course, "--json") == 1
    out, _ = capsys.readouterr()
    (leak,) = json.loads(out)["leaks"]
    assert (leak["file"], leak["place"], leak["kind"]) == (f"{SECTION}/notes.txt", "line 2", "solution")


def test_a_secret_of_an_unreleased_section_is_found(course: Course, project: Project) -> None:
    other = course.source / "02_other"
    other.mkdir()
    notebook = mini_master()
    notebook.cells[6].source = notebook.cells[6].source.replace(SOLUTION, "return number << 1")
    nbformat.write(notebook, other / "02_other.ipynb")
    (course.master_path(SECTION).parent / "notes.txt").write_text("return number << 1")
    leaks = release(course, [SECTION], course.root / "release", project=project).leaks
    assert [leak.detail.split(".")[0] for leak in leaks] == ["line 1 of 02_other/double"]


def test_an_unknown_section_is_refused_by_name(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(course, "01_mimi") == 2
    err = capsys.readouterr().err
    assert "'01_mimi'" in err and f"The sections are: {SECTION}" in err
    assert not (course.root / "release").exists()


def test_a_course_without_sections_is_refused(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    course.master_path(SECTION).unlink()
    assert run(course) == 2
    assert "no section" in capsys.readouterr().err


def test_a_defective_master_leaves_the_old_bundle(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(course) == 0
    before = snapshot(course.root / "release")
    (course.master_path(SECTION).parent / "checks.json").unlink()
    assert run(course) == 2
    assert "checks.json doesn't exist" in capsys.readouterr().err
    assert snapshot(course.root / "release") == before
    leave_nothing_half_made(course.root)


@pytest.mark.parametrize("content", [{"precious.txt": "mine"}, {"manifest.json": '{"kind": "another program"}'}])
def test_a_folder_of_somebody_else_is_not_touched(
    content: dict[str, str], course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = course.root / "release"
    folder.mkdir()
    for name, text in content.items():
        (folder / name).write_text(text)
    assert run(course) == 2
    assert "something else than a student bundle" in capsys.readouterr().err
    assert snapshot(folder) == {name: text.encode() for name, text in content.items()}


def test_a_file_in_the_place_of_the_folder_is_not_touched(course: Course) -> None:
    (course.root / "release").write_text("mine")
    assert run(course) == 2
    assert (course.root / "release").read_text() == "mine"


def test_an_empty_folder_is_filled(course: Course) -> None:
    (course.root / "release").mkdir()
    assert run(course) == 0


def test_files_that_are_not_ours_move_along(course: Course) -> None:
    assert run(course) == 0
    bundle = course.root / "release"
    (bundle / ".git" / "refs" / "heads").mkdir(parents=True)
    (bundle / ".git" / "HEAD").write_text("ref")
    (bundle / SECTION / "my notes.txt").write_text("mine")
    (bundle / "numfmt" / "__pycache__").mkdir()
    (bundle / "numfmt" / "__pycache__" / "x.pyc").write_text("x")
    before = snapshot(bundle)
    assert run(course) == 0
    assert snapshot(bundle) == before
    assert (bundle / ".git" / "refs" / "heads").is_dir()
    leave_nothing_half_made(course.root)


def test_files_of_a_section_that_is_no_longer_there_go_and_others_stay(course: Course, project: Project) -> None:
    bundle = course.root / "release"
    other = course.source / "02_other"
    other.mkdir()
    nbformat.write(mini_master(), other / "02_other.ipynb")
    (other / "checks.json").write_text("{}")
    release(course, [SECTION, "02_other"], bundle, project=project)
    (bundle / "02_other" / "my notes.txt").write_text("mine")
    release(course, [SECTION], bundle, project=project)
    assert [path.name for path in (bundle / "02_other").iterdir()] == ["my notes.txt"]


def test_a_file_that_is_not_ours_is_not_overwritten(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(course) == 0
    (course.root / "release" / SECTION / "data.txt").write_text("mine")
    (course.master_path(SECTION).parent / "data.txt").write_text("ours")
    assert run(course) == 2
    assert "data.txt isn't from an earlier release" in capsys.readouterr().err
    assert (course.root / "release" / SECTION / "data.txt").read_text() == "mine"
    leave_nothing_half_made(course.root)


def test_changed_files_of_the_bundle_are_replaced_only_by_force(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(course) == 0
    bundle = course.root / "release"
    before = snapshot(bundle)
    (bundle / SECTION / f"{SECTION}.ipynb").write_text("worked on")
    assert run(course) == 2
    assert f"{SECTION}/{SECTION}.ipynb" in capsys.readouterr().err
    assert (bundle / SECTION / f"{SECTION}.ipynb").read_text() == "worked on"
    assert run(course, "--force") == 0
    assert snapshot(bundle) == before


@pytest.mark.parametrize("step", ["assemble", "find_leaks", "register"])
def test_an_interruption_leaves_the_old_bundle(
    step: str, course: Course, monkeypatch: pytest.MonkeyPatch, project: Project
) -> None:
    assert run(course) == 0
    before = snapshot(course.root / "release")
    (project.library / "more.py").write_text("NEW = 1\n")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(releasing, step, interrupted)
    assert run(course) == 130
    assert snapshot(course.root / "release") == before
    leave_nothing_half_made(course.root)
    monkeypatch.undo()
    release(course, [SECTION], course.root / "release", project=project)
    assert (course.root / "release" / "numfmt" / "more.py").is_file()


@pytest.mark.parametrize("renames", [0, 1, 2])
def test_an_interrupted_swap_loses_nothing(
    renames: int, course: Course, monkeypatch: pytest.MonkeyPatch, project: Project
) -> None:
    bundle = course.root / "release"
    release(course, [SECTION], bundle, project=project)
    (bundle / "my notes.txt").write_text("mine")
    (project.library / "more.py").write_text("NEW = 1\n")
    rename, done = Path.rename, []

    def interrupted(self: Path, target: Path) -> Path:
        if len(done) == renames:
            raise SystemExit("killed")
        done.append(target)
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", interrupted)
        with pytest.raises(SystemExit):
            release(course, [SECTION], bundle, project=project)
    # The next release, whatever becomes of it, first puts things right.
    with pytest.raises(RuntimeError), replacing(bundle):
        raise RuntimeError
    after = snapshot(bundle)
    listed = json.loads(after["manifest.json"])["files"]
    assert set(after) == {*listed, "manifest.json", "my notes.txt"}
    assert ("numfmt/more.py" in after) == (renames == 2)
    assert after["my notes.txt"] == b"mine"
    leave_nothing_half_made(course.root)


def test_a_folder_that_cannot_be_written_is_named(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, *_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(CourseError, match=r"\.release\.new can't be written: No space left on device"):
        release(course, [SECTION], course.root / "release")


def test_help_names_everything(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["release", "--help"])
    assert ended.value.code == 0
    out = capsys.readouterr().out
    assert all(word in out for word in ("SECTION", "--to DIR", "--force", "--json", "--course"))


def test_a_leak_reads_as_one_line() -> None:
    assert str(Leak("a.txt", "line 2", "solution", "line 1 of x")) == "a.txt, line 2: solution: line 1 of x"
