"""Rounding to any format, once and exactly: eight modes, four overflow policies, and a policy for NaN.

The quantum at x is q = 2**(max(exponent(x), minexp) - m). Since q is a power of two, x / q is exact, and every mode
is a way to choose an integer beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from ._arrays import Array
from ._reals import Reals, read_reals
from .float_format import FLOAT_FORMATS, FloatFormat
from .registry import get_float_format

_BLOCK = 32 * 1024
"""Elements that are rounded at a time, so that scratch memory stays in the cache."""

_EXACT_BITS = 50
"""Formats with more mantissa bits can't be reached by way of float64 rounded to odd."""


class Rounding(StrEnum):
    """How to choose between the two neighbours of a number (IEEE 754-2019, 4.3, and common extensions)."""

    NEAREST_EVEN = "nearest_even"
    NEAREST_AWAY = "nearest_away"
    TOWARD_ZERO = "toward_zero"
    TOWARD_POSITIVE = "toward_positive"
    TOWARD_NEGATIVE = "toward_negative"
    AWAY_FROM_ZERO = "away_from_zero"
    TO_ODD = "to_odd"
    STOCHASTIC = "stochastic"


class Overflow(StrEnum):
    """What becomes of a number beyond the largest value."""

    IEEE = "ieee"
    """What IEEE 754 says for the mode: infinity, else (without one) NaN, else the largest value; or the largest."""
    SATURATE = "saturate"
    """The largest value, also for infinity."""
    SATURATE_FINITE = "saturate_finite"
    """The largest value; infinity stays (as NaN where the format has no infinity, else the largest value)."""
    RAISE = "raise"
    """OverflowError."""


class Nan(StrEnum):
    """What becomes of NaN in a format without one; elsewhere it stays NaN."""

    RAISE = "raise"
    ZERO = "zero"
    MAX = "max"


Choice = TypeVar("Choice", bound=StrEnum)


def round_to(
    x: object,
    fmt: object,
    rounding: str = "nearest_even",
    overflow: str = "ieee",
    rng: np.random.Generator | None = None,
    out: Array | None = None,
    nan: str = "raise",
) -> Any:
    """Round numbers to the nearest values of a float format, in one step.

    Returns x's own kind and dtype where that holds every value of `fmt`, else float64; shape and device stay.
    `out` is an array of x's shape for the result. `rng` is needed for stochastic rounding, which goes up with a
    probability equal to the fraction, also below the smallest subnormal. A format without zero and sign (E8M0) takes
    its smallest value for anything positive below it; zero and negative numbers are NaN, or the smallest value when
    saturating. Raises ValueError for an unknown mode or policy and for NaN that has nowhere to go, OverflowError as
    the policy says, TypeError for what is no real number.
    """
    fmt = get_float_format(fmt, "round_to")
    mode, policy, nans = _choose(Rounding, rounding), _choose(Overflow, overflow), _choose(Nan, nan)
    if mode is Rounding.STOCHASTIC and not isinstance(rng, np.random.Generator):
        raise ValueError("round_to: stochastic rounding needs rng, such as numpy.random.default_rng(0)")
    if not fmt.fits_float64:
        raise ValueError(f"round_to: {fmt} has values that float64 doesn't hold; choose a narrower format")
    source = read_reals(x, "round_to")
    result = _round(source, fmt, mode, policy, nans, rng)
    if out is not None:
        return _into(out, result)
    return source.restore(result, holds(source.dtype, fmt))


def _choose(kind: type[Choice], name: str) -> Choice:
    try:
        return kind(name)
    except ValueError:
        raise ValueError(f"unknown {kind.__name__.lower()} {name!r}; there are {', '.join(kind)}") from None


def _into(out: Array, result: Array) -> Array:
    if not isinstance(out, np.ndarray) or out.shape != result.shape:
        raise ValueError(f"round_to: out must be an array of shape {result.shape}")
    with np.errstate(over="ignore"):
        np.copyto(out, result, casting="same_kind")
    return out


def holds(dtype: str, fmt: FloatFormat) -> bool:
    """Say whether a float dtype, by name, holds every value of the format, its infinities and NaN too."""
    outer = next((each for each in FLOAT_FORMATS if each.name == dtype), None)
    if outer is None:
        return False
    if outer == fmt:
        return True
    return (
        outer.mantissa_bits >= fmt.mantissa_bits
        and outer.minexp - outer.mantissa_bits <= fmt.minexp - fmt.mantissa_bits
        and outer.max >= fmt.max
        and outer.has_inf
        and outer.has_nan
    )


def _round(
    source: Reals, fmt: FloatFormat, mode: Rounding, policy: Overflow, nans: Nan, rng: np.random.Generator | None
) -> Array:
    if not source.is_exact and fmt.mantissa_bits > _EXACT_BITS:
        return _round_fractions(source, fmt, mode, policy, nans, rng)
    flat = source.array.reshape(-1)
    result = np.empty(flat.size, dtype=np.float64)
    quick = mode is Rounding.NEAREST_EVEN and fmt.has_zero and fmt.signed and fmt.mantissa_bits <= _EXACT_BITS
    for start in range(0, flat.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        if not (quick and _round_in_range(flat[part], fmt, result[part])):
            result[part] = _round_block(flat[part], fmt, mode, policy, nans, rng)
    return result.reshape(source.array.shape)


def _round_in_range(x: Array, fmt: FloatFormat, out: Array) -> bool:
    """Round a block to nearest even into `out` by letting the adder do it; False if something needs the long way.

    Adding 1.5 * 2**(52 - m) times the power of two at x puts the quantum at float64's last bit, and subtracting it
    again is exact. It can't tell infinities, NaN and overflow, which are left to the long way.
    """
    power = (x.view(np.uint64) & np.uint64(0x7FF0000000000000)).view(np.float64)
    np.maximum(power, 2.0**fmt.minexp, out=power)
    with np.errstate(over="ignore", invalid="ignore"):
        power *= 1.5 * 2.0 ** (52 - fmt.mantissa_bits)
        np.add(x, power, out=out)
        np.subtract(out, power, out=out)
    # NaN and infinity fail this comparison too.
    if not np.abs(out, out=power).max(initial=0.0) <= float(fmt.max):
        return False
    if fmt.has_negative_zero:
        np.copysign(out, x, out=out)
    return True


def _round_block(
    x: Array, fmt: FloatFormat, mode: Rounding, policy: Overflow, nans: Nan, rng: np.random.Generator | None
) -> Array:
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
        first = x[np.flatnonzero(over | (infinite & (not fmt.has_inf)))[0]]
        raise OverflowError(
            f"round_to: {first!r} is beyond {fmt}, whose largest value is {largest:g}; scale it first"
        )
    beyond = np.inf if fmt.has_inf else np.nan if fmt.has_nan else largest
    y = np.where(over, _at_overflow(negative, mode, policy, beyond, largest), y)
    y = np.where(infinite, largest if policy is Overflow.SATURATE else beyond, y)
    if not fmt.has_zero:
        smallest = float(fmt.smallest_normal)
        y = np.where((y < smallest) & ~np.isnan(y), smallest, y)
        y = np.where((x == 0) | (negative & ~np.isnan(x)), smallest if policy is not Overflow.IEEE else np.nan, y)
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
    return np.where(missing, 0.0 if nans is Nan.ZERO else float(fmt.max), y)


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


def _round_fractions(
    source: Reals, fmt: FloatFormat, mode: Rounding, policy: Overflow, nans: Nan, rng: np.random.Generator | None
) -> Array:
    """Round numbers that float64 can't stand in for (to a format with more than 50 mantissa bits), one by one."""
    result = np.empty(source.array.size, dtype=np.float64)
    for index, (exact, near) in enumerate(zip(source.fractions(), source.array.ravel(), strict=True)):
        if exact == 0 or not np.isfinite(near):
            result[index] = _round_block(np.array([near]), fmt, mode, policy, nans, rng)[0]
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
