"""Round or encode whole arrays with the kernels, a block at a time, so that scratch memory stays in the cache.

Arrays are float16, float32 or float64 here, or uint16 for the codes of BF16, which NumPy has no dtype for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ._arena import Arena, Empty
from ._arrays import Array
from ._float_codes import codes_for
from ._kernels import FLOAT32, FLOAT64, Carrier, Kernel, Scratch, kernel_for
from ._reals import narrow, widen
from ._stepwise import round_block
from .float_format import FloatFormat
from .policies import Nan, Overflow, Rounding

_SUBNORMAL = np.array([2.0**-140])

BLOCK_BYTES = 360 * 1024
"""The size of a block: so large that the cost of a call is little, so small that a cache holds it."""


def round_even(x: Array, fmt: FloatFormat, policy: Overflow, nans: Nan, out: Array) -> None:
    """Round to nearest even into `out`, which has x's shape, is contiguous, holds the format, and may be x."""
    if not x.flags.c_contiguous and x.dtype == out.dtype:
        np.copyto(out, x)
        x = out
    results = out.reshape(-1)
    carrier, kernel = _first_kernel(fmt, x.dtype, _carriers(x.dtype, out.dtype))
    if kernel is None:
        for part, _, numbers in _parts(x, carrier, np.empty):
            _store(round_block(numbers, fmt, Rounding.NEAREST_EVEN, policy, nans, None), results[part])
        return
    direct = out.dtype == carrier.floats
    natural = policy is Overflow.IEEE and fmt.has_nan
    with Arena() as arena, np.errstate(over="ignore", invalid="ignore"):  # what overflows here is mended
        for part, numbers, scratch, odd, some in _passes(x, kernel, natural, arena.empty):
            target = results[part] if direct else numbers  # which is a copy then
            kernel.round(numbers, target, scratch)
            if some is not None:
                mended = round_block(some, fmt, Rounding.NEAREST_EVEN, policy, nans, None)
                target[odd] = narrow(mended, target.dtype)
            if not direct:
                _store(target, results[part])


def encode_even(x: Array, fmt: FloatFormat, out: Array) -> None:
    """Encode, rounded to nearest even with IEEE overflow, into the contiguous `out`, in the format's code dtype."""
    carrier, kernel = _first_kernel(fmt, x.dtype, _carriers(x.dtype), encodes=True)
    results = out.reshape(-1)
    if kernel is None:
        for part, _, numbers in _parts(x, carrier, np.empty):
            results[part] = _encoded(numbers, fmt)
        return
    with Arena() as arena, np.errstate(over="ignore", invalid="ignore"):
        for part, numbers, scratch, odd, some in _passes(x, kernel, fmt.has_nan, arena.empty):
            target = results[part]
            kernel.encode(numbers, target, scratch)
            if some is not None:
                target[odd] = _encoded(some, fmt)


def _encoded(numbers: Array, fmt: FloatFormat) -> Array:
    return codes_for(round_block(numbers, fmt, Rounding.NEAREST_EVEN, Overflow.IEEE, Nan.RAISE, None), fmt)


def _carriers(dtype: np.dtype[Any], result: np.dtype[Any] | None = None) -> tuple[Carrier, ...]:
    """Return what may carry numbers of a dtype, the fastest first."""
    widens = result is not None and _is_wider(result, dtype)
    flushes = _is_wider(dtype, FLOAT32.floats) and _flushes_subnormals()
    return (FLOAT64,) if widens or flushes else (FLOAT32, FLOAT64)


def _is_wider(dtype: np.dtype[Any], other: np.dtype[Any]) -> bool:
    return dtype.itemsize > other.itemsize


def _flushes_subnormals() -> bool:
    """Say whether the processor, as this thread has set it, makes zero of float32's subnormals."""
    return not _SUBNORMAL.astype(np.float32).astype(np.float64).any()


def _first_kernel(
    fmt: FloatFormat, dtype: np.dtype[Any], carriers: tuple[Carrier, ...], encodes: bool = False
) -> tuple[Carrier, Kernel | None]:
    for carrier in carriers:
        kernel = kernel_for(fmt, carrier)
        if kernel is None or (encodes and not kernel.encodes):
            continue
        if kernel.sees_ties or not _is_wider(dtype, carrier.floats):
            return carrier, kernel
    return FLOAT64, None


def _passes(
    x: Array, kernel: Kernel, natural: bool, empty: Empty
) -> Iterator[tuple[slice, Array, Scratch, Array | None, Array | None]]:
    """Yield each block: its place, its numbers, scratch of its size, and what lies beyond the kernel, if anything
    does: where that is, and these numbers as they came, in float64."""
    size = min(x.size, _block(x, kernel.carrier))
    scratch = kernel.scratch(size, empty)
    narrowed = _is_wider(x.dtype, kernel.carrier.floats)
    for part, given, numbers in _parts(x, kernel.carrier, empty):
        mine = scratch if len(numbers) == size else tuple(each[: len(numbers)] for each in scratch)
        if narrowed:
            kernel.lean(numbers, given, mine)
        odd = kernel.outside(numbers, mine, natural)
        some = None if odd is None else _wide((given if narrowed else numbers)[odd])
        yield part, numbers, mine, odd, some


def _block(x: Array, carrier: Carrier) -> int:
    return BLOCK_BYTES // max(x.itemsize, carrier.floats.itemsize)


def _parts(x: Array, carrier: Carrier, empty: Empty) -> Iterator[tuple[slice, Array, Array]]:
    """Yield x block by block: its place in the flattened array, its numbers as they are, and in the carrier."""
    flat = x.reshape(-1) if x.flags.c_contiguous else x.flat
    block = _block(x, carrier)
    copy = None if x.dtype == carrier.floats else empty(min(x.size, block), carrier.floats)
    for start in range(0, x.size, block):
        part = slice(start, min(start + block, x.size))
        given = numbers = flat[part]
        if copy is not None:
            numbers = copy[: len(given)]
            _load(given, numbers)
        yield part, given, numbers


def _load(numbers: Array, out: Array) -> None:
    if numbers.dtype == np.uint16:
        bits = np.left_shift(numbers, np.uint32(16), dtype=np.uint32)
        numbers = bits.view(np.float32)
    np.copyto(out, _wide(numbers) if out.dtype == np.float64 else numbers)


def _wide(numbers: Array) -> Array:
    native = numbers.astype(numbers.dtype.newbyteorder("="), copy=False)
    return native if native.dtype == np.float64 else widen(native)


def _store(numbers: Array, out: Array) -> None:
    if out.dtype == np.uint16:
        if numbers.dtype == np.float64:
            numbers = narrow(numbers, np.dtype(np.float32))
        bits = numbers.view(np.uint32)
        np.copyto(out, np.right_shift(bits, np.uint32(16)), casting="unsafe")
    else:
        np.copyto(out, numbers if _is_wider(out.dtype, numbers.dtype) else narrow(numbers, out.dtype))
