"""The figures of section 2: floats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MultipleLocator

from ..codes import decode, encode, values
from ..explaining import kind_of
from ..float_format import FloatFormat
from ..formats import IntFormat
from ..neighbours import spacing
from ..rounding import round_to
from ._page import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, YELLOW, bare

LIGHT = "#D0D0D0"
LINES = ((BLUE, "-"), (VERMILLION, "-"), (GREEN, "-"), (ORANGE, "-"), (PURPLE, "--"), (SKY, "--"), (GREY, ":"))
"""Colour and kind of each line of a chart, in turn."""


def window_and_offset(x: float, fmt: FloatFormat) -> Figure:
    """Draw how a code finds its number: the exponent field picks a window, the mantissa field the offset in it.

    `x` must be a positive normal value of a format with at most 5 mantissa bits; ValueError otherwise.
    """
    if round_to(x, fmt) != x or x < fmt.smallest_normal or fmt.mantissa_bits > 5 or not math.isfinite(x):
        raise ValueError(f"window_and_offset shows positive normal values with at most 5 mantissa bits, not {x!r}")
    bits = format(encode(x, fmt), f"0{fmt.bits}b")
    exponent = math.frexp(x)[1] - 1
    steps = 2**fmt.mantissa_bits
    offset = round((x / 2.0**exponent - 1) * steps)
    figure, axes = plt.subplots(figsize=(8.4, 4.6))
    for text, place, colour, name in (
        (bits[0], 0.18, VERMILLION, "sign"),
        (bits[1 : 1 + fmt.exponent_bits], 0.4, GREEN, "exponent field"),
        (bits[1 + fmt.exponent_bits :], 0.66, BLUE, "mantissa field"),
    ):
        axes.text(place, 3.5, text, color=colour, family="monospace", fontsize=22, fontweight="bold", ha="center")
        axes.text(place, 3.28, name, color=colour, fontsize=10, ha="center")
    width = 1 / 7
    for place, power in enumerate(range(exponent - 3, exponent + 4)):
        chosen = power == exponent
        box = Rectangle(
            (place * width, 2.2), width, 0.5, facecolor=GREEN if chosen else "white", edgecolor=GREY, alpha=0.9
        )
        axes.add_patch(box)
        label = f"{_short(2.0**power)} … {_short(2.0 ** (power + 1))}"
        axes.text(
            (place + 0.5) * width, 2.45, label, color="white" if chosen else "black", ha="center", va="center",
            fontsize=10, fontweight="bold" if chosen else "normal",
        )  # fmt: skip
    axes.annotate("", xy=(3.5 * width, 2.72), xytext=(0.4, 3.22), arrowprops={"arrowstyle": "->", "color": GREEN})
    axes.text(1, 2.8, "each twice as wide as the last", color=GREY, fontsize=10, ha="right")
    for left, right in ((3 * width, 0.0), (4 * width, 1.0)):
        axes.plot([left, right], [2.2, 1.2], ":", color=GREEN, linewidth=1.2)
    axes.plot([0, 1], [1.2, 1.2], color=GREEN, linewidth=2)
    for step in range(steps + 1):
        axes.plot([step / steps] * 2, [1.2, 1.08], color=GREEN, linewidth=1.2)
        if steps <= 8:
            value = 2.0**exponent * (1 + step / steps)
            axes.text(step / steps, 0.94, _short(value), ha="center", va="center", fontsize=10)
    axes.plot(offset / steps, 1.2, "o", color=BLUE, markersize=11)
    axes.annotate(
        f"offset {offset} of {steps}: {_short(x)}", xy=(offset / steps, 1.25), xytext=(0.5, 1.62), color=BLUE,
        fontsize=12, fontweight="bold", ha="center", arrowprops={"arrowstyle": "->", "color": BLUE},
    )  # fmt: skip
    axes.set(xlim=(-0.03, 1.03), ylim=(0.8, 3.9))
    axes.axis("off")
    return figure


def number_lines(formats: Sequence[FloatFormat | IntFormat], reach: float) -> Figure:
    """Draw a line per format with a tick for each of its values from 0 to `reach`, and count them."""
    figure, axes = plt.subplots(figsize=(8.4, 0.75 * len(formats) + 0.8))
    for row, fmt in enumerate(formats):
        shown = _values_between(fmt, 0, reach)
        colour = GREY if isinstance(fmt, IntFormat) else BLUE
        axes.plot([0, reach], [-row, -row], color=LIGHT, linewidth=1, zorder=0)
        axes.vlines(shown, -row - 0.28, -row + 0.28, color=colour, linewidth=1.3)
        axes.text(-0.02 * reach, -row, str(fmt), ha="right", va="center", fontsize=11, fontweight="bold")
        axes.text(1.02 * reach, -row, f"{shown.size} values", ha="left", va="center", fontsize=10, color=colour)
    axes.set(xlim=(-0.01 * reach, 1.01 * reach), ylim=(-len(formats) + 0.4, 0.6), yticks=[], xlabel="value")
    bare(axes)
    axes.spines["left"].set_visible(False)
    return figure


def rounding_staircase(fmt: FloatFormat, high: float) -> Figure:
    """Draw what a format stores for every number from 0 to `high`, rounded to nearest, ties to even.

    At a tie the filled dot is the value taken and the hollow one the value left; beside each step stands its code.
    """
    steps = _values_between(fmt, 0, high)
    ties = (steps[1:] + steps[:-1]) / 2
    edges = [0.0, *ties.tolist(), high]
    figure, axes = plt.subplots(figsize=(7.6, 5.2))
    axes.plot([0, high], [0, high], "--", color=LIGHT, linewidth=1.2)
    for place, value in enumerate(steps.tolist()):
        even = encode(value, fmt) % 2 == 0
        colour = BLUE if even else VERMILLION
        axes.plot([edges[place], edges[place + 1]], [value, value], color=colour, linewidth=2.6)
        digits = format(encode(value, fmt), f"0{fmt.bits}b")
        label = f"{_short(value)} = {digits} ({'even' if even else 'odd'})"
        axes.text(1.02 * high, value, label, va="center", fontsize=9.5, color=colour, family="monospace")
    taken = round_to(ties, fmt)
    left = np.where(taken == steps[1:], steps[:-1], steps[1:])
    axes.plot(ties, left, "o", color=VERMILLION, markerfacecolor="white", markersize=7)
    axes.plot(ties, taken, "o", color=BLUE, markersize=7)
    axes.set(xlabel="true number", ylabel=f"what {fmt} stores", xlim=(0, high), ylim=(-0.04 * high, 1.05 * high))
    axes.set_xticks(ties, [_short(tie) for tie in ties], rotation=45)
    axes.set_yticks(steps, [_short(value) for value in steps.tolist()])
    bare(axes)
    return figure


def spacing_chart(formats: Sequence[FloatFormat], reach: int = 40) -> Figure:
    """Draw the gap between neighbours against magnitude on log axes, from 2**-reach to 2**reach.

    Each format is a staircase (drawn at powers of two); a square marks its smallest value, a dot its largest.
    """
    figure, axes = plt.subplots(figsize=(8.4, 6.8))
    for place, fmt in enumerate(formats):
        colour, style = LINES[place % len(LINES)]
        lowest = fmt.minexp - fmt.mantissa_bits
        powers = np.arange(max(lowest, -reach), min(fmt.maxexp - 1, reach) + 1)
        gaps = np.log2(np.asarray(spacing(np.ldexp(1.0, powers), fmt)))
        ends = [*powers, powers[-1] + 1]
        axes.plot(ends, [*gaps, gaps[-1]], style, color=colour, drawstyle="steps-post", linewidth=1.8)
        if lowest >= -reach:
            axes.plot(lowest, gaps[0], "s", color=colour, markersize=7)
        if fmt.maxexp <= reach:
            axes.plot(math.log2(float(fmt.max)), gaps[-1], "o", color=colour, markersize=8)
        at_left = lowest >= -reach
        axes.annotate(
            str(fmt), (lowest, gaps[0]) if at_left else (powers[-1] + 1, gaps[-1]), color=colour,
            xytext=(-8, 0) if at_left else (6, 0), textcoords="offset points", fontsize=10.5, fontweight="bold",
            ha="right" if at_left else "left", va="center", annotation_clip=False,
        )  # fmt: skip
    axes.set(xlim=(-reach, reach), xlabel="size of the number", ylabel="gap to the next number")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MultipleLocator(10))
        axis.set_major_formatter(lambda power, _: rf"$2^{{{power:.0f}}}$")
    axes.grid(color="#EEEEEE")
    bare(axes)
    return figure


def seats(fmt: FloatFormat, low: int, high: int) -> Figure:
    """Draw the whole numbers from low to high above, the format's values below, and who sits where."""
    figure, axes = plt.subplots(figsize=(8.4, 3.2))
    numbers = np.arange(low, high + 1, dtype=np.float64)
    stored = round_to(numbers, fmt)
    taken, guests = np.unique(stored, return_counts=True)
    for number, seat in zip(numbers, stored, strict=True):
        moved = number != seat
        axes.plot([number, seat], [1, 0], color=VERMILLION if moved else BLUE, linewidth=1.4)
        axes.plot(number, 1, "s" if moved else "o", color=VERMILLION if moved else BLUE, markersize=6)
        axes.text(number, 1.1, f"{number:.0f}", rotation=90, ha="center", va="bottom", fontsize=8.5)
    axes.plot(taken, np.zeros(taken.size), "|", color="black", markersize=16, markeredgewidth=2)
    for seat, count in zip(taken, guests, strict=True):
        axes.text(seat, -0.2, f"{seat:.0f}", rotation=90, ha="center", va="top", fontsize=8.5)
        if count > 1:
            axes.text(seat, -0.72, f"×{count}", ha="center", va="top", fontsize=9.5, color=VERMILLION)
    axes.text(low - 1.2, 1, "position", ha="right", va="center", fontsize=11)
    axes.text(low - 1.2, 0, f"in {fmt}", ha="right", va="center", fontsize=11)
    axes.text(low - 1.2, -0.78, "shared by", ha="right", va="center", fontsize=11, color=VERMILLION)
    axes.set(xlim=(low - 1, high + 1), ylim=(-1, 1.6))
    axes.axis("off")
    return figure


KINDS = {
    "zero": "#FFFFFF",
    "subnormal": YELLOW,
    "normal": "#CFE6F5",
    "infinity": ORANGE,
    "NaN": PURPLE,
}
"""Kinds of codes and the colours of their cells; subnormal numbers are also in italics."""


def all_codes(fmt: FloatFormat) -> Figure:
    """Draw the 256 codes of an 8-bit format as a table with the value of each: a row per first hexadecimal digit."""
    if fmt.bits != 8:
        raise ValueError(f"all_codes shows formats of 8 bits; {fmt} has {fmt.bits}")
    figure = plt.figure(figsize=(11.5, 6.2))
    axes = figure.add_axes((0, 0, 1, 1))
    found = set()
    for code, value in enumerate(decode(np.arange(256), fmt).tolist()):
        row, column = divmod(code, 16)
        kind = kind_of(value, fmt)
        found.add(kind)
        axes.add_patch(Rectangle((column, -row), 1, -1, facecolor=KINDS[kind], edgecolor="white"))
        sign = "−" if math.copysign(1, value) < 0 else ""
        text = {"NaN": "NaN", "infinity": f"{sign}∞"}.get(kind, sign + _short(abs(value)))
        style = "italic" if kind == "subnormal" else "normal"
        axes.text(column + 0.5, -row - 0.5, text, ha="center", va="center", fontsize=8.5, style=style)
    for digit in range(16):
        axes.text(-0.15, -digit - 0.5, f"{digit:X}_", ha="right", va="center", fontsize=10, family="monospace")
        axes.text(digit + 0.5, 0.35, f"_{digit:X}", ha="center", va="center", fontsize=10, family="monospace")
    place = 0.0
    for kind, colour in KINDS.items():
        if kind in found:
            axes.add_patch(Rectangle((place, -17.05), 0.6, -0.7, facecolor=colour, edgecolor=GREY))
            style = "italic" if kind == "subnormal" else "normal"
            axes.text(place + 0.75, -17.4, kind, va="center", fontsize=10, style=style)
            place += 2.6
    axes.set(xlim=(-0.8, 16.1), ylim=(-18, 0.9))
    axes.axis("off")
    return figure


def _values_between(fmt: FloatFormat | IntFormat, low: float, high: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the different values from low to high, in order; adding 0 makes -0 the same as 0."""
    listed = np.unique(np.asarray(values(fmt), np.float64) + 0.0)
    return listed[(listed >= low) & (listed <= high)]


def _short(value: float) -> str:
    """Write a number with as few characters as a figure has room for: plain if short, else as a power of ten."""
    plain = f"{value:g}"
    if len(plain) <= 6:
        return plain
    return f"{value:.2g}" if 0.01 <= abs(value) < 1 else f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e")


__all__ = ["all_codes", "number_lines", "rounding_staircase", "seats", "spacing_chart", "window_and_offset"]
