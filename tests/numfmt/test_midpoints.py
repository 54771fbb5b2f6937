"""Every value, every midpoint and their neighbours, in all modes and policies, for every format up to 16 bits.

What a number between two values becomes follows from where it was put, not from computing: just above the lower one,
just below the midpoint, at it, just above it, or just below the upper one. The values are the oracle's Fractions.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import ml_dtypes
import numpy as np
import pytest

import numfmt as nf
from numfmt.float_format import FLOAT_FORMATS
from numfmt.policies import Overflow, Rounding
from tests.numfmt.float_oracle import CUSTOM, magnitudes, table

pytestmark = pytest.mark.slow

MODES = [mode for mode in Rounding if mode is not Rounding.STOCHASTIC]
FORMATS = [*(fmt for fmt in FLOAT_FORMATS if fmt.bits <= 16), *CUSTOM]


def reaches(fmt: nf.FloatFormat, outer: nf.FloatFormat) -> bool:
    """Say whether a format has midpoints that another has as values."""
    return (
        outer.mantissa_bits > fmt.mantissa_bits
        and float(outer.max) > float(fmt.smallest_normal)
        and float(fmt.max) > float(outer.smallest_normal)
    )


DTYPES = ("float64", "float32", "float16", "bfloat16")
PAIRS = [(fmt, name) for fmt in FORMATS for name in DTYPES if reaches(fmt, nf.get_format(name))]  # type: ignore[arg-type]


class Points(NamedTuple):
    """Positive numbers, the index of the value at or below each, and where it lies between that and the next.

    The places count from 0, the value itself, by 3, the midpoint, to 5, just below the next value. The last index is
    that of the largest value; what goes up from there is beyond the range.
    """

    x: np.ndarray
    index: np.ndarray
    place: np.ndarray


@cache
def grid(fmt: nf.FloatFormat) -> tuple[np.ndarray, np.ndarray]:
    """Return the values from zero up and the one that would come next, and the midpoints between them."""
    exact = magnitudes(fmt)
    halves = [(a + b) / 2 for a, b in pairwise(exact)]
    return np.array([_float(each) for each in exact]), np.array([_float(each) for each in halves])


def _float(number: Fraction) -> float:
    try:
        near = float(number)
    except OverflowError:
        return np.inf
    assert Fraction(near) == number
    return near


@cache
def points(fmt: nf.FloatFormat, name: str = "float64") -> Points:
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    values, middle = grid(fmt)
    with np.errstate(over="ignore"):
        held = [each.astype(dtype) for each in (values[:-1], middle, values[1:])]
    exact = (held[0] == values[:-1]) & (held[1] == middle) & np.isfinite(middle)
    assert exact.any()
    low, middle, high = (each[exact] for each in held)
    infinity, zero = np.full(low.shape, np.inf, dtype), np.zeros(low.shape, dtype)
    columns = [low, np.nextafter(low, infinity), np.nextafter(middle, zero), middle]
    columns += [np.nextafter(middle, infinity), np.nextafter(high, zero)]
    # Where the dtype has nothing in between, a neighbour isn't where its place says.
    keep = [middle > low, columns[1] < middle, low < columns[2], middle > low, columns[4] < high, middle < columns[5]]
    index = np.flatnonzero(exact)
    return Points(
        np.concatenate([column[kept] for column, kept in zip(columns, keep, strict=True)]),
        np.concatenate([index[kept] for kept in keep]),
        np.repeat(np.arange(6), [kept.sum() for kept in keep]),
    )


def chosen(fmt: nf.FloatFormat, mode: Rounding, negative: bool, at: Points) -> np.ndarray:
    """Return the index of the value that the mode chooses."""
    # Codes count values, so their parity is the mantissa's; with no mantissa the hidden bit is odd but at zero.
    odd = at.index % 2 == 1 if fmt.mantissa_bits else ~((at.index == 0) & fmt.has_zero)
    between = at.place > 0
    up = {
        Rounding.NEAREST_EVEN: (at.place > 3) | ((at.place == 3) & odd),
        Rounding.NEAREST_AWAY: at.place >= 3,
        Rounding.TOWARD_ZERO: np.zeros_like(between),
        Rounding.AWAY_FROM_ZERO: between,
        Rounding.TOWARD_POSITIVE: between & (not negative),
        Rounding.TOWARD_NEGATIVE: between & negative,
        Rounding.TO_ODD: between & ~odd,
    }[mode]
    return at.index + up


def wanted(fmt: nf.FloatFormat, mode: Rounding, policy: Overflow, negative: bool, at: Points) -> np.ndarray:
    """Return what the numbers become, or what their negatives do."""
    values, found = grid(fmt)[0], chosen(fmt, mode, negative, at)
    largest = values[-2]
    directed = Rounding.TOWARD_POSITIVE if negative else Rounding.TOWARD_NEGATIVE
    stays = policy is not Overflow.IEEE or mode in (Rounding.TOWARD_ZERO, Rounding.TO_ODD, directed)
    beyond = np.inf if fmt.has_inf else np.nan if fmt.has_nan else largest
    size = np.where(found == len(values) - 1, largest if stays else beyond, values[found])
    if not negative:
        return size
    nothing = np.nan if fmt.has_nan and policy is Overflow.IEEE else 0.0 if fmt.has_zero else values[0]
    if not fmt.signed:
        return np.where((found == 0) & fmt.has_zero, 0.0, nothing)
    return -size if fmt.has_negative_zero else np.where(size == 0, 0.0, -size)


def same(found: np.ndarray, expected: np.ndarray, x: np.ndarray) -> None:
    found = found.astype(np.float64)
    equal = (found == expected) & (np.signbit(found) == np.signbit(expected))
    right = np.where(np.isnan(expected), np.isnan(found), equal)
    assert right.all(), [(float(x[i]), found[i], expected[i]) for i in np.flatnonzero(~right)[:5]]


def check(fmt: nf.FloatFormat, at: Points, mode: Rounding, policy: Overflow) -> None:
    same(nf.round_to(at.x, fmt, mode, policy), wanted(fmt, mode, policy, False, at), at.x)
    same(nf.round_to(-at.x, fmt, mode, policy), wanted(fmt, mode, policy, True, at), -at.x)


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_all_modes_and_policies(fmt: nf.FloatFormat) -> None:
    for mode in MODES:
        for policy in (Overflow.IEEE, Overflow.SATURATE, Overflow.SATURATE_FINITE):
            check(fmt, points(fmt), mode, policy)


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_overflow_is_raised_for_nothing_else(fmt: nf.FloatFormat) -> None:
    at = points(fmt)
    for mode in MODES:
        for sign in (1.0, -1.0) if fmt.signed else (1.0,):
            over = chosen(fmt, mode, sign < 0, at) == len(grid(fmt)[0]) - 1
            inside = Points(*(each[~over] for each in at))
            found = nf.round_to(sign * inside.x, fmt, mode, Overflow.RAISE)
            same(found, wanted(fmt, mode, Overflow.RAISE, sign < 0, inside), sign * inside.x)
            for number in at.x[over]:
                with pytest.raises(OverflowError, match="beyond"):
                    nf.round_to(np.array([grid(fmt)[0][1], sign * number]), fmt, mode, Overflow.RAISE)


@pytest.mark.parametrize("fmt", [fmt for fmt in FORMATS if not fmt.signed], ids=str)
def test_overflow_is_raised_for_negative_numbers_without_a_sign(fmt: nf.FloatFormat) -> None:
    with pytest.raises(OverflowError, match="beyond"):
        nf.round_to(-grid(fmt)[0][1], fmt, overflow="raise")


@pytest.mark.parametrize(("fmt", "name"), [pair for pair in PAIRS if pair[1] != "float64"], ids=str)
def test_narrower_dtypes(fmt: nf.FloatFormat, name: str) -> None:
    for mode in (Rounding.NEAREST_EVEN, Rounding.TO_ODD):
        for policy in (Overflow.IEEE, Overflow.SATURATE):
            check(fmt, points(fmt, name), mode, policy)


@pytest.mark.parametrize(("fmt", "name"), PAIRS, ids=str)
def test_encode(fmt: nf.FloatFormat, name: str) -> None:
    at, last = points(fmt, name), len(magnitudes(fmt)) - 1
    # The values in order are the codes in order, and the special codes come after.
    assert table(fmt)[:last] == magnitudes(fmt)[:-1]
    above = {meaning: code for code, meaning in enumerate(table(fmt)[: fmt.count >> fmt.signed][last:], last)}
    index = chosen(fmt, Rounding.NEAREST_EVEN, False, at)
    for negative in (False, True):
        values = wanted(fmt, Rounding.NEAREST_EVEN, Overflow.IEEE, negative, at)
        expected = np.where(np.isinf(values), above.get("inf", 0), np.minimum(index, last - 1))
        if negative:
            expected = expected | np.signbit(values) << (fmt.bits - 1) if fmt.signed else np.zeros_like(index)
            expected[values == 0] &= -int(fmt.has_negative_zero)
        found = np.asarray(nf.encode(-at.x if negative else at.x, fmt))
        assert found.dtype == fmt.code_dtype
        is_nan = np.isnan(values)
        assert np.array_equal(found[~is_nan], expected[~is_nan])
        nans = set(found[is_nan].tolist())
        assert len(nans) == is_nan.any() and all(table(fmt)[code] == "nan" for code in nans)


@pytest.mark.parametrize("name", ["float64", "float32"])
@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_infinities_and_nan(fmt: nf.FloatFormat, name: str) -> None:
    x = np.array([np.inf, -np.inf], getattr(ml_dtypes, name, name))
    largest = grid(fmt)[0][-2]
    gone = np.inf if fmt.has_inf else np.nan if fmt.has_nan else largest
    below = {Overflow.SATURATE: largest, Overflow.SATURATE_FINITE: gone, Overflow.IEEE: gone}
    for mode in MODES:
        for policy, above in below.items():
            lowest = -above if fmt.signed else np.nan if fmt.has_nan and policy is Overflow.IEEE else fmt.min
            same(nf.round_to(x, fmt, mode, policy), np.array([above, lowest]), x)
        if not fmt.has_inf:
            with pytest.raises(OverflowError, match=r"inf.* is beyond"):
                nf.round_to(x, fmt, mode, Overflow.RAISE)
        for policy in Overflow:
            nans = np.array([np.nan, -np.nan], x.dtype)
            if fmt.has_nan:
                assert np.isnan(nf.round_to(nans, fmt, mode, policy)).all()
                continue
            with pytest.raises(ValueError, match="no code for it"):
                nf.round_to(nans, fmt, mode, policy)
            for nan, size in (("zero", 0.0), ("max", largest))[1 - fmt.has_zero :]:
                assert nf.round_to(nans, fmt, mode, policy, nan=nan).tolist() == [size, size]


def test_nan_becomes_a_value_of_a_format_without_zero() -> None:
    fmt = nf.FloatFormat(5, 0, 15, "finite", signed=False)
    assert nf.round_to(np.nan, fmt, nan="zero") in nf.values(fmt).tolist()
