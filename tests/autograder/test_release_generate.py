"""From a master to its student version: nbgrader's converter, and what it would let pass."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from autograder.course import Course
from autograder.errors import CourseError
from autograder.releasing.generate import generate, register
from tests.mini_course import SECTION, answered, mini_course, mini_master


def change_master(course: Course, change: Callable[[dict[str, NotebookNode]], None]) -> None:
    notebook = mini_master()
    change({cell["id"]: cell for cell in notebook.cells})
    nbformat.write(notebook, course.master_path(SECTION))


def replace(name: str, old: str, new: str) -> Callable[[dict[str, NotebookNode]], None]:
    def change(cells: dict[str, NotebookNode]) -> None:
        assert old in cells[name].source
        cells[name].source = cells[name].source.replace(old, new)

    return change


def duplicate_id(cells: dict[str, NotebookNode]) -> None:
    cells["double"].metadata.nbgrader.grade_id = "seven"


def test_students_get_the_stubs_and_the_visible_tests(tmp_path: Path) -> None:
    course = mini_course(tmp_path)
    generate(course, SECTION, tmp_path / "out")
    made = nbformat.read(tmp_path / "out" / SECTION / f"{SECTION}.ipynb", as_version=4)
    expected = answered(None, None)
    assert [cell.source for cell in made.cells] == [cell.source for cell in expected.cells]
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in made.cells)


def test_catalogue_twin_and_hidden_files_stay_behind(tmp_path: Path) -> None:
    course = mini_course(tmp_path)
    folder = course.master_path(SECTION).parent
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "old.npy").write_bytes(b"")
    (folder / "images").mkdir()
    (folder / "images" / "line.svg").write_text("<svg/>")
    (folder / "make_fixtures.py").write_text("1")
    generate(course, SECTION, tmp_path / "out")
    made = {path.relative_to(tmp_path / "out" / SECTION).as_posix() for path in (tmp_path / "out").rglob("*.*")}
    assert made == {f"{SECTION}.ipynb", "checks.json", "images/line.svg"}


def test_a_file_of_unknown_kind_is_not_left_out_in_silence(tmp_path: Path) -> None:
    course = mini_course(tmp_path)
    (course.master_path(SECTION).parent / "weights.bin").write_bytes(b"1")
    with pytest.raises(CourseError, match=r"weights\.bin is neither"):
        generate(course, SECTION, tmp_path / "out")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (duplicate_id, r"01_mini\.ipynb: ValidationError: Duplicate grade id: seven(.|\n)*grade_id of its own"),
        (replace("double_solution", "### BEGIN SOLUTION", ""), r"cell 7 \(double_solution\).*END SOLUTION.*BEGIN"),
        (replace("double_solution", "### END SOLUTION", ""), r"cell 7 \(double_solution\).*END SOLUTION is missing"),
        (replace("double_solution", "END SOLUTION", "BEGIN SOLUTION"), "BEGIN SOLUTION, expected END SOLUTION"),
        (replace("double_solution", " SOLUTION", " ANSWER"), "no solution region"),
        (replace("double", " HIDDEN TESTS", " SECRETS"), "no hidden tests"),
        (replace("imports", "import math", "# BEGIN SOLUTION\n# END SOLUTION"), "non-solution cell"),
    ],
)
def test_a_defective_master_is_refused_by_name_with_a_cure(
    tmp_path: Path, change: Callable[[dict[str, NotebookNode]], None], expected: str
) -> None:
    course = mini_course(tmp_path)
    change_master(course, change)
    with pytest.raises(CourseError, match=expected) as caught:
        generate(course, SECTION, tmp_path / "out")
    assert str(course.master_path(SECTION)) in caught.value.problem
    assert not (tmp_path / "out").exists()


def test_a_section_without_sealed_checks_is_refused(tmp_path: Path) -> None:
    course = mini_course(tmp_path)
    (course.master_path(SECTION).parent / "checks.json").unlink()
    with pytest.raises(CourseError, match=r"01_mini/checks\.json doesn't exist(.|\n)*make notebooks"):
        generate(course, SECTION, tmp_path / "out")


def test_registering_writes_cells_and_points_without_the_alembic_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    course = mini_course(tmp_path / "a course (draft) [2]")
    register(course, SECTION)
    register(course, SECTION)
    with Gradebook(f"sqlite:///{course.database}") as gradebook:
        notebook = gradebook.find_notebook(SECTION, SECTION)
        assert {cell.name: cell.max_score for cell in notebook.grade_cells} == {"seven": 1, "double": 2}
        assert "2**70" in gradebook.find_source_cell("double", SECTION, SECTION).source


def test_the_new_gradebook_has_the_schema_version_that_nbgrader_expects(tmp_path: Path) -> None:
    course = mini_course(tmp_path)
    register(course, SECTION)
    with sqlite3.connect(course.database) as ours:
        stamped = ours.execute("SELECT version_num FROM alembic_version").fetchall()
    # nbgrader's own newest migration, read off its files: the one that no other names as its predecessor.
    import nbgrader.alembic as migrations

    folder = Path(next(iter(migrations.__path__))) / "versions"
    text = "\n".join(path.read_text() for path in folder.glob("*.py"))
    revisions = {line.split("'")[1] for line in text.splitlines() if line.startswith("revision = ")}
    earlier = {line.split("'")[1] for line in text.splitlines() if line.startswith("down_revision = '")}
    assert stamped == [((revisions - earlier).pop(),)]


def test_a_broken_gradebook_is_named(tmp_path: Path) -> None:
    course = mini_course(tmp_path)
    course.database.write_bytes(b"not a database, but long enough to be taken for one" * 40)
    with pytest.raises(CourseError, match=r"gradebook\.db can't be used(.|\n)*backup"):
        register(course, SECTION)


def test_nbgrader_stays_quiet(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    course = mini_course(tmp_path)
    handlers = list(logging.getLogger("traitlets").handlers)
    generate(course, SECTION, tmp_path / "out")
    register(course, SECTION)
    change_master(course, duplicate_id)
    with pytest.raises(CourseError):
        generate(course, SECTION, tmp_path / "again")
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("traitlets").handlers == handlers
