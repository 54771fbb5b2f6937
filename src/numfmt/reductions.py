"""Sums of many terms in registers of a chosen format."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Any

import numpy as np

from ._arrays import Array, read_integers
from ._float_arithmetic import Arithmetic
from ._modular import as_values, codes_of, extend, residues, wrap_int
from ._reals import read_reals
from .float_format import FloatFormat
from .formats import INT32
from .registry import get_float_format, get_format, get_int_format
from .rounding import round_to


def dot(a: object, b: object, multiply: object = None, accumulate: object = INT32) -> int | float:
    """Return the dot product of two 1-D inputs of equal length, added from left to right.

    With integer formats, each product wraps into `multiply` (None: it stays exact) and the running sum wraps into
    `accumulate` (None: it stays exact); the result is a Python int. With a float format as `accumulate`, inputs are
    taken as they are, each product is rounded to the float format `multiply` (None: it stays exact), and the running
    sum to `accumulate`, both to nearest even; the result is a Python float. Raises TypeError for non-integers (or
    non-numbers) and for a mixture of the two kinds of format, ValueError for inputs that aren't 1-D or differ in
    length.
    """
    if accumulate is not None and isinstance(get_format(accumulate), FloatFormat):
        return _float_dot(a, b, multiply, get_float_format(accumulate, "dot"))
    multiply = None if multiply is None else get_int_format(multiply, "dot")
    accumulate = None if accumulate is None else get_int_format(accumulate, "dot")
    left, right = _read_vector(a, "a"), _read_vector(b, "b")
    if left.size != right.size:
        raise ValueError(f"dot: a has {left.size} elements and b has {right.size}; they must have equally many")
    if multiply is not None:
        products = codes_of(np.multiply(residues(left), residues(right)), multiply)
        left = as_values(extend(products, multiply), multiply)
        right = np.ones_like(left)
    if accumulate is None:
        return _exact_dot(left, right)
    # Wrapping respects + and *, so one wrap of the whole sum equals a wrap after every step.
    total = np.add.reduce(np.multiply(residues(left), residues(right)))
    return wrap_int(int(total), accumulate)


def _float_dot(a: object, b: object, multiply: object, accumulate: FloatFormat) -> float:
    left, right = (read_reals(x, f"dot, argument {name}").array for x, name in ((a, "a"), (b, "b")))
    for array, name in ((left, "a"), (right, "b")):
        if array.ndim != 1:
            raise ValueError(f"dot: {name} must be 1-D, got shape {array.shape}; pass one row, or x.ravel()")
    if left.size != right.size:
        raise ValueError(f"dot: a has {left.size} elements and b has {right.size}; they must have equally many")
    if fit_float32(left, right):  # 24 bits times 24 bits fit float64
        with np.errstate(invalid="ignore"):
            products: list[Any] = (left * right).tolist()
    else:
        products = [
            Fraction(x) * Fraction(y) if math.isfinite(x) and math.isfinite(y) else x * y
            for x, y in zip(left.tolist(), right.tolist(), strict=True)
        ]
    if multiply is not None:
        multiply = get_float_format(multiply, "dot")
        products = [float(each) for each in round_to(products, multiply)]
    arithmetic, total = Arithmetic(accumulate), 0.0
    for product in products:
        if isinstance(product, Fraction):
            total = float(round_to(Fraction(total) + product, accumulate)) if math.isfinite(total) else total
        else:
            total = arithmetic.add(total, product)
    return total


def fit_float32(*arrays: Array) -> bool:
    """Say whether float32 holds all numbers of the arrays, so that float64 holds their products."""
    with np.errstate(over="ignore"):
        return all(np.array_equal(x.astype(np.float32).astype(np.float64), x, equal_nan=True) for x in arrays)


def _read_vector(x: object, name: str) -> Array:
    array = read_integers(x, f"dot, argument {name}").array
    if array.ndim != 1:
        raise ValueError(f"dot: {name} must be 1-D, got shape {array.shape}; pass one row, or x.ravel()")
    return array


def _exact_dot(left: Array, right: Array) -> int:
    if left.size * _largest(left) * _largest(right) < 2**63:
        return int(np.dot(left.astype(np.int64), right.astype(np.int64)))
    return sum(map(operator.mul, left.tolist(), right.tolist()))


def _largest(vector: Array) -> int:
    """Return the largest magnitude in `vector`, but at least 1, so that a product bounds both factors."""
    return max(1, abs(int(vector.min())), abs(int(vector.max()))) if vector.size else 1
