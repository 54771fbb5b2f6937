"""Bit strings: codes written out as ones and zeros, and read back."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from ._arrays import read_integers
from .codes import codes_in_range, decode, encode
from .float_format import FloatFormat
from .formats import IntFormat
from .registry import Format, get_format

_SEPARATORS = str.maketrans("", "", " _")


@overload
def to_bits(x: int, fmt: object, group: int | None = None) -> str: ...
@overload
def to_bits(x: object, fmt: object, group: int | None = None) -> Any: ...
def to_bits(x: object, fmt: object, group: int | None = None) -> Any:
    """Return the bits of each value's code, highest first, with a space every `group` bits from the right.

    One number gives a str; arrays, sequences and tensors give a NumPy array of strings of the same shape.
    Raises as `encode` does, and ValueError if `group` is no int or below 1.
    """
    fmt = get_format(fmt)
    if group is not None and not (isinstance(group, int) and group >= 1):
        raise ValueError(f"to_bits: group counts bits, so it must be an int of at least 1, got {group!r}")
    if isinstance(fmt, FloatFormat):
        codes = np.asarray(encode(x, fmt))
        single = codes.ndim == 0
    else:
        source = read_integers(x, "to_bits")
        codes, single = codes_in_range(source.array, fmt, "to_bits"), source.single
    texts = [_digits(code, fmt.bits, group) for code in codes.ravel().tolist()]
    return texts[0] if single else np.array(texts, dtype=np.str_).reshape(codes.shape)


@overload
def from_bits(text: str, fmt: object = None) -> int: ...
@overload
def from_bits(text: object, fmt: object = None) -> Any: ...
def from_bits(text: object, fmt: object = None) -> Any:
    """Return the value that a string of bits stands for in `fmt`, or as a plain unsigned number if None.

    Spaces and underscores are skipped. A str gives a Python int; a sequence or array of strings gives an
    array of the same shape in `fmt.dtype` (without `fmt`, in the smallest unsigned dtype). Raises TypeError
    for anything but strings, and ValueError for another character or, with `fmt`, another length.
    """
    fmt = None if fmt is None else get_format(fmt)
    if isinstance(text, str):
        code = int(_checked(text, fmt), 2)
        return code if fmt is None else decode(code, fmt)
    array = np.asarray(text, dtype=object)
    digits = [_checked(element, fmt) for element in array.ravel()]
    if fmt is None:
        fmt = IntFormat(max(map(len, digits), default=1), signed=False)
    codes = np.array([int(element, 2) for element in digits], dtype=fmt.code_dtype)
    return decode(codes.reshape(array.shape), fmt)


def _digits(code: int, bits: int, group: int | None) -> str:
    text = f"{code:0{bits}b}"
    if group is None:
        return text
    first = bits % group
    pieces = [text[:first]] if first else []
    return " ".join(pieces + [text[start : start + group] for start in range(first, bits, group)])


def _checked(text: object, fmt: Format | None) -> str:
    """Return the digits of `text` alone, or say which character or length is wrong."""
    if not isinstance(text, str):
        raise TypeError(
            f"from_bits: expected a string of bits such as '1111 1011', got {type(text).__name__} {text!r}"
        )
    for position, character in enumerate(text):
        if character not in "01 _":
            raise ValueError(
                f"from_bits: {character!r} at position {position} of {text!r} is not a bit; "
                f"write 0 and 1 only (spaces and underscores may separate them)"
            )
    digits = text.translate(_SEPARATORS)
    if not digits:
        raise ValueError(f"from_bits: {text!r} holds no bits; write at least one 0 or 1")
    if fmt is not None and len(digits) != fmt.bits:
        raise ValueError(
            f"from_bits: {text!r} has {len(digits)} bits, but {fmt} has {fmt.bits}; write all {fmt.bits}"
        )
    return digits
