"""The figures of section 3: what is drawn is computed again here, with NumPy, torch and fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

import numfmt as nf
from numfmt import plots


def texts(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


def points(axes: Any, marker: str) -> set[tuple[float, float]]:
    """Return the points drawn with this marker."""
    return {
        (float(x), float(y))
        for line in axes.lines
        if line.get_marker() == marker
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    }


def running(dtype: torch.dtype, terms: list[float]) -> list[float]:
    """Return the partial sums as torch's scalars of that type add them, one addition at a time."""
    total, sums = torch.zeros((), dtype=dtype), []
    for term in terms:
        total = total + torch.tensor(term, dtype=dtype)
        sums.append(float(total))
    return sums


def test_the_landing_is_where_float32_adds() -> None:
    [axes] = plots.landing(nf.FP32, 1e8, [1, 4, 5]).axes
    arrows = {text.xyann[0]: text.xy[0] for text in axes.texts if getattr(text, "arrow_patch", None)}
    assert arrows == {1e8 + k: float(np.float32(1e8) + np.float32(k)) for k in (1, 4, 5)}
    seats = sorted(x for x, _ in points(axes, "|"))
    assert all(float(np.nextafter(np.float32(a), np.float32(np.inf))) == b for a, b in itertools.pairwise(seats))
    assert 1e8 in seats and max(seats) > 1e8 + 5
    # What changes nothing is a vermillion square, what changes something a blue circle.
    assert {x for x, y in points(axes, "s") if y == 1} == {1e8 + 1, 1e8 + 4}
    assert {x for x, y in points(axes, "o") if y == 1} == {1e8 + 5}


def test_the_staircase_is_what_torch_adds_and_its_marker_is_the_first_addition_without_effect() -> None:
    [axes] = plots.stall_staircase([nf.FP16, nf.BF16], 0.1, 2500).axes
    lines = [line for line in axes.lines if len(line.get_xdata()) == 2500]
    assert np.allclose(lines[0].get_ydata(), 0.1 * np.arange(1, 2501), rtol=1e-12)
    marks = [line for line in axes.lines if len(line.get_xdata()) == 1]
    for line, mark, dtype in zip(lines[1:], marks, (torch.float16, torch.bfloat16), strict=True):
        sums = running(dtype, [0.1] * 2500)
        assert list(line.get_ydata()) == sums
        first = next(i for i in range(1, 2500) if sums[i] == sums[i - 1]) + 1
        assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (first, sums[-1])
        assert f"addition {first:,}: {sums[-1]:g}, and stays" in texts(axes)


def test_a_staircase_that_never_stalls_has_no_marker() -> None:
    [axes] = plots.stall_staircase([nf.FP32], 0.5, 100).axes
    assert [line for line in axes.lines if len(line.get_xdata()) == 1] == []


@pytest.mark.parametrize("terms", [2, 4, 8, 16])
def test_the_trees_have_an_addition_less_than_terms_and_the_heights_they_claim(terms: int) -> None:
    running_axes, pairwise_axes = plots.summation_trees(terms).axes
    for axes, marker, height in ((running_axes, "o", terms - 1), (pairwise_axes, "s", int(math.log2(terms)))):
        nodes = {(x, y) for x, y in points(axes, marker) if y > 0}
        assert len(nodes) == terms - 1 and max(y for _, y in nodes) == height
        assert f"up to {height} roundings" in axes.get_title()
        # Every node but the last goes into exactly one addition above it, every leaf too; each has two below.
        edges = [line for line in axes.lines if len(line.get_xdata()) == 2]
        lower = [(line.get_xdata()[0], line.get_ydata()[0]) for line in edges]
        upper = [(line.get_xdata()[1], line.get_ydata()[1]) for line in edges]
        leaves = {(float(i), 0) for i in range(terms)}
        assert sorted(lower) == sorted((nodes | leaves) - {max(nodes, key=lambda node: node[1])})
        assert all(upper.count(node) == 2 for node in nodes)


def test_trees_of_other_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="power of two"):
        plots.summation_trees(6)


def test_the_bounds_are_highams_and_the_errors_those_given() -> None:
    sizes = [8, 100, 4096]
    errors = {"running": [1e-7, 0.0, 3e-6], "pairwise": [2e-8, 3e-8, 4e-8], "Kahan": [1e-8, 1e-8, 2e-8]}
    [axes] = plots.error_growth(sizes, errors, 23).axes
    drawn = [line.get_ydata() for line in axes.lines]
    bounds = {
        "running": [(n - 1) / 2**24 for n in sizes],
        "pairwise": [k / 2**24 for k in (3, 7, 12)],
        "Kahan": [2**-23] * 3,
    }
    for number, method in enumerate(errors):
        assert np.allclose(drawn[2 * number], bounds[method], rtol=1e-12)
        shown = drawn[2 * number + 1]
        assert [0.0 if math.isnan(y) else y for y in shown] == errors[method]
    assert {"bound (n − 1) u", "bound ⌈log₂ n⌉ u", "bound 2 u", "running sum"} <= set(texts(axes))
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_the_bounds_hold_for_the_librarys_own_sums() -> None:
    x = np.abs(np.random.default_rng(3).standard_normal(1000)).astype(np.float32)
    exact = sum(Fraction(float(v)) for v in x)
    methods = {"running": nf.running_sum, "pairwise": nf.pairwise_sum, "Kahan": nf.kahan_sum}
    errors = {name: [float(abs(Fraction(f(x, nf.FP32)) - exact) / exact)] for name, f in methods.items()}
    [axes] = plots.error_growth([1000], errors, 23).axes
    for bound, found in zip(axes.lines[::2], axes.lines[1::2], strict=True):
        shown = found.get_ydata()[0]
        assert math.isnan(shown) or shown <= bound.get_ydata()[0]


def test_the_histogram_holds_every_order_at_its_distance() -> None:
    sums = [1.5, 1.0, 1.0, 2.0, 1.25, 1.0]
    [axes] = plots.order_histogram(sums, 1.2).axes
    assert sum(patch.get_height() for patch in axes.patches) == len(sums)
    for value in (1.0, 1.25, 1.5, 2.0):
        bar = [p for p in axes.patches if p.get_x() - 1e-9 <= value - 1.2 <= p.get_x() + p.get_width() + 1e-9]
        assert sums.count(value) in [p.get_height() for p in bar]
    assert any("6 orders\n4 different sums" in text for text in texts(axes))


def test_equal_sums_make_one_bar() -> None:
    [axes] = plots.order_histogram([3.0, 3.0], 3.0).axes
    assert [patch.get_height() for patch in axes.patches] == [2]


def test_the_error_paths_are_the_largest_distances_so_far() -> None:
    exact = [1.0, 2.0, 3.0, 4.0]
    [axes] = plots.sum_errors({"a": [1.0, 2.5, 3.25, 4.0], "b": [1.25, 2.0, 2.0, 4.5]}, exact).axes
    first, second = (list(line.get_ydata()) for line in axes.lines)
    assert math.isnan(first[0]) and first[1:] == [0.5, 0.5, 0.5]
    assert second == [0.25, 0.25, 1.0, 1.0]
    assert texts(axes) == ["a", "b"]


def test_a_variance_without_meaning_gets_a_cross() -> None:
    means, true = [1.0, 10.0, 100.0], [1.0, 0.5, 1.0]
    curves = {"one pass": [1.5, 0.0, -8.0], "two passes": [1.0, 0.25, 1.5]}
    [axes] = plots.variance_against_mean(means, curves, true).axes
    assert points(axes, "x") == {(10.0, 1.0), (100.0, 9.0)}
    assert points(axes, "o") == {(1.0, 0.5), (10.0, 1.0), (100.0, 9.0)}
    squares = sorted(points(axes, "s"))
    assert squares[1:] == [(10.0, 0.5), (100.0, 0.5)] and math.isnan(squares[0][1])


def test_the_exponentials_are_those_of_the_logits_and_crosses_are_beyond_the_format() -> None:
    logits = [95.0, 88.0, 89.0]
    plain, shifted = plots.exponentials(logits, nf.BF16).axes
    over = {z for z in logits if math.exp(z) > float(torch.finfo(torch.bfloat16).max)}
    assert over == {95.0, 89.0}
    heights = {logits[int(x)]: y for x, y in points(plain, "o") | points(plain, "X")}
    assert heights == pytest.approx({z: math.log10(math.exp(z)) for z in logits})
    assert {logits[int(x)] for x, _ in points(plain, "X")} == over
    assert dict(points(shifted, "o")) == pytest.approx({0: 0, 1: -7 * math.log10(math.e), 2: -6 * math.log10(math.e)})
    assert [label.get_text() for label in shifted.get_xticklabels()] == ["0", "-7", "-6"]
    assert points(shifted, "X") == set()


def test_the_grid_gives_every_element_to_the_block_that_cuda_would() -> None:
    [axes] = plots.grid_stride(50, 3, 8).axes
    colours = {(p.get_x(), p.get_y()): p.get_facecolor() for p in axes.patches}
    at = {t.get_text(): t.get_position() for t in axes.texts if t.get_fontsize() == 10 and t.get_text().isdigit()}
    assert sorted(map(int, at)) == list(range(50)) and len(colours) == 50
    seen: dict[int, set[Any]] = {}
    for block in range(3):
        for thread in range(8):
            element = block * 8 + thread  # i = blockIdx.x * blockDim.x + threadIdx.x; i += gridDim.x * blockDim.x
            step = 0
            while element < 50:
                assert at[str(element)] == (block * 8 + thread + 0.5, -step - 0.5)
                seen.setdefault(block, set()).add(colours[block * 8 + thread, -step])
                element += 3 * 8
                step += 1
    assert all(len(each) == 1 for each in seen.values()) and len(set.union(*seen.values())) == 3


def test_the_block_results_are_joined_where_they_are_equal() -> None:
    [axes] = plots.block_results([1, 2, 4, 8], [1.5, 1.0, 1.5, 2.0], 1.25).axes
    joined = {tuple(zip(line.get_xdata(), line.get_ydata(), strict=True)) for line in axes.lines[1:]}
    assert joined == {((0, 0.25), (2, 0.25)), ((1, -0.25),), ((3, 0.75),)}
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "4", "8"]
