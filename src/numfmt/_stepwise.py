"""Rounding step by step, in float64: every mode, overflow policy and NaN policy, for any format.

The quantum at x is q = 2**(max(exponent(x), minexp) - m). Since q is a power of two, x / q is exact, and every mode
is a way to choose an integer beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ._arrays import Array
from ._reals import Reals
from .float_format import FloatFormat
from .policies import Nan, Overflow, Rounding


def round_block(
    x: Array, fmt: FloatFormat, mode: Rounding, policy: Overflow, nans: Nan, rng: np.random.Generator | None
) -> Array:
    """Round float64 numbers to a format; where a number isn't float64's, x is its neighbour with an odd last bit."""
    size = np.abs(x)
    negative = np.signbit(x)
    finite = np.isfinite(x)
    exponent = np.frexp(np.where(finite, size, 1.0))[1] - 1
    lowest = fmt.minexp - fmt.mantissa_bits
    shift = np.maximum(exponent - fmt.mantissa_bits, lowest)
    scaled = np.ldexp(np.where(finite, size, 0.0), -shift)
    # A number far below the lowest quantum must stay above zero for the directed modes.
    scaled = np.where((scaled == 0) & (size > 0), np.finfo(np.float64).smallest_subnormal, scaled)
    with np.errstate(over="ignore"):
        y = np.ldexp(_integer_beside(scaled, negative, mode, rng), shift)
    largest = float(fmt.max)
    over = (y > largest) & finite
    infinite = np.isinf(x)
    if policy is Overflow.RAISE and (over.any() or (infinite.any() and not fmt.has_inf)):
        first = float(x[np.flatnonzero(over | (infinite & (not fmt.has_inf)))[0]])
        raise OverflowError(
            f"round_to: {first!r} is beyond {fmt}, whose largest value is {largest:g}; scale it first"
        )
    if policy is Overflow.RAISE and not fmt.signed:
        below = (negative & (y != 0) & ~np.isnan(x)) if fmt.has_zero else (negative | (x == 0)) & ~np.isnan(x)
        if below.any():
            first = float(x[np.flatnonzero(below)[0]])
            raise OverflowError(
                f"round_to: {first!r} is beyond {fmt}, whose smallest value is {float(fmt.min):g}; choose another"
            )
    beyond = np.inf if fmt.has_inf else np.nan if fmt.has_nan else largest
    y = np.where(over, _at_overflow(negative, mode, policy, beyond, largest), y)
    y = np.where(infinite, largest if policy is Overflow.SATURATE else beyond, y)
    if not fmt.has_zero:
        smallest = float(fmt.smallest_normal)
        y = np.where((y < smallest) & ~np.isnan(y), smallest, y)
        nothing = np.nan if policy is Overflow.IEEE and fmt.has_nan else smallest
        y = np.where((x == 0) | (negative & ~np.isnan(x)), nothing, y)
        negative = np.zeros_like(negative)
    elif not fmt.signed:
        y = np.where(negative & (y != 0), np.nan if fmt.has_nan and policy is Overflow.IEEE else 0.0, y)
        negative = np.zeros_like(negative)
    y = np.where(negative & ((y != 0) | fmt.has_negative_zero), -y, y)
    return _with_nans(x, y, fmt, nans)


def _at_overflow(negative: Array, mode: Rounding, policy: Overflow, beyond: float, largest: float) -> Array:
    """Return the magnitude of what a finite number beyond the largest value becomes."""
    if policy in (Overflow.SATURATE, Overflow.SATURATE_FINITE):
        return np.asarray(largest)
    if mode in (Rounding.TOWARD_ZERO, Rounding.TO_ODD):
        return np.asarray(largest)
    if mode is Rounding.TOWARD_POSITIVE:
        return np.where(negative, largest, beyond)
    if mode is Rounding.TOWARD_NEGATIVE:
        return np.where(negative, beyond, largest)
    return np.asarray(beyond)


def _with_nans(x: Array, y: Array, fmt: FloatFormat, nans: Nan) -> Array:
    missing = np.isnan(x)
    if not missing.any():
        return np.asarray(y)
    if fmt.has_nan:
        return np.where(missing, np.nan, y)
    if nans is Nan.RAISE:
        raise ValueError(f"round_to: x has NaN, and {fmt} has no code for it; choose nan='zero' or nan='max'")
    least = 0.0 if fmt.has_zero else float(fmt.min)
    return np.where(missing, least if nans is Nan.ZERO else float(fmt.max), y)


def _integer_beside(t: Array, negative: Array, mode: Rounding, rng: np.random.Generator | None) -> Array:
    """Return the integer that the mode chooses beside each t >= 0, whose sign is given apart."""
    if mode is Rounding.NEAREST_EVEN:
        return np.asarray(np.rint(t))
    low = np.floor(t)
    rest = t - low  # exact
    if mode is Rounding.TOWARD_ZERO:
        return np.asarray(low)
    up: Array
    if mode is Rounding.NEAREST_AWAY:
        up = rest >= 0.5
    elif mode is Rounding.AWAY_FROM_ZERO:
        up = rest > 0
    elif mode is Rounding.TOWARD_POSITIVE:
        up = (rest > 0) & ~negative
    elif mode is Rounding.TOWARD_NEGATIVE:
        up = (rest > 0) & negative
    elif mode is Rounding.TO_ODD:
        up = (rest > 0) & (np.fmod(low, 2.0) == 0)
    else:
        assert rng is not None
        up = rng.random(t.shape) < rest
    return np.asarray(low + up)


_SIGN_OF: dict[Rounding, Callable[[bool], Rounding]] = {
    Rounding.TOWARD_POSITIVE: lambda negative: Rounding.TOWARD_ZERO if negative else Rounding.AWAY_FROM_ZERO,
    Rounding.TOWARD_NEGATIVE: lambda negative: Rounding.AWAY_FROM_ZERO if negative else Rounding.TOWARD_ZERO,
}


def round_fractions(
    source: Reals, fmt: FloatFormat, mode: Rounding, policy: Overflow, nans: Nan, rng: np.random.Generator | None
) -> Array:
    """Round numbers that float64 can't stand in for (to a format with more than 50 mantissa bits), one by one."""
    result = np.empty(source.array.size, dtype=np.float64)
    for index, (exact, near) in enumerate(zip(source.fractions(), source.array.ravel(), strict=True)):
        if exact == 0 or not np.isfinite(near):
            result[index] = round_block(np.array([near]), fmt, mode, policy, nans, rng)[0]
            continue
        size = abs(exact)
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        exponent -= size < Fraction(2) ** exponent
        quantum = Fraction(2) ** max(exponent - fmt.mantissa_bits, fmt.minexp - fmt.mantissa_bits)
        low, rest = divmod(size, quantum)
        toward = _SIGN_OF[mode](exact < 0) if mode in _SIGN_OF else mode
        chosen = low + _goes_up(low, rest / quantum, toward, rng)
        sign = -1.0 if exact < 0 else 1.0
        rounded = chosen * quantum
        if rounded > Fraction(fmt.max):
            if policy is Overflow.RAISE:
                raise OverflowError(f"round_to: {exact} is beyond {fmt}; scale it first")
            beyond = np.inf if fmt.has_inf else np.nan if fmt.has_nan else float(fmt.max)
            result[index] = sign * _at_overflow(np.array(exact < 0), mode, policy, beyond, float(fmt.max))
        else:
            result[index] = sign * float(rounded)
    return result.reshape(source.array.shape)


def _goes_up(low: int, rest: Fraction, mode: Rounding, rng: np.random.Generator | None) -> bool:
    half = Fraction(1, 2)
    if mode is Rounding.NEAREST_EVEN:
        return rest > half or (rest == half and low % 2 == 1)
    if mode is Rounding.NEAREST_AWAY:
        return rest >= half
    if mode is Rounding.TO_ODD:
        return rest > 0 and low % 2 == 0
    if mode is Rounding.STOCHASTIC:
        assert rng is not None
        return rng.random() < rest
    return mode is Rounding.AWAY_FROM_ZERO and rest > 0
