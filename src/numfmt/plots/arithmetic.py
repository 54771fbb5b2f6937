"""The figures of section 3: arithmetic pitfalls."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ..float_format import FloatFormat
from ..neighbours import spacing
from ..rounding import round_to
from ..sums import running_sum
from ._page import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, bare

Floats = Sequence[float] | np.ndarray[Any, Any]
LIGHT = "#D0D0D0"
SERIES = ((VERMILLION, "o"), (BLUE, "s"), (GREEN, "^"), (PURPLE, "D"), (ORANGE, "v"), (SKY, "P"))
"""Colour and marker of each series of a chart, in turn."""


def landing(fmt: FloatFormat, start: float, addends: Sequence[float]) -> Figure:
    """Draw where start + addend lands in a format: true sums above, the format's values below, an arrow for each."""
    gap = float(spacing(start, fmt))
    seats = start + gap * np.arange(-1, math.ceil(max(addends) / gap) + 2)
    figure, axes = plt.subplots(figsize=(8.4, 3))
    axes.axhline(0, color=LIGHT, zorder=0)
    axes.plot(seats, np.zeros(seats.size), "|", color="black", markersize=18, markeredgewidth=2)
    for seat in seats:
        axes.text(seat, -0.28, f"{seat:,.0f}", ha="center", va="top", fontsize=10)
    for number, addend in enumerate(addends):
        stored = float(round_to(start + addend, fmt))
        lost = stored == start
        colour, marker = (VERMILLION, "s") if lost else (BLUE, "o")
        axes.plot(start + addend, 1, marker, color=colour, markersize=8)
        side = "left" if number == len(addends) - 1 else "right" if number else "center"
        axes.text(start + addend, 1.16, f"+{addend:g}", color=colour, ha=side, fontsize=12, fontweight="bold")
        axes.annotate(
            "", xy=(stored, 0.16), xytext=(start + addend, 0.92), arrowprops={"arrowstyle": "->", "color": colour}
        )
    axes.text(seats[0] - 0.1 * gap, 1, "true sum", ha="right", va="center", fontsize=11)
    axes.text(seats[0] - 0.1 * gap, 0, f"in {fmt}", ha="right", va="center", fontsize=11)
    axes.set(xlim=(seats[0] - 0.05 * gap, seats[-1] + 0.3 * gap), ylim=(-0.7, 1.5))
    axes.axis("off")
    return figure


def stall_staircase(formats: Sequence[FloatFormat], increment: float, additions: int) -> Figure:
    """Draw the running sums of `additions` equal terms in each format, and the true sum.

    A hollow marker and a number stand where the first addition changes nothing.
    """
    figure, axes = plt.subplots(figsize=(8.4, 4.6))
    counts = np.arange(1, additions + 1)
    axes.plot(counts, increment * counts, "--", color=GREY, linewidth=1.4)
    axes.text(additions, increment * additions, " true sum", color=GREY, va="center", fontsize=11)
    for (colour, marker), fmt in zip(SERIES, formats, strict=False):
        sums = running_sum(np.full(additions, increment), fmt, partial=True)
        axes.plot(counts, sums, color=colour, linewidth=2.2, drawstyle="steps-post")
        axes.text(additions, sums[-1], f" {fmt}", color=colour, va="center", fontsize=11, fontweight="bold")
        still = np.flatnonzero(np.diff(sums) == 0)
        if still.size:
            place = int(still[0]) + 2
            axes.plot(
                place, sums[-1], marker, color=colour, markersize=10, markerfacecolor="white", markeredgewidth=2
            )
            # A high one crosses the true sum on its right, a low one on its left.
            is_high = sums[-1] > 0.2 * increment * additions
            axes.annotate(
                f"addition {place:,}: {sums[-1]:g}, and stays", (place, sums[-1]), color=colour, fontsize=11,
                xytext=(-8, 8) if is_high else (62, 8), ha="right" if is_high else "left", textcoords="offset points",
            )  # fmt: skip
    axes.set(xlabel=f"additions of {increment:g}", ylabel="running sum", xlim=(0, additions), ylim=(0, None))
    bare(axes)
    return figure


def summation_trees(terms: int = 8) -> Figure:
    """Draw the additions of a running sum and of a pairwise sum of `terms` numbers, a power of two, side by side."""
    if terms < 2 or terms & (terms - 1):
        raise ValueError(f"summation_trees draws a power of two of at least 2 terms, not {terms}")
    figure, both = plt.subplots(1, 2, figsize=(9.6, 4.4), sharey=True)
    running = [((0.0, 0), (1.0, 0), (0.5, 1))]
    for term in range(2, terms):
        running.append((running[-1][2], (float(term), 0), (term - 0.5, term)))
    pairwise, level = [], [(float(term), 0) for term in range(terms)]
    while len(level) > 1:
        pairs = list(zip(level[::2], level[1::2], strict=True))
        above = [((a[0] + b[0]) / 2, a[1] + 1) for a, b in pairs]
        pairwise += [(a, b, c) for (a, b), c in zip(pairs, above, strict=True)]
        level = above
    for axes, nodes, name, colour, marker in zip(
        both, (running, pairwise), ("running sum", "pairwise sum"), (VERMILLION, BLUE), "os", strict=True
    ):
        for a, b, c in nodes:
            for part in (a, b):
                axes.plot([part[0], c[0]], [part[1], c[1]], color=colour, linewidth=1.6)
            axes.plot(*c, marker, color=colour, markersize=11)
            axes.text(*c, "+", color="white", ha="center", va="center", fontsize=10, fontweight="bold")
        for term in range(terms):
            axes.plot(term, 0, "o", color="black", markersize=5)
            axes.text(term, -0.35, rf"$x_{{{term + 1}}}$", ha="center", va="top", fontsize=11)
        height = max(c[1] for _, _, c in nodes)
        axes.set_title(f"{name}: up to {height} roundings on the way", color=colour, fontsize=12)
        axes.set(xlim=(-0.6, terms - 0.4), ylim=(-1, terms))
        axes.axis("off")
    return figure


def error_growth(sizes: Sequence[int], errors: Mapping[str, Floats], mantissa_bits: int) -> Figure:
    """Draw the relative errors of sums of `sizes` terms on log axes, by method, and the bounds, dashed.

    The methods may be "running", "pairwise" and "Kahan"; the bounds are (n - 1) u, ceil(log2 n) u and 2 u, each of
    the sum of magnitudes, to first order in the unit roundoff u = 2**-(mantissa_bits + 1) (Higham, Accuracy and
    Stability of Numerical Algorithms, 2002, 4.2 and 4.3). Errors of 0 aren't drawn.
    """
    unit = 2.0 ** -(mantissa_bits + 1)
    n = np.asarray(sizes)
    bounds = {
        "running": (n - 1) * unit,
        "pairwise": np.ceil(np.log2(n)) * unit,
        "Kahan": np.full(n.size, 2 * unit),
    }
    names = {"running": "(n − 1) u", "pairwise": "⌈log₂ n⌉ u", "Kahan": "2 u"}
    figure, axes = plt.subplots(figsize=(8.4, 5.2))
    labels = []
    for (colour, marker), (method, found) in zip(SERIES, errors.items(), strict=False):
        shown = np.where(np.asarray(found) > 0, found, np.nan)
        axes.loglog(n, bounds[method], "--", color=colour, linewidth=1.5)
        axes.loglog(n, shown, marker, color=colour, linestyle="-", linewidth=1, markersize=6)
        labels.append((float(bounds[method][-1]), f"bound {names[method]}", colour))
        labels.append((float(shown[~np.isnan(shown)][-1]), f"{method} sum", colour))
    _label_ends(axes, n[-1] * 1.15, labels, 1.7)
    axes.set(xlabel="number of terms n", ylabel="error / sum of magnitudes")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.grid(color="#EEEEEE")
    bare(axes)
    return figure


def order_histogram(sums: Floats, exact: float) -> Figure:
    """Draw how often each different sum came out, as a distance from the exact sum, in at most 41 bars."""
    values, counts = np.unique(np.asarray(sums, np.float64), return_counts=True)
    off = values - exact
    figure, axes = plt.subplots(figsize=(8.4, 4.2))
    axes.hist(off, bins=min(41, values.size), weights=counts, color=SKY, edgecolor="white", linewidth=0.6)
    axes.axvline(0, color=VERMILLION, linewidth=1.8)
    axes.text(0, 1.03, "exact sum", color=VERMILLION, ha="center", transform=axes.get_xaxis_transform(), fontsize=11)
    axes.text(
        0.99, 0.93, f"{np.size(sums):,} orders\n{values.size:,} different sums", color=BLUE, ha="right", va="top",
        transform=axes.transAxes, fontsize=11,
    )  # fmt: skip
    axes.set(xlabel="computed sum − exact sum", ylabel="orders")
    bare(axes)
    return figure


def sum_errors(paths: Mapping[str, Floats], exact: Floats, every: int = 1) -> Figure:
    """Draw the largest distance of each running sum from the exact one so far, on a log axis.

    Sums are given after each `every` terms.
    """
    figure, axes = plt.subplots(figsize=(8.4, 4.8))
    true = np.asarray(exact)
    steps = every * np.arange(1, true.size + 1)
    ends = []
    for (colour, marker), (name, path) in zip(SERIES, paths.items(), strict=False):
        off = np.maximum.accumulate(np.abs(np.asarray(path) - true))
        shown = np.where(off > 0, off, np.nan)
        axes.semilogy(steps, shown, color=colour, marker=marker, markevery=max(1, true.size // 8))
        ends.append((float(off[-1]), name, colour))
    _label_ends(axes, steps[-1] * 1.02, ends, 2.4)
    axes.set(xlabel="products added so far", ylabel="largest distance from the exact sum", xlim=(0, steps[-1]))
    bare(axes)
    return figure


def variance_against_mean(means: Floats, curves: Mapping[str, Floats], true: Floats) -> Figure:
    """Draw the relative error of computed variances against the mean of the data, on log axes.

    A cross marks a variance that came out as zero or negative. Errors of 0 aren't drawn.
    """
    figure, axes = plt.subplots(figsize=(8.4, 5))
    x, exact = np.asarray(means), np.asarray(true)
    for (colour, marker), (name, found) in zip(SERIES, curves.items(), strict=False):
        computed = np.asarray(found)
        error = np.abs(computed / exact - 1)
        error = np.where(error > 0, error, np.nan)
        axes.loglog(x, error, marker, color=colour, linestyle="-", linewidth=1.4, markersize=6)
        nonsense = computed <= 0
        axes.loglog(x[nonsense], error[nonsense], "x", color="black", markersize=12, markeredgewidth=2)
        axes.text(x[-1] * 1.25, error[-1], name, color=colour, va="center", fontsize=11, fontweight="bold")
    axes.axhline(1, color=GREY, linestyle=":", linewidth=1.4)
    axes.text(x[0], 1.3, "off by 100%", color=GREY, fontsize=10)
    axes.set(xlabel="mean of the data (their variance is about 1)", ylabel="relative error of the variance")
    axes.grid(color="#EEEEEE")
    bare(axes)
    return figure


def exponentials(logits: Sequence[float], fmt: FloatFormat) -> Figure:
    """Draw the exponentials of some logits, as they are and with the largest taken off, against a format's limit."""
    figure, both = plt.subplots(1, 2, figsize=(9.6, 4.2), sharey=True)
    limit = math.log10(float(fmt.max))
    for axes, shift, title in zip(both, (0.0, max(logits)), ("as they are", "largest taken off"), strict=True):
        axes.axhspan(limit, limit * 1.25, color=VERMILLION, alpha=0.1)
        axes.axhline(limit, color=VERMILLION, linewidth=1.6)
        for place, logit in enumerate(logits):
            height = (logit - shift) * math.log10(math.e)
            colour, marker = (VERMILLION, "X") if height > limit else (BLUE, "o")
            axes.plot([place, place], [0, height], color=colour, linewidth=2)
            axes.plot(place, height, marker, color=colour, markersize=10)
        axes.set_title(title, fontsize=12)
        axes.set_xticks(range(len(logits)), [f"{logit - shift:g}" for logit in logits])
        axes.set(xlabel="z", xlim=(-0.6, len(logits) - 0.4))
        bare(axes)
    both[1].text(len(logits) - 0.5, limit * 1.05, f"beyond {fmt}", color=VERMILLION, ha="right", fontsize=11)
    both[0].set(ylabel=r"$e^z$")
    both[0].yaxis.set_major_formatter(lambda power, _: rf"$10^{{{power:.0f}}}$")
    return figure


def grid_stride(count: int, blocks: int, threads: int) -> Figure:
    """Draw which block and thread of a grid-stride loop adds which of `count` elements, a row for each step."""
    width = blocks * threads
    figure, axes = plt.subplots(figsize=(9.2, 0.5 * math.ceil(count / width) + 1.4))
    for element in range(count):
        step, place = divmod(element, width)
        block, thread = divmod(place, threads)
        colour, _ = SERIES[block % len(SERIES)]
        axes.add_patch(Rectangle((place, -step), 1, -1, facecolor=colour, alpha=0.28, edgecolor="white"))
        axes.text(place + 0.5, -step - 0.5, str(element), ha="center", va="center", fontsize=10)
    for place in range(width):
        block, thread = divmod(place, threads)
        axes.text(place + 0.5, 0.12, str(thread), ha="center", va="bottom", fontsize=9, color=GREY)
        if thread == 0:
            colour, _ = SERIES[block % len(SERIES)]
            axes.text(
                place + threads / 2, 0.85, f"block {block}", ha="center", va="bottom", color=colour, fontsize=12,
                fontweight="bold",
            )  # fmt: skip
    axes.text(-0.2, 0.12, "thread", ha="right", va="bottom", fontsize=9, color=GREY)
    for step in range(math.ceil(count / width)):
        axes.text(-0.2, -step - 0.5, f"step {step}", ha="right", va="center", fontsize=10)
    axes.set(xlim=(-1.6, width + 0.1), ylim=(-math.ceil(count / width) - 0.1, 1.7))
    axes.axis("off")
    return figure


def block_results(blocks: Sequence[int], results: Floats, exact: float) -> Figure:
    """Draw the sums of the same numbers against the number of blocks, as distances from the exact sum.

    Equal sums share a colour and marker as far as these go, and a dotted line.
    """
    off = np.asarray(results, np.float64) - exact
    figure, axes = plt.subplots(figsize=(8.4, 4.2))
    axes.axhline(0, color=GREY, linewidth=1.4)
    axes.text(len(blocks) - 0.4, 0, " exact", color=GREY, va="center", fontsize=11)
    places = np.arange(len(blocks))
    for number, value in enumerate(np.unique(off)):
        colour, marker = SERIES[number % len(SERIES)]
        same = places[off == value]
        axes.plot(same, off[same], marker, color=colour, markersize=9, linestyle=":")
    axes.set_xticks(places, [f"{count:,}" for count in blocks])
    axes.set(xlabel="blocks", ylabel="computed sum − exact sum", xlim=(-0.5, len(blocks) - 0.5))
    bare(axes)
    return figure


def _label_ends(axes: Any, x: float, labels: Sequence[tuple[float, str, str]], apart: float) -> None:
    """Write (height, text, colour) at x on a log axis; labels that are too close move up by the factor `apart`."""
    lowest = 0.0
    for height, text, colour in sorted(labels):
        lowest = max(height, lowest * apart)
        axes.text(x, lowest, text, color=colour, va="center", fontsize=10.5)


__all__ = [
    "block_results",
    "error_growth",
    "exponentials",
    "grid_stride",
    "landing",
    "order_histogram",
    "stall_staircase",
    "sum_errors",
    "summation_trees",
    "variance_against_mean",
]
