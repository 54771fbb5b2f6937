"""Block formats: scales against a definition in Fractions, elements against another library, and the bits counted."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

import numfmt as nf

ELEMENTS = [nf.E4M3, nf.E5M2, nf.E2M3, nf.E3M2, nf.E2M1]
EMAX = {nf.E4M3: 8, nf.E5M2: 15, nf.E2M3: 2, nf.E3M2: 4, nf.E2M1: 2}
RULES = ["floor", "ceil", "even", "rceil"]


def log2_floor(x: Fraction) -> int:
    exponent = 0
    while Fraction(2) ** (exponent + 1) <= x:
        exponent += 1
    while Fraction(2) ** exponent > x:
        exponent -= 1
    return exponent


def exponent_by_definition(amax: float, fmt: nf.FloatFormat, rule: str) -> int:
    x = Fraction(amax)
    if rule == "rceil":
        ratio = x / Fraction(fmt.max)
        low = log2_floor(ratio)
        return low + (ratio > Fraction(2) ** low)
    low = log2_floor(x)
    if rule == "ceil":
        low += x > Fraction(2) ** low
    if rule == "even":
        quantum = Fraction(2) ** (low - fmt.mantissa_bits)
        steps, rest = divmod(x, quantum)
        steps += rest * 2 > quantum or (rest * 2 == quantum and steps % 2 == 1)
        low = log2_floor(steps * quantum)
    return low - EMAX[fmt]


EDGES = 48
"""The number of rows of `samples` with a largest magnitude at a limit or right beside one; the others are random."""


def samples() -> np.ndarray:
    generator = np.random.default_rng(6)
    x = generator.standard_normal((60, 32)) * 2.0 ** generator.integers(-20, 20, (60, 1))
    edges = [2.0**k for k in range(-3, 4)] + [448.0, 6.0, 7.5, 28.0, 57344.0, 957.0, 1.75, 1.875, 1.96875]
    rows = [*edges, *np.nextafter(edges, 0), *np.nextafter(edges, np.inf)]
    assert len(rows) == EDGES
    for row, edge in zip(x, rows, strict=False):
        row[:] = 0
        row[3], row[4] = -edge, edge / 3
    return x


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("fmt", ELEMENTS, ids=str)
def test_scales_and_elements(fmt: nf.FloatFormat, rule: str) -> None:
    x = samples()
    found = nf.mx_quantize(x, fmt, rule)
    wanted = [2.0 ** exponent_by_definition(float(amax), fmt, rule) for amax in np.abs(x).max(axis=1)]
    assert found.scales.ravel().tolist() == wanted
    scaled = np.clip(x / found.scales, -fmt.max, fmt.max)
    # ml_dtypes rounds twice, by way of float32: no difference for the random rows, which have no near ties.
    theirs = scaled[EDGES:].astype(getattr(ml_dtypes, fmt.name)).astype(np.float64)
    assert np.array_equal(found.elements[EDGES:], theirs)
    assert np.array_equal(found.elements, nf.round_to(scaled, fmt))
    assert np.array_equal(found.dequantize(), found.elements * found.scales)


@pytest.mark.parametrize("exponent", [-100, -30, -3, 0, 3, 30, 100])
def test_just_below_a_power_of_two_the_exponent_is_one_less(exponent: int) -> None:
    """There floor(log2(x)) gives the power of two itself."""
    x = float(np.nextafter(np.float32(2.0**exponent), np.float32(0)))
    assert nf.mx_quantize([x], nf.E2M1).scales.tolist() == [2.0 ** (exponent - 1 - 2)]


def test_mxint8() -> None:
    found = nf.mx_quantize([1.0, -2.0, 0.3, 3.99], nf.INT8)
    assert found.scales.tolist() == [2.0]
    assert found.elements.tolist() == [0.5, -1.0, 10 / 64, 127 / 64]
    assert found.codes()[0].tolist() == [32, 256 - 64, 10, 127]
    assert nf.mx_quantize([1.0, -1.999], nf.INT8).elements.tolist() == [1.0, -2.0]


@pytest.mark.parametrize("fmt", [*ELEMENTS, nf.INT8], ids=str)
def test_zeros_tails_and_what_no_scale_covers(fmt: object) -> None:
    zeros = nf.mx_quantize(np.zeros(40), fmt)
    assert zeros.scales.tolist() == [2.0**-127] * 2 and not zeros.dequantize().any()
    x = np.arange(1.0, 41.0)
    x[35] = math.nan
    found = nf.mx_quantize(x, fmt)
    assert found.elements.shape == (40,) and found.scales.shape == (2,)
    assert np.isnan(found.dequantize()).tolist() == [False] * 32 + [True] * 8
    assert nf.mx_quantize(np.empty((0, 32)), fmt).dequantize().shape == (0, 32)


def test_the_cost_of_a_scale() -> None:
    x = np.ones((4, 64))
    assert nf.mx_quantize(x, nf.E2M1).effective_bits == 4.25
    assert nf.nvfp4_quantize(x).effective_bits == 4.5


def test_codes_give_the_blocks_back() -> None:
    found = nf.mx_quantize(samples(), nf.E2M1)
    elements, scales = found.codes()
    assert np.array_equal(nf.decode(elements, nf.E2M1), found.elements)
    assert np.array_equal(nf.decode(scales, nf.E8M0), found.scales)


def test_nvfp4_by_its_definition() -> None:
    x = np.random.default_rng(8).standard_normal((3, 40)) * 5
    found = nf.nvfp4_quantize(x)
    whole = float(np.float32(np.abs(x).max() / 2688))
    assert found.tensor_scale == whole and found.scales.shape == (3, 3)
    for row in range(3):
        for block in range(3):
            part = slice(16 * block, min(16 * block + 16, 40))
            scale = nf.round_to(float(np.abs(x[row, part]).max()) / 6 / whole, nf.E4M3, overflow="saturate")
            assert found.scales[row, block] == scale
            wanted = nf.round_to(x[row, part] / (scale * whole), nf.E2M1, overflow="saturate")
            assert np.array_equal(found.elements[row, part], wanted)
    assert np.linalg.norm(found.dequantize() - x) / np.linalg.norm(x) < 0.12
    assert found.scales.max() == 448


def test_nvfp4_keeps_zeros() -> None:
    found = nf.nvfp4_quantize(np.zeros(20))
    assert not found.dequantize().any() and found.tensor_scale == 1.0
    x = np.zeros(32)
    x[0] = 3.0
    assert nf.nvfp4_quantize(x).dequantize()[16:].tolist() == [0.0] * 16


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: nf.mx_quantize([1.0], nf.INT4), ValueError, "INT8 only"),
        (lambda: nf.mx_quantize([1.0], nf.E8M0), ValueError, "need a sign"),
        (lambda: nf.mx_quantize([1.0], nf.E4M3, "round"), ValueError, "unknown rule 'round'; there are floor"),
        (lambda: nf.mx_quantize([1.0], nf.E4M3, block=0), ValueError, "at least 1"),
        (lambda: nf.mx_quantize(1.0), ValueError, "at least one axis"),
        (lambda: nf.nvfp4_quantize([math.inf]), ValueError, "NaN or infinities"),
        (lambda: nf.mx_quantize(["1"]), TypeError, "expected numbers"),
    ],
)
def test_wrong_calls(call: object, error: type[Exception], words: str) -> None:
    assert callable(call)
    with pytest.raises(error, match=words):
        call()
