"""Welford's algorithm: the course's example by hand, merging, and where the one-pass formula fails."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import numfmt as nf
from numfmt.moments import Moments, welford_steps


def test_by_hand() -> None:
    steps = list(welford_steps([10001.0, 10002.0, 10003.0]))
    assert [(each.mean, each.m2) for each in steps[1:]] == [(10001, 0), (10001.5, 0.5), (10002, 2)]
    assert steps[-1].variance == pytest.approx(2 / 3)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=40), st.integers(0, 40))
def test_mean_and_variance_are_numpy_s_and_two_parts_merge(xs: list[float], cut: int) -> None:
    whole = nf.welford(xs)
    assert whole.mean == pytest.approx(np.mean(xs), abs=1e-9)
    assert whole.variance == pytest.approx(np.var(xs), rel=1e-9, abs=1e-9)
    merged = nf.welford(xs[:cut]).merge(nf.welford(xs[cut:]))
    assert merged.count == whole.count
    assert merged.mean == pytest.approx(whole.mean, abs=1e-9)
    assert merged.m2 == pytest.approx(whole.m2, rel=1e-9, abs=1e-6)


def test_it_holds_in_float32_where_the_one_pass_formula_fails() -> None:
    x = (np.random.default_rng(0).standard_normal(4096) + 1e4).astype(np.float32)
    one_pass = np.float32(np.mean(x * x, dtype=np.float32)) - np.float32(np.mean(x, dtype=np.float32)) ** 2
    true = float(np.var(x.astype(np.float64)))
    assert abs(float(one_pass) - true) > 0.5
    assert nf.welford(x, nf.FP32).variance == pytest.approx(true, rel=0.01)


def test_no_values_and_wrong_calls() -> None:
    assert nf.welford([]).count == 0 and math.isnan(nf.welford([]).variance)
    one = Moments(1, 2.0, 0.0)
    assert nf.welford([]).merge(one) == one == one.merge(nf.welford([]))
    with pytest.raises(ValueError, match="one format"):
        one.merge(nf.welford([1.0], nf.FP32))
    with pytest.raises(ValueError, match="must be 1-D"):
        nf.welford([[1.0]])
    with pytest.raises(ValueError, match="no sign"):
        nf.welford([1.0], nf.E8M0)
