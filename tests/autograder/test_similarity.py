"""Similarity: copies are found through new names and comments; what was given counts nothing; the page is safe."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from math import log
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.cli import main
from autograder.course import Course
from autograder.errors import CourseError, ExitCode
from autograder.files import write_whole
from autograder.grading.matching import Piece
from autograder.similarity.comparing import AT_LEAST, compare
from autograder.similarity.page import make_page
from autograder.similarity.submissions import Comparison, compare_section
from autograder.similarity.tokens import passages
from tests.mini_course import SECTION, answered, mini_course

WALK = '''def double(number):
    """Return twice the number."""
    total = 0
    for _ in range(2):
        total += number
    if total % 2:
        raise ValueError("odd")
    return total if number else 0
'''
DISGUISED = """# all my own work
def double( number ):
    'Twice.'
    # start from nothing
    acc = 0

    for step in range(2): # add
        acc += number
    if acc % 2:
        raise ValueError('this is odd')
    return acc if number else 0
"""
OTHER = """def double(number):
    parts = [number, number]
    while len(parts) > 1:
        parts.append(parts.pop() + parts.pop())
    assert isinstance(parts, list), parts
    return parts[0]
"""


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return mini_course(tmp_path)


def hand_in(course: Course, student: str, notebook: NotebookNode | bytes) -> None:
    data = notebook if isinstance(notebook, bytes) else nbformat.writes(notebook).encode()
    write_whole(course.submitted(student, SECTION), data)


def pairs(course: Course, threshold: float = 0.6) -> list[tuple[str, str]]:
    found = compare_section(course, SECTION, threshold)
    names = [each.student for each in found.submissions]
    return [(names[pair.first], names[pair.second]) for pair in found.pairs]


def test_a_copy_with_new_names_comments_texts_and_spacing_is_found(course: Course) -> None:
    for student, answer in (("ann", WALK), ("bob", OTHER), ("cat", DISGUISED)):
        hand_in(course, student, answered(double=answer))
    found = compare_section(course, SECTION, 0.0)
    assert pairs(course) == [("ann", "cat")]
    assert found.pairs[0].similarity == 1.0
    assert all(pair.similarity < 0.3 for pair in found.pairs[1:])


def test_what_was_given_is_no_likeness(course: Course) -> None:
    for student in ("ann", "bob"):
        hand_in(course, student, answered(seven=None))
    assert pairs(course, 0.0) == []


def test_code_that_moved_to_another_cell_and_text_are_compared_too(course: Course) -> None:
    moved = answered()
    moved.cells.append(new_code_cell(DISGUISED))
    hand_in(course, "ann", answered(double=WALK))
    hand_in(course, "bob", moved)
    assert pairs(course) == [("ann", "bob")]
    essay = "Rounding to even keeps long sums free of bias, because ties go up as often as they go down, on average."
    for student, text in (("ann", essay), ("bob", essay.upper())):
        notebook = answered(seven=None)
        notebook.cells.append(new_markdown_cell(text))
        hand_in(course, student, notebook)
    assert pairs(course) == [("ann", "bob")]


@pytest.mark.parametrize(
    "disguise",
    [
        lambda text: text + "\nif True\n  broken(",
        lambda text: "%matplotlib inline\n" + text,
        lambda text: text.replace("    ", "\t"),
        lambda text: text.replace("\n", "\r\n"),
    ],
)
def test_code_that_does_not_parse_is_compared_all_the_same(course: Course, disguise: Callable[[str], str]) -> None:
    hand_in(course, "ann", answered(double=disguise(WALK)))
    hand_in(course, "bob", answered(double=disguise(WALK.replace("total", "t"))))
    assert pairs(course, 0.9) == [("ann", "bob")]


def test_what_many_have_counts_less_than_what_two_have() -> None:
    many = frozenset(range(100))
    prints = [many | {1000 + k for k in range(40)}, many | {1000 + k for k in range(40)}]
    prints += [many | {10_000 * k + j for j in range(40)} for k in range(1, 30)]
    found = {(pair.first, pair.second): pair.similarity for pair in compare(prints, 0.0)}
    plain = 2 * 100 / (140 + 140)
    assert found[0, 1] == pytest.approx(1)
    assert max(value for pair, value in found.items() if pair != (0, 1)) < plain / 10


def test_the_measure_is_dices_with_those_weights() -> None:
    prints = [frozenset(range(30 * k, 30 * k + 60)) for k in range(4)] + [frozenset()]
    weight = {code: log(6 / sum(code in each for each in prints)) for each in prints for code in each}
    for pair in compare(prints, 0.0):
        a, b = prints[pair.first], prints[pair.second]
        total = sum(map(weight.__getitem__, a)) + sum(map(weight.__getitem__, b))
        assert pair.similarity == pytest.approx(2 * sum(map(weight.__getitem__, a & b)) / total, rel=1e-5)
        assert pair.shared == len(a & b) >= AT_LEAST
    assert {(pair.first, pair.second) for pair in compare(prints, 0.01)} == {(0, 1), (1, 2), (2, 3)}


def test_too_little_in_common_is_not_reported() -> None:
    few = frozenset(range(AT_LEAST - 1))
    assert compare([few, few], 0.5) == []
    enough = frozenset(range(AT_LEAST))
    assert len(compare([enough, enough], 0.5)) == 1


def test_a_passage_knows_its_lines() -> None:
    found = list(passages(Piece("code", "a = 1\n\n# note\nb = (2 +\n     3)\n", None, None)))
    assert (found[0].first, found[0].last) == (0, 3)
    assert found[-1].last == 4


def test_the_page_escapes_all_and_marks_what_is_shared(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    evil = WALK + 'x = "</pre><script>alert(1)</script>\u202e"\n\x1b[31m'
    hand_in(course, "ann", answered(double=evil))
    hand_in(course, "bob", answered(double=evil.replace("total", "t") + "\nmine_alone = 12345\n"))
    options = ["similarity", SECTION, "--course", str(course.root)]
    assert main([*options, "--json"]) == ExitCode.OK
    report = json.loads(capsys.readouterr().out)
    assert [each["students"] for each in report["pairs"]] == [["ann", "bob"]]
    page = Path(report["page"]).read_text(encoding="utf-8")
    assert "<script" not in page and "&lt;script&gt;" in page
    assert "\u202e" not in page and "\x1b" not in page
    assert "default-src 'none'" in page
    assert "<mark>    for _ in range(2):</mark>" in page
    assert "\nmine_alone = 12345" in page
    assert "decides nothing" in page
    assert not re.search(r"plagiari|cheat|guilty", page)
    assert main(options) == ExitCode.OK
    assert "for you to judge" in capsys.readouterr().out


def test_an_unreadable_submission_is_named_and_the_others_are_compared(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    hand_in(course, "ann", answered(double=WALK))
    hand_in(course, "bad", b"{")
    hand_in(course, "cat", answered(double=DISGUISED))
    assert main(["similarity", SECTION, "--course", str(course.root), "--json"]) == ExitCode.PROBLEMS
    report = json.loads(capsys.readouterr().out)
    assert [each["students"] for each in report["pairs"]] == [["ann", "cat"]]
    assert "bad" in report["problems"][0]["problem"]


def test_one_submission_can_not_be_compared(course: Course) -> None:
    hand_in(course, "ann", answered())
    with pytest.raises(CourseError, match="There are 1 submissions"):
        compare_section(course, SECTION, 0.5)


@pytest.mark.parametrize("threshold", ["-0.1", "1.1", "x", "nan"])
def test_a_threshold_is_a_share(course: Course, threshold: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["similarity", SECTION, f"--threshold={threshold}", "--course", str(course.root)])
    assert stopped.value.code == ExitCode.USAGE


def test_a_page_without_pairs_says_so() -> None:
    assert "0 pairs are alike by 60% or more" in make_page(SECTION, 0.6, Comparison((), (), ()))
