"""Sums of many terms in registers of a chosen format."""

from __future__ import annotations

import operator

import numpy as np

from ._arrays import Array, read_integers
from ._modular import as_values, codes_of, extend, residues, wrap_int
from .formats import INT32
from .registry import get_int_format


def dot(a: object, b: object, multiply: object = None, accumulate: object = INT32) -> int:
    """Return the dot product of two 1-D integer inputs of equal length, as a Python int.

    Each product wraps into the format `multiply` (None: it stays exact), and the running sum, from left to
    right, wraps into `accumulate` (None: it stays exact). Raises TypeError for non-integers, and ValueError
    for inputs that aren't 1-D or differ in length.
    """
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
