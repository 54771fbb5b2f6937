"""The figures of section 1: integers."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from ..formats import IntFormat
from ._page import BLUE, GREY, VERMILLION, bare


def number_wheel(fmt: IntFormat) -> Figure:
    """Draw the codes of a signed integer format of at most 5 bits around a wheel, zero on top.

    Inside stands the code as bits, outside the value; negative values are vermillion squares, the others blue
    circles. The dashed line is the place where the largest value meets the smallest.
    """
    if fmt.bits > 5 or not fmt.signed:
        raise ValueError(f"a wheel shows signed formats of at most 5 bits, not {fmt.name}")
    figure, axes = plt.subplots(figsize=(5.6, 5.6))
    around = np.linspace(0, 2 * np.pi, 200)
    axes.plot(np.cos(around), np.sin(around), color="#D0D0D0", linewidth=1, zorder=0)
    for code in range(fmt.count):
        value = code if code <= fmt.max else code - fmt.count
        turn = np.pi / 2 - 2 * np.pi * code / fmt.count
        x, y = np.cos(turn), np.sin(turn)
        colour, marker = (VERMILLION, "s") if value < 0 else (BLUE, "o")
        axes.plot(x, y, marker, color=colour, markersize=9)
        axes.text(0.8 * x, 0.8 * y, f"{code:0{fmt.bits}b}", ha="center", va="center", family="monospace", fontsize=10)
        axes.text(
            1.2 * x, 1.2 * y, f"{value:+d}" if value else "0", ha="center", va="center",
            color=colour, fontsize=13, fontweight="bold",
        )  # fmt: skip
    seam = np.pi / 2 - 2 * np.pi * (fmt.max + 0.5) / fmt.count
    along = np.array([0.35, 1.32])
    axes.plot(along * np.cos(seam), along * np.sin(seam), "--", color=GREY)
    axes.annotate(
        "", xy=(0.52 * np.cos(np.pi / 6), 0.52 * np.sin(np.pi / 6)), xytext=(0.0, 0.52),
        arrowprops={"arrowstyle": "->", "color": GREY, "connectionstyle": "arc3,rad=-0.3"},
    )  # fmt: skip
    axes.text(0, 0.16, "add 1: one step\nclockwise", ha="center", va="center", color=GREY, fontsize=11)
    axes.set(xlim=(-1.45, 1.45), ylim=(-1.45, 1.45), aspect="equal")
    axes.axis("off")
    return figure


def wrap_sawtooth(fmt: IntFormat, reach: int) -> Figure:
    """Draw what a format stores against the true result, from -reach to reach; the diagonal is the truth."""
    true = np.arange(-reach, reach + 1)
    stored = (true - fmt.min) % fmt.count + fmt.min
    figure, axes = plt.subplots(figsize=(8, 4.2))
    axes.plot(true, true, "--", color=GREY, linewidth=1.2)
    axes.text(reach * 0.78, reach * 0.9, "the true result", color=GREY, ha="right", fontsize=11)
    for start in np.unique((true - fmt.min) // fmt.count):
        piece = (true - fmt.min) // fmt.count == start
        axes.plot(true[piece], stored[piece], color=BLUE if start == 0 else VERMILLION, linewidth=2.4)
    axes.axvspan(fmt.min, fmt.max, color=BLUE, alpha=0.08)
    axes.text(0, fmt.max + reach * 0.13, f"in range: {fmt.min} … {fmt.max}", color=BLUE, ha="center", fontsize=11)
    axes.set(xlabel="true result", ylabel=f"what {fmt.alias} stores", ylim=(-reach * 1.05, reach * 1.05))
    axes.set_xticks([-reach, fmt.min, 0, fmt.max, reach])
    axes.set_yticks([fmt.min, 0, fmt.max])
    bare(axes)
    return figure


def running_sums(exact: np.ndarray[Any, Any], wrapped: np.ndarray[Any, Any], fmt: IntFormat) -> Figure:
    """Draw an exact running sum beside the same sum in an accumulator of the given format."""
    figure, axes = plt.subplots(figsize=(8, 4.2))
    steps = np.arange(1, len(exact) + 1)
    axes.axhspan(fmt.min, fmt.max, color=BLUE, alpha=0.12)
    axes.plot(steps, wrapped, ".", color=VERMILLION, markersize=1.8)
    axes.plot(steps, exact, color=BLUE, linewidth=1.6)
    axes.text(steps[-1], exact[-1], " exact", color=BLUE, va="center", fontsize=11)
    axes.text(steps[-1], wrapped[-1], f" {fmt.alias}", color=VERMILLION, va="center", fontsize=11)
    axes.set(xlabel="products added so far", ylabel="running sum", xlim=(0, len(exact)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    bare(axes)
    return figure
