"""Values and codes: encode, decode, and the list of all values in code order."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from ._arrays import Array, read_integers, torch_if_loaded
from ._blockwise import encode_even
from ._float_codes import codes_for, decoded, values_of
from ._modular import as_values, codes_of, extend, residues, wrap_int
from ._reals import read_floats, read_reals
from .float_format import FP32, FloatFormat
from .formats import IntFormat
from .registry import Format, get_format

# 2**24 int32 values take 64 MiB; the next widths would fill a laptop's memory by accident.
MAX_LISTED_BITS = 24


@overload
def encode(x: int, fmt: object) -> int: ...
@overload
def encode(x: object, fmt: object) -> Any: ...
def encode(x: object, fmt: object) -> Any:
    """Return the code, 0 to 2**bits - 1, of each value; the inverse of `decode`.

    Integer formats use two's complement and raise OverflowError for a value out of range, TypeError for
    non-integers. Float formats round as `round_to` does by default (nearest even, IEEE overflow); every NaN
    gets the one code `fmt.nan_code`. A Python number gives a Python int; arrays, sequences and tensors keep
    their shape and come in `fmt.code_dtype`.
    """
    fmt = get_format(fmt)
    if isinstance(fmt, FloatFormat):
        return _encode_floats(x, fmt)
    source = read_integers(x, "encode")
    return source.restore(codes_in_range(source.array, fmt, "encode"))


@overload
def decode(codes: int, fmt: object) -> int: ...
@overload
def decode(codes: object, fmt: object, dtype: object = None) -> Any: ...
def decode(codes: object, fmt: object, dtype: object = None) -> Any:
    """Return the value that each code, an integer from 0 to 2**bits - 1, stands for in `fmt`.

    A Python int gives a Python int (a float, for a float format); arrays, sequences and tensors keep their
    shape and come in `dtype`: by default `fmt.dtype` for integers; float64 for floats, which may also be had in
    float32 where that holds them. Raises OverflowError for a code out of range, TypeError for non-integers, and
    ValueError for a dtype that doesn't hold the values.
    """
    fmt = get_format(fmt)
    wanted = _result_dtype(fmt, dtype)
    source = read_integers(codes, "decode")
    offender = _first_outside(source.array, 0, fmt.count - 1)
    if offender is not None:
        code, place = offender
        raise OverflowError(
            f"decode: code {code}{place} is not a code of {fmt}, which has {fmt.bits} bits: "
            f"0 to {fmt.count - 1}; encode(x, {fmt}) turns values into codes"
        )
    if isinstance(fmt, FloatFormat):
        small = source.array.dtype in (np.uint8, np.uint16)
        return source.restore(decoded(source.array if small else residues(source.array), fmt, wanted))
    return source.restore(as_values(extend(residues(source.array), fmt), fmt))


def _result_dtype(fmt: Format, dtype: object) -> np.dtype[Any]:
    own = fmt.dtype if isinstance(fmt, IntFormat) else np.dtype(np.float64)
    wanted = own if dtype is None else np.dtype(dtype)  # type: ignore[call-overload]
    if wanted != own and not (isinstance(fmt, FloatFormat) and wanted == np.float32 and FP32.contains(fmt)):
        raise ValueError(f"decode: {wanted} doesn't hold the values of {fmt}; leave dtype out for {own}")
    return wanted


def _encode_floats(x: object, fmt: FloatFormat) -> Any:
    floats = read_floats(x)
    if floats is not None and fmt.fits_float64:
        codes = np.empty(floats.array.shape, fmt.code_dtype)
        encode_even(floats.array, fmt, codes)
        return floats.restore(codes, False)
    from .rounding import round_to  # which decodes tensors of narrow types, and so needs this module

    rounded = round_to(x, fmt)
    torch = torch_if_loaded()
    if torch is not None and isinstance(rounded, torch.Tensor):
        codes = codes_for(read_reals(rounded, "encode").array, fmt)
        return torch.from_numpy(codes).to(rounded.device)
    codes = codes_for(np.asarray(read_reals(rounded, "encode").array), fmt)
    if isinstance(rounded, np.ndarray):
        return codes
    return codes[()] if isinstance(x, np.generic) else int(codes)


def values(fmt: object) -> Array:
    """Return all 2**bits values of `fmt` in code order, as a 1-D array in `fmt.dtype` (float64 for float formats).

    Raises ValueError above 24 bits.
    """
    fmt = get_format(fmt)
    if fmt.bits > MAX_LISTED_BITS:
        raise ValueError(
            f"values: {fmt} has {fmt.count} values, too many to list (the limit is {MAX_LISTED_BITS} bits); "
            f"{fmt}.min and {fmt}.max give its range"
        )
    codes = np.arange(fmt.count, dtype=np.uint64)
    return values_of(codes, fmt) if isinstance(fmt, FloatFormat) else as_values(extend(codes, fmt), fmt)


def codes_in_range(array: Array, fmt: IntFormat, what: str) -> Array:
    """Return the code of each value, in `fmt.code_dtype`; OverflowError, naming `what`, if one doesn't fit."""
    offender = _first_outside(array, fmt.min, fmt.max)
    if offender is not None:
        value, place = offender
        raise OverflowError(
            f"{what}: value {value}{place} does not fit {fmt}, which holds {fmt.min} to {fmt.max}; "
            f"wrap(x, {fmt}) would reduce it to {wrap_int(value, fmt)}"
        )
    return codes_of(residues(array), fmt).astype(fmt.code_dtype)


def _first_outside(array: Array, low: int, high: int) -> tuple[int, str] | None:
    """Return the first element outside low to high and the words that say where it stands, if any."""
    if array.size == 0 or (array.min() >= low and array.max() <= high):
        return None
    outside = np.asarray(np.less(array, low) | np.greater(array, high))
    if not outside.any():
        return None
    index = np.unravel_index(int(outside.argmax()), array.shape)
    place = f" at index {', '.join(map(str, index))}" if index else ""
    return int(array[index]), place
