"""The figures of section 5: what is drawn is what the quantizer gives."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

from numfmt import plots


def ticks(axes: matplotlib.axes.Axes) -> list[list[float]]:
    """Return the x of the lines of each collection that has some."""
    return [[float(path[0][0]) for path in each.get_segments()] for each in axes.collections]


def test_the_grids_are_the_values_that_the_codes_stand_for() -> None:
    x = np.array([0.0, 0.25, 3.75, 7.5])
    upper, lower = plots.code_grids(x, 4).axes
    used_absmax, free_absmax, used_zero, free_zero = ticks(upper)
    step = 7.5 / 7
    assert np.allclose(sorted(used_absmax + free_absmax), step * np.arange(-7, 8))
    assert np.allclose(sorted(used_zero + free_zero), 0.5 * np.arange(16))
    assert np.allclose(used_absmax, [0, 4 * step, 7 * step])  # 3.75 is 3.5 steps: the tie goes to 4
    assert np.allclose(used_zero, [0, 4.0, 7.5])  # 0.25 is half a step: the tie goes to 0; 3.75 is 7.5 of them
    assert sum(bar.get_height() for bar in lower.patches) == x.size


def test_the_shadow_covers_the_row_with_one_scale_and_one_group_with_many() -> None:
    x = np.array([0.02, -0.03, 0.01, 0.04, 0.03, -0.04, 1.0, 0.02])
    whole, grouped = plots.outlier_shadow(x, 4, 4).axes

    def drawn(axes: matplotlib.axes.Axes, label: str) -> dict[int, float]:
        [line] = [each for each in axes.lines if each.get_label() == label]
        return dict(zip(map(int, line.get_xdata()), map(float, line.get_ydata()), strict=True))

    assert drawn(whole, "weight") == {place: x[place] for place in (0, 1, 2, 3, 4, 5, 7)}
    assert set(drawn(whole, "comes back as 0")) == {0, 1, 2, 3, 4, 5, 7} and not drawn(whole, "comes back as")
    assert set(drawn(grouped, "comes back as 0")) == {4, 5, 7}
    step = 0.04 / 7
    for place, back in drawn(grouped, "comes back as").items():
        assert back == pytest.approx(step * round(x[place] / step)) and place < 4
    assert [text.get_text() for text in grouped.texts] == ["1"]


def test_the_errors_stand_at_their_names() -> None:
    errors = {"INT8": {"tensor": 40.0, "row": 2.0}, "INT4": {"tensor": 97.0, "row": 20.0, "g32": 10.0}}
    [axes] = plots.granularity_errors(errors).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["tensor", "row", "g32"]
    drawn = {line.get_label(): list(zip(line.get_xdata(), line.get_ydata(), strict=True)) for line in axes.lines}
    assert drawn == {"INT8": [(40.0, 0), (2.0, 1)], "INT4": [(97.0, 0), (20.0, 1), (10.0, 2)]}
    assert {text.get_text() for text in axes.texts} == {"40 %", "2 %", "97 %", "20 %", "10 %"}


def test_the_layouts_mark_the_groups_that_hold_an_outlier() -> None:
    layouts = {"aligned": range(32), "straddling": range(16, 48), "strided": range(0, 256, 16)}
    [axes] = plots.group_layouts(layouts, 256, 32).axes
    hatched = [(patch.get_x(), round(patch.get_y() + 0.32)) for patch in axes.patches if patch.get_hatch()]
    assert hatched == [(0, 0), (0, 1), (32, 1), *((group * 32, 2) for group in range(8))]
    assert len(axes.patches) == 24
    assert [text.get_text() for text in axes.texts] == ["1 of 8 groups", "2 of 8 groups", "8 of 8 groups"]
    assert ticks(axes) == [[float(column) for column in outliers] for outliers in layouts.values()]


def test_the_columns_show_their_largest_weight_and_their_strength() -> None:
    weight = np.array([[1.0, -5.0, 0.5], [-2.0, 0.0, 0.25]])
    activations = np.array([[3.0, 0.0, 1.0], [4.0, 2.0, 1.0]])
    for axes, sizes, top in zip(
        plots.outlier_columns(weight, activations).axes,
        ([2.0, 5.0, 0.5], [12.5**0.5, 2**0.5, 1.0]),
        ("column 1: 5", "column 0: 3.54"),
        strict=True,
    ):
        [lines] = axes.collections
        assert np.allclose([path[1][1] for path in lines.get_segments()], sizes)
        assert [text.get_text() for text in axes.texts] == [top]


def test_labels_of_close_points_stand_apart() -> None:
    points = {"INT4": [("a", 4.1, 10.0), ("b", 4.2, 9.9), ("c", 4.0, 9.8)], "INT8": [("d", 8.0, 9.9)]}
    [axes] = plots.bits_against_error(points, "error").axes
    heights = {text.get_text(): float(text.get_position()[1]) for text in axes.texts}
    assert heights["a"] == pytest.approx(10.0) and heights["d"] == pytest.approx(9.9)
    assert heights["a"] > 1.2 * heights["b"] > 1.4 * heights["c"]


def test_every_scheme_is_a_labelled_point() -> None:
    points = {"INT4": [("g32", 4.5, 10.0), ("row", 4.01, 20.0)], "MX": [("MXFP4", 4.25, 12.0)]}
    [axes] = plots.bits_against_error(points, "error").axes
    drawn = {line.get_label(): list(zip(line.get_xdata(), line.get_ydata(), strict=True)) for line in axes.lines}
    assert drawn == {"INT4": [(4.5, 10.0), (4.01, 20.0)], "MX": [(4.25, 12.0)]}
    assert {(text.get_text(), *text.xy) for text in axes.texts} == {
        ("g32", 4.5, 10.0), ("row", 4.01, 20.0), ("MXFP4", 4.25, 12.0),
    }  # fmt: skip
