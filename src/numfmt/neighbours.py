"""The values beside a number: spacing, and the next value up and down."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import Array
from ._float_codes import codes_for, values_of
from ._reals import Reals, read_reals
from .float_format import FloatFormat
from .registry import get_float_format
from .rounding import holds, round_to


def spacing(x: object, fmt: object) -> Any:
    """Return the distance between neighbouring values of a float format around each number; always positive.

    It is the quantum of the binade that abs(x) lies in (as with `numpy.spacing`, towards larger magnitudes): at zero
    and among subnormals the smallest subnormal, at the largest value and beyond it that of the last binade. NaN for
    infinities and NaN. Kind, shape and dtype are as with `round_to`.
    """
    fmt = get_float_format(fmt, "spacing")
    source = _read(x, fmt, "spacing")
    size = np.minimum(np.abs(source.array), float(fmt.max))
    exponent = np.where(size > 0, np.frexp(size)[1] - 1, fmt.minexp)
    quantum = np.ldexp(1.0, np.maximum(exponent, fmt.minexp) - fmt.mantissa_bits)
    result = np.where(np.isfinite(source.array), quantum, np.nan)
    return source.restore(result, holds(source.dtype, fmt))


def next_up(x: object, fmt: object) -> Any:
    """Return the smallest value of a float format above each number (IEEE 754-2019, 5.3.1, nextUp).

    Above the largest value comes infinity, else NaN where the format has one, else the largest value again; infinity
    and NaN stay. Kind, shape and dtype are as with `round_to`.
    """
    fmt = get_float_format(fmt, "next_up")
    source = _read(x, fmt, "next_up")
    return source.restore(_above(source.array, fmt), holds(source.dtype, fmt))


def next_down(x: object, fmt: object) -> Any:
    """Return the largest value of a float format below each number; the mirror image of `next_up`.

    Below the smallest value of an unsigned format there is nothing: NaN, else the smallest value again.
    """
    fmt = get_float_format(fmt, "next_down")
    source = _read(x, fmt, "next_down")
    # Adding zero makes the mirrored zero positive, as nextUp's is.
    result = -_above(-source.array, fmt) + 0.0 if fmt.signed else _below_unsigned(source.array, fmt)
    return source.restore(result, holds(source.dtype, fmt))


def _read(x: object, fmt: FloatFormat, what: str) -> Reals:
    if not fmt.fits_float64:
        raise ValueError(f"{what}: {fmt} has values that float64 doesn't hold; choose a narrower format")
    return read_reals(x, what)


def _above(x: Array, fmt: FloatFormat) -> Array:
    lowest = float(fmt.min)
    beyond = np.inf if fmt.has_inf else np.nan if fmt.has_nan else float(fmt.max)
    inside = (x >= lowest) & (x < float(fmt.max))
    at = np.where(inside, x, 1.0 if fmt.max >= 1 else lowest)
    up = round_to(at, fmt, "toward_positive")
    codes = codes_for(up, fmt).astype(np.int64)
    sign_bit = (1 << (fmt.bits - 1)) if fmt.signed else 0
    # In the order of values, the codes of negative numbers run backwards; below the smallest negative one comes zero.
    stepped = np.where(up < 0, codes - 1, np.where(up == 0, 1, codes + 1))
    stepped = np.where((up < 0) & (stepped == sign_bit), 0, stepped)
    following = values_of(stepped.astype(np.uint64), fmt)
    result = np.where(inside, np.where(up > x, up, following), beyond)
    result = np.where(x < lowest, lowest, result)
    return np.where(np.isnan(x) | (x == np.inf), x, result)


def _below_unsigned(x: Array, fmt: FloatFormat) -> Array:
    lowest, highest = float(fmt.min), float(fmt.max)
    nothing = np.nan if fmt.has_nan else lowest
    inside = (x > lowest) & (x <= highest)
    down = round_to(np.where(inside, x, highest), fmt, "toward_zero")
    codes = codes_for(down, fmt).astype(np.int64)
    previous = values_of(np.maximum(codes - 1, 0).astype(np.uint64), fmt)
    result = np.where(inside, np.where(down < x, down, previous), nothing)
    return np.where(x > highest, highest, np.where(np.isnan(x), x, result))
