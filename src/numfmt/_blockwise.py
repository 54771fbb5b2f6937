"""Round or encode whole arrays with the kernels, a block at a time, so that scratch memory stays in the cache.

Arrays are float16, float32 or float64 here, or uint16 for the codes of BF16, which NumPy has no dtype for.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ._arena import Arena, Empty
from ._arrays import Array
from ._float_codes import codes_for
from ._kernels import FLOAT32, FLOAT64, Carrier, Kernel, Scratch, kernel_for
from ._reals import narrow, widen
from ._stepwise import round_block
from .float_format import FloatFormat
from .policies import Nan, Overflow, Rounding

BLOCK_BYTES = 360 * 1024
"""The size of a block in a carrier: so large that the cost of a call is little, so small that a cache holds it."""


def round_even(x: Array, fmt: FloatFormat, policy: Overflow, nans: Nan, out: Array) -> None:
    """Round to nearest even into `out`, which has x's shape, is contiguous, holds the format, and may be x."""
    if not x.flags.c_contiguous and x.dtype == out.dtype:
        np.copyto(out, x)
        x = out
    results = out.reshape(-1)
    carriers = (FLOAT64,) if np.float64 in (x.dtype, out.dtype) else (FLOAT32, FLOAT64)
    carrier, kernel = _first_kernel(fmt, carriers)
    if kernel is None:
        for part, numbers in _parts(x, carrier, np.empty):
            _store(round_block(numbers, fmt, Rounding.NEAREST_EVEN, policy, nans, None), results[part])
        return
    direct = out.dtype == carrier.floats
    natural = policy is Overflow.IEEE and fmt.has_nan
    with Arena() as arena, np.errstate(over="ignore", invalid="ignore"):  # what overflows here is mended
        for part, numbers, scratch, odd in _passes(x, kernel, natural, arena.empty):
            target = results[part] if direct else numbers  # which is a copy then
            some = None if odd is None else _wide(numbers[odd])
            kernel.round(numbers, target, scratch)
            if some is not None:
                mended = round_block(some, fmt, Rounding.NEAREST_EVEN, policy, nans, None)
                target[odd] = narrow(mended, target.dtype)
            if not direct:
                _store(target, results[part])


def encode_even(x: Array, fmt: FloatFormat, out: Array) -> None:
    """Encode, rounded to nearest even with IEEE overflow, into the contiguous `out`, in the format's code dtype."""
    carriers = (FLOAT64,) if x.dtype == np.float64 else (FLOAT32, FLOAT64)
    carrier, kernel = _first_kernel(fmt, carriers, encodes=True)
    results = out.reshape(-1)
    if kernel is None:
        for part, numbers in _parts(x, carrier, np.empty):
            results[part] = _encoded(numbers, fmt)
        return
    with Arena() as arena, np.errstate(over="ignore", invalid="ignore"):
        for part, numbers, scratch, odd in _passes(x, kernel, fmt.has_nan, arena.empty):
            target = results[part]
            kernel.encode(numbers, target, scratch)
            if odd is not None:
                target[odd] = _encoded(_wide(numbers[odd]), fmt)


def _encoded(numbers: Array, fmt: FloatFormat) -> Array:
    return codes_for(round_block(numbers, fmt, Rounding.NEAREST_EVEN, Overflow.IEEE, Nan.RAISE, None), fmt)


def _first_kernel(
    fmt: FloatFormat, carriers: tuple[Carrier, ...], encodes: bool = False
) -> tuple[Carrier, Kernel | None]:
    for carrier in carriers:
        kernel = kernel_for(fmt, carrier)
        if kernel is not None and (kernel.encodes or not encodes):
            return carrier, kernel
    return FLOAT64, None


def _passes(
    x: Array, kernel: Kernel, natural: bool, empty: Empty
) -> Iterator[tuple[slice, Array, Scratch, Array | None]]:
    """Yield each block: its place, its numbers, scratch of its size, and where the numbers beyond the kernel are."""
    size = min(x.size, _block(kernel.carrier))
    scratch = kernel.scratch(size, empty)
    for part, numbers in _parts(x, kernel.carrier, empty):
        mine = scratch if len(numbers) == size else tuple(each[: len(numbers)] for each in scratch)
        yield part, numbers, mine, kernel.outside(numbers, mine, natural)


def _block(carrier: Carrier) -> int:
    return BLOCK_BYTES // carrier.floats.itemsize


def _parts(x: Array, carrier: Carrier, empty: Empty) -> Iterator[tuple[slice, Array]]:
    """Yield the numbers of x in the carrier's dtype, block by block, each with its place in the flattened array."""
    flat = x.reshape(-1) if x.flags.c_contiguous else x.flat
    block = _block(carrier)
    copy = None if x.dtype == carrier.floats else empty(min(x.size, block), carrier.floats)
    for start in range(0, x.size, block):
        part = slice(start, min(start + block, x.size))
        numbers = flat[part]
        if copy is not None:
            _load(numbers, copy[: len(numbers)])
            numbers = copy[: len(numbers)]
        yield part, numbers


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
        np.copyto(out, narrow(numbers, out.dtype))
