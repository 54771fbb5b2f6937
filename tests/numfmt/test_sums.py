"""Sums in a format: the course's figures, and every operation against an oracle that adds Fractions and rounds."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache, reduce

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import numfmt as nf
from numfmt._float_arithmetic import Arithmetic
from numfmt.float_format import FLOAT_FORMATS
from tests.numfmt.float_oracle import rounded

TENTHS = np.full(10_000, 0.1)
SUMS = [nf.running_sum, nf.pairwise_sum, nf.kahan_sum, nf.neumaier_sum, lambda x, fmt: nf.blocked_sum(x, fmt, 3)]


@pytest.mark.parametrize(("fmt", "stalls_at", "add"), [(nf.FP16, 256.0, 2208), (nf.BF16, 32.0, 277)], ids=str)
def test_ten_thousand_tenths_stall(fmt: nf.FloatFormat, stalls_at: float, add: int) -> None:
    sums = nf.running_sum(TENTHS, fmt, partial=True)
    assert sums[-1] == stalls_at == nf.running_sum(TENTHS, fmt)
    assert int(np.flatnonzero(np.diff(sums) == 0)[0]) + 2 == add


@pytest.mark.parametrize(
    ("fmt", "pairwise", "kahan"), [(nf.FP16, 1000.0, 1000.0), (nf.BF16, 1000.0, 1004.0)], ids=["FP16", "BF16"]
)
def test_the_cures_of_the_stall(fmt: nf.FloatFormat, pairwise: float, kahan: float) -> None:
    assert nf.pairwise_sum(TENTHS, fmt) == pairwise
    assert nf.kahan_sum(TENTHS, fmt) == kahan
    assert nf.blocked_sum(TENTHS, fmt, 100) == pytest.approx(1000, rel=0.08)


def test_addition_is_not_associative() -> None:
    assert nf.running_sum([1e8, 1, 1, 1, 1], nf.FP32) == 1e8
    assert nf.running_sum([1e8, 4], nf.FP32) == 1e8  # a tie, which goes to even
    assert nf.running_sum([1e8, 5], nf.FP32) == 100_000_008
    assert nf.running_sum([1e8, -1e8, 1], nf.FP32) == 1
    assert nf.running_sum([-1e8, 1, 1e8], nf.FP32) == 0


def test_neumaier_holds_where_a_term_exceeds_the_sum() -> None:
    x = [1.0, 1e100, 1.0, -1e100]
    assert nf.neumaier_sum(x, nf.FP64) == 2.0
    assert nf.kahan_sum(x, nf.FP64) == 0.0 == nf.running_sum(x, nf.FP64)


def test_float32_sums_are_those_of_the_machine() -> None:
    x = np.random.default_rng(2).standard_normal(3000).astype(np.float32)
    total = np.float32(0)
    for each in x:
        total += each
    assert nf.running_sum(x, nf.FP32) == float(total) == nf.running_sum(torch.from_numpy(x), nf.FP32)
    assert nf.running_sum(x.astype(float), nf.FP64) == reduce(lambda a, b: a + b, x.astype(float).tolist(), 0.0)


def _oracle_add(a: float, b: float, fmt: nf.FloatFormat) -> float:
    exact = Fraction(a) + Fraction(b)
    size, over = rounded(exact, fmt, "nearest_even")
    assert not over
    return math.copysign(float(size), exact)


SMALL = [nf.FP16, nf.E5M2, nf.E4M3, nf.E4M3FNUZ, nf.E2M3, nf.FloatFormat(4, 5)]


@cache
def half_the_range(fmt: nf.FloatFormat) -> list[float]:
    """Return the values whose sums stay in the format's range."""
    return [each for each in nf.values(fmt).tolist() if abs(each) <= float(fmt.max) / 2]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(SMALL), st.data())
def test_an_addition_rounds_the_exact_sum_once(fmt: nf.FloatFormat, data: st.DataObject) -> None:
    a, b = data.draw(st.sampled_from(half_the_range(fmt))), data.draw(st.sampled_from(half_the_range(fmt)))
    assert Arithmetic(fmt).add(a, b) == _oracle_add(a, b, fmt)


@settings(max_examples=200, deadline=None)
@given(
    st.floats(-1e30, 1e30),
    st.floats(-1e30, 1e30),
    st.sampled_from([nf.FP32, nf.TF32, nf.BF16, nf.FloatFormat(11, 40)]),
)
def test_a_sum_that_float64_lacks_rounds_once(a: float, b: float, fmt: nf.FloatFormat) -> None:
    assert Arithmetic(fmt).add(a, b) == nf.round_to(Fraction(a) + Fraction(b), fmt)


def test_a_case_in_which_rounding_twice_is_wrong() -> None:
    a, b = 1 + 2.0**-8, 2.0**-70  # float64 drops b, and the tie would go to even
    assert Arithmetic(nf.BF16).add(a, b) == 1 + 2.0**-7
    assert nf.round_to(a + b, nf.BF16) == 1.0


@pytest.mark.parametrize("function", SUMS, ids=["running", "pairwise", "kahan", "neumaier", "blocked"])
@pytest.mark.parametrize("fmt", FLOAT_FORMATS, ids=str)
def test_short_sums(function: object, fmt: nf.FloatFormat) -> None:
    assert callable(function)
    if not fmt.signed:
        with pytest.raises(ValueError, match="has no sign"):
            function([1.0], fmt)
        return
    assert function([], fmt) == 0.0
    assert function([1.5], fmt) == 1.5
    assert function([1.0, -1.0, 1.0, 1.0, -1.0], fmt) == 1.0


def test_overflow_becomes_what_the_format_has() -> None:
    assert nf.running_sum([60000.0, 60000.0, -60000.0], nf.FP16) == math.inf
    assert math.isnan(nf.running_sum([400.0, 400.0], nf.E4M3))
    assert nf.running_sum([6.0, 6.0], nf.E2M1) == 6.0


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: nf.running_sum([[1.0]], nf.FP16), ValueError, "must be 1-D"),
        (lambda: nf.kahan_sum(["a"], nf.FP16), TypeError, "expected numbers"),
        (lambda: nf.pairwise_sum([1.0], nf.INT8), TypeError, "expected a float format"),
        (lambda: nf.blocked_sum([1.0], nf.FP16, 0), ValueError, "at least 1"),
        (lambda: nf.blocked_sum([1.0], nf.FP16, True), ValueError, "must be an int"),
    ],
)
def test_wrong_calls(call: object, error: type[Exception], words: str) -> None:
    assert callable(call)
    with pytest.raises(error, match=words):
        call()
