"""The sample submissions are what their names say, and their marks are right (without a kernel)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.course import REPOSITORY, Course
from autograder.errors import ExitCode
from autograder.grading.rebuild import rebuild
from autograder.intake.collecting import collect
from autograder.intake.sections import grade_ids
from autograder.proof.catalogue import read_catalogue
from autograder.proof.exercises import find_exercises
from autograder.regions import MARKERS
from autograder.releasing.generate import generate
from tests.mini_course import SECTION, mini_course
from tests.samples import Sample, main, make_samples, refused_files, right_answers, write_samples

pytestmark = pytest.mark.slow

REAL = Course.at(REPOSITORY)


def samples_of(course: Course, section: str) -> dict[str, Sample]:
    return make_samples(section, course.master(section), read_catalogue(course.catalogue_path(section)))


@pytest.fixture(scope="module")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return mini_course(tmp_path_factory.mktemp("course"))


QUICK = (SECTION, REAL.sections[0])
"""The others are of the same make, and take long together."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in (SECTION, *REAL.sections)
    ],
)
def section(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def course(section: str, mini: Course) -> Course:
    return mini if section == SECTION else REAL


@pytest.fixture(scope="module")
def samples(course: Course, section: str) -> dict[str, Sample]:
    return samples_of(course, section)


def marks_of(notebook: NotebookNode) -> dict[str, float]:
    """Run a mini notebook in this process, as plainly as can be; return the points of the test cells that pass."""
    names: dict[str, Any] = {}
    earned = {}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        mark = cell.metadata.get("nbgrader", {})
        try:
            exec(cell.source, names)
        except Exception:
            earned |= {mark["grade_id"]: 0.0} if mark.get("grade") else {}
        else:
            earned |= {mark["grade_id"]: mark["points"]} if mark.get("grade") else {}
    return earned


@pytest.mark.parametrize(
    ("student", "points"),
    [
        ("complete", (1, 2)),
        ("half_done", (1, 0)),
        ("untouched", (0, 0)),
        ("renamed_file", (1, 2)),
        ("cells_deleted", (1, 0)),
        ("cells_duplicated", (1, 2)),
        ("wrong_1", (0, 0)),
    ],
)
def test_the_expected_marks_are_those_that_a_plain_run_gives(
    mini: Course, student: str, points: tuple[int, int]
) -> None:
    sample = samples_of(mini, SECTION)[student]
    assert sample.expected.points == {"seven": points[0], "double": points[1]}
    assert (sample.expected.score, sample.expected.max_score) == (sum(points), 3)
    assert marks_of(rebuild(mini.master(SECTION), sample.notebook).notebook) == sample.expected.points


def test_the_table_above_has_every_sample(mini: Course) -> None:
    assert len(samples_of(mini, SECTION)) == 7


def test_untouched_is_what_nbgrader_releases(
    course: Course, section: str, samples: dict[str, Sample], tmp_path: Path
) -> None:
    generate(course, section, tmp_path)
    released = nbformat.read(tmp_path / section / f"{section}.ipynb", as_version=4)
    assert [cell.source for cell in released.cells] == [cell.source for cell in samples["untouched"].notebook.cells]
    assert [cell.metadata for cell in released.cells] == [
        cell.metadata for cell in samples["untouched"].notebook.cells
    ]


def test_no_sample_holds_what_students_never_see(course: Course, section: str, samples: dict[str, Sample]) -> None:
    hidden = {
        line.strip()
        for exercise in find_exercises(course.master(section))
        for line in course.master(section)
        .cells[exercise.tests_index]
        .source.partition("BEGIN HIDDEN")[2]
        .splitlines()
        if line.strip().startswith("assert")
    }
    assert hidden
    for sample in samples.values():
        text = "\n".join(cell.source for cell in sample.notebook.cells)
        assert not any(marker in text for marker in MARKERS)
        assert not any(line in text for line in hidden)


def test_each_right_answer_runs_and_is_no_stub(course: Course, section: str, samples: dict[str, Sample]) -> None:
    right = right_answers(course.master(section))
    assert set(right) == {exercise.grade_id for exercise in find_exercises(course.master(section))}
    assert all("YOUR CODE HERE" not in answer and compile(answer, "answer", "exec") for answer in right.values())


def test_half_done_answers_the_first_half(course: Course, section: str, samples: dict[str, Sample]) -> None:
    exercises = find_exercises(course.master(section))
    cells = samples["half_done"].notebook.cells
    untouched = ["YOUR CODE HERE" in cells[exercise.solution_index].source for exercise in exercises]
    assert untouched == sorted(untouched)
    assert (
        untouched.count(False)
        == (len(exercises) + 1) // 2
        == sum(map(bool, samples["half_done"].expected.points.values()))
    )


def test_every_named_wrong_answer_is_given_once(course: Course, section: str, samples: dict[str, Sample]) -> None:
    catalogue = read_catalogue(course.catalogue_path(section))
    cells = [cell for name, each in samples.items() if name.startswith("wrong_") for cell in each.notebook.cells]
    for grade_id, entry in catalogue.items():
        given = Counter(
            cell.source
            for cell in cells
            if cell.metadata.get("nbgrader", {}).get("grade_id") == f"{grade_id}_solution"
        )
        for wrong in entry.wrong:
            assert given[wrong.answer] == 1, (grade_id, wrong.name)
    lost = sum(
        most - points
        for name, each in samples.items()
        if name.startswith("wrong_")
        for points, most in zip(each.expected.points.values(), each.expected.max_points.values(), strict=True)
    )
    exercises = find_exercises(course.master(section))
    assert lost == sum(each.points * len(catalogue[each.grade_id].wrong) for each in exercises)


def test_cells_are_deleted_and_duplicated(course: Course, section: str, samples: dict[str, Sample]) -> None:
    master = course.master(section)
    exercises = find_exercises(master)
    deleted = samples["cells_deleted"].notebook
    gone = grade_ids(master) - grade_ids(deleted)
    assert {exercises[-1].grade_id, f"{exercises[-1].grade_id}_solution"} < gone
    assert exercises[0].grade_id in gone
    assert (
        Counter(cell.cell_type for cell in deleted.cells)["markdown"] + 1
        == Counter(cell.cell_type for cell in master.cells)["markdown"]
    )
    twice = Counter(
        cell.metadata.get("nbgrader", {}).get("grade_id") for cell in samples["cells_duplicated"].notebook.cells
    )
    assert any(twice[exercise.grade_id] == 2 for exercise in exercises)
    assert any(twice[f"{exercise.grade_id}_solution"] == 2 for exercise in exercises)
    ids = [cell["id"] for cell in samples["cells_duplicated"].notebook.cells]
    assert len(ids) == len(set(ids)) > len(master.cells)


def test_rebuilding_finds_each_samples_answers(course: Course, section: str, samples: dict[str, Sample]) -> None:
    master = course.master(section)
    right = right_answers(master)
    for student, sample in samples.items():
        rebuilt = rebuild(master, sample.notebook).notebook
        sources = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source for cell in rebuilt.cells}
        for grade_id, points in sample.expected.points.items():
            assert (sources[f"{grade_id}_solution"] == right[grade_id]) is (points > 0), (student, grade_id)


def test_a_written_inbox_is_collected_but_for_the_bad_ones(course: Course, section: str, tmp_path: Path) -> None:
    target = Course(tmp_path / "course", course.source)
    inbox = tmp_path / "inbox"
    expected = write_samples(course, section, inbox)
    report = collect(target, inbox)
    assert {(each.student, each.section) for each in report.taken} == {(student, section) for student in expected}
    assert [each.student for each in report.taken if each.status == "renamed"] == ["renamed_file"]
    assert sorted(each.file for each in report.refused) == sorted(refused_files(section))
    zipped = collect(target, inbox / f"slash_in_id_{section}.zip")
    assert [(each.student, each.status) for each in zipped.taken] == [("complete", "unchanged")]
    assert [each.file for each in zipped.refused] == ["slash/in_id"]


def test_the_command_writes_every_section_and_prints_the_marks(
    mini: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "inbox"), "--course", str(mini.root)]) == ExitCode.OK
    out = capsys.readouterr().out
    assert "cells_duplicated" in out and "corrupt" in out and str(tmp_path / "inbox") in out
    assert (tmp_path / "inbox" / "complete" / SECTION / f"{SECTION}.ipynb").is_file()
    assert main([str(tmp_path / "none"), "--course", str(mini.root), "--section", "07_none"]) == ExitCode.USAGE
    assert SECTION in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
