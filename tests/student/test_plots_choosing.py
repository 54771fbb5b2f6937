"""The figures of section 6: what is drawn is what the formats and the tensors say."""

from __future__ import annotations

import math

import matplotlib
import ml_dtypes
import numpy as np
import pytest

import numfmt as nf
from numfmt import plots


def bars(axes: matplotlib.axes.Axes) -> list[tuple[float, float, float]]:
    """Return (row, left, right) of each bar."""
    return [
        (patch.get_y() + patch.get_height() / 2, patch.get_x(), patch.get_x() + patch.get_width())
        for patch in axes.patches
    ]


def test_the_map_shows_each_format_from_its_smallest_number_to_its_largest() -> None:
    [axes] = plots.format_map([nf.E4M3, nf.FP16, nf.BF16], {"ones": np.ones(4)}).axes
    at = {name.get_text(): row for name, row in zip(axes.get_yticklabels(), axes.get_yticks(), strict=True)}
    assert list(at) == ["FP16", "BF16", "E4M3"]  # the finest on top
    for name, dtype in (("FP16", np.float16), ("E4M3", ml_dtypes.float8_e4m3fn)):
        info = ml_dtypes.finfo(dtype)
        ends = [math.log2(float(x)) for x in (info.smallest_subnormal, info.smallest_normal, info.max)]
        drawn = sorted((left, right) for row, left, right in bars(axes) if row == pytest.approx(at[name]))
        assert np.allclose(drawn, [ends[:2], ends[1:]])
    cut = [(left, right) for row, left, right in bars(axes) if row == pytest.approx(at["BF16"])]
    assert (-40, 40) in cut  # BF16 goes on at both ends


def test_the_map_shows_the_ends_and_the_middle_of_a_tensor() -> None:
    powers = np.arange(-10, 11)
    numbers = np.concatenate([np.exp2(powers) * (-1.0) ** powers, [0.0]])
    [axes] = plots.format_map([nf.FP16], {"powers": numbers}).axes
    whole, middle = ([round(x, 9) for x in line.get_xdata()] for line in axes.lines[:2])
    assert whole == [-10, 10]
    assert middle == [-9, 9]


def test_a_lane_ends_where_its_format_is_out() -> None:
    figure = plots.decision_path(["a", "b", "c"], [("first", ["a", "c"]), ("second", ["c"])])
    lanes = {-line.get_ydata()[0]: line.get_xdata()[1] for line in figure.axes[0].lines if len(line.get_xdata()) == 2}
    crosses = {
        (line.get_xdata()[0], -line.get_ydata()[0]) for line in figure.axes[0].lines if line.get_marker() == "X"
    }
    assert crosses == {(2, 0), (1, 1)}
    assert lanes[0] == 2 and lanes[1] == 1 and lanes[2] > 2
    assert [text.get_text() for text in figure.axes[0].texts].count("c") == 2


def test_a_format_that_is_out_can_not_come_back() -> None:
    with pytest.raises(ValueError, match="b can't survive 'second'"):
        plots.decision_path(["a", "b"], [("first", ["a"]), ("second", ["b"])])


def test_the_cache_grows_by_its_bytes_per_token() -> None:
    contexts = [1024, 4096, 3000]
    figure = plots.kv_memory({"wide": 2**20, "narrow": 1000}, contexts, 3)
    wide, narrow, limit = (list(line.get_ydata()) for line in figure.axes[0].lines)
    assert wide == [1, 4, 3000 / 1024]
    assert np.allclose(narrow, np.array(contexts) * 1000 / 1024**3)
    assert limit == [3, 3]
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["1k", "4k", "3,000"]


def test_the_grid_shows_what_each_format_loses() -> None:
    numbers = np.array([1.0, 1e-9, 2.0**-20, 1e5])  # in FP16: kept, zero, subnormal, overflowed
    [axes] = plots.census_grid([nf.census(numbers, [nf.FP16, nf.BF16], "mixed")]).axes
    assert "0 25.0%\n∞ 25.0%" in [text.get_text() for text in axes.texts]
    assert "all kept" in [text.get_text() for text in axes.texts]
    parts = [(left, right) for _, left, right in bars(axes)][1:4]
    assert np.allclose(parts, [(0, 0.225), (0.225, 0.45), (0.675, 0.9)])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["FP16", "BF16"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["mixed"]


def test_a_small_share_is_neither_hidden_nor_called_nothing() -> None:
    numbers = np.ones(10_000)
    numbers[0] = 1e6
    [axes] = plots.census_grid([nf.census(numbers, [nf.FP16], "outlier")]).axes
    assert "∞ <0.1%" in [text.get_text() for text in axes.texts]
    last = bars(axes)[3]
    assert last[2] - last[1] == pytest.approx(0.9 * 0.02)
