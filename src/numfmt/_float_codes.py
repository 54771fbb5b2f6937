"""Codes of float formats: fields to value by shifting exponents, which is exact, and back."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ._arrays import Array
from ._reals import narrow
from .float_format import BF16, FloatFormat

_LISTED_BITS = 16
"""Formats of at most so many bits are decoded by looking up a table of all values."""

_BLOCK = 32 * 1024


def decoded(codes: Array, fmt: FloatFormat, dtype: np.dtype[Any]) -> Array:
    """Return the value of each code in a dtype that holds them; `codes` are unsigned integers below 2**bits."""
    values = np.empty(codes.shape, dtype)
    flat, results = codes.reshape(-1), values.reshape(-1)
    for start in range(0, flat.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        if fmt == BF16 and dtype == np.float32:
            bits = results[part].view(np.uint32)
            np.copyto(bits, flat[part], casting="unsafe")
            np.left_shift(bits, np.uint32(16), out=bits)
        elif fmt.bits <= _LISTED_BITS:
            # All indices are valid; "wrap" spares NumPy the copy that it makes to raise in time.
            np.take(_table(fmt, dtype), flat[part], out=results[part], mode="wrap")
        else:
            results[part] = values_of(flat[part], fmt)
    return values


@lru_cache(maxsize=64)
def _table(fmt: FloatFormat, dtype: np.dtype[Any]) -> Array:
    table = narrow(values_of(np.arange(fmt.count, dtype=np.uint64), fmt), dtype)
    table.flags.writeable = False
    return table


def values_of(codes: Array, fmt: FloatFormat) -> Array:
    """Return the value of each code, in float64; `codes` are unsigned integers below 2**bits."""
    if not fmt.fits_float64:
        raise ValueError(f"{fmt} has values that float64 doesn't hold; fmt.exact(code) gives one as a Fraction")
    codes = codes.astype(np.uint64)
    # 1. Sign and magnitude.
    sign_bit = np.uint64(1 << (fmt.bits - 1)) if fmt.signed else np.uint64(0)
    negative = (codes & sign_bit) != 0
    magnitude = codes & ~sign_bit
    # 2. Exponent field and mantissa field; the hidden bit is there unless the exponent field is 0.
    field = (magnitude >> np.uint64(fmt.mantissa_bits)).astype(np.int64)
    mantissa = (magnitude & np.uint64((1 << fmt.mantissa_bits) - 1)).astype(np.float64)
    hidden = np.where((field > 0) | (not fmt.has_zero), 2.0**fmt.mantissa_bits, 0.0)
    exponent = np.maximum(field, int(fmt.has_zero)) - fmt.bias - fmt.mantissa_bits
    # 3. Finite values, then what the special codes stand for.
    with np.errstate(over="ignore"):
        value = np.ldexp(mantissa + hidden, exponent)
    value = np.where(negative, -value, value)
    if fmt.inf_code is not None:
        value = np.where(magnitude == fmt.inf_code, np.where(negative, -np.inf, np.inf), value)
        value = np.where(magnitude > fmt.inf_code, np.nan, value)
    elif fmt.nan_code is not None:
        is_nan = codes == fmt.nan_code
        if fmt.signed and fmt.has_negative_zero:
            is_nan |= magnitude == fmt.nan_code
        value = np.where(is_nan, np.nan, value)
    return np.asarray(value)


def codes_for(values: Array, fmt: FloatFormat) -> Array:
    """Return the code of each value, in `fmt.code_dtype`; the float64 `values` must be values of the format.

    Every NaN gets `fmt.nan_code`; its sign and payload are lost.
    """
    finite = np.isfinite(values)
    size = np.where(finite, np.abs(values), 0.0)
    # 1. The exponent, not below the smallest normal one, and the integer that the mantissa and the hidden bit make.
    exponent = np.maximum(np.frexp(size)[1] - 1, fmt.minexp)
    integer = np.ldexp(size, fmt.mantissa_bits - exponent).astype(np.uint64)
    # 2. Adding it to the shifted exponent lets the hidden bit carry into the field: subnormals need no case.
    steps = (exponent - fmt.minexp).astype(np.uint64) << np.uint64(fmt.mantissa_bits)
    codes = np.where(size > 0, steps + integer, np.uint64(0))
    if not fmt.has_zero:
        codes = codes - np.uint64(1)
    # 3. Special codes and the sign.
    if fmt.inf_code is not None:
        codes = np.where(np.isinf(values), np.uint64(fmt.inf_code), codes)
    if fmt.signed:
        negative = np.signbit(values) & ((values != 0) | fmt.has_negative_zero)
        codes = np.where(negative, codes | np.uint64(1 << (fmt.bits - 1)), codes)
    if fmt.nan_code is not None:
        codes = np.where(np.isnan(values), np.uint64(fmt.nan_code), codes)
    return np.asarray(codes.astype(fmt.code_dtype))
