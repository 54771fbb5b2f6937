"""The catalogue of wrong answers, the exercises of a master, and what is sealed from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograder.course import REPOSITORY, Course
from autograder.errors import CourseError
from autograder.proof.catalogue import MINIMUM, read_catalogue
from autograder.proof.exercises import find_exercises, split_tests
from autograder.proof.recording import record
from autograder.proof.sealing import seal
from autograder.proof.trials import HIDDEN, with_answers, with_tests_apart
from tests.mini_course import mini_master

COURSE = Course.at(REPOSITORY)


def write(folder: Path, text: str) -> Path:
    path = folder / "wrong_answers.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_catalogue_is_read_in_order(tmp_path: Path) -> None:
    text = '[a]\npublic = ["x = 1"]\n[[a.wrong]]\nname = "n"\nhint = """two\nlines"""\n'
    text += "answer = '''\nx = 2\n'''\n[b]\n"
    catalogue = read_catalogue(write(tmp_path, text))
    assert list(catalogue) == ["a", "b"]
    [wrong] = catalogue["a"].wrong
    assert (wrong.name, wrong.hint, wrong.answer) == ("n", "two lines", "x = 2")
    assert catalogue["a"].public == ("x = 1",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[a", "not valid TOML"),
        ('[a]\n[[a.wrong]]\nname = "n"\n', "incomplete"),
        ("a = 3\n", "incomplete"),
        ('[a]\npublic = "x = 1"\n', "list of lines"),
        ('[a]\n[[a.wrong]]\nname = 1\nhint = "h"\nanswer = "x"\n', "incomplete"),
    ],
)
def test_a_bad_catalogue_names_file_and_cure(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(CourseError, match=words) as caught:
        read_catalogue(write(tmp_path, text))
    assert "wrong_answers.toml" in caught.value.problem and caught.value.cure


def test_a_missing_catalogue_is_said(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="doesn't exist"):
        read_catalogue(tmp_path / "wrong_answers.toml")


def test_exercises_are_found_in_order() -> None:
    assert [(each.grade_id, each.points) for each in find_exercises(mini_master())] == [("seven", 1), ("double", 2)]


def test_a_test_cell_without_its_solution_is_an_error() -> None:
    master = mini_master()
    master.cells = [cell for cell in master.cells if cell.id != "double_solution"]
    with pytest.raises(CourseError, match="double_solution"):
        find_exercises(master)


def test_tests_are_split_at_the_markers() -> None:
    begin, end = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
    assert split_tests(f"a\n{begin}\nb\n{end}\nc\n    {begin}\nd\n{end}") == ("a\nc", "b\nd")


def test_variants_change_only_what_they_say() -> None:
    master = mini_master()
    answered = with_answers(master, {"double": "double = None"})
    changed = [a.id for a, b in zip(answered.cells, master.cells, strict=True) if a.source != b.source]
    assert changed == ["double_solution"]
    apart = with_tests_apart(master)
    tests = [cell for cell in apart.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    assert [(cell.metadata.nbgrader.grade_id, cell.metadata.nbgrader.points) for cell in tests] == [
        ("seven", 0), ("seven" + HIDDEN, 1), ("double", 0), ("double" + HIDDEN, 2),
    ]  # fmt: skip
    assert not any("HIDDEN TESTS" in cell.source for cell in tests)
    assert "Eight is one too many" in tests[0].source and "7_000" in tests[1].source


@pytest.mark.parametrize("section", COURSE.sections)
def test_every_exercise_has_enough_named_mistakes(section: str) -> None:
    catalogue = read_catalogue(COURSE.catalogue_path(section))
    exercises = [each.grade_id for each in find_exercises(COURSE.master(section))]
    assert list(catalogue) == exercises
    for grade_id, entry in catalogue.items():
        names = [each.name for each in entry.wrong]
        assert len(names) >= MINIMUM and len(set(names)) == len(names), grade_id
        hints = {each.hint for each in entry.wrong}
        assert len(hints) == len(names) and min(map(len, hints)) > 40, grade_id


@pytest.mark.slow
def test_sealing_a_section_is_reproducible() -> None:
    section = COURSE.sections[0]
    folder = COURSE.master_path(section).parent
    catalogue = read_catalogue(COURSE.catalogue_path(section))
    sealed = seal(section, record(folder, COURSE.master(section)), catalogue)
    stored = json.loads((folder / "checks.json").read_text(encoding="utf-8"))
    del stored["made_from"]
    # One section is enough: the proof of the course (test_verify.py) sees if the checks of any don't fit.
    assert sealed == stored


def test_a_check_that_cannot_tell_two_answers_apart_is_refused() -> None:
    cases = {"": [["f(1)", 1]], "same": [["f(1)", 1]]}
    with pytest.raises(CourseError, match="'same' from 'the right answer'"):
        seal("01_test", {"f": [cases]}, {})
    cases = {"": [["f(1)", 1]], "one": [["f(1)", 2]], "two": [["f(1)", 2]]}
    with pytest.raises(CourseError, match="'two' from 'one'"):
        seal("01_test", {"f": [cases]}, {})


@pytest.mark.slow
def test_a_master_that_cannot_be_recorded_says_why(tmp_path: Path) -> None:
    write(tmp_path, "[seven]\n[double]\n")
    with pytest.raises(CourseError, match="must call check once"):
        record(tmp_path, mini_master())
