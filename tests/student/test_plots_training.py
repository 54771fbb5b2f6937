"""The figures of section 4: what is drawn is computed again here, with torch, NumPy's float16 and integers."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import torch

import numfmt as nf
from numfmt import plots


def texts(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


def histogram(axes: Any) -> list[tuple[int, int]]:
    """Return the left edge and the height of each bar."""
    bars = [patch for patch in axes.patches if abs(patch.get_width() - 0.9) < 1e-6]
    return [(round(bar.get_x()), int(bar.get_height())) for bar in bars]


def stored(dtype: torch.dtype, update: float, steps: int) -> list[float]:
    """Return the weights as torch's scalars of that type add the update: in float64, rounded by the store."""
    weight, seen = torch.ones((), dtype=dtype), [1.0]
    for _ in range(steps):
        weight = (weight.double() + update).to(dtype)
        seen.append(float(weight))
    return seen


def test_the_weights_are_those_that_torch_stores_beside_the_true_ones() -> None:
    cases = [(nf.BF16, 0.01), (nf.BF16, 0.001), (nf.FP16, 0.001)]
    figure = plots.swallowed_updates(cases, 300)
    for axes, (fmt, update), dtype in zip(
        figure.axes, cases, (torch.bfloat16, torch.bfloat16, torch.float16), strict=False
    ):
        true, drawn = (line.get_ydata() for line in axes.lines)
        assert list(drawn) == stored(dtype, update, 300)
        assert np.allclose(true, 1 + update * np.arange(301), rtol=1e-12)
        assert f"{fmt} ends at {drawn[-1]:.6g}" in texts(axes)
        assert f"true: {1 + 300 * update:g}" in texts(axes)
    assert [axes.axison for axes in figure.axes] == [True, True, True, False]


def test_the_copy_jumps_where_its_stored_value_changes() -> None:
    master = np.float32(1) + np.arange(40, dtype=np.float32) * np.float32(0.001)
    copy = torch.tensor(master).bfloat16().float().numpy()
    [axes] = plots.master_and_copy(master, copy).axes
    above, below, marks = axes.lines
    assert list(above.get_ydata()) == list(master) and list(below.get_ydata()) == list(copy)
    changes = [step for step in range(1, 40) if copy[step] != copy[step - 1]]
    assert list(marks.get_xdata()) == changes and list(marks.get_ydata()) == [copy[step] for step in changes]
    assert len(changes) > 2 and f"{len(changes)} jumps" in [text.get_text() for text in axes.get_legend().texts]


def test_the_loss_curves_are_those_given_each_in_a_style_of_its_own() -> None:
    curves = {name: ([0, 5, 10], [1.0, 0.1 * k, 0.01 * k]) for k, name in enumerate("abcd", 1)}
    [axes] = plots.loss_curves(curves, "mean squared error").axes
    assert [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines] == list(curves.values())
    styles = [(line.get_color(), line.get_linestyle(), line.get_marker()) for line in axes.lines]
    assert all(len(set(each)) == 4 for each in zip(*styles, strict=True))
    assert axes.get_yscale() == "log" and axes.get_ylabel() == "mean squared error"
    assert [text.get_text() for text in axes.get_legend().texts] == list("abcd")


def test_each_row_counts_what_becomes_of_the_scaled_gradients() -> None:
    sizes = np.ldexp(np.arange(1024, 2048, 64), -np.arange(12, 48)[:, None]).ravel()
    gradients = np.where(np.arange(sizes.size) % 2, -sizes, sizes)
    scales = [1, 2.0**10, 2.0**24]
    figure = plots.gradient_window(gradients, scales, nf.FP16)
    for axes, scale in zip(figure.axes, scales, strict=True):
        with np.errstate(over="ignore"):
            half = (sizes * scale).astype(np.float16)
        zero, infinite = half == 0, np.isinf(half)
        subnormal = ~zero & (half < np.finfo(np.float16).tiny)
        counts = f"zero {zero.sum():,}, subnormal {subnormal.sum():,}, infinite {infinite.sum():,}"
        assert axes.get_title("right") == counts
        bars = histogram(axes)
        each = len(bars) // 4
        drawn = [sum(h for _, h in bars[k * each : (k + 1) * each]) for k in range(4)]
        normal = sizes.size - zero.sum() - subnormal.sum() - infinite.sum()
        assert drawn == [zero.sum(), subnormal.sum(), normal, infinite.sum()]
        # A bar that begins at k holds the numbers from 2**k to below 2**(k + 1).
        for power, count in collections.Counter((np.frexp(sizes * scale)[1] - 1).tolist()).items():
            assert sum(height for left, height in bars if left == power) == count


def test_gradients_of_zero_are_left_out() -> None:
    [axes] = plots.gradient_window(np.array([0.0, 1.0, -2.0]), [1], nf.FP16).axes
    assert sum(height for _, height in histogram(axes)) == 2


def test_the_trace_shows_the_scales_and_a_cross_for_each_skipped_step() -> None:
    scales, skipped = [8.0, 4.0, 4.0, 8.0, 4.0], [True, False, False, True, False]
    peaks = [1.0, 1.0, 0.5, 1.0, 1.0]
    upper, lower = plots.scaler_trace(scales, skipped, peaks, 4).axes
    assert list(upper.lines[0].get_ydata()) == [3, 2, 2, 3, 2]
    assert list(lower.lines[0].get_ydata()) == [3, 2, 1, 3, 2]
    for axes in (upper, lower):
        assert list(axes.lines[1].get_xdata()) == [0, 3] and axes.lines[1].get_marker() == "x"
        assert list(axes.lines[1].get_ydata()) == [3, 3]
    assert "× 2 skipped steps" in texts(upper)
    assert set(lower.lines[2].get_ydata()) == {2}
