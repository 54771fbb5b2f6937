"""Softmax and log-sum-exp in a format: the overflow of the naive formula, and an oracle with exact quotients."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import torch

import numfmt as nf

pytestmark = pytest.mark.filterwarnings("error")


def test_the_largest_integer_whose_power_float16_holds() -> None:
    """e**11 is below 65520 and e**12 above: the naive formula fails one step further."""
    assert np.all(np.isfinite(nf.softmax([11.0, 0.0], nf.FP16, stable=False)))
    naive = nf.softmax([12.0, 0.0], nf.FP16, stable=False)
    assert math.isnan(naive[0]) and naive[1] == 0
    assert nf.log_sum_exp([12.0], nf.FP16, stable=False) == math.inf
    assert nf.log_sum_exp([11.0], nf.FP16, stable=False) == 11
    assert nf.softmax([12.0, 0.0], nf.FP16).tolist() == [1.0, nf.round_to(math.exp(-12), nf.FP16)]
    assert nf.log_sum_exp([12.0], nf.FP16) == 12


def exponential(x: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 60
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).exp())


@pytest.mark.parametrize(
    "fmt", [nf.FP32, nf.TF32, nf.FP16, nf.BF16, nf.E5M2, nf.E4M3, nf.FloatFormat(8, 30)], ids=str
)
def test_each_operation_rounds_once(fmt: nf.FloatFormat) -> None:
    x = nf.round_to(np.random.default_rng(3).standard_normal((4, 9)) * 2, fmt)
    for row, result in zip(x, nf.softmax(x, fmt), strict=True):
        largest = Fraction(max(row))
        differences = [nf.round_to(Fraction(each) - largest, fmt) for each in row]
        powers = [nf.round_to(exponential(Fraction(each)), fmt) for each in differences]
        total = 0.0
        for power in powers:
            total = nf.round_to(Fraction(total) + Fraction(power), fmt)
        assert result.tolist() == [nf.round_to(Fraction(each) / Fraction(total), fmt) for each in powers]


def test_float64_agrees_with_torch() -> None:
    x = torch.from_numpy(np.random.default_rng(5).standard_normal((2, 3, 8)))
    result = nf.softmax(x, nf.FP64)
    assert isinstance(result, torch.Tensor) and result.dtype == torch.float64 and result.shape == x.shape
    torch.testing.assert_close(result, torch.softmax(x, -1))
    assert nf.log_sum_exp(x[0, 0], nf.FP64) == pytest.approx(float(torch.logsumexp(x[0, 0], 0)), rel=1e-14)


@pytest.mark.parametrize(
    ("x", "softmax", "total"),
    [
        ([0.0, -math.inf], [1.0, 0.0], 0.0),
        ([-math.inf, -math.inf], [math.nan, math.nan], -math.inf),
        ([math.inf, 0.0], [math.nan, math.nan], math.inf),
        ([1.0, math.nan], [math.nan, math.nan], math.nan),
        ([60000.0, -60000.0], [1.0, 0.0], 60000.0),
    ],
)
def test_infinities_and_nan_go_as_in_torch(x: list[float], softmax: list[float], total: float) -> None:
    ours = nf.softmax(x, nf.FP16)
    np.testing.assert_array_equal(ours, torch.softmax(torch.tensor(x), 0).numpy())
    np.testing.assert_array_equal(ours, softmax)
    np.testing.assert_array_equal(nf.log_sum_exp(x, nf.FP16), total)


def test_kinds_and_empty_rows() -> None:
    half = torch.tensor([[1.0, 2.0]], dtype=torch.float16)
    assert nf.softmax(half, "float16").dtype == torch.float16
    assert nf.softmax(np.zeros(4, np.float32), nf.BF16).dtype == np.float32
    assert nf.softmax(np.zeros((3, 0)), nf.FP16).shape == (3, 0)
    assert nf.softmax(np.zeros((0, 3)), nf.FP16).shape == (0, 3)


@pytest.mark.parametrize(
    ("function", "x", "fmt", "error", "words"),
    [
        (nf.softmax, 1.0, nf.FP16, ValueError, "at least one axis"),
        (nf.softmax, [1.0], nf.E8M0, ValueError, "has no sign"),
        (nf.softmax, [1.0], nf.INT8, TypeError, "expected a float format"),
        (nf.log_sum_exp, [[1.0]], nf.FP16, ValueError, "must be 1-D"),
        (nf.log_sum_exp, [], nf.FP16, ValueError, "not empty"),
        (nf.log_sum_exp, ["a"], nf.FP16, TypeError, "expected numbers"),
    ],
)
def test_wrong_calls(function: object, x: object, fmt: object, error: type[Exception], words: str) -> None:
    assert callable(function)
    with pytest.raises(error, match=words):
        function(x, fmt)
