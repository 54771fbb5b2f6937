"""The figures of section 2: what is drawn is compared with ml_dtypes, torch or exact arithmetic."""

from __future__ import annotations

import math
import re
from collections import Counter
from fractions import Fraction

import matplotlib
import ml_dtypes
import numpy as np
import pytest
import torch
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import numfmt as nf
from numfmt import plots
from numfmt.plots import floats


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def all_values(dtype: type) -> np.ndarray:
    """Return the values of all codes of an ml_dtypes type, in order of the codes."""
    bits = ml_dtypes.finfo(dtype).bits
    return np.arange(2**bits, dtype=np.uint8).view(dtype).astype(np.float64)


def short(text: str) -> float:
    return float(text.replace("−", "-").replace("∞", "inf"))


@pytest.mark.parametrize(("x", "fmt", "dtype"), [
    (5.5, nf.E4M3, ml_dtypes.float8_e4m3fn), (0.4375, nf.E5M2, ml_dtypes.float8_e5m2),
    (224.0, nf.E4M3, ml_dtypes.float8_e4m3fn), (6.0, nf.E2M1, ml_dtypes.float4_e2m1fn),
])  # fmt: skip
def test_the_window_and_the_offset_are_those_of_the_code(x: float, fmt: nf.FloatFormat, dtype: type) -> None:
    figure = plots.window_and_offset(x, fmt)
    axes = figure.axes[0]
    code = int(np.array([x]).astype(dtype).view(np.uint8)[0])
    bits = format(code, f"0{fmt.bits}b")
    e, m = fmt.exponent_bits, fmt.mantissa_bits
    assert texts(figure)[0] == bits[0] and {bits[1 : 1 + e], bits[1 + e :]} <= set(texts(figure))
    field, steps = int(bits[1 : 1 + e], 2), int(bits[1 + e :], 2)
    low = 2.0 ** (field - (2 ** (e - 1) - 1))
    # The chosen window is the one in colour; its text names both ends.
    boxes = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    [chosen] = [box for box in boxes if to_hex(box.get_facecolor()) != "#ffffff"]
    middle = chosen.get_x() + chosen.get_width() / 2
    labels = [text for text in axes.texts if " … " in text.get_text()]
    label = min(labels, key=lambda text: abs(text.get_position()[0] - middle)).get_text()
    assert [short(end) for end in label.split(" … ")] == [low, 2 * low]
    # The dot stands at its share of the window, and says so.
    [dot] = [line for line in axes.lines if line.get_marker() == "o"]
    assert dot.get_xdata()[0] == steps / 2**m == x / low - 1
    assert any(text.startswith(f"offset {steps} of {2**m}: ") for text in texts(figure))


@pytest.mark.parametrize("x", [0.0, -5.5, 5.6, 2.0**-9, 500.0, math.inf, math.nan])
def test_the_window_is_shown_for_positive_normal_values_only(x: float) -> None:
    with pytest.raises(ValueError, match="positive normal values"):
        plots.window_and_offset(x, nf.E4M3)
    with pytest.raises(ValueError, match="at most 5 mantissa bits"):
        plots.window_and_offset(1.0, nf.FP16)


def test_each_number_line_has_a_tick_for_each_value_and_counts_them() -> None:
    dtypes = {
        nf.INT4: ml_dtypes.int4, nf.E2M1: ml_dtypes.float4_e2m1fn, nf.E2M3: ml_dtypes.float6_e2m3fn,
        nf.E3M2: ml_dtypes.float6_e3m2fn, nf.E4M3: ml_dtypes.float8_e4m3fn, nf.E5M2: ml_dtypes.float8_e5m2,
    }  # fmt: skip
    figure = plots.number_lines(list(dtypes), 8)
    lines = [each for each in figure.axes[0].collections if isinstance(each, LineCollection)]
    assert len(lines) == len(dtypes)
    for row, (ticks, (fmt, dtype)) in enumerate(zip(lines, dtypes.items(), strict=True)):
        everything = np.arange(-8, 8.0) if fmt is nf.INT4 else all_values(dtype)
        true = sorted({value + 0.0 for value in everything if 0 <= value <= 8})
        segments = np.array(ticks.get_segments())
        assert segments[:, 0, 0].tolist() == segments[:, 1, 0].tolist() == true
        assert np.mean(segments[:, :, 1]) == pytest.approx(-row)
        [name] = [text for text in figure.axes[0].texts if text.get_text() == str(fmt)]
        [count] = [
            text for text in figure.axes[0].texts
            if text.get_text().endswith(" values") and text.get_position()[1] == -row
        ]  # fmt: skip
        assert name.get_position()[1] == -row and count.get_text() == f"{len(true)} values"


@pytest.mark.parametrize(("fmt", "dtype", "high"), [
    (nf.E2M1, ml_dtypes.float4_e2m1fn, 6.0), (nf.E2M3, ml_dtypes.float6_e2m3fn, 4.0),
    (nf.E3M2, ml_dtypes.float6_e3m2fn, 2.0),
])  # fmt: skip
def test_the_staircase_is_what_the_format_stores(fmt: nf.FloatFormat, dtype: type, high: float) -> None:
    axes = plots.rounding_staircase(fmt, high).axes[0]
    _, *lines = axes.lines
    steps = [line.get_data() for line in lines if line.get_marker() == "None"]
    hollow, filled = [line for line in lines if line.get_marker() == "o"]
    assert to_hex(hollow.get_markerfacecolor()) == "#ffffff" != to_hex(filled.get_markerfacecolor())
    for (start, end), (value, same) in steps:
        inside = np.array([start + (end - start) * share for share in (0.01, 0.5, 0.99)])
        assert value == same and inside.astype(dtype).astype(float).tolist() == [value] * 3
    ties = np.array(filled.get_xdata())
    assert np.array_equal(ties, hollow.get_xdata())
    assert np.array_equal(ties.astype(dtype).astype(float), filled.get_ydata())
    assert np.array_equal((np.array(hollow.get_ydata()) + filled.get_ydata()) / 2, ties)
    labels = [re.fullmatch(r"([\d.]+) = ([01]+) \((even|odd)\)", text.get_text()) for text in axes.texts]
    listed = all_values(dtype)
    for label in labels:
        assert label is not None
        assert listed[int(label[2], 2)] == float(label[1])
        assert (label[2][-1] == "0") == (label[3] == "even")
    assert len(labels) == len(steps)


def test_the_spacing_chart_follows_the_binades() -> None:
    formats = [nf.FP32, nf.TF32, nf.FP16, nf.BF16, nf.E4M3, nf.E5M2, nf.E2M1]
    axes = plots.spacing_chart(formats, 40).axes[0]
    stairs = [line for line in axes.lines if line.get_drawstyle() == "steps-post"]
    squares = [line for line in axes.lines if line.get_marker() == "s"]
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    limits = {
        nf.FP32: (23, -126, 128), nf.TF32: (10, -126, 128), nf.FP16: (10, -14, 16), nf.BF16: (7, -126, 128),
        nf.E4M3: (3, -6, 9), nf.E5M2: (2, -14, 16), nf.E2M1: (1, 0, 3),
    }  # fmt: skip
    ends = {}
    for line, (fmt, (m, lowest, end)) in zip(stairs, limits.items(), strict=True):
        powers, gaps = (np.asarray(data).tolist() for data in line.get_data())
        assert powers[0] == max(lowest - m, -40) and powers[-1] == min(end, 41)
        assert gaps[:-1] == [max(power, lowest) - m for power in powers[:-1]]
        ends[fmt] = gaps
    short_ones = [fmt for fmt, (m, lowest, _) in limits.items() if lowest - m >= -40]
    assert [square.get_xdata()[0] for square in squares] == [limits[fmt][1] - limits[fmt][0] for fmt in short_ones]
    largest = [65504, 448, 57344, 6]
    assert [2.0 ** dot.get_xdata()[0] for dot in dots] == pytest.approx(largest)
    assert [text.get_text() for text in axes.texts] == [str(fmt) for fmt in formats]
    assert ends[nf.FP16][20] == ends[nf.TF32][36]  # both at 2**-4: the same line


def test_fp32_gaps_are_numpys() -> None:
    [line] = plots.spacing_chart([nf.FP32], 30).axes[0].lines
    powers, gaps = (np.asarray(data) for data in line.get_data())
    expected = np.log2(np.spacing(np.ldexp(np.float32(1), powers[:-1].astype(int))))
    assert np.array_equal(gaps[:-1], expected)


@pytest.mark.parametrize(("fmt", "low", "high"), [(nf.BF16, 248, 272), (nf.FP16, 2040, 2060)])
def test_everybody_sits_where_torch_puts_them(fmt: nf.FloatFormat, low: int, high: int) -> None:
    axes = plots.seats(fmt, low, high).axes[0]
    numbers = torch.arange(low, high + 1)
    true = numbers.to(getattr(torch, fmt.name)).double().tolist()
    paths = [line.get_data() for line in axes.lines if list(line.get_ydata()) == [1, 0]]
    assert [(x[0], x[1]) for x, _ in paths] == list(zip(numbers.tolist(), true, strict=True))
    [seats] = [line for line in axes.lines if line.get_marker() == "|"]
    guests = Counter(true)
    assert list(seats.get_xdata()) == sorted(guests)
    crowded = {text.get_position()[0]: int(text.get_text()[1:]) for text in axes.texts if text.get_text()[0] == "×"}
    assert crowded == {seat: count for seat, count in guests.items() if count > 1}
    moved = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "s"]
    assert moved == [number for number, seat in zip(numbers.tolist(), true, strict=True) if number != seat]


@pytest.mark.parametrize(("fmt", "dtype"), [
    (nf.E4M3, ml_dtypes.float8_e4m3fn), (nf.E5M2, ml_dtypes.float8_e5m2), (nf.E4M3FNUZ, ml_dtypes.float8_e4m3fnuz),
    (nf.E3M4, ml_dtypes.float8_e3m4),
])  # fmt: skip
def test_the_table_of_codes_has_every_value_in_its_place(fmt: nf.FloatFormat, dtype: type) -> None:
    axes = plots.all_codes(fmt).axes[0]
    cells = {
        (text.get_position()[0] - 0.5, -text.get_position()[1] - 0.5): text
        for text in axes.texts
        if text.get_position()[0] % 1 == 0.5 and -16 < text.get_position()[1] < 0
    }
    smallest = float(ml_dtypes.finfo(dtype).smallest_normal)
    assert len(cells) == 256
    for code, value in enumerate(all_values(dtype).tolist()):
        text = cells[code % 16, code // 16]
        if math.isnan(value):
            assert text.get_text() == "NaN"
            continue
        assert short(text.get_text()) == pytest.approx(value, rel=0.06)
        assert (text.get_text()[0] == "−") == (math.copysign(1, value) < 0)
        assert (text.get_style() == "italic") == (0 < abs(value) < smallest)


def test_the_table_colours_the_kinds_of_codes() -> None:
    axes = plots.all_codes(nf.E5M2).axes[0]
    boxes = [patch for patch in axes.patches if patch.get_width() == 1]
    colours = Counter(to_hex(box.get_facecolor()).upper() for box in boxes)
    counts = {"zero": 2, "subnormal": 6, "normal": 240, "infinity": 2, "NaN": 6}
    assert colours == {floats.KINDS[kind]: count for kind, count in counts.items()}
    assert set(counts) <= set(texts_of_keys(axes.texts))
    key = texts_of_keys(plots.all_codes(nf.E4M3).axes[0].texts)
    assert "NaN" in key and "infinity" not in key


def texts_of_keys(found: list[matplotlib.text.Text]) -> list[str]:
    return [text.get_text() for text in found if text.get_position()[1] < -16]


def test_the_table_refuses_other_widths() -> None:
    with pytest.raises(ValueError, match="formats of 8 bits; FP16 has 16"):
        plots.all_codes(nf.FP16)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (448.0, "448"), (57344.0, "57344"), (0.0625, "0.0625"), (0.1171875, "0.12"), (0.017578125, "0.018"),
     (0.001953125, "2.0e-3"), (2.0**-24, "6.0e-8"), (1e20, "1e+20"), (1.25e20, "1.2e+20")],
)  # fmt: skip
def test_short_numbers_stay_short(value: float, text: str) -> None:
    assert floats._short(value) == text
    assert abs(Fraction(float(text)) - Fraction(value)) <= Fraction(value) / 16
