"""The check below an exercise: what a student sees for a right, a wrong and a broken answer."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from autograder.proof.catalogue import Entry, WrongAnswer
from autograder.proof.sealing import seal
from numfmt.checks import CheckFailed, cases, check

SQUARES = [(2,), (3,), (-4,)]


def square(x: int) -> int:
    return x * x


def doubled(x: int) -> int:
    return 2 * x


def signed_square(x: int) -> int:
    return x * abs(x)


def picky(x: int) -> int:
    if x < 0:
        raise ValueError("negative")
    return x * x


def recorded(grade_id: str, answer: object, inputs: Any = None) -> list[list[Any]]:
    return [[case.label, case.outcome] for case in cases(grade_id, answer, inputs)]


@pytest.fixture(autouse=True)
def section(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder whose checks.json knows three exercises."""
    wrong = (
        WrongAnswer("doubles", "You doubled; squaring multiplies a number by itself.", ""),
        WrongAnswer("keeps_the_sign", "A square is never negative.", ""),
        WrongAnswer("refuses_negatives", "Negative numbers have squares too.", ""),
    )
    square_cases = {
        "": recorded("square", square, SQUARES),
        "doubles": recorded("square", doubled, SQUARES),
        "keeps_the_sign": recorded("square", signed_square, SQUARES),
        "refuses_negatives": recorded("square", picky, SQUARES),
    }
    number = {"": recorded("number", 65_536), "one_less": recorded("number", 65_535)}
    pair = {
        "": recorded("pair", {"bits": "1011", "value": -5}),
        "unsigned": recorded("pair", {"bits": "1011", "value": 11}),
    }
    data = seal(
        "01_test",
        {"square": [square_cases], "number": [number], "pair": [pair]},
        {
            "square": Entry(wrong),
            "number": Entry((WrongAnswer("one_less", "Count from zero.", ""),)),
            "pair": Entry((WrongAnswer("unsigned", "Subtract sixteen.", ""),)),
        },
    )
    (tmp_path / "checks.json").write_text(json.dumps(data), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def complaint(*arguments: Any, **options: Any) -> str:
    with pytest.raises(CheckFailed) as caught:
        check(*arguments, **options)
    return str(caught.value)


def test_a_right_answer_prints_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    check("square", square, inputs=SQUARES)
    check("number", 65_536)
    assert capsys.readouterr().out == "✓ square: all 3 cases right.\n✓ number: right.\n"


@pytest.mark.parametrize("value", [np.int32(65_536), np.array(65_536), np.uint64(65_536)])
def test_numpy_numbers_are_numbers(value: object) -> None:
    check("number", value)


@pytest.mark.parametrize(
    ("function", "hint"),
    [
        (doubled, "You doubled"),
        (signed_square, "never negative"),
        (picky, "Negative numbers have squares too"),
        (lambda x: [doubled, signed_square][x < 0](x), "never negative"),
    ],
)
def test_a_named_mistake_gets_its_own_hint(function: Any, hint: str) -> None:
    assert hint in complaint("square", function, inputs=SQUARES)


def test_the_mistake_is_named_on_the_exception() -> None:
    with pytest.raises(CheckFailed) as caught:
        check("square", doubled, inputs=SQUARES)
    assert caught.value.misconception == "doubles"


def test_the_message_shows_the_case_and_what_came_out() -> None:
    assert complaint("square", doubled, inputs=SQUARES).startswith("square(3) gave 6.")


def test_an_unknown_mistake_says_how_far_it_is_right() -> None:
    text = complaint("square", lambda x: 4 if x == 2 else 1234, inputs=SQUARES)
    assert "square(3) gave 1234" in text and "1 of 3 cases are right" in text


def test_a_mistake_that_explains_little_isnt_blamed() -> None:
    text = complaint("square", lambda x: 6 if x == 3 else 1000 + x, inputs=SQUARES)
    assert "doubled" not in text


@pytest.mark.parametrize(
    ("value", "remark"),
    [
        (65_536.0, "float"),
        ("65536", "without quotes"),
        ("65_536", "without quotes"),
        ([65_536], "not in a list"),
        (np.array([65_536]), "not in a list"),
        (np.float32(65_536), "float"),
    ],
)
def test_right_but_for_the_type(value: object, remark: str) -> None:
    assert remark in complaint("number", value)


@pytest.mark.parametrize(
    ("right", "value", "remark"),
    [
        ("E4M3", "e4m3", "'E4M3'"),
        ("range", "Range", "'range'"),
        (True, "True", "without quotes"),
        (math.inf, "inf", "without quotes"),
        (0.0, -0.0, "sign of the zero"),
    ],
)
def test_right_but_for_the_spelling(right: object, value: object, remark: str) -> None:
    word = {"": recorded("word", right)}
    Path("checks.json").write_text(json.dumps(seal("01_test", {"word": [word]}, {})), encoding="utf-8")
    assert remark in complaint("word", value)
    assert "not a mistake I know" in complaint("word", "E5M2")


def test_whole_numbers_are_right_where_floats_are_asked_for(section: Path) -> None:
    halves = {"": recorded("halves", [10.0, 0.5]), "doubled": recorded("halves", [20.0, 1.0])}
    wrong = WrongAnswer("doubled", "Half of it.", "")
    data = seal("01_test", {"halves": [halves]}, {"halves": Entry((wrong,))})
    (section / "checks.json").write_text(json.dumps(data), encoding="utf-8")
    check("halves", [10, 0.5])
    check("halves", [np.int64(10), 0.5])
    assert "Half of it." in complaint("halves", [20, 1])
    for value in ([10, True], [2**5000, 0.5], [2**60 + 1, 0.5]):
        assert "not a mistake I know" in complaint("halves", value)


def test_of_a_pair_each_may_be_a_whole_number_or_not(section: Path) -> None:
    pairs = {"": recorded("pairs", [4.0, 351]), "one_short": recorded("pairs", [4.0, 350])}
    data = seal("01_test", {"pairs": [pairs]}, {"pairs": Entry((WrongAnswer("one_short", "Count again.", ""),))})
    (section / "checks.json").write_text(json.dumps(data), encoding="utf-8")
    for value in ([4.0, 351], (4, 351), (np.float16(4), np.int64(351))):
        check("pairs", value)
    assert "Count again." in complaint("pairs", [4, 350])
    assert "use an integer type" in complaint("pairs", [4.0, 351.0])


def test_right_values_of_a_float_type() -> None:
    squares = recorded("squares", lambda x: x * x, [(np.arange(3),)])
    Path("checks.json").write_text(json.dumps(seal("01_test", {"squares": [{"": squares}]}, {})), encoding="utf-8")
    assert "use an integer type" in complaint("squares", lambda x: x * 1.0 * x, inputs=[(np.arange(3),)])


def test_a_numpy_type_counts_as_its_name() -> None:
    name = {"": recorded("name", "uint16")}
    Path("checks.json").write_text(json.dumps(seal("01_test", {"name": [name]}, {})), encoding="utf-8")
    for value in ("uint16", np.uint16, np.dtype("uint16"), np.dtype(">u2")):
        check("name", value)


@pytest.mark.parametrize("bits", ["0b1011", "10 11", " 1011"])
def test_bits_may_be_told_apart_from_their_spelling(bits: str) -> None:
    assert "leave out" in complaint("pair", {"bits": bits, "value": -5})


def test_none_now_and_then_is_an_answer_too() -> None:
    assert "Not answered yet" not in complaint("square", lambda x: None if x < 0 else x * x, inputs=SQUARES)
    assert "gave None. That isn't right" in complaint("square", lambda x: None if x < 0 else x * x, inputs=SQUARES)
    assert "bits is '0'. That isn't right" in complaint("pair", {"bits": "0", "value": None})


def test_digits_without_quotes() -> None:
    assert "in quotes" in complaint("pair", {"bits": 1011, "value": -5})


@pytest.mark.parametrize("untouched", [None, ...])
def test_untouched_answers_are_not_called_wrong(untouched: object) -> None:
    assert "Not answered yet" in complaint("number", untouched)
    assert "Not answered yet" in complaint("square", lambda x: None, inputs=SQUARES)


def test_a_hint_is_given_for_each_wrong_entry_of_a_dict_however_many_others_are_wrong() -> None:
    assert "Subtract sixteen" in complaint("pair", {"bits": "0000", "value": 11})


def test_each_entry_of_a_dict_is_checked_by_name() -> None:
    text = complaint("pair", {"bits": "1011", "value": 11})
    assert text.startswith("value is 11.") and "Subtract sixteen" in text
    assert "lacks: bits" in complaint("pair", {"value": -5})


def test_the_entries_of_a_dict_may_come_in_any_order(section: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check("pair", {"value": -5, "bits": "1011"})
    assert capsys.readouterr().out == "✓ pair: all 2 cases right.\n"
    assert "Subtract sixteen" in complaint("pair", {"value": 11, "bits": "1011"})
    right, turned = recorded("pair", {"a": 1, "b": 2}), recorded("pair", {"b": 3, "a": 1})
    data = seal(
        "01_test", {"pair": [{"": right, "three": turned}]}, {"pair": Entry((WrongAnswer("three", "Two.", ""),))}
    )
    (section / "checks.json").write_text(json.dumps(data), encoding="utf-8")
    assert "b is 3. Two." in complaint("pair", {"a": 1, "b": 3})
    assert "a is 9. That isn't right" in complaint("pair", {"b": 2, "a": 9})


def test_a_hint_isnt_given_where_its_mistake_would_have_shown_elsewhere_too() -> None:
    inputs = [(number,) for number in range(3, 9)]
    answers = {"": recorded("square", square, inputs), "doubles": recorded("square", doubled, inputs)}
    wrong = WrongAnswer("doubles", "You doubled.", "")
    Path("checks.json").write_text(json.dumps(seal("01_test", {"square": [answers]}, {"square": Entry((wrong,))})))
    assert "You doubled" in complaint("square", lambda x: 2 * x if x < 6 else x * x, inputs=inputs)
    assert "not a mistake I know" in complaint("square", lambda x: 2 * x if x == 3 else x * x, inputs=inputs)


def test_an_unexpected_error_is_the_students_own_traceback() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        check("square", lambda x: x // 0, inputs=SQUARES)
    assert "square(2)" in caught.value.__notes__[0]


def test_something_that_is_no_function_or_no_data_is_said_plainly() -> None:
    assert "should be a function" in complaint("square", 4, inputs=SQUARES)
    assert "plain data" in complaint("number", object())
    assert "plain data" in complaint("square", lambda x: iter([x]), inputs=SQUARES)


def test_a_function_that_changes_its_input_spoils_nothing() -> None:
    inputs = [([3, 1],)]

    def drain(items: list[int]) -> int:
        return sum(items.pop() for _ in range(2))

    first = cases("drain", drain, inputs)
    assert cases("drain", drain, inputs) == first and inputs == [([3, 1],)]


@pytest.mark.parametrize(
    ("answer", "heading", "paragraphs"),
    [
        (65_535, "✗ number: not right yet", ["  number is 65535.", "→ Count from zero."]),
        (None, "○ number: open", ["  Not answered yet: number is still None: put your answer there."]),
    ],
)
def test_a_failed_check_shows_a_card_and_no_frames_in_ipython(
    answer: object, heading: str, paragraphs: list[str]
) -> None:
    with pytest.raises(CheckFailed) as caught:
        check("number", answer)
    assert caught.value._render_traceback_() == [f"\x1b[1m{heading}\x1b[0m", *paragraphs]


def test_a_cards_lines_are_short_and_lose_no_word() -> None:
    with pytest.raises(CheckFailed) as caught:
        check("pair", {"bits": "01" * 40, "value": 2**70})
    _, *lines = caught.value._render_traceback_()
    assert len(lines) > 2 and max(map(len, lines)) <= 76
    assert " ".join(each[2:] for each in lines) == str(caught.value)


def test_in_a_notebook_a_right_answer_shows_a_card(section: Path) -> None:
    source = "from numfmt.checks import check\ncheck('number', 65_536)"
    notebook = new_notebook(cells=[new_code_cell(source)])
    NotebookClient(notebook, resources={"metadata": {"path": str(section)}}).execute()
    (output,) = notebook.cells[0].outputs
    assert output.data["text/plain"] == "✓ number: right."
    assert re.sub("<[^>]+>", "", output.data["text/html"]) == "✓ number: right."


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        (None, FileNotFoundError, "own folder"),
        ("{", ValueError, "fresh copy"),
        ('{"exercises": {"other": {}}}', ValueError, "it has: other"),
    ],
)
def test_missing_or_damaged_data_is_not_the_students_fault(
    section: Path, content: str | None, error: type[Exception], words: str
) -> None:
    (section / "checks.json").unlink()
    if content is not None:
        (section / "checks.json").write_text(content)
    with pytest.raises(error, match=words):
        check("number", 65_536)


def test_data_of_another_version_is_noticed() -> None:
    with pytest.raises(ValueError, match="different versions"):
        check("square", square, inputs=SQUARES[:2])


def test_the_data_holds_neither_answers_nor_hints_in_clear(section: Path) -> None:
    text = (section / "checks.json").read_text()
    for secret in ("65536", "65535", "1011", "doubled", "Count from zero", "keeps_the_sign"):
        assert secret not in text


def test_a_hint_opens_only_with_its_own_wrong_answer(section: Path) -> None:
    from numfmt.sealed import stretch, unlock

    rows = json.loads((section / "checks.json").read_text())["exercises"]["number"]
    [locked] = next(iter(rows["cases"][0]["wrong"].values()))
    assert unlock(locked, stretch(65_535, rows["salt"])[1])["hint"] == "Count from zero."
    with pytest.raises(ValueError):
        unlock(locked, stretch(65_536, rows["salt"])[1])
