"""Agreement with ml_dtypes, NumPy and torch: every code, and casts of numbers from everywhere.

Where a library has another convention, its habit is written down here as a rule, in numfmt's own words (a policy, a
number rounded before), and must hold everywhere: nothing is left out. docs/conventions.md says why.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import torch

import numfmt as nf
from numfmt.float_format import FLOAT_FORMATS

OURS = [fmt for fmt in FLOAT_FORMATS if fmt is not nf.TF32]  # which no library has as a dtype
SMALL = [fmt for fmt in OURS if fmt.bits <= 16]
OF_TORCH = [fmt for fmt in SMALL if hasattr(torch, fmt.name)]

pytestmark = pytest.mark.filterwarnings(
    "ignore:invalid value encountered in cast", "ignore:overflow encountered in cast"
)


def dtype_of(fmt: nf.FloatFormat) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, fmt.name, fmt.name))


def by_ml_dtypes(x: np.ndarray, fmt: nf.FloatFormat) -> np.ndarray:
    """Cast as NumPy does, with the dtypes of ml_dtypes; the result in float64, which holds it."""
    return x.astype(dtype_of(fmt)).astype(np.float64)


def by_torch(x: np.ndarray, fmt: nf.FloatFormat) -> np.ndarray:
    is_bfloat16 = x.dtype == ml_dtypes.bfloat16
    tensor = torch.from_numpy(x.view(np.int16)).view(torch.bfloat16) if is_bfloat16 else torch.from_numpy(x)
    return tensor.to(getattr(torch, fmt.name)).double().numpy()


def as_ml_dtypes(x: np.ndarray, fmt: nf.FloatFormat) -> np.ndarray:
    """Say in numfmt's words what ml_dtypes does: the IEEE overflow policy; NaN without a code is a zero."""
    found = nf.round_to(x, fmt, nan="zero").astype(np.float64)
    if fmt is nf.E8M0:
        return just_above_the_smallest(x, found)
    # The zero has the sign that NaN had not.
    x = x.astype(np.float64)
    return found if fmt.has_nan else np.where(np.isnan(x), np.where(np.signbit(x), 0.0, -0.0), found)


def as_torch(x: np.ndarray, fmt: nf.FloatFormat) -> np.ndarray:
    """Say in numfmt's words what torch does: as ml_dtypes, but E4M3FN saturates, and E8M0 has no sign but a zero."""
    if fmt is not nf.E8M0:
        return nf.round_to(x, fmt, overflow="saturate" if fmt is nf.E4M3 else "ieee").astype(np.float64)
    size = np.abs(x.astype(np.float64))
    return just_above_the_smallest(size, np.where(size == 0, 2.0**-127, nf.round_to(size, fmt)))


def just_above_the_smallest(x: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Both libraries lift to 2**-126 what is nearer to 2**-127: float32's subnormals are rounded as if normal."""
    return np.where((x > 2.0**-127) & (x < 1.5 * 2.0**-127), 2.0**-126, found)


HABITS = {"ml_dtypes": (by_ml_dtypes, as_ml_dtypes), "torch": (by_torch, as_torch)}
PAIRS = [("ml_dtypes", fmt) for fmt in SMALL] + [("torch", fmt) for fmt in OF_TORCH]


def same(ours: np.ndarray, theirs: np.ndarray, x: np.ndarray) -> None:
    nans = np.isnan(ours) & np.isnan(theirs)
    right = nans | ((ours == theirs) & (np.signbit(ours) == np.signbit(theirs)))
    assert right.all(), [(x[i], ours[i], theirs[i]) for i in np.flatnonzero(~right)[:5]]


def numbers(fmt: nf.FloatFormat) -> np.ndarray:
    """Return float32 numbers: those of float16 and bfloat16, the format's midpoints and neighbours, random bits."""
    codes = np.arange(2**16, dtype=np.uint16)
    values = nf.values(fmt)
    grid = np.unique(values[np.isfinite(values)])
    top = float(fmt.max)
    beyond = np.array([top + nf.spacing(top, fmt) / 2, top + nf.spacing(top, fmt), 2 * top])
    places = np.concatenate([grid, (grid[:-1] + grid[1:]) / 2, beyond, -beyond]).astype(np.float32)
    random = np.random.default_rng(fmt.bits).integers(0, 2**32, 200_000, dtype=np.uint32)
    parts = [codes.view(np.float16).astype(np.float32), codes.view(ml_dtypes.bfloat16).astype(np.float32), places]
    parts += [np.nextafter(places, np.float32(np.inf)), np.nextafter(places, np.float32(-np.inf))]
    return np.concatenate([*parts, random.view(np.float32)])


@pytest.mark.parametrize(("library", "fmt"), PAIRS, ids=str)
def test_every_code_means_the_same(library: str, fmt: nf.FloatFormat) -> None:
    codes = np.arange(fmt.count, dtype=fmt.code_dtype)
    if library == "torch":
        theirs = torch.from_numpy(codes).view(getattr(torch, fmt.name)).double().numpy()
    else:
        theirs = codes.view(dtype_of(fmt)).astype(np.float64)
    same(nf.decode(codes, fmt), theirs, codes)


@pytest.mark.parametrize(("library", "fmt"), PAIRS, ids=str)
def test_casts_from_float32(library: str, fmt: nf.FloatFormat) -> None:
    cast, habit = HABITS[library]
    x = numbers(fmt)
    same(habit(x, fmt), cast(x, fmt), x)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
@pytest.mark.parametrize(("library", "fmt"), PAIRS, ids=str)
def test_casts_of_every_narrow_number(library: str, fmt: nf.FloatFormat, name: str) -> None:
    cast, habit = HABITS[library]
    x = np.arange(2**16, dtype=np.uint16).view(dtype_of(nf.get_format(name)))  # type: ignore[arg-type]
    same(habit(x, fmt), cast(x, fmt), x)


@pytest.mark.parametrize("fmt", SMALL, ids=str)
def test_codes_are_the_bits_of_a_cast(fmt: nf.FloatFormat) -> None:
    """All but those of NaN, for which numfmt has one code and the libraries keep the sign."""
    x = numbers(fmt)
    x = x[~np.isnan(x)]
    found, bits, values = nf.encode(x, fmt), x.astype(dtype_of(fmt)).view(fmt.code_dtype), as_ml_dtypes(x, fmt)
    alike, is_nan = values == nf.round_to(x, fmt), np.isnan(values)
    assert np.array_equal(found[alike], bits[alike])
    assert (found[is_nan] == (fmt.nan_code or 0)).all() and np.isnan(nf.decode(bits[is_nan], fmt)).all()


def wide_numbers(fmt: nf.FloatFormat) -> np.ndarray:
    """Return float64 numbers: random ones, and the neighbours of midpoints, on which rounding twice goes wrong."""
    generator = np.random.default_rng(fmt.bits)
    low, high = max(fmt.minexp - fmt.mantissa_bits - 1, -140), min(fmt.maxexp + 1, 127)
    random = np.ldexp(generator.uniform(-1, 1, 20_000), generator.integers(low, high, 20_000))
    values = nf.values(fmt)
    grid = np.unique(values[np.isfinite(values)])
    middle = (grid[:-1] + grid[1:]) / 2
    return np.concatenate([random, middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf)])


@pytest.mark.parametrize(("library", "fmt"), [pair for pair in PAIRS if pair != ("ml_dtypes", nf.FP16)], ids=str)
def test_float64_arrays_are_rounded_to_float32_first(library: str, fmt: nf.FloatFormat) -> None:
    """A habit of both libraries, and a fault: about half of the neighbours of midpoints come out wrong."""
    cast, habit = HABITS[library]
    x = wide_numbers(fmt)
    same(habit(x.astype(np.float32), fmt), cast(x, fmt), x)
    once = habit(x, fmt)
    twice = habit(x.astype(np.float32), fmt)
    assert np.sum((once != twice) & ~np.isnan(once)) > fmt.count_finite // 8


def test_numpy_rounds_float64_to_float16_once() -> None:
    x = wide_numbers(nf.FP16)
    same(nf.round_to(x, nf.FP16).astype(np.float64), by_ml_dtypes(x, nf.FP16), x)


def test_numpy_rounds_float64_to_float32_once() -> None:
    generator = np.random.default_rng(32)
    x = np.concatenate([generator.integers(0, 2**64, 200_000, dtype=np.uint64).view(np.float64)])
    near = generator.integers(0, 2**32, 100_000, dtype=np.uint32).view(np.float32)
    middle = near[np.isfinite(near)].astype(np.float64)
    middle += np.abs(nf.spacing(middle, nf.FP32)) / 2
    x = np.concatenate([x, middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf)])
    for cast in (by_ml_dtypes, by_torch):
        same(nf.round_to(x, nf.FP32).astype(np.float64), cast(x, nf.FP32), x)


@pytest.mark.parametrize("library", ["ml_dtypes", "torch"])
def test_int64_arrays_are_rounded_to_float32_first(library: str) -> None:
    cast, habit = HABITS[library]
    generator = np.random.default_rng(64)
    halves = (generator.integers(129, 255, 5_000) * 2 + 1) << generator.integers(20, 50, 5_000)
    x = np.concatenate([generator.integers(-(2**62), 2**62, 5_000), halves + 1, halves - 1, -halves - 1])
    same(habit(x.astype(np.float32), nf.BF16), cast(x, nf.BF16), x)
    assert not np.array_equal(nf.round_to(x, nf.BF16), cast(x, nf.BF16))
