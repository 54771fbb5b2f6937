"""The figures of section 4: mixed precision."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MultipleLocator

from .._arrays import Array
from ..float_format import FloatFormat
from ..rounding import round_to
from ._page import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, bare

STYLES = ((VERMILLION, "-", "s"), (BLUE, "--", "o"), (GREEN, "-.", "^"), (PURPLE, ":", "D"))
"""Colour, kind of line and marker of each curve, in turn."""

FATES = {"zero": (VERMILLION, "xxx"), "subnormal": (ORANGE, "///"), "normal": (SKY, ""), "infinite": (PURPLE, "...")}
"""What becomes of a number in a format, with the colour and the hatching of its bars."""


def swallowed_updates(cases: Sequence[tuple[FloatFormat, float]], steps: int) -> Figure:
    """Draw, a panel a case, a weight that starts at 1 and gets the same update in each step, stored and true."""
    rows = -(-len(cases) // 2)
    figure, panels = plt.subplots(rows, 2, figsize=(8.4, 2.7 * rows), squeeze=False, layout="constrained")
    for axes, (fmt, update) in zip(panels.flat, cases, strict=False):
        weights = [1.0]
        for _ in range(steps):
            weights.append(float(round_to(weights[-1] + update, fmt)))
        ticks = np.arange(steps + 1)
        true = 1 + update * steps
        near = abs(true - weights[-1]) < 0.1 * abs(true - 1)  # then the two labels would cover each other
        axes.plot(ticks, 1 + update * ticks, "--", color=GREY, linewidth=1.4)
        axes.plot(ticks, weights, color=VERMILLION, linewidth=2.2, drawstyle="steps-post")
        axes.annotate(
            f"{fmt} ends at {weights[-1]:.6g}", (steps, weights[-1]), color=VERMILLION, fontsize=10,
            xytext=(0, -64 if near else 4), textcoords="offset points", ha="right", va="top" if near else "bottom",
            fontweight="bold",
        )  # fmt: skip
        axes.annotate(
            f"true: {true:g}", (steps, true), color=GREY, fontsize=10, xytext=(0, 3), textcoords="offset points",
            ha="right", va="bottom",
        )  # fmt: skip
        axes.set(title=f"{fmt}, +{update:g} a step", xlabel="step", ylabel="weight", xlim=(0, steps))
        axes.set_ylim(1 - 0.05 * (true - 1), 1 + 1.2 * (true - 1))
        bare(axes)
    for axes in panels.flat[len(cases) :]:
        axes.axis("off")
    return figure


def master_and_copy(master: Sequence[float], copy: Sequence[float]) -> Figure:
    """Draw a master weight and its narrow copy, step by step: the copy moves when the master has gone half a gap."""
    figure, axes = plt.subplots(figsize=(8.4, 3.8))
    steps = np.arange(len(master))
    jumps = np.flatnonzero(np.diff(copy)) + 1
    axes.plot(steps, master, "--", color=BLUE, linewidth=1.6, label="FP32 master")
    axes.plot(steps, copy, color=VERMILLION, linewidth=2.2, drawstyle="steps-post", label="copy for the model")
    axes.plot(jumps, np.asarray(copy)[jumps], "s", color=VERMILLION, markersize=6, label=f"{jumps.size} jumps")
    axes.set(xlabel="step", ylabel="weight")
    axes.legend(frameon=False)
    bare(axes)
    return figure


def loss_curves(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], ylabel: str = "loss") -> Figure:
    """Draw curves of (steps, losses) on a logarithmic axis, named at their ends."""
    figure, axes = plt.subplots(figsize=(8.4, 4.4))
    for (name, (steps, losses)), (colour, line, marker) in zip(curves.items(), STYLES, strict=False):
        axes.plot(
            steps, losses, line, color=colour, marker=marker, markevery=max(1, len(steps) // 12), markersize=6,
            linewidth=1.9, label=name,
        )  # fmt: skip
    axes.set(xlabel="step", ylabel=ylabel, yscale="log")
    axes.grid(color="#EEEEEE")
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    bare(axes)
    return figure


def fate(numbers: Array, fmt: FloatFormat) -> dict[str, Array]:
    """Return, for each of `FATES`, where an array of numbers meets it when it is stored in the format."""
    stored = np.abs(round_to(numbers, fmt))
    small = stored < float(fmt.smallest_normal)
    infinite = ~np.isfinite(stored)
    zero = stored == 0
    return {"zero": zero, "subnormal": small & ~zero, "normal": ~small & ~infinite, "infinite": infinite}


def gradient_window(gradients: Array, scales: Sequence[float], fmt: FloatFormat) -> Figure:
    """Draw, a row a scale, the histogram of the scaled gradients over the window of a format's normal numbers.

    Bars are a power of two wide and stacked by what becomes of their numbers (`FATES`); a row states the counts.
    """
    sizes = np.abs(np.asarray(gradients, np.float64))
    sizes = sizes[sizes > 0]
    logs = np.log2(sizes)
    low = math.floor(float(logs.min()) + math.log2(min(scales)))
    high = math.ceil(float(logs.max()) + math.log2(max(scales))) + 1
    edges = np.arange(low, high + 1)
    figure, panels = plt.subplots(
        len(scales), 1, figsize=(8.4, 1.75 * len(scales) + 0.7), sharex=True, squeeze=False, layout="constrained"
    )
    for axes, scale in zip(panels.flat, scales, strict=True):
        scaled = sizes * scale
        bottom = np.zeros(edges.size - 1)
        counts = []
        for name, where in fate(scaled, fmt).items():
            bars = np.histogram(np.floor(np.log2(scaled[where])), edges)[0]
            colour, hatch = FATES[name]
            axes.bar(
                edges[:-1], bars, 0.9, bottom, align="edge", color=colour, hatch=hatch, edgecolor="white", linewidth=0
            )
            bottom += bars
            if name != "normal":
                counts.append(f"{name} {int(where.sum()):,}")
        axes.axvspan(fmt.minexp, fmt.maxexp, color=GREEN, alpha=0.1, zorder=0)
        for edge in (fmt.minexp - fmt.mantissa_bits - 1, fmt.minexp, fmt.maxexp):
            axes.axvline(edge, color=GREY, linestyle=":", linewidth=1.2)
        axes.set_ylabel(f"S = $2^{{{math.log2(scale):g}}}$", rotation=0, ha="right", va="center", fontsize=12)
        axes.set_title(", ".join(counts), loc="right", fontsize=10, pad=2)
        axes.set(yticks=[], xlim=(low, high))
        bare(axes)
    last = panels.flat[-1]
    last.xaxis.set_major_locator(MultipleLocator(5))
    last.xaxis.set_major_formatter(lambda power, _: rf"$2^{{{power:.0f}}}$")
    last.set_xlabel(f"size of the scaled gradient; shaded: the normal numbers of {fmt}")
    handles = [Rectangle((0, 0), 1, 1, facecolor=c, hatch=h, edgecolor="white") for c, h in FATES.values()]
    figure.legend(handles, list(FATES), ncols=4, frameon=False, loc="outside upper center")
    return figure


def scaler_trace(scales: Sequence[float], skipped: Sequence[bool], peaks: Sequence[float], limit: float) -> Figure:
    """Draw a loss scale and the scaled peak of the gradients step by step; crosses mark skipped steps.

    `peaks` are the largest true gradients, `limit` the largest number of the format that stores them.
    """
    steps = np.arange(len(scales))
    missed = np.asarray(skipped, bool)
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(8.4, 5.4), sharex=True, layout="constrained")
    logs = np.log2(np.asarray(scales, np.float64))
    upper.plot(steps, logs, color=BLUE, linewidth=2, drawstyle="steps-post")
    upper.plot(steps[missed], logs[missed], "x", color=VERMILLION, markersize=9, markeredgewidth=2)
    upper.annotate(
        f"× {int(missed.sum())} skipped steps", (0.99, 0.93), xycoords="axes fraction", ha="right", va="top",
        color=VERMILLION, fontsize=11,
    )  # fmt: skip
    upper.yaxis.set_major_locator(MultipleLocator(1))
    upper.yaxis.set_major_formatter(lambda power, _: rf"$2^{{{power:.0f}}}$")
    upper.set(ylabel="loss scale S")
    scaled = np.log2(np.asarray(peaks, np.float64)) + logs
    lower.plot(steps, scaled, color=GREY, linewidth=1.2, drawstyle="steps-mid")
    lower.plot(steps[missed], scaled[missed], "x", color=VERMILLION, markersize=9, markeredgewidth=2)
    lower.axhline(math.log2(limit), color=PURPLE, linestyle="--", linewidth=1.4)
    lower.annotate(
        "above this line: infinity", (0.57, math.log2(limit)), xycoords=("axes fraction", "data"), ha="center",
        xytext=(0, 4), textcoords="offset points", va="bottom", color=PURPLE, fontsize=11,
    )  # fmt: skip
    lower.yaxis.set_major_formatter(lambda power, _: rf"$2^{{{power:.0f}}}$")
    lower.set(xlabel="step", ylabel="largest scaled gradient", xlim=(-2, len(scales)))
    for axes in (upper, lower):
        axes.grid(color="#EEEEEE")
        bare(axes)
    return figure


__all__ = ["gradient_window", "loss_curves", "master_and_copy", "scaler_trace", "swallowed_updates"]
