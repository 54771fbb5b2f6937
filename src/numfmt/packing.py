"""Pack small codes into bytes, and unpack them."""

from __future__ import annotations

import numpy as np

from ._arrays import Array, read_integers

ORDERS = ("low", "high")


def pack(codes: object, bits: int = 4, first: str = "low") -> Array:
    """Pack codes of 1, 2 or 4 bits into bytes along the last axis, 8 // bits to a byte; the result is uint8.

    `first` says where the first code of a byte goes: to the low bits (as in OCP formats and most libraries) or to
    the high ones. Signed codes are taken in two's complement. A last axis that doesn't fill its last byte is filled
    up with zeros. Raises ValueError for another width or order, OverflowError for a code that doesn't fit.
    """
    _check(bits, first, "pack")
    array = read_integers(codes, "pack").array
    if array.ndim == 0:
        raise ValueError("pack: codes must have at least one axis")
    outside = (array < -(1 << (bits - 1))) | (array >= (1 << bits))
    if np.any(outside):
        offender = array[outside].ravel()[0]
        raise OverflowError(f"pack: {offender} doesn't fit into {bits} bits, signed or unsigned")
    each = 8 // bits
    fields = (array.astype(np.int64) & ((1 << bits) - 1)).astype(np.uint8)
    missing = -array.shape[-1] % each
    fields = np.pad(fields, [(0, 0)] * (array.ndim - 1) + [(0, missing)])
    fields = fields.reshape(*fields.shape[:-1], -1, each)
    return np.asarray(np.bitwise_or.reduce(fields << _shifts(bits, first), axis=-1, dtype=np.uint8))


def unpack(
    packed: object, bits: int = 4, count: int | None = None, signed: bool = False, first: str = "low"
) -> Array:
    """Unpack bytes into codes of 1, 2 or 4 bits along the last axis: the inverse of `pack`.

    `count` is the number of codes in the last axis (default: all that the bytes hold). The result is uint8, or with
    `signed` int8 in two's complement. Raises ValueError as `pack` does, and for a count beyond the bytes.
    """
    _check(bits, first, "unpack")
    array = read_integers(packed, "unpack").array
    if array.ndim == 0 or np.any((array < 0) | (array > 255)):
        raise ValueError("unpack: expected an array of bytes, 0 to 255, with at least one axis")
    fields = (array.astype(np.uint8)[..., None] >> _shifts(bits, first)) & np.uint8((1 << bits) - 1)
    codes = fields.reshape(*array.shape[:-1], -1)
    if count is not None and not 0 <= count <= codes.shape[-1]:
        raise ValueError(f"unpack: count is {count}, but the bytes hold {codes.shape[-1]} codes")
    codes = codes[..., :count]
    if not signed:
        return np.asarray(codes)
    sign = np.int16(1 << (bits - 1))
    return np.asarray(((codes.astype(np.int16) ^ sign) - sign).astype(np.int8))


def _check(bits: int, first: str, what: str) -> None:
    if isinstance(bits, bool) or bits not in (1, 2, 4):
        raise ValueError(f"{what}: bits must be 1, 2 or 4, which divide a byte; got {bits!r}")
    if first not in ORDERS:
        raise ValueError(f"{what}: unknown order {first!r}; the first code goes 'low' or 'high'")


def _shifts(bits: int, first: str) -> Array:
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    return shifts if first == "low" else shifts[::-1]
