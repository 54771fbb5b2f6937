"""Pack codes of any width up to 16 bits into bytes, and unpack them."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._arrays import Array, read_integers

ORDERS = ("low", "high")
_MAX_BITS = 16
_BLOCK = 64 * 1024
"""Codes that are worked on at a time: small enough for a processor's cache."""


def pack(codes: object, bits: int = 4, first: str = "low") -> Any:
    """Pack codes of 1 to 16 bits into bytes along the last axis, without gaps; the result is uint8.

    `first` says where the first code goes: to the lowest bits of the first byte, the next above it (as in OCP formats
    and most libraries), or to the highest, the next below it. Signed codes are taken in two's complement. A last axis
    that doesn't fill its last byte is filled up with zeros. A tensor gives a tensor, everything else an array. Raises
    ValueError for another width or order, OverflowError for a code that doesn't fit, TypeError for non-integers.
    """
    bits = _width(bits, first, "pack")
    source = read_integers(codes, "pack")
    array = source.array
    if array.ndim == 0:
        raise ValueError("pack: codes must have at least one axis")
    _check_range(array, bits)
    rows = _as_rows(array)
    packed = np.empty((rows.shape[0], -(-rows.shape[1] * bits // 8)), np.uint8)
    for block, into in _blocks(rows.shape[0], rows.shape[1], bits):
        packed[into] = _packed(rows[block], bits, first)[:, : packed[into].shape[1]]
    return source.restore(packed.reshape(*array.shape[:-1], packed.shape[1]))


def unpack(packed: object, bits: int = 4, count: int | None = None, signed: bool = False, first: str = "low") -> Any:
    """Unpack bytes into codes of 1 to 16 bits along the last axis: the inverse of `pack`.

    `count` is the number of codes in the last axis (default: all that the bytes hold). The result is uint8, above 8
    bits uint16, or with `signed` int8 or int16 in two's complement; a tensor gives a tensor, everything else an
    array. Raises ValueError as `pack` does, and for a count beyond the bytes.
    """
    bits = _width(bits, first, "unpack")
    source = read_integers(packed, "unpack")
    array = source.array
    if array.ndim == 0 or (array.dtype != np.uint8 and array.size and (array.min() < 0 or array.max() > 255)):
        raise ValueError("unpack: expected an array of bytes, 0 to 255, with at least one axis")
    wanted = _count(count, array.shape[-1] * 8 // bits)
    rows = _as_rows(array)
    codes = np.empty((rows.shape[0], wanted), np.uint8 if bits <= 8 else np.uint16)
    for into, block in _blocks(rows.shape[0], wanted, bits):
        codes[into] = _unpacked(rows[block], bits, first)[:, : codes[into].shape[1]]
        if signed:
            sign = codes.dtype.type(1 << (bits - 1))
            codes[into] = (codes[into] ^ sign) - sign
    whole = codes.reshape(*array.shape[:-1], wanted)
    return source.restore(whole.view(np.int8 if bits <= 8 else np.int16) if signed else whole)


def _width(bits: Any, first: str, what: str) -> int:
    try:
        width = 0 if isinstance(bits, bool) else operator.index(bits)
    except TypeError:
        width = 0
    if not 1 <= width <= _MAX_BITS:
        raise ValueError(f"{what}: bits must be an int from 1 to {_MAX_BITS}, got {bits!r}")
    if first not in ORDERS:
        raise ValueError(f"{what}: unknown order {first!r}; the first code goes 'low' or 'high'")
    return width


def _count(count: Any, there: int) -> int:
    try:
        wanted = there if count is None else operator.index(count)
    except TypeError:
        raise ValueError(
            f"unpack: count must be an int, the number of codes in the last axis; got {count!r}"
        ) from None
    if not 0 <= wanted <= there:
        raise ValueError(f"unpack: count is {count}, but the bytes hold {there} codes")
    return wanted


def _check_range(array: Array, bits: int) -> None:
    low, high = -(1 << (bits - 1)), (1 << bits) - 1
    if array.size == 0 or (array.min() >= low and array.max() <= high):
        return
    outside = np.asarray((array < low) | (array > high))
    index = np.unravel_index(int(outside.argmax()), array.shape)
    place = ", ".join(map(str, index))
    raise OverflowError(f"pack: {array[index]} at index {place} doesn't fit into {bits} bits, signed or unsigned")


def _as_rows(array: Array) -> Array:
    return array.reshape(math.prod(array.shape[:-1]), array.shape[-1])


def _blocks(rows: int, count: int, bits: int) -> Iterator[tuple[tuple[slice, slice], tuple[slice, slice]]]:
    """Yield where blocks of codes lie in rows of `count` codes, and where their bytes do in the packed rows."""
    down, across = max(1, _BLOCK // max(1, count)), max(1, min(count, _BLOCK))
    for top in range(0, rows, down):
        for left in range(0, count, across):  # _BLOCK codes fill whole bytes
            right = min(left + across, count)
            part = slice(top, min(top + down, rows))
            yield (part, slice(left, right)), (part, slice(left * bits // 8, -(-right * bits // 8)))


def _overlaps(bits: int, first: str) -> Iterator[tuple[int, int, int]]:
    """Yield the pairs (code, byte) that share bits in the smallest group of codes that fills whole bytes.

    With each pair comes how far the code is shifted down to bring these bits to their place in the byte (up, if
    negative).
    """
    for code in range(8 // math.gcd(bits, 8)):
        begin, end = code * bits, (code + 1) * bits
        for byte in range(begin // 8, (end - 1) // 8 + 1):
            yield code, byte, 8 * byte - begin if first == "low" else end - 8 * (byte + 1)


def _packed(codes: Array, bits: int, first: str) -> Array:
    """Return rows of codes as rows of bytes, with room for whole groups of codes."""
    group = 8 // math.gcd(bits, 8)
    groups = -(-codes.shape[1] // group)
    fields = np.zeros((codes.shape[0], groups * group), np.uint8 if bits <= 8 else np.uint16)
    fields[:, : codes.shape[1]] = codes.astype(fields.dtype)  # modulo a power of two, as two's complement asks for
    fields &= fields.dtype.type((1 << bits) - 1)
    split = fields.reshape(codes.shape[0], groups, group)
    made = np.zeros((codes.shape[0], groups, group * bits // 8), np.uint8)
    for code, byte, down in _overlaps(bits, first):
        made[..., byte] |= _shifted(split[..., code], down).astype(np.uint8)
    return made.reshape(codes.shape[0], -1)


def _unpacked(packed: Array, bits: int, first: str) -> Array:
    """Return rows of bytes as rows of codes, with room for whole groups of codes."""
    group = 8 // math.gcd(bits, 8)
    width = group * bits // 8
    groups = -(-packed.shape[1] // width)
    filled = np.zeros((packed.shape[0], groups * width), np.uint8 if bits <= 8 else np.uint16)
    filled[:, : packed.shape[1]] = packed
    split = filled.reshape(packed.shape[0], groups, width)
    codes = np.zeros((packed.shape[0], groups, group), filled.dtype)
    for code, byte, down in _overlaps(bits, first):
        codes[..., code] |= _shifted(split[..., byte], -down)
    codes &= codes.dtype.type((1 << bits) - 1)
    return codes.reshape(packed.shape[0], -1)


def _shifted(fields: Array, down: int) -> Array:
    moved = fields >> fields.dtype.type(down) if down >= 0 else fields << fields.dtype.type(-down)
    return np.asarray(moved)
