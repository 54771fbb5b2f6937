"""round_to: once and exactly, against an oracle in Fractions, in all modes and policies, and with named cases."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import numfmt as nf
from numfmt.float_format import FLOAT_FORMATS
from numfmt.policies import Nan, Overflow, Rounding
from tests.numfmt.float_oracle import rounded

MODES = [mode for mode in Rounding if mode is not Rounding.STOCHASTIC]
TINY = [fmt for fmt in FLOAT_FORMATS if fmt.bits <= 8] + [
    nf.FloatFormat(3, 0, 3, "fn"),
    nf.FloatFormat(5, 4, 20, "fnuz"),
]
HALF = [nf.FP16, nf.BF16]
WIDE = [nf.FP64, nf.FP32, nf.TF32]


def expected(x: float, fmt: nf.FloatFormat, mode: str, overflow: str) -> float:
    """Say with the oracle what x becomes; the policies are spelled out here once more."""
    if math.isnan(x):
        return x
    negative = math.copysign(1, x) < 0
    if not fmt.has_zero and (x == 0 or negative):
        return math.nan if overflow == "ieee" and fmt.has_nan else float(fmt.smallest_normal)
    if not fmt.signed and negative:
        gone = rounded(Fraction(x), fmt, mode)[0] == 0 if math.isfinite(x) else False
        return math.nan if overflow == "ieee" and fmt.has_nan and not gone else 0.0
    beyond = math.inf if fmt.has_inf else math.nan if fmt.has_nan else float(fmt.max)
    if math.isinf(x):
        size = float(fmt.max) if overflow == "saturate" else beyond
    else:
        exact, over = rounded(Fraction(x), fmt, mode)
        size = float(exact)
        if over:
            stays = mode in ("toward_zero", "to_odd") or mode == (
                "toward_positive" if negative else "toward_negative"
            )
            size = float(fmt.max) if stays or overflow != "ieee" else beyond
    return -size if negative and (size != 0 or fmt.has_negative_zero) else size


def check(xs: list[float], fmt: nf.FloatFormat, mode: str, overflow: str = "ieee") -> None:
    found = nf.round_to(np.array(xs), fmt, mode, overflow)
    wanted = np.array([expected(x, fmt, mode, overflow) for x in xs])
    bad = ~((found == wanted) & (np.signbit(found) == np.signbit(wanted)) | (np.isnan(found) & np.isnan(wanted)))
    assert not bad.any(), [(xs[i], found[i], wanted[i]) for i in np.flatnonzero(bad)[:5]]


@pytest.mark.parametrize("overflow", ["ieee", "saturate", "saturate_finite"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fmt", [*TINY, *HALF], ids=str)
def test_numbers_far_beyond_both_ends(fmt: nf.FloatFormat, mode: str, overflow: str) -> None:
    top, low = float(fmt.max), float(fmt.smallest_subnormal or fmt.smallest_normal)
    sizes = [
        0.0,
        5e-324,
        1e-300,
        low / 1000,
        low * 3 / 4,
        top * 1.3,
        top * 2,
        1e300,
        1.7976931348623157e308,
        math.inf,
    ]
    check([*sizes, *(-size for size in sizes)], fmt, mode, overflow)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float8_e5m2"])
def test_six_thousand_numbers_round_as_torch_casts(name: str) -> None:
    x = torch.from_numpy(10 ** np.random.default_rng(3).uniform(-10, math.log10(5.7e4), 6000)).float()
    ours = nf.round_to(x, name)
    assert ours.dtype == torch.float32
    assert torch.equal(ours, x.to(getattr(torch, name)).float())


NUMBERS = st.floats(allow_nan=False, width=64)


@settings(max_examples=60, deadline=None)
@given(st.lists(NUMBERS, min_size=2, max_size=30), st.sampled_from(FLOAT_FORMATS), st.sampled_from(MODES))
def test_rounding_is_idempotent_monotone_and_stays_on_the_grid(
    xs: list[float], fmt: nf.FloatFormat, mode: str
) -> None:
    x = np.sort(np.array(xs))
    y = nf.round_to(x, fmt, mode, "saturate")
    assert np.array_equal(nf.round_to(y, fmt, mode, "saturate"), y)
    if fmt.has_zero:
        assert (np.diff(y) >= 0).all()
    assert np.array_equal(nf.decode(nf.encode(y, fmt), fmt), y)


@settings(max_examples=60, deadline=None)
@given(NUMBERS, st.sampled_from([fmt for fmt in FLOAT_FORMATS if fmt.signed]), st.sampled_from(MODES))
def test_rounding_is_symmetric(x: float, fmt: nf.FloatFormat, mode: str) -> None:
    mirror = {"toward_positive": "toward_negative", "toward_negative": "toward_positive"}
    a, b = nf.round_to(x, fmt, mode), nf.round_to(-x, fmt, mirror.get(mode, mode))
    assert a == -b or (math.isnan(a) and math.isnan(b))


@settings(max_examples=150, deadline=None)
@given(
    st.fractions() | st.integers(-(2**80), 2**80).map(Fraction),
    st.sampled_from([nf.E4M3, nf.E2M1, nf.FP16, nf.E5M2FNUZ]),
    st.sampled_from(MODES),
)
def test_exact_numbers_of_any_size_round_once(x: Fraction, fmt: nf.FloatFormat, mode: str) -> None:
    exact, over = rounded(x, fmt, mode)
    found = nf.round_to(x, fmt, mode, "saturate")
    size = fmt.max if over else float(exact)
    assert found == (-size if x < 0 else size)


@pytest.mark.parametrize(
    ("x", "fmt", "y"),
    [
        (1000.3, nf.E4M3, math.nan),
        (math.inf, nf.E4M3, math.nan),
        (464.0, nf.E4M3, 448.0),
        (465.0, nf.E4M3, math.nan),
        (248.0, nf.E4M3FNUZ, math.nan),
        (65519.0, nf.FP16, 65504.0),
        (65520.0, nf.FP16, math.inf),
        (3.0, nf.E8M0, 4.0),
        (0.0, nf.E8M0, math.nan),
        (-1.0, nf.E8M0, math.nan),
        (2.0**-140, nf.E8M0, 2.0**-127),
        (7.0, nf.E2M1, 6.0),
        (math.inf, nf.E2M1, 6.0),
        (2.0**-25, nf.FP16, 0.0),
        (math.nextafter(2.0**-25, 1), nf.FP16, 2.0**-24),
        (3e-8, nf.FP16, 2.0**-24),
        (257.0, nf.BF16, 256.0),
        (15962.0, nf.BF16, 15936.0),
        (1001.0, nf.BF16, 1000.0),
        (70000.0, nf.FP16, math.inf),
        (1e-8, nf.FP16, 0.0),
        (-0.0, nf.E4M3FNUZ, 0.0),
    ],
)
def test_cases_that_people_ask_about(x: float, fmt: nf.FloatFormat, y: float) -> None:
    found = nf.round_to(x, fmt)
    assert (found == y and math.copysign(1, found) == math.copysign(1, y)) or (math.isnan(found) and math.isnan(y))


def test_subnormals_survive_where_the_processor_flushes_them() -> None:
    x = np.array([3e-39, -1e-40, 2.0**-149], np.float32)
    wide = x.astype(np.float64)
    wanted = [float(np.float32(each).astype(ml_dtypes.bfloat16)) for each in x]
    supported = torch.set_flush_denormal(True)
    try:
        found = nf.round_to(x, nf.BF16).view(np.uint32)
        of_wide = nf.round_to(wide, nf.BF16)
        of_tensor = nf.encode(torch.from_numpy(x.copy()).to(torch.float32), nf.BF16)
    finally:
        torch.set_flush_denormal(False)
    assert supported
    assert found.view(np.float32).tolist() == of_wide.tolist() == wanted
    assert nf.decode(of_tensor.numpy(), nf.BF16).tolist() == wanted


def test_stochastic_rounding_is_unbiased_also_below_the_smallest_subnormal() -> None:
    generator = np.random.default_rng(0)
    for x, low, high in (
        (1.3, 1.25, 1.375),
        (-0.3, -0.3125, -0.28125),
        (2.0**-12, 0.0, 2.0**-9),
        (500.0, 448.0, None),
    ):
        y = nf.round_to(np.full(40_000, x), nf.E4M3, "stochastic", "saturate", rng=generator)
        if high is None:
            assert set(y.tolist()) == {low}
            continue
        assert set(y.tolist()) == {low, high}
        error = abs(y.mean() - x)
        assert error < 5 * (high - low) / 2 / math.sqrt(y.size)


def test_nan_where_the_format_has_none() -> None:
    x = np.array([1.0, np.nan])
    assert math.isnan(nf.round_to(x, nf.E4M3)[1])
    with pytest.raises(ValueError, match="nan='zero' or nan='max'"):
        nf.round_to(x, nf.E2M1)
    assert nf.round_to(x, nf.E2M1, nan="zero").tolist() == [1.0, 0.0]
    assert nf.round_to(x, nf.E2M1, nan="max").tolist() == [1.0, 6.0]


def test_overflow_as_an_error_names_the_number() -> None:
    assert nf.round_to([448.0, 464.0], nf.E4M3, overflow="raise").tolist() == [448.0, 448.0]
    with pytest.raises(OverflowError, match=r"465\.0.* beyond E4M3.* 448"):
        nf.round_to([1.0, 465.0, 9e9], nf.E4M3, overflow="raise")
    with pytest.raises(OverflowError):
        nf.round_to(math.inf, nf.E4M3, overflow="raise")
    assert nf.round_to(math.inf, nf.FP16, overflow="raise") == math.inf


def _wrong_calls() -> Iterator[tuple[tuple[object, ...], type[Exception], str]]:
    yield (1.0, "float9"), ValueError, "unknown format 'float9'"
    yield (1.0, nf.INT8), TypeError, "expected a float format"
    yield (1.0, nf.E4M3, "up"), ValueError, "unknown rounding 'up'; there are nearest_even"
    yield (1.0, nf.E4M3, "nearest_even", "wrap"), ValueError, "unknown overflow 'wrap'; there are ieee"
    yield (1.0, nf.E4M3, "stochastic"), ValueError, "needs rng"
    yield (1j, nf.E4M3), TypeError, "got complex"
    yield (np.array([1j]), nf.E4M3), TypeError, "complex128"
    yield ("1.5", nf.E4M3), TypeError, "got str"
    yield (np.array(["1.5"]), nf.E4M3), TypeError, "expected real numbers"
    yield (np.array([object()]), nf.E4M3), TypeError, "expected real numbers"
    yield (torch.tensor([1j]), nf.E4M3), TypeError, "complex64"
    yield (1.0, nf.FloatFormat(15, 40)), ValueError, "float64 doesn't hold"


@pytest.mark.parametrize(("arguments", "error", "words"), list(_wrong_calls()))
def test_wrong_calls(arguments: tuple[object, ...], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        nf.round_to(*arguments)  # type: ignore[arg-type]


def test_the_policies_are_those_of_the_documentation() -> None:
    assert len(Rounding) == 8 and len(Overflow) == 4 and len(Nan) == 3
