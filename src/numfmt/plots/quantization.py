"""The figures of section 5: quantization."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ..quantization import quantize
from ._page import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, bare

Numbers = np.ndarray[Any, Any]
_MARKS = ("o", "s", "^", "D", "v", "P", "X")
_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, GREY)


def code_grids(x: Numbers, bits: int) -> Figure:
    """Draw the values that data are rounded to, one line of ticks a scheme, above the data's histogram.

    Long ticks are values that some number of x is rounded to, short pale ones those that none is.
    """
    figure, (upper, lower) = plt.subplots(
        2, 1, figsize=(8, 3.8), sharex=True, gridspec_kw={"height_ratios": [1.1, 1]}
    )
    for row, (scheme, colour) in enumerate((("absmax", BLUE), ("zero_point", VERMILLION))):
        made = quantize(x, bits, scheme)
        lowest, highest = (-(2 ** (bits - 1) - 1), 2 ** (bits - 1) - 1) if scheme == "absmax" else (0, 2**bits - 1)
        codes = np.arange(lowest, highest + 1)
        grid = (codes - int(made.zero_point.item())) * float(made.scale.item())
        used = np.isin(codes, made.codes)
        upper.vlines(grid[used], -row - 0.32, -row + 0.32, color=colour, linewidth=2.6)
        upper.vlines(grid[~used], -row - 0.14, -row + 0.14, color=GREY, linewidth=1.4)
    upper.set(yticks=[0, -1], yticklabels=["absmax", "zero point"], ylim=(-1.6, 0.6))
    upper.spines[["left", "bottom"]].set_visible(False)
    upper.tick_params(axis="both", length=0)
    lower.hist(x.ravel(), bins=60, color=GREY)
    lower.set(xlabel="value", ylabel="how many", yscale="log")
    bare(upper)
    bare(lower)
    return figure


def outlier_shadow(x: Numbers, bits: int, group_size: int) -> Figure:
    """Draw a row of weights, and what is left of them with one scale for all (above) and one a group (below).

    Pale circles are the weights, the marks are what they come back as: a vermillion cross where that is 0. The axis
    is cut just above the ordinary weights; an arrow stands for what lies beyond.
    """
    ordinary = 1.15 * float(np.sort(np.abs(x))[-2])
    figure, rows = plt.subplots(2, 1, figsize=(8.4, 5), sharex=True, sharey=True)
    places = np.arange(x.size)
    for axes, size, title in (
        (rows[0], x.size, "one scale for the whole row"),
        (rows[1], group_size, f"one scale for each group of {group_size}"),
    ):
        back = quantize(x, bits, group_size=size).dequantize()
        gone = back == 0
        inside = np.abs(x) <= ordinary
        axes.axhline(0, color=GREY, linewidth=0.8)
        axes.plot(places[inside], x[inside], "o", color="#B8B8B8", markersize=5.5, label="weight")
        kept = inside & ~gone
        axes.plot(places[kept], back[kept], "D", color=BLUE, markersize=3.6, label="comes back as")
        axes.plot(places[gone], back[gone], "x", color=VERMILLION, markersize=5.5, label="comes back as 0")
        for start in range(0, x.size, 2 * size):
            axes.axvspan(start - 0.5, min(start + size, x.size) - 0.5, color=SKY, alpha=0.13, linewidth=0)
        for place in places[~inside]:
            axes.annotate(
                f"{x[place]:.2g}", xy=(place, ordinary * 1.22), xytext=(place, ordinary * 0.8),
                ha="center", va="top", color=VERMILLION, fontweight="bold",
                arrowprops={"arrowstyle": "->", "color": VERMILLION, "linewidth": 1.6},
            )  # fmt: skip
        axes.set_title(title, fontsize=11, loc="left")
        axes.set(ylim=(-ordinary * 1.1, ordinary * 1.25), xlim=(-1, x.size), ylabel="value")
        bare(axes)
    rows[0].legend(loc="lower right", ncols=3, frameon=True, fontsize=9, bbox_to_anchor=(1, 0.98))
    rows[1].set_xlabel("column")
    figure.tight_layout()
    return figure


def granularity_errors(errors: Mapping[str, Mapping[str, float]]) -> Figure:
    """Draw errors in per cent on a logarithmic axis: from what shares a scale to error, for each named series."""
    figure, axes = plt.subplots(figsize=(8, 4.2))
    names = list(dict.fromkeys(name for series in errors.values() for name in series))
    for number, ((label, series), colour, marker) in enumerate(zip(errors.items(), _COLOURS, _MARKS, strict=False)):
        above = 2 * number < len(errors)  # half of the labels stand above their points, half below
        at = [names.index(name) for name in series]
        axes.plot(list(series.values()), at, marker, color=colour, markersize=9, label=label)
        for place, error in zip(at, series.values(), strict=True):
            axes.annotate(
                f"{error:.3g} %", xy=(error, place), xytext=(0, 9 if above else -16), textcoords="offset points",
                ha="center", fontsize=9, color=colour,
            )  # fmt: skip
    axes.set(xscale="log", xlabel="error in per cent of the norm", ylim=(len(names) - 0.5, -0.6))
    axes.set_yticks(range(len(names)), names)
    axes.grid(axis="y", color="#E4E4E4")
    axes.margins(x=0.1)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    bare(axes)
    return figure


def group_layouts(layouts: Mapping[str, Sequence[int]], columns: int, group_size: int) -> Figure:
    """Draw where outlier columns lie among the groups: a strip a layout, hatched where a group holds an outlier."""
    figure, axes = plt.subplots(figsize=(8.4, 0.9 * len(layouts) + 0.9))
    for row, outliers in enumerate(layouts.values()):
        spoilt = {int(column) // group_size for column in outliers}
        for group in range(columns // group_size):
            hit = group in spoilt
            axes.add_patch(
                Rectangle(
                    (group * group_size, row - 0.32), group_size, 0.64, facecolor="#F6C9A8" if hit else "#E3EEF6",
                    edgecolor="white", linewidth=2, hatch="//" if hit else None,
                )
            )  # fmt: skip
        axes.vlines(np.asarray(outliers), row - 0.32, row + 0.32, color=VERMILLION, linewidth=1.6)
        axes.text(columns * 1.015, row, f"{len(spoilt)} of {columns // group_size} groups", va="center", fontsize=10)
    axes.set(xlim=(0, columns), ylim=(len(layouts) - 0.5, -0.6), xlabel="column")
    axes.set_yticks(range(len(layouts)), list(layouts))
    axes.set_xticks(range(0, columns + 1, 4 * group_size))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    bare(axes)
    return figure


def outlier_columns(weight: Numbers, activations: Numbers) -> Figure:
    """Draw for each input column its largest weight and the RMS of its activations; the largest of each is marked."""
    figure, rows = plt.subplots(2, 1, figsize=(8.4, 4.6), sharex=True)
    largest = np.abs(weight).max(axis=0)
    strength = np.sqrt((activations**2).mean(axis=0))
    for axes, sizes, label, colour in (
        (rows[0], largest, "largest |weight|", BLUE),
        (rows[1], strength, "RMS of the activations", GREEN),
    ):
        axes.vlines(np.arange(sizes.size), 0, sizes, color=colour, linewidth=0.7)
        top = int(sizes.argmax())
        axes.plot(top, sizes[top], "D", color=VERMILLION, markersize=7)
        axes.text(top + 14, sizes[top], f"column {top}: {sizes[top]:.3g}", color=VERMILLION, va="center", fontsize=11)
        axes.set(ylabel=label, ylim=(0, sizes[top] * 1.12), xlim=(-5, sizes.size + 5))
        bare(axes)
    rows[1].set_xlabel("input column")
    figure.tight_layout()
    return figure


def bits_against_error(points: Mapping[str, Sequence[tuple[str, float, float]]], ylabel: str) -> Figure:
    """Draw schemes as points, bits a weight to the right and error upwards (logarithmic), a marker a family.

    `points` maps the name of a family to (label, bits, error) of each of its members.
    """
    figure, axes = plt.subplots(figsize=(8.4, 5.4))
    named = []
    for (family, members), colour, marker in zip(points.items(), _COLOURS, _MARKS, strict=False):
        axes.plot(
            [bits for _, bits, _ in members], [error for _, _, error in members], marker, color=colour,
            markersize=8, label=family,
        )  # fmt: skip
        named += [(bits, error, label, colour) for label, bits, error in members]
    for cluster in _clusters(named):
        beside = max(bits for bits, *_ in cluster) + 0.3
        heights = _apart([math.log10(error) for _, error, _, _ in cluster], 0.1)
        for (bits, error, label, colour), height in zip(cluster, heights, strict=True):
            axes.annotate(
                label, xy=(bits, error), xytext=(beside, 10**height), va="center", fontsize=9, color=colour,
                arrowprops={"arrowstyle": "-", "color": "#BDBDBD", "lw": 0.8, "shrinkB": 5, "relpos": (0, 0.5)},
            )  # fmt: skip
    axes.set(xlabel="bits a weight, scales included", ylabel=ylabel, yscale="log")
    axes.grid(color="#ECECEC")
    axes.margins(x=0.16)
    axes.legend(frameon=False, loc="lower left")
    bare(axes)
    return figure


_Named = tuple[float, float, str, str]


def _clusters(named: list[_Named]) -> list[list[_Named]]:
    """Return the points in groups that lie more than one bit apart, each from the largest error to the smallest."""
    groups: list[list[_Named]] = []
    for point in sorted(named):
        if groups and point[0] - groups[-1][-1][0] <= 1:
            groups[-1].append(point)
        else:
            groups.append([point])
    return [sorted(group, key=lambda point: -point[1]) for group in groups]


def _apart(heights: list[float], gap: float) -> list[float]:
    """Return falling heights moved down where needed, so that each lies at least a gap below the one before."""
    moved: list[float] = []
    for height in heights:
        moved.append(min(height, moved[-1] - gap) if moved else height)
    return moved
