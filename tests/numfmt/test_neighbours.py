"""Spacing and the next values: against the sorted list of all values, and against NumPy where it has the format."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
import torch

import numfmt as nf
from numfmt.float_format import FLOAT_FORMATS
from tests.numfmt.float_oracle import CUSTOM, table

SMALL = [*(fmt for fmt in FLOAT_FORMATS if fmt.bits <= 16), *CUSTOM]


def listed(fmt: nf.FloatFormat) -> np.ndarray:
    return np.array(sorted({float(each) for each in table(fmt) if not isinstance(each, str)}))


@pytest.mark.parametrize("fmt", SMALL, ids=str)
def test_the_next_value_is_the_next_in_the_list(fmt: nf.FloatFormat) -> None:
    values = listed(fmt)
    between = values[:-1] / 2 + values[1:] / 2
    for x in (values[:-1], between):
        assert np.array_equal(nf.next_up(x, fmt), values[1:])
    for x in (values[1:], between):
        assert np.array_equal(nf.next_down(x, fmt), values[:-1])


@pytest.mark.parametrize("fmt", SMALL, ids=str)
def test_spacing_is_the_step_to_the_next_magnitude(fmt: nf.FloatFormat) -> None:
    values = listed(fmt)
    positive = values[values >= 0]
    found = nf.spacing(positive[:-1], fmt)
    assert np.array_equal(found, np.diff(positive))
    assert np.array_equal(nf.spacing(-positive[:-1], fmt), found)
    at_the_top = nf.spacing(fmt.max, fmt)
    assert math.isfinite(at_the_top) and at_the_top == nf.spacing(sys.float_info.max, fmt) > 0
    assert math.isnan(nf.spacing(math.nan, fmt)) and math.isnan(nf.spacing(math.inf, fmt))


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_numpy_has_the_same_neighbours(name: str) -> None:
    x = np.random.default_rng(1).standard_normal(2000).astype(name) * np.float16(100)
    with np.errstate(over="ignore"):
        assert np.array_equal(nf.next_up(x, name), np.nextafter(x, np.array(np.inf, name)))
        assert np.array_equal(nf.next_down(x, name), np.nextafter(x, np.array(-np.inf, name)))
    # NumPy's spacing of a negative float16 power of two is that of the binade below.
    assert np.array_equal(nf.spacing(x, name), np.spacing(np.abs(x)))


@pytest.mark.parametrize(
    ("fmt", "above"),
    [(nf.FP16, math.inf), (nf.E4M3, math.nan), (nf.E4M3FNUZ, math.nan), (nf.E8M0, math.nan), (nf.E2M1, 6.0)],
    ids=str,
)
def test_beyond_the_largest_value(fmt: nf.FloatFormat, above: float) -> None:
    for x in (float(fmt.max), float(fmt.max) * 3):
        found = nf.next_up(x, fmt)
        assert found == above or (math.isnan(found) and math.isnan(above))
        if fmt.signed:
            below = nf.next_down(-x, fmt)
            assert below == -above or (math.isnan(below) and math.isnan(above))
    assert nf.next_down(float(fmt.max) * 3, fmt) == fmt.max


def test_beside_infinity_and_nan() -> None:
    assert nf.next_up(math.inf, nf.FP16) == math.inf
    assert nf.next_up(-math.inf, nf.FP16) == -65504
    assert nf.next_down(math.inf, nf.FP16) == 65504
    assert math.isnan(nf.next_up(math.nan, nf.FP16)) and math.isnan(nf.next_down(math.nan, nf.E8M0))


def test_the_step_of_bfloat16_at_1000_is_4() -> None:
    assert (nf.spacing(1000.0, nf.BF16), nf.round_to(1001.0, nf.BF16)) == (4.0, 1000.0)


def test_kinds_are_kept() -> None:
    x = torch.tensor([1.0, 300.0], dtype=torch.bfloat16)
    assert nf.spacing(x, nf.BF16).tolist() == [2.0**-7, 2.0] and nf.spacing(x, nf.BF16).dtype == torch.bfloat16
    assert type(nf.next_up(1.0, nf.E4M3)) is float
    assert nf.next_up(np.float32([1, 2]), nf.E4M3).dtype == np.float32


def test_integer_formats_are_refused() -> None:
    for function in (nf.spacing, nf.next_up, nf.next_down):
        with pytest.raises(TypeError, match="expected a float format"):
            function(1.0, nf.INT8)
