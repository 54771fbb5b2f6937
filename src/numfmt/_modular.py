"""Arithmetic modulo 2**64 in uint64 arrays, where wrapping is defined and silent.

Every format has at most 64 bits, so the residue of an integer modulo 2**64 decides its code and its
wrapped value in each of them.
"""

from __future__ import annotations

import numpy as np

from ._arrays import Array
from .formats import IntFormat

_LOW_64 = 2**64 - 1


def residues(array: Array) -> Array:
    """Return each integer of `array` modulo 2**64 as uint64; `array` as in `Integers.array`."""
    if array.dtype == object:
        return np.array([value & _LOW_64 for value in array.ravel()], dtype=np.uint64).reshape(array.shape)
    if array.dtype.kind == "u":
        return array.astype(np.uint64)
    return array.astype(np.int64).view(np.uint64)


def codes_of(residue: Array, fmt: IntFormat) -> Array:
    """Return the lowest `fmt.bits` bits of each residue: its code in `fmt`, still as uint64."""
    return np.asarray(np.bitwise_and(residue, np.uint64(fmt.count - 1)))


def extend(codes: Array, fmt: IntFormat) -> Array:
    """Return the residue modulo 2**64 of the value that each code of `fmt` stands for, as uint64."""
    if not fmt.signed:
        return codes
    # Flipping the sign bit and subtracting it maps code c >= 2**(bits-1) to c - 2**bits, and no other.
    sign = np.uint64(1 << (fmt.bits - 1))
    return np.asarray(np.subtract(np.bitwise_xor(codes, sign), sign))


def as_values(residue: Array, fmt: IntFormat) -> Array:
    """Return residues of values of `fmt` as those values, in `fmt.dtype`."""
    return (residue.view(np.int64) if fmt.signed else residue).astype(fmt.dtype)


def wrap_int(value: int, fmt: IntFormat) -> int:
    """Return the value of `fmt` that differs from `value` by a multiple of 2**bits."""
    code = value & (fmt.count - 1)
    return code if code <= fmt.max else code - fmt.count
