"""Softmax and log-sum-exp with every operation rounded to a float format, by the stable and by the naive formula."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ._arrays import Array
from ._float_arithmetic import Arithmetic
from ._reals import read_reals
from .float_format import FloatFormat
from .registry import get_float_format
from .rounding import holds, round_to
from .sums import running_sum

_QUOTIENT_BITS = 25
"""A float64 quotient rounds again without harm to this many significant bits (Figueroa, 1995: 2 * 25 + 2 < 53)."""


def softmax(x: object, fmt: object, stable: bool = True) -> Any:
    """Return the softmax along the last axis, in x's own kind and shape, each operation rounded to nearest even.

    The stable formula takes the largest number off before it exponentiates; with `stable=False` large inputs
    overflow, as a kernel that forgets it does. The sum runs from left to right. Exponentials are float64's, rounded
    to `fmt`. Raises ValueError for a number without axes and for a format without sign, TypeError for what is no
    real number.
    """
    fmt = _signed(fmt, "softmax")
    source = read_reals(round_to(x, fmt), "softmax")
    if source.array.ndim == 0:
        raise ValueError("softmax: x must have at least one axis; pass a row of numbers")
    rows = source.array.reshape(-1, source.array.shape[-1]) if source.array.size else source.array[:0]
    result = np.empty(source.array.shape)
    for index, row in enumerate(rows):
        powers = _powers(row, _shift(row) if stable else 0.0, fmt)
        total = running_sum(powers, fmt)
        result.reshape(rows.shape)[index] = [_quotient(each, total, fmt) for each in powers]
    return source.restore(result, holds(source.dtype, fmt))


def log_sum_exp(x: object, fmt: object, stable: bool = True) -> float:
    """Return log(sum(exp(x))) of a 1-D input, each operation rounded to nearest even in a float format.

    Formula and errors are those of `softmax`; ValueError also for an empty input, whose result would be minus
    infinity.
    """
    fmt = _signed(fmt, "log_sum_exp")
    row = read_reals(round_to(x, fmt), "log_sum_exp").array
    if row.ndim != 1 or not row.size:
        raise ValueError(f"log_sum_exp: x must be 1-D and not empty, got shape {row.shape}; pass one row")
    shift = _shift(row) if stable else 0.0
    if not math.isfinite(shift):
        return shift
    ops, total = Arithmetic(fmt), running_sum(_powers(row, shift, fmt), fmt)
    with np.errstate(divide="ignore"):
        return ops.add(shift, ops.round(float(np.log(total))))


def _signed(fmt: object, what: str) -> FloatFormat:
    fmt = get_float_format(fmt, what)
    if not fmt.signed:
        raise ValueError(f"{what}: {fmt} has no sign, and differences need one; choose a signed format")
    return fmt


def _shift(row: Array) -> float:
    return float(row.max())


def _powers(row: Array, shift: float, fmt: FloatFormat) -> list[float]:
    ops = Arithmetic(fmt)
    with np.errstate(over="ignore", under="ignore"):
        return [ops.round(float(np.exp(ops.sub(each, shift)))) for each in row.tolist()]


def _quotient(a: float, b: float, fmt: FloatFormat) -> float:
    with np.errstate(all="ignore"):
        near = float(np.divide(a, b))
    if (
        fmt.mantissa_bits < _QUOTIENT_BITS
        or fmt.mantissa_bits == 52
        or not (math.isfinite(near) and math.isfinite(b))
    ):
        return Arithmetic(fmt).round(near)
    return float(round_to(Fraction(a) / Fraction(b), fmt))
