"""The bit explorer's facts: exact, for every code, and the same for the widget and in print."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

import numfmt as nf
from numfmt import _widgets
from numfmt.bench import bench
from numfmt.explorer import changed, explore, explore_text
from numfmt.exploring import (
    Exploration,
    as_text,
    choices,
    decimal,
    explore_number,
    facts,
    fields,
    nearest,
    parse,
    power_of_two,
)

pytestmark = pytest.mark.slow

SMALL = [fmt for fmt in choices() if fmt.bits <= 8]


def test_every_format_is_offered_once() -> None:
    names = [str(fmt) for fmt in choices()]
    assert len(names) == len(set(names))
    assert {"FP64", "BF16", "E4M3", "E4M3FNUZ", "E8M0", "E2M1", "INT8", "UINT2"} <= set(names)


@pytest.mark.parametrize("fmt", SMALL, ids=str)
def test_fields_have_their_widths_and_letters(fmt: nf.FloatFormat | nf.IntFormat) -> None:
    found = facts(Exploration(fmt, 0))["bits"]
    assert len(found) == fmt.bits
    letters = "".join(each["letter"] for each in found)
    if isinstance(fmt, nf.IntFormat):
        assert letters == "S" * fmt.signed + "V" * (fmt.bits - fmt.signed)
    else:
        assert letters == "S" * fmt.signed + "E" * fmt.exponent_bits + "M" * fmt.mantissa_bits
    assert [each["field"] for each in found] == list(fields(fmt))


@pytest.mark.parametrize(
    ("fmt", "dtype"),
    [("E4M3", "float8_e4m3fn"), ("E5M2", "float8_e5m2"), ("E2M1", "float4_e2m1fn"), ("E8M0", "float8_e8m0fnu")],
)
def test_every_code_has_the_value_that_ml_dtypes_says(fmt: str, dtype: str) -> None:
    known = nf.get_format(fmt)
    codes = np.arange(1 << known.bits, dtype=np.uint8)
    values = codes.view(getattr(ml_dtypes, dtype)).astype(float)
    for code, value in zip(codes, values, strict=True):
        found = facts(Exploration(known, int(code)))
        if math.isnan(value):
            assert (found["value"], found["kind"]) == ("nan", "NaN")
        elif math.isinf(value):
            assert found["value"] == repr(float(value))
        else:
            assert float(found["value"].replace("≈ ", "")) == value
            assert found["code"] == f"0x{code:0{known.bits // 4}X}"


@pytest.mark.parametrize("fmt", SMALL, ids=str)
def test_steps_walk_through_all_values_in_order(fmt: nf.FloatFormat | nf.IntFormat) -> None:
    numbers = {Exploration(fmt, code).number for code in range(1 << fmt.bits)}
    finite = sorted({Fraction(each) for each in numbers if math.isfinite(each)})
    at, seen = Exploration(fmt, nearest(finite[0], fmt)), []
    while True:
        seen.append(at.number)
        after = at.step(1)
        if after == at or not math.isfinite(after.number):
            break
        assert Fraction(after.step(-1).number) == Fraction(at.number)
        at = after
    assert [Fraction(each) for each in seen] == finite


def test_a_bit_is_counted_from_the_left_and_flips_back() -> None:
    one = explore_number("1", "E4M3")
    assert one.flip(0).number == -1 and one.flip(0).flip(0) == one
    for wrong in (-1, 8):
        with pytest.raises(ValueError, match="bits 0 to 7"):
            one.flip(wrong)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.1", Fraction(1, 10)), ("1/3", Fraction(1, 3)), (" -2.5e-3 ", Fraction(-1, 400)), ("\N{MINUS SIGN}4", -4),
        ("inf", math.inf), ("-INF", -math.inf), ("1_000", 1000), (".5", Fraction(1, 2)),
    ],
)  # fmt: skip
def test_numbers_are_taken_exactly(text: str, number: Fraction | float) -> None:
    assert parse(text) == number


@pytest.mark.parametrize(
    "text", ["", "one", "1e9999", "1" * 61, "0x10", "1/0", "--1", "1e", "__import__('os')", "1 2", "١", "1,5"]
)
def test_anything_else_is_refused_at_once(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no number such as|divides by zero"):
        parse(text)


def test_the_error_is_exact_and_stays_with_the_typed_number() -> None:
    found = facts(explore_number("0.1", "E4M3"))
    assert (found["value"], found["error"], found["ulps"]) == ("0.1015625", "+0.0015625", "+0.2")
    assert found["line"] == {"value": 0.5, "typed": pytest.approx(0.4)}
    moved = facts(explore_number("0.1", "E4M3").step(1))
    assert (moved["value"], moved["error"], moved["ulps"]) == ("0.109375", "+0.009375", "+1.2")
    wrapped = facts(explore_number("300", "INT8"))
    assert (wrapped["value"], wrapped["error"]) == ("44", "-256")


def test_the_same_number_in_all_formats() -> None:
    others = {each["name"]: each for each in facts(explore_number("0.1", "FP16"))["others"]}
    for name, bits in (("FP32", 32), ("BF16", 16), ("E5M2", 8), ("E2M1", 4)):
        fmt = nf.get_format(name)
        assert others[name]["bits"] == format(int(nf.encode(0.1, fmt)), f"0{bits}b")
    assert others["FP32"]["error"] == "≈ +1.4901161193847656e-9"
    assert others["INT8"] == {"name": "INT8", "bits": "00000000", "value": "0", "error": "-0.1"}
    special = {each["name"]: each["value"] for each in facts(explore_number("nan", "FP16"))["others"]}
    assert (special["E4M3"], special["E2M1"], special["INT8"]) == ("nan", "–", "–")


@pytest.mark.parametrize(
    ("number", "text", "exact"),
    [
        (Fraction(1, 8), "0.125", "1 × 2^-3"), (Fraction(-12), "-12", "-3 × 2^2"), (Fraction(0), "0", "0"),
        (Fraction(2) ** -1074, "≈ 4.9406564584124654e-324", "1 × 2^-1074"), (-0.0, "-0", "-0"),
        (Fraction(1, 3), "≈ 0.33333333333333333", "1/3"), (Fraction(10) ** 30, "1e+30", None),
    ],
)  # fmt: skip
def test_numbers_are_written_exactly_or_with_a_sign_that_they_arent(
    number: Fraction, text: str, exact: str | None
) -> None:
    assert decimal(number) == text
    assert exact is None or power_of_two(number) == exact


def test_the_printed_facts_are_those_of_the_widget(capsys: pytest.CaptureFixture[str]) -> None:
    explore_text("0.1", "E4M3")
    printed = capsys.readouterr().out
    widget = explore("0.1", "E4M3")
    assert printed.strip() == repr(widget)
    for fact in ("format", "code", "value", "exact", "below", "above", "error", "ulps", "kind"):
        assert widget.facts[fact] in printed
    assert all(each["value"] in printed and each["name"] in printed for each in widget.facts["others"])


def test_the_widget_does_what_its_page_asks_and_says_what_it_cant() -> None:
    widget = explore(1, "E4M3")
    for message, value in (
        ({"do": "flip", "bit": 0}, "-1"), ({"do": "step", "direction": 1}, "-0.9375"),
        ({"do": "switch", "format": "INT8"}, "1"), ({"do": "type", "text": "0.3"}, "0"),
        ({"do": "switch", "format": "E2M1"}, "0.5"),
    ):  # fmt: skip
        widget.do(message)
        assert (widget.facts["value"], widget.problem) == (value, ""), message
    before = dict(widget.facts)
    for message in (
        {"do": "type", "text": "x"},
        {"do": "switch", "format": "FP7"},
        {"do": "step", "direction": 99},
        {},
    ):
        widget.do(message)
        assert widget.problem and widget.facts == before, message


def test_without_anywidget_the_cure_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    _widgets._widget.cache_clear()
    for show, instead in ((explore, "explore_text"), (bench, "bench_text")):
        with pytest.raises(ImportError, match=rf"pip install anywidget.*{instead}"):
            show()


def test_a_message_of_another_kind_is_no_crash() -> None:
    with pytest.raises(ValueError, match="doesn't know"):
        changed(explore_number("1", "E4M3"), {"do": "flip", "bit": "0"})
    assert as_text(explore_number("1", "E4M3")).startswith("E4M3 0x38")
