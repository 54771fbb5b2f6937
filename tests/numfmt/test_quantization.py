"""Quantization: the course's figures to the last digit given, an oracle by hand, and defined results at the edges."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import numfmt as nf


def weights() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    matrix = generator.normal(0, 0.02, (64, 256))
    return matrix, np.maximum(generator.standard_normal(4096), 0)


def percent(x: np.ndarray, columns: np.ndarray | slice = slice(None), **how: object) -> float:
    back = nf.quantize(x, **how).dequantize()  # type: ignore[arg-type]
    return float(100 * np.linalg.norm((x - back)[:, columns]) / np.linalg.norm(x[:, columns]))


def test_the_weights_of_the_lecture() -> None:
    matrix, _ = weights()
    assert percent(matrix) == pytest.approx(0.9173, abs=5e-5)
    assert percent(matrix, bits=4) == pytest.approx(16.690, abs=5e-4)
    assert percent(matrix, axis=0) == pytest.approx(0.6928, abs=5e-5)
    assert percent(matrix, bits=4, axis=0) == pytest.approx(12.7365, abs=5e-5)


def test_one_outlier_spoils_a_tensor() -> None:
    matrix, _ = weights()
    spoiled = matrix.copy()
    spoiled[0, 0] = 1.0
    grown = nf.quantize(spoiled).scale / nf.quantize(matrix).scale
    assert grown.item() == pytest.approx(12.43, abs=5e-3)
    assert percent(spoiled, bits=4) == pytest.approx(93.03, abs=5e-3)
    assert percent(spoiled) == pytest.approx(10.68, abs=5e-3)
    assert np.mean(nf.quantize(spoiled, 4).codes == 0) == pytest.approx(0.9996, abs=5e-5)


def test_data_without_a_sign_waste_half_of_a_symmetric_format() -> None:
    _, relu = weights()
    row = relu[None]
    assert np.unique(nf.quantize(relu).codes).size == 100
    assert percent(row, bits=4) == pytest.approx(15.77, abs=5e-3)
    assert percent(row, bits=4, scheme="zero_point") == pytest.approx(7.30, abs=5e-3)


LAYOUTS = {
    "aligned": (np.arange(32), (2.2263, 27.7166), (1.1073, 12.4493), (0.5340, 0.5373)),
    "straddling": (np.arange(16, 48), (2.1847, 26.7390), (1.0888, 11.9950), (0.6752, 6.1880)),
    "strided": (np.arange(0, 512, 16), (2.1723, 27.2330), (1.7156, 21.5869), (1.1499, 14.6534)),
}


@pytest.mark.parametrize(("columns", "row", "g128", "g32"), LAYOUTS.values(), ids=LAYOUTS)
def test_a_group_contains_an_outlier_only_if_it_is_aligned(
    columns: np.ndarray, row: tuple[float, float], g128: tuple[float, float], g32: tuple[float, float]
) -> None:
    matrix = np.random.default_rng(0).standard_normal((64, 512)) * 0.02
    matrix[:, columns] *= 50
    others = np.setdiff1d(np.arange(512), columns)
    for how, (whole, rest) in (({"axis": 0}, row), ({"group_size": 128}, g128), ({"group_size": 32}, g32)):
        assert percent(matrix, **how) == pytest.approx(whole, abs=5e-5)  # type: ignore[arg-type]
        assert percent(matrix, others, **how) == pytest.approx(rest, abs=5e-5)  # type: ignore[arg-type]


def test_four_numbers_by_hand() -> None:
    found = nf.quantize([0.1, -0.4, 0.25, 0.05], 4)
    assert found.scale.item() == pytest.approx(0.4 / 7)
    assert found.codes.tolist() == [2, -7, 4, 1]
    assert found.dequantize() == pytest.approx([0.8 / 7, -0.4, 1.6 / 7, 0.4 / 7])


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20),
    st.integers(2, 16),
    st.sampled_from(["absmax", "zero_point"]),
)
def test_no_code_leaves_its_range_and_the_error_is_half_a_step(xs: list[float], bits: int, scheme: str) -> None:
    found = nf.quantize(xs, bits, scheme)
    low, high = (-(2 ** (bits - 1)) + 1, 2 ** (bits - 1) - 1) if scheme == "absmax" else (0, 2**bits - 1)
    assert found.codes.min() >= low and found.codes.max() <= high
    # The zero point is rounded too, which may move the ends by another half step.
    steps = 0.5 if scheme == "absmax" else 1.0
    assert np.abs(found.dequantize() - np.array(xs)).max() <= float(found.scale.max()) * steps * (1 + 1e-9)
    assert nf.quantize(np.zeros(3), bits, scheme).dequantize().tolist() == [0, 0, 0]


@pytest.mark.parametrize("scheme", ["absmax", "zero_point"])
@pytest.mark.parametrize("x", [[5.0, 5.0], [-5.0, -5.0], [0.0, 0.0], [1e-310, 0.0]], ids=str)
def test_constants_and_zeros_survive(x: list[float], scheme: str) -> None:
    assert nf.quantize(x, 8, scheme).dequantize() == pytest.approx(x, abs=1e-300)


def test_shapes_of_scales() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    assert nf.quantize(x).scale.shape == (1, 1, 1)
    assert nf.quantize(x, axis=1).scale.shape == (1, 3, 1)
    assert nf.quantize(x, axis=(0, -1)).scale.shape == (2, 1, 4)
    grouped = nf.quantize(x, group_size=2)
    assert grouped.scale.shape == (2, 3, 2, 1) and grouped.codes.shape == x.shape == grouped.dequantize().shape
    empty = nf.quantize(np.empty((0, 4)))
    assert empty.codes.shape == (0, 4) == empty.dequantize().shape


def test_the_cost_of_scales() -> None:
    x = np.ones((8, 256))
    assert nf.quantize(x, 4, group_size=128).effective_bits == 4.125
    assert nf.quantize(x, 4, group_size=32).effective_bits == 4.5


def test_tensors() -> None:
    x = torch.linspace(-1, 1, 12).reshape(3, 4)
    found = nf.quantize(x, axis=0)
    assert found.codes.dtype == torch.int8 and found.codes.shape == x.shape
    assert torch.allclose(found.dequantize().float(), x, atol=0.01)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (([1.0], 1), ValueError, "bits must be an int from 2 to 16"),
        (([1.0], 8, "minmax"), ValueError, "unknown scheme 'minmax'"),
        (([np.nan],), ValueError, "NaN or infinities"),
        (([np.inf],), ValueError, "NaN or infinities"),
        (([1.0], 8, "absmax", 3), ValueError, "no axis 3"),
        (([1.0, 2.0, 3.0], 8, "absmax", None, 2), ValueError, "doesn't divide"),
        (([1.0], 8, "absmax", None, 0), ValueError, "at least 1"),
        (([1.0], 8, "absmax", 0, 1), ValueError, "not both"),
        (([1j],), TypeError, "expected numbers"),
    ],
)
def test_wrong_calls(arguments: tuple[object, ...], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        nf.quantize(*arguments)  # type: ignore[arg-type]
