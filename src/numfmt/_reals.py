"""Real numbers in, real numbers out: read what a caller passed as float64 without losing what rounding needs.

A number that float64 doesn't hold is read as its neighbour with an odd last bit (round to odd). Rounding that to a
format with at most 50 mantissa bits gives what rounding the number itself gives, in every mode (Boldo and
Melquiond, Emulation of a FMA and correctly rounded sums, 2008).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ._arrays import Array, torch_if_loaded

_FLOAT64_BITS = 53
_COMMON = {"e": "float16", "f": "float32", "d": "float64"}
_NUMBERS = "pass numbers: Python's, or an array or tensor of a real dtype"


@dataclass(frozen=True)
class Reals:
    """Numbers as read from a caller.

    `array` has the caller's shape, in float64; `is_exact` is False if some number was rounded to odd, and then
    `fractions` gives the exact ones (0 for infinities and NaN). `dtype` is the name of the caller's float dtype (""
    for other kinds), `restore` makes the caller's kind from a float64 array, in that dtype if the second argument is
    True.
    """

    array: Array
    dtype: str
    restore: Callable[[Array, bool], Any]
    is_exact: bool = True
    fractions: Callable[[], list[Fraction]] = list


@dataclass(frozen=True)
class Floats:
    """An array of floats as it is, without a copy where that is possible.

    `array` is float16, float32 or float64 in either byte order, or uint16 for the codes of BF16; `dtype` names the
    caller's. `restore` makes the caller's kind from a new array, of these codes too if the second argument is True.
    """

    array: Array
    dtype: str
    restore: Callable[[Array, bool], Any]


def read_floats(x: object) -> Floats | None:
    """Read an array, a NumPy scalar or a tensor of one of the common float dtypes; None for everything else."""
    torch = torch_if_loaded()
    if torch is not None and isinstance(x, torch.Tensor):
        return _read_float_tensor(x, torch)
    if not isinstance(x, (np.ndarray, np.generic)):
        return None
    array, is_scalar = np.asarray(x), isinstance(x, np.generic)
    if name := _COMMON.get(array.dtype.char):
        return Floats(array, name, lambda result, _: result[()] if is_scalar else result)
    if array.dtype.name != "bfloat16":
        return None

    def restore(result: Array, own: bool) -> Any:
        made = result.view(array.dtype) if own else result
        return made[()] if is_scalar else made

    return Floats(array.view(np.uint16), "bfloat16", restore)


def _read_float_tensor(x: Any, torch: Any) -> Floats | None:
    names = {torch.float64: "float64", torch.float32: "float32", torch.float16: "float16", torch.bfloat16: "bfloat16"}
    if x.layout is not torch.strided or x.dtype not in names:
        return None
    name = names[x.dtype]

    def restore(result: Array, own: bool) -> Any:
        made = torch.from_numpy(result)
        return (made.view(x.dtype) if own else made).to(x.device)

    plain = x.detach().cpu().resolve_neg()
    return Floats((plain.view(torch.uint16) if name == "bfloat16" else plain).numpy(), name, restore)


def read_reals(x: object, what: str) -> Reals:
    """Read numbers of any kind: Python's (int, float, Fraction, Decimal), NumPy, ml_dtypes, torch, sequences.

    Raises TypeError, naming `what` and the type, for complex numbers, objects, text and dates.
    """
    torch = torch_if_loaded()
    if torch is not None and isinstance(x, torch.Tensor):
        return _read_tensor(x, what, torch)
    if isinstance(x, (np.ndarray, np.generic)):
        return _read_array(np.asarray(x), what, isinstance(x, np.generic))
    if isinstance(x, (list, tuple, range)):
        objects = np.array(x, dtype=object)
        return _read_objects(objects, what, lambda result, _: result)
    if hasattr(x, "__array__"):
        return _read_array(np.asarray(x), what, False)
    return _read_objects(np.array(x, dtype=object), what, lambda result, _: float(result))


def _read_objects(objects: Array, what: str, restore: Callable[[Array, bool], Any]) -> Reals:
    exact = [_fraction(each, what) for each in objects.ravel().tolist()]
    array = np.array([_to_odd(each) for each in exact], dtype=np.float64).reshape(objects.shape)
    is_exact = all(
        isinstance(each, float) or Fraction(float(y)) == each for each, y in zip(exact, array.ravel(), strict=True)
    )
    return Reals(array, "", restore, is_exact, lambda: [_finite(each) for each in exact])


def _fraction(number: Any, what: str) -> Fraction | float:
    """Return a number exactly: as a Fraction, or as a float if it is infinite or NaN or minus zero."""
    if isinstance(number, np.generic):
        number = number.item() if number.dtype != np.longdouble else number
    if isinstance(number, (bool, int, Fraction)):
        return Fraction(number)
    if isinstance(number, Decimal) and number.is_finite() and number:
        return Fraction(number)
    if isinstance(number, Decimal):
        return math.nan if number.is_nan() else float(number)  # float() refuses a signalling NaN
    if isinstance(number, float):
        return number
    if isinstance(number, np.longdouble):
        if not np.isfinite(number) or number == 0:
            return float(number)
        numerator, denominator = number.as_integer_ratio()
        return Fraction(numerator, denominator)
    kind = type(number).__name__
    raise TypeError(f"{what}: expected numbers, got {kind} {number!r}; {_NUMBERS}")


def _finite(number: Fraction | float) -> Fraction:
    """Return the number as a Fraction, and 0 for what is none: `Reals.array` says which these are."""
    return Fraction(number) if isinstance(number, Fraction) or math.isfinite(number) else Fraction(0)


def _to_odd(number: Fraction | float) -> float:
    """Return the number as float64, rounded to odd if float64 doesn't hold it."""
    if isinstance(number, float):
        return number
    try:
        near = float(number)
    except OverflowError:
        near = np.inf if number > 0 else -np.inf
    if np.isfinite(near) and Fraction(near) == number:
        return near
    low = near if abs(near) < np.inf and abs(Fraction(near)) < abs(number) else float(np.nextafter(near, 0.0))
    low = float(np.copysign(low, 1.0 if number > 0 else -1.0))
    return low if _last_bit(low) else float(np.nextafter(low, np.copysign(np.inf, low)))


def _last_bit(number: float) -> bool:
    return bool(np.float64(number).view(np.uint64) & np.uint64(1))


def _read_array(array: Array, what: str, is_scalar: bool) -> Reals:
    dtype = array.dtype
    native = array.astype(dtype.newbyteorder("="), copy=False)

    def restore(result: Array, own: bool) -> Any:
        made = narrow(result, native.dtype) if own else result
        return made[()] if is_scalar else made

    if dtype.kind in "iub":
        return (
            _read_wide(native, "", restore) if dtype.itemsize == 8 else Reals(native.astype(np.float64), "", restore)
        )
    if dtype.kind == "f" and dtype.itemsize > 8:
        return _read_wide(native, "", restore)
    if dtype.kind == "f":
        return Reals(widen(native), dtype.name, restore)
    if dtype.type.__module__ == "ml_dtypes" and "complex" not in dtype.name:
        return Reals(native.astype(np.float32).astype(np.float64), dtype.name, restore)
    raise TypeError(f"{what}: expected real numbers, got dtype {dtype}; {_NUMBERS}")


def _read_wide(array: Array, dtype: str, restore: Callable[[Array, bool], Any]) -> Reals:
    """Read integers of 64 bits and long doubles, whose neighbours in float64 may be other numbers."""
    with np.errstate(over="ignore"):
        near = array.astype(np.float64)
    # A long double holds every int64 and uint64; where it is no wider than float64, Python's integers do.
    wide = array.astype(np.longdouble if np.finfo(np.longdouble).nmant >= 63 else object)
    off = np.asarray((near.astype(wide.dtype) != wide) & np.isfinite(array.astype(np.longdouble)))
    for index in zip(*np.nonzero(off), strict=True) if off.ndim else [()] * int(off):
        near[index] = _to_odd(_fraction(array[index], ""))
    return Reals(
        near, dtype, restore, not off.any(), lambda: [_finite(_fraction(each, "")) for each in array.ravel()]
    )


def _read_tensor(x: Any, what: str, torch: Any) -> Reals:
    name = str(x.dtype).removeprefix("torch.")
    if x.layout is not torch.strided or x.dtype.is_complex or x.is_quantized:
        raise TypeError(f"{what}: expected a dense tensor of real numbers, got {x.layout} of {x.dtype}; {_NUMBERS}")

    def restore(result: Array, own: bool) -> Any:
        made = torch.from_numpy(np.ascontiguousarray(result))
        if own and name == "float32":
            made = torch.from_numpy(narrow(np.ascontiguousarray(result), np.dtype(np.float32)))
        elif own:
            made = made.to(x.dtype)
        return made.reshape(x.shape).to(x.device)

    plain = x.detach().cpu().resolve_neg()
    if name in ("float64", "float32", "float16") or not x.dtype.is_floating_point:
        source = _read_array(plain.numpy(), what, False)
        return Reals(source.array, source.dtype, restore, source.is_exact, source.fractions)
    # The other types by their codes: torch's own conversion goes by way of float32, which may flush subnormals.
    from .codes import decode

    width = {1: torch.uint8, 2: torch.uint16}[x.element_size()]
    return Reals(decode(plain.contiguous().view(width).numpy(), name), name, restore)


def widen(array: Array) -> Array:
    """Return a float array as float64, subnormals kept even where the processor flushes them to zero."""
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
        wide = array.astype(np.float64)
    if array.dtype == np.float32:
        bits = np.ascontiguousarray(array).view(np.uint32).reshape(array.shape)
        tiny = ((bits & np.uint32(0x7F800000)) == 0) & ((bits & np.uint32(0x007FFFFF)) != 0)
        if tiny.any():
            magnitude = np.ldexp((bits & np.uint32(0x007FFFFF)).astype(np.float64), -149)
            wide = np.where(tiny, np.where(bits >> np.uint32(31), -magnitude, magnitude), wide)
    return np.asarray(wide)


def narrow(array: Array, dtype: np.dtype[Any]) -> Array:
    """Return float64 numbers that the dtype holds in that dtype, subnormals kept as in `widen`."""
    with np.errstate(over="ignore", under="ignore"):
        small = np.asarray(array.astype(dtype))
    if dtype == np.float32:
        tiny = (np.abs(array) < 2.0**-126) & (array != 0)
        if tiny.any():
            codes = np.ldexp(np.abs(array), 149, where=tiny, out=np.zeros_like(array)).astype(np.uint32)
            codes |= np.signbit(array).astype(np.uint32) << np.uint32(31)
            small = np.where(tiny, codes.view(np.float32), small).astype(np.float32)
    return small
