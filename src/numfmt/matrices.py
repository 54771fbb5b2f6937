"""Matrix products in registers of a chosen format: `dot` for each row and column, all at once where that is exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import Array, read_integers, torch_if_loaded
from ._reals import read_reals
from .float_format import FloatFormat
from .formats import INT32
from .reductions import dot, fit_float32
from .registry import get_float_format, get_format
from .rounding import round_to

_BY_FLOAT64 = 50
"""Formats with no more mantissa bits are reached exactly by way of float64 rounded to odd."""


def matmul(a: object, b: object, multiply: object = None, accumulate: object = INT32) -> Any:
    """Return the product of an (m, k) and a (k, n) matrix; each element is `dot` of a row and a column.

    Formats and errors are those of `dot`; terms are added in the order of k. The result is float64 with a float
    accumulator, else int64 (or Python ints where those don't fit), as a tensor on a's device if `a` is a tensor.
    """
    inner = None if accumulate is None else get_format(accumulate)
    read = read_reals if isinstance(inner, FloatFormat) else read_integers
    left, right = (read(x, f"matmul, argument {name}").array for x, name in ((a, "a"), (b, "b")))
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[0]:
        raise ValueError(
            f"matmul: expected shapes (m, k) and (k, n), got {left.shape} and {right.shape}; "
            "transpose one, or give a vector a second axis"
        )
    if isinstance(inner, FloatFormat) and inner.mantissa_bits <= _BY_FLOAT64 and fit_float32(left, right):
        result = _by_terms(left, right, multiply, inner)
    else:
        result = _by_elements(left, right, multiply, inner)
    torch = torch_if_loaded()
    if torch is not None and isinstance(a, torch.Tensor):
        return torch.from_numpy(result).to(a.device)
    return result


def _by_elements(left: Array, right: Array, multiply: object, accumulate: object) -> Array:
    elements = [dot(row, column, multiply, accumulate) for row in left for column in right.T]
    shape = (left.shape[0], right.shape[1])
    if isinstance(accumulate, FloatFormat):
        return np.array(elements, dtype=np.float64).reshape(shape)
    return np.asarray(read_integers(elements, "matmul").array).reshape(shape)


def _by_terms(left: Array, right: Array, multiply: object, accumulate: FloatFormat) -> Array:
    products = None if multiply is None else get_float_format(multiply, "dot")
    total = np.zeros((left.shape[0], right.shape[1]))
    for column, row in zip(left.T, right, strict=True):
        with np.errstate(invalid="ignore"):
            terms = np.multiply.outer(column, row)
        if products is not None:
            terms = round_to(terms, products)
        total = round_to(_add_to_odd(total, terms), accumulate)
    return total


def _add_to_odd(a: Array, b: Array) -> Array:
    """Return a + b in float64, rounded to odd where it is inexact, as `add_to_odd` does for two numbers."""
    with np.errstate(invalid="ignore"):
        total = a + b
        part = total - a
        error = (a - (total - part)) + (b - part)
        even = (total.view(np.int64) & 1) == 0
        return np.where(
            np.isfinite(total) & (error != 0) & even,
            np.nextafter(total, np.where(error > 0, np.inf, -np.inf)),
            total,
        )
