"""Which lines are secret, and which are too plain to be."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from autograder.course import Course
from autograder.errors import CourseError
from autograder.regions import RegionKind, split_cell
from autograder.releasing.matching import Finder, squeeze
from autograder.releasing.secrets import collect_secrets
from autograder.releasing.trivial import gives_nothing_away
from tests.mini_course import CATALOGUE, SECTION, cell, mini_course, mini_master


@pytest.mark.parametrize(
    "line",
    [
        "",
        "    )",
        "    },",
        '"""',
        "else:",
        "    try:",
        "    return",
        "    return None",
        "    return True",
        "    return result",
        "    result,",
        "        result = []",
        "    total = 0",
        "    best: int = 0",
        "    left = right",
        "    count += 1",
        "import numpy as np",
        "from math import floor, log2",
        "def helper(value: int, bits) -> list[int]:",
        "    for number in numbers:",
        "    for i in range(len(numbers)):",
        "    for a, b in zip(left, right):",
        "    if signed:",
        "    while not done:",
        "    except ValueError:",
        "verdicts = {",
        "# step one",
        "    8,",
        '    "a",',
    ],
)
def test_lines_that_give_nothing_away(line: str) -> None:
    assert gives_nothing_away(line)


@pytest.mark.parametrize(
    "line",
    [
        "answer = 0",
        "fits = False",
        "k = 10",
        "answer = other",
        'minus_five = "11111011"',
        '    "11111011",',
        "    return value % 2**bits",
        "    return sorted(values)",
        "    return -code",
        "    total = 2",
        "    total += x * y",
        "    if value < 0:",
        "    for bits in (4, 16):",
        "    while low < high:",
        "def helper(value, bits=8):",
        '    raise ValueError("too large")',
        "# the carry out of the top bit is dropped",
        "    return code & 1",
        "encode(5, 8)",
        "code = encode(value, bits)",
    ],
)
def test_lines_that_may_be_answers(line: str) -> None:
    assert not gives_nothing_away(line)


@pytest.mark.parametrize("line", ["total = 0", "encode(value, bits)", "code, rest = encode(value)"])
def test_lines_that_are_plain_in_a_hidden_test(line: str) -> None:
    assert gives_nothing_away(line, is_answer=False)
    assert not gives_nothing_away(line)


def test_a_hidden_test_with_data_of_its_own_is_a_secret() -> None:
    assert not gives_nothing_away("code = encode(-5, 8)", is_answer=False)


def test_secrets_come_from_solutions_hidden_tests_and_the_catalogue(tmp_path: Path) -> None:
    found = {
        (secret.kind, secret.owner, secret.line, secret.squeezed) for secret in collect_secrets(mini_course(tmp_path))
    }
    assert found == {
        ("solution", f"{SECTION}/seven", 1, "seven_squared_minus_42=int(math.pow(7,2))-42"),
        ("hidden test", f"{SECTION}/seven", 1, "assertseven_squared_minus_42*1000==7_000"),
        ("solution", f"{SECTION}/double", 1, "returnsum([number,number])"),
        ("hidden test", f"{SECTION}/double", 1, 'assertdouble(2**70)==2**71,"doublefailsonalargenumber"'),
        ("wrong answer", f"{SECTION}/seven (eight)", 1, "seven_squared_minus_42=8"),
        ("wrong answer", f"{SECTION}/double (adds_two)", 2, "returnnumber+2"),
    }


def texts(course: Course) -> set[str]:
    return {secret.squeezed for secret in collect_secrets(course)}


def test_public_lines_are_no_secrets_of_their_exercise(tmp_path: Path) -> None:
    course = mini_course(tmp_path)
    public = '[double]\npublic = ["return sum( [number, number] )"]\n'
    course.catalogue_path(SECTION).write_text(CATALOGUE.replace("[double]\n", public))
    assert "returnsum([number,number])" not in texts(course)
    elsewhere = '[seven]\npublic = ["return sum([number, number])"]\n'
    course.catalogue_path(SECTION).write_text(CATALOGUE.replace("[seven]\n", elsewhere))
    assert "returnsum([number,number])" in texts(course)


def test_what_students_are_given_in_the_cell_is_no_secret_of_a_wrong_answer(tmp_path: Path) -> None:
    course = mini_course(tmp_path)
    answer = 'def double(number):\n    """Return twice the number."""\n    return number * number\n'
    course.catalogue_path(SECTION).write_text(
        f"[double]\n[[double.wrong]]\nname='x'\nhint='y'\nanswer='''{answer}'''\n"
    )
    wrong = {secret.squeezed for secret in collect_secrets(course) if secret.kind == "wrong answer"}
    assert wrong == {"returnnumber*number"}


def test_sections_that_are_not_released_keep_their_secrets_too(tmp_path: Path) -> None:
    course = mini_course(tmp_path)
    (course.source / "draft").mkdir()
    notebook = mini_master()
    notebook.cells = [cell("solution", "later_solution", "### BEGIN SOLUTION\nlater = 4 * 11\n### END SOLUTION")]
    nbformat.write(notebook, course.source / "draft" / "any_name.ipynb")
    assert "later=4*11" in texts(course)


def test_a_solution_cell_without_a_region_is_secret_as_a_whole(tmp_path: Path) -> None:
    course = mini_course(tmp_path)
    notebook = mini_master()
    notebook.cells = [cell("solution", "later_solution", "later = 4 * 11")]
    nbformat.write(notebook, course.master_path(SECTION))
    assert "later=4*11" in texts(course)


def test_a_line_is_secret_with_and_without_its_comment(tmp_path: Path) -> None:
    course = mini_course(tmp_path)
    notebook = mini_master()
    source = '### BEGIN SOLUTION\nname = "#" * 12  # a dozen\n### END SOLUTION'
    notebook.cells = [cell("solution", "name_solution", source)]
    nbformat.write(notebook, course.master_path(SECTION))
    assert texts(course) >= {'name="#"*12', 'name="#"*12#adozen'}


@pytest.mark.parametrize(
    ("file", "content", "expected"),
    [
        ("wrong_answers.toml", "[double", "not valid TOML"),
        (f"{SECTION}.ipynb", "{}", "not a notebook"),
    ],
)
def test_without_all_secrets_there_is_no_gate(tmp_path: Path, file: str, content: str, expected: str) -> None:
    course = mini_course(tmp_path)
    (course.source / SECTION / file).write_text(content)
    with pytest.raises(CourseError, match=expected):
        collect_secrets(course)


def test_regions_are_taken_apart() -> None:
    parts = split_cell(
        "a\n    ### BEGIN SOLUTION\n    b\n    c\n### END SOLUTION\nd\n# BEGIN HIDDEN TESTS\n# END HIDDEN TESTS"
    )
    assert parts.public == ("a", "d")
    assert [(region.kind, region.lines) for region in parts.regions] == [
        (RegionKind.SOLUTION, ("    b", "    c")),
        (RegionKind.HIDDEN_TESTS, ()),
    ]


@pytest.mark.parametrize(
    ("text", "is_there"),
    [
        ("k = 10", True),
        ("now k=10, and", True),
        ("k = 10.", True),
        ("k = 100", False),
        ("k = 10.5", False),
        ("mask = 10", False),
        ("self.k = 10", False),
    ],
)
def test_a_short_secret_counts_only_where_it_is_whole(text: str, is_there: bool) -> None:
    assert bool(list(Finder([squeeze("k = 10")]).find(text))) is is_there


def test_a_second_occurrence_counts_if_the_first_is_part_of_something_else() -> None:
    ((line, where),) = Finder(["k=10"]).find("k = 100\nk = 10\n")
    assert (line, where.line) == ("k=10", 2)
