"""Rounding to any format, once and exactly: eight modes, four overflow policies, and a policy for NaN."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ._arrays import Array
from ._blockwise import round_even
from ._reals import Floats, read_floats, read_reals
from ._stepwise import round_block, round_fractions
from .float_format import FLOAT_FORMATS, FP64, FloatFormat
from .policies import Nan, Overflow, Rounding, choose
from .registry import get_float_format

_BLOCK = 32 * 1024
"""Elements that are rounded step by step at a time, so that scratch memory stays in the cache."""

_SPARE_BITS = 2
"""A number that was rounded to odd needs so many bits more than the format that it is rounded to."""


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
    `out` is an array of x's shape, and of a dtype that holds the format, for the result. `rng` is needed for
    stochastic rounding, which goes up with a probability equal to the fraction, also below the smallest subnormal. A
    format without zero and sign (E8M0) takes its smallest value for anything positive below it; zero and negative
    numbers are NaN, or the smallest value when saturating, and overflow for "raise". `nan` is for formats without
    NaN: "raise", "zero" (the smallest value where there is no zero) or "max". Raises ValueError for an unknown mode
    or policy and for NaN that has nowhere to go, OverflowError as the policy says, TypeError for what is no real
    number and for an `out` that doesn't hold the format.
    """
    fmt = get_float_format(fmt, "round_to")
    mode, policy, nans = choose(Rounding, rounding), choose(Overflow, overflow), choose(Nan, nan)
    if mode is Rounding.STOCHASTIC and not isinstance(rng, np.random.Generator):
        raise ValueError("round_to: stochastic rounding needs rng, such as numpy.random.default_rng(0)")
    if not fmt.fits_float64:
        raise ValueError(f"round_to: {fmt} has values that float64 doesn't hold; choose a narrower format")
    if out is not None:
        _check_out(out, fmt)
    if mode is Rounding.NEAREST_EVEN:
        floats = read_floats(x)
        if floats is not None and (out is None or floats.array.dtype != np.uint16):
            return _round_floats(floats, fmt, policy, nans, out)
    source = read_reals(x, "round_to")
    reachable = source.is_exact or _has_spare_bits(fmt)
    if mode is Rounding.NEAREST_EVEN and reachable:
        result = np.empty(source.array.shape, np.float64)
        round_even(source.array, fmt, policy, nans, result)
    elif not reachable:
        result = round_fractions(source, fmt, mode, policy, nans, rng)
    else:
        flat = source.array.reshape(-1)
        result = np.empty(flat.size, dtype=np.float64)
        for start in range(0, flat.size, _BLOCK):
            part = slice(start, start + _BLOCK)
            result[part] = round_block(flat[part], fmt, mode, policy, nans, rng)
        result = result.reshape(source.array.shape)
    if out is not None:
        return _into(out, result)
    return source.restore(result, holds(source.dtype, fmt))


def _has_spare_bits(fmt: FloatFormat) -> bool:
    """Say whether float64 has enough bits below each of the format's steps."""
    lowest = fmt.minexp - fmt.mantissa_bits
    return (
        fmt.mantissa_bits + _SPARE_BITS <= FP64.mantissa_bits
        and lowest - _SPARE_BITS >= FP64.minexp - FP64.mantissa_bits
    )


def _round_floats(floats: Floats, fmt: FloatFormat, policy: Overflow, nans: Nan, out: Array | None) -> Any:
    own = holds(floats.dtype, fmt)
    dtype = floats.array.dtype.newbyteorder("=") if own else np.dtype(np.float64)
    shape = floats.array.shape
    if out is None:
        result = np.empty(shape, dtype)
        round_even(floats.array, fmt, policy, nans, result)
        return floats.restore(result, own)
    # Made aside: a result that may still be refused, and one that would overwrite what is to be read.
    refusable = policy is Overflow.RAISE or not fmt.has_nan
    overlaps = out is not floats.array and np.may_share_memory(out, floats.array)
    if _fits(out, shape) and out.dtype == dtype and out.flags.c_contiguous and not (refusable or overlaps):
        round_even(floats.array, fmt, policy, nans, out)
        return out
    result = np.empty(shape, dtype)
    round_even(floats.array, fmt, policy, nans, result)
    return _into(out, result)


def _check_out(out: Array, fmt: FloatFormat) -> None:
    if isinstance(out, np.ndarray) and not holds(out.dtype.name, fmt):
        raise TypeError(
            f"round_to: out is {out.dtype.name}, which doesn't hold every value of {fmt}; make it float64"
        )


def _fits(out: Array, shape: tuple[int, ...]) -> bool:
    if not isinstance(out, np.ndarray) or out.shape != shape:
        raise ValueError(f"round_to: out must be an array of shape {shape}")
    return True


def _into(out: Array, result: Array) -> Array:
    _fits(out, result.shape)
    np.copyto(out, result, casting="same_kind")
    return out


@lru_cache(maxsize=256)
def holds(dtype: str, fmt: FloatFormat) -> bool:
    """Say whether a float dtype, by name, holds every value of the format, its infinities and NaN too."""
    outer = next((each for each in FLOAT_FORMATS if each.name == dtype), None)
    return outer is not None and outer.contains(fmt)
