"""Pack codes of any width up to 16 bits into bytes, and unpack them."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ._arrays import Array, read_integers

ORDERS = ("low", "high")
_MAX_BITS = 16


def pack(codes: object, bits: int = 4, first: str = "low") -> Array:
    """Pack codes of 1 to 16 bits into bytes along the last axis, without gaps; the result is uint8.

    `first` says where the first code goes: to the lowest bits of the first byte, the next above it (as in OCP formats
    and most libraries), or to the highest, the next below it. Signed codes are taken in two's complement. A last axis
    that doesn't fill its last byte is filled up with zeros. Raises ValueError for another width or order,
    OverflowError for a code that doesn't fit.
    """
    _check(bits, first, "pack")
    array = read_integers(codes, "pack").array
    if array.ndim == 0:
        raise ValueError("pack: codes must have at least one axis")
    outside = (array < -(1 << (bits - 1))) | (array >= (1 << bits))
    if np.any(outside):
        offender = array[outside].ravel()[0]
        raise OverflowError(f"pack: {offender} doesn't fit into {bits} bits, signed or unsigned")
    fields = (array.astype(np.int64) & ((1 << bits) - 1)).astype(">u2" if first == "high" else "<u2")
    order = _bit_order(first)
    separate = np.unpackbits(fields[..., None].view(np.uint8), axis=-1, bitorder=order)
    separate = separate[..., :bits] if first == "low" else separate[..., _MAX_BITS - bits :]
    return np.packbits(separate.reshape(*array.shape[:-1], array.shape[-1] * bits), axis=-1, bitorder=order)


def unpack(
    packed: object, bits: int = 4, count: int | None = None, signed: bool = False, first: str = "low"
) -> Array:
    """Unpack bytes into codes of 1 to 16 bits along the last axis: the inverse of `pack`.

    `count` is the number of codes in the last axis (default: all that the bytes hold). The result is uint8, above 8
    bits uint16, or with `signed` int8 or int16 in two's complement. Raises ValueError as `pack` does, and for a count
    beyond the bytes.
    """
    _check(bits, first, "unpack")
    array = read_integers(packed, "unpack").array
    if array.ndim == 0 or np.any((array < 0) | (array > 255)):
        raise ValueError("unpack: expected an array of bytes, 0 to 255, with at least one axis")
    there = array.shape[-1] * 8 // bits
    if count is not None and not 0 <= count <= there:
        raise ValueError(f"unpack: count is {count}, but the bytes hold {there} codes")
    wanted = there if count is None else count
    order = _bit_order(first)
    separate = np.unpackbits(array.astype(np.uint8), axis=-1, count=wanted * bits, bitorder=order)
    separate = separate.reshape(*array.shape[:-1], wanted, bits)
    missing = [(0, _MAX_BITS - bits) if first == "low" else (_MAX_BITS - bits, 0)]
    filled = np.pad(separate, [(0, 0)] * array.ndim + missing)
    fields = np.packbits(filled, axis=-1, bitorder=order).view(">u2" if first == "high" else "<u2")[..., 0]
    if signed:
        sign = np.int32(1 << (bits - 1))
        return ((fields.astype(np.int32) ^ sign) - sign).astype(np.int8 if bits <= 8 else np.int16)
    return fields.astype(np.uint8 if bits <= 8 else np.uint16)


def _check(bits: int, first: str, what: str) -> None:
    if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= _MAX_BITS:
        raise ValueError(f"{what}: bits must be an int from 1 to {_MAX_BITS}, got {bits!r}")
    if first not in ORDERS:
        raise ValueError(f"{what}: unknown order {first!r}; the first code goes 'low' or 'high'")


def _bit_order(first: str) -> Literal["little", "big"]:
    return "little" if first == "low" else "big"
