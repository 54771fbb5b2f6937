"""The figures of section 6: choosing a format."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from ..float_format import FloatFormat
from ..tallying import Census
from ._page import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, bare

LIGHT = "#D0D0D0"
MARKED_LINES = ((BLUE, "o"), (VERMILLION, "s"), (GREEN, "^"), (ORANGE, "D"), (PURPLE, "v"), (SKY, "P"))
"""Colour and marker of each line of a chart, in turn."""


def format_map(
    formats: Sequence[FloatFormat], tensors: Mapping[str, np.ndarray[Any, Any]], reach: int = 40
) -> Figure:
    """Draw the ranges of formats as bars, finest on top, and below them the magnitudes of tensors.

    A bar is solid from the smallest normal number to the largest and pale where numbers are subnormal; it is cut at
    2**-reach and 2**reach. Of each tensor the line joins the smallest and the largest magnitude that isn't zero, and
    the thick part holds the middle 90 percent.
    """
    rows = sorted(formats, key=lambda fmt: -fmt.mantissa_bits)
    figure, axes = plt.subplots(figsize=(8.6, 0.5 * (len(rows) + len(tensors)) + 1.4))
    for row, fmt in enumerate(rows):
        bottom = max(fmt.minexp - fmt.mantissa_bits, -reach)
        normal, top = max(fmt.minexp, -reach), min(math.log2(float(fmt.max)), reach)
        axes.barh(-row, normal - bottom, left=bottom, height=0.55, color=SKY, alpha=0.45)
        axes.barh(-row, top - normal, left=normal, height=0.55, color=BLUE)
        for end, cut, mark in ((bottom, -reach, "◀"), (top, reach, "▶")):
            if end == cut:
                axes.text(end, -row, mark, color="white", ha="left" if end < 0 else "right", va="center", fontsize=9)
        plural = "" if fmt.mantissa_bits == 1 else "s"
        axes.text(reach + 1, -row, f"{fmt.mantissa_bits} mantissa bit{plural}", color=BLUE, va="center", fontsize=10)
    for row, (name, numbers) in enumerate(tensors.items(), len(rows)):
        sizes = np.sort(np.log2(np.abs(numbers[numbers != 0]).astype(np.float64)), axis=None)
        low, high = sizes[round(0.05 * (sizes.size - 1))], sizes[round(0.95 * (sizes.size - 1))]
        axes.plot([sizes[0], sizes[-1]], [-row - 0.3] * 2, "|-", color=VERMILLION, linewidth=1.6, markersize=10)
        axes.plot([low, high], [-row - 0.3] * 2, color=VERMILLION, linewidth=7, solid_capstyle="butt")
        axes.text(reach + 1, -row - 0.3, name, color=VERMILLION, va="center", fontsize=10)
    axes.axhline(-len(rows) + 0.35, color=LIGHT, linewidth=1)
    axes.set_yticks([-row for row in range(len(rows))], [str(fmt) for fmt in rows], fontweight="bold")
    axes.set(xlim=(-reach, reach), ylim=(-len(rows) - len(tensors) + 0.2, 0.6), xlabel="magnitude, as a power of two")
    axes.grid(axis="x", color=LIGHT, linewidth=0.5)
    axes.set_axisbelow(True)
    bare(axes)
    axes.spines["left"].set_visible(False)
    axes.tick_params(left=False)
    return figure


def decision_path(candidates: Sequence[str], steps: Sequence[tuple[str, Sequence[str]]]) -> Figure:
    """Draw a lane for each candidate that ends, with a cross, at the first step whose survivors it isn't among.

    `steps` are questions with the names that survive each; raises ValueError for a name that wasn't left before.
    """
    left = list(candidates)
    for question, survivors in steps:
        strange = [name for name in survivors if name not in left]
        if strange:
            raise ValueError(f"decision_path: {', '.join(strange)} can't survive {question!r}: it was out before")
        left = [name for name in left if name in survivors]
    figure, axes = plt.subplots(figsize=(8.4, 0.5 * len(candidates) + 1.5))
    for row, name in enumerate(candidates):
        out = next((place for place, (_, survivors) in enumerate(steps, 1) if name not in survivors), None)
        end = len(steps) + 0.6 if out is None else out
        colour = BLUE if out is None else GREY
        axes.plot([0, end], [-row, -row], color=colour, linewidth=3 if out is None else 1.8, zorder=1)
        if out is None:
            axes.plot(end, -row, ">", color=BLUE, markersize=10)
            axes.text(end + 0.1, -row, name, color=BLUE, va="center", fontsize=12, fontweight="bold")
        else:
            axes.plot(end, -row, "X", color=VERMILLION, markersize=11, zorder=3)
        axes.text(-0.06, -row, name, ha="right", va="center", fontsize=11, color=colour)
    for place, (question, _) in enumerate(steps, 1):
        axes.axvline(place, color=LIGHT, linewidth=8, zorder=0)
        axes.text(place, 0.75, question, ha="center", va="bottom", fontsize=11)
    axes.set(xlim=(-0.1, len(steps) + 1.1), ylim=(-len(candidates) + 0.4, 0.9))
    axes.axis("off")
    return figure


def kv_memory(bytes_per_token: Mapping[str, int], contexts: Sequence[int], limit_gib: float) -> Figure:
    """Draw the memory of a cache in GiB against the tokens in it, a line each; the dashed line is what there is."""
    figure, axes = plt.subplots(figsize=(8, 4.6))
    for (name, each), (colour, marker) in zip(bytes_per_token.items(), MARKED_LINES, strict=False):
        sizes = [each * tokens / 2**30 for tokens in contexts]
        axes.plot(contexts, sizes, color=colour, marker=marker, linewidth=1.8, markersize=6)
        axes.text(contexts[-1] * 1.1, sizes[-1], name, color=colour, va="center", fontsize=10)
    axes.plot([contexts[0], contexts[-1]], [limit_gib] * 2, "--", color=GREY)
    axes.text(contexts[0], limit_gib * 1.12, f"what is left: {limit_gib:g} GiB", color=GREY, fontsize=10)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks(contexts, [_thousands(tokens) for tokens in contexts])
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set(xlabel="tokens in the cache", ylabel="GiB")
    axes.minorticks_off()
    axes.grid(color=LIGHT, linewidth=0.5)
    bare(axes)
    return figure


def _thousands(tokens: int) -> str:
    return f"{tokens // 1024}k" if tokens >= 1024 and tokens % 1024 == 0 else f"{tokens:,}"


def census_grid(censuses: Sequence[Census]) -> Figure:
    """Draw what each format loses of each tensor: a row a tensor, a column a format, shares as bars and in figures.

    From the left of a cell comes the share that becomes zero (orange), from its right the share that overflows
    (vermillion), and between the share that turns subnormal (sky); a share is never drawn thinner than a fiftieth.
    """
    columns = [row.format for row in censuses[0].formats]
    figure, axes = plt.subplots(figsize=(1.35 * len(columns) + 1.6, 0.85 * len(censuses) + 1.2))
    for place, census in enumerate(censuses):
        for column, row in enumerate(census.formats):
            zeroed, subnormal, over = (
                max(x, 0.02) if x > 0 else 0.0 for x in (row.zeroed, row.subnormal, row.overflowed)
            )
            y = -place
            axes.barh(y, 0.9, left=column, height=0.62, color="white", edgecolor=LIGHT)
            axes.barh(y, 0.9 * zeroed, left=column, height=0.62, color=ORANGE)
            axes.barh(y, 0.9 * subnormal, left=column + 0.9 * zeroed, height=0.62, color=SKY, alpha=0.6)
            axes.barh(y, 0.9 * over, left=column + 0.9 * (1 - over), height=0.62, color=VERMILLION, hatch="//")
            axes.text(column + 0.45, y, _losses(row.zeroed, row.overflowed), ha="center", va="center", fontsize=9)
    axes.set_yticks([-place for place in range(len(censuses))], [census.name for census in censuses])
    axes.set_xticks([column + 0.45 for column in range(len(columns))], columns, fontweight="bold")
    axes.xaxis.tick_top()
    axes.set(xlim=(-0.05, len(columns)), ylim=(-len(censuses) + 0.1, 0.5))
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    keys = ((ORANGE, "0: becomes zero"), (SKY, "subnormal"), (VERMILLION, "∞: overflows"))
    for column, (colour, text) in enumerate(keys):
        axes.text(column * 1.7, -len(censuses) + 0.2, f"■ {text}", color=colour, fontsize=10)
    return figure


def _losses(zeroed: float, overflowed: float) -> str:
    lost = [f"{mark} {_share(share)}" for mark, share in (("0", zeroed), ("∞", overflowed)) if share > 0]
    return "\n".join(lost) or "all kept"


def _share(share: float) -> str:
    return f"{share:.1%}" if share >= 0.001 else "<0.1%"
