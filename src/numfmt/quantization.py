"""Uniform quantization: floats as small integers with a scale, for a tensor, a channel or a group."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from ._arrays import Array
from ._reals import Reals, read_reals
from .formats import IntFormat


class Scheme(StrEnum):
    """How floats are mapped to integers."""

    ABSMAX = "absmax"
    """Symmetric: 0 is code 0, and max|x| is ±(2**(bits-1) - 1)."""
    ZERO_POINT = "zero_point"
    """Affine: the range of x, widened to hold 0, is mapped to 0 … 2**bits - 1, and 0.0 has a code of its own."""


@dataclass(frozen=True)
class Quantized:
    """Quantized numbers: x is about (codes - zero_point) * scale.

    `codes` has x's shape, in the smallest dtype for the width; `scale` (float64) and `zero_point` (integers; 0 for
    absmax) broadcast against it, or, with a `group_size`, against codes split into groups along the last axis.
    """

    codes: Any
    scale: Any
    zero_point: Any
    bits: int
    scheme: Scheme
    group_size: int | None = None

    def dequantize(self) -> Any:
        """Return the numbers that the codes stand for, as float64, in the shape and kind of the codes."""
        codes, scale, zero = (read_reals(each, "dequantize") for each in (self.codes, self.scale, self.zero_point))
        grouped = _grouped(codes.array, self.group_size)
        return codes.restore(((grouped - zero.array) * scale.array).reshape(codes.array.shape), False)

    @property
    def effective_bits(self) -> float:
        """The bits for each number, with scales stored as 16-bit floats and zero points in the codes' width."""
        scales = read_reals(self.scale, "effective_bits").array.size
        each = 16 + (self.bits if self.scheme is Scheme.ZERO_POINT else 0)
        return self.bits + scales * each / max(1, read_reals(self.codes, "effective_bits").array.size)


def quantize(
    x: object,
    bits: int = 8,
    scheme: str = "absmax",
    axis: int | tuple[int, ...] | None = None,
    group_size: int | None = None,
) -> Quantized:
    """Quantize numbers to integers of 2 to 16 bits, rounding ties to even (`numpy.rint`).

    One scale serves the whole tensor, or with `axis` each index along these axes (channels), or with `group_size`
    each run of so many elements along the last axis. An all-zero part gets the scale 1 and codes that stand for 0.
    Raises ValueError for NaN and infinities, for a width, scheme or axis that there isn't, and for a group size that
    doesn't divide the last axis; TypeError for what is no real number.
    """
    how = _scheme(scheme)
    if isinstance(bits, bool) or not isinstance(bits, int) or not 2 <= bits <= 16:
        raise ValueError(f"quantize: bits must be an int from 2 to 16, got {bits!r}")
    source = read_reals(x, "quantize")
    if not np.isfinite(source.array).all():
        raise ValueError("quantize: x has NaN or infinities, and a scale can't cover them; replace them first")
    if axis is not None and group_size is not None:
        raise ValueError(
            "quantize: give axis (a scale for each channel) or group_size (one for each group), not both"
        )
    parts = _grouped(source.array, group_size)
    shared = (parts.ndim - 1,) if group_size is not None else _shared_axes(parts.ndim, axis)
    scale, zero = (_absmax if how is Scheme.ABSMAX else _zero_point)(parts, shared, bits)
    fmt = IntFormat(bits, signed=how is Scheme.ABSMAX)
    lowest = -fmt.max if how is Scheme.ABSMAX else 0
    codes = np.clip(np.rint(parts / scale) + zero, lowest, fmt.max).astype(fmt.dtype).reshape(source.array.shape)
    return Quantized(_like(source, codes), scale, zero.astype(np.int64), bits, how, group_size)


def _scheme(name: str) -> Scheme:
    try:
        return Scheme(name)
    except ValueError:
        raise ValueError(f"quantize: unknown scheme {name!r}; there are {', '.join(Scheme)}") from None


def _grouped(array: Array, size: int | None) -> Array:
    """Return the array with its last axis split into groups."""
    if size is None:
        return array
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ValueError(f"quantize: group_size counts elements, so it must be an int of at least 1, got {size!r}")
    if array.ndim == 0 or array.shape[-1] % size:
        raise ValueError(
            f"quantize: a group size of {size} doesn't divide the last axis of shape {array.shape}; pad x"
        )
    return array.reshape(*array.shape[:-1], array.shape[-1] // size, size)


def _shared_axes(ndim: int, axis: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """Return the axes along which elements share a scale: all but the given ones."""
    given = () if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    for each in given:
        if not -ndim <= each < ndim:
            raise ValueError(f"quantize: there is no axis {each} in {ndim} dimensions")
    kept = {each % ndim for each in given}
    return tuple(each for each in range(ndim) if each not in kept)


def _absmax(parts: Array, shared: tuple[int, ...], bits: int) -> tuple[Array, Array]:
    largest = np.abs(parts).max(axis=shared, keepdims=True, initial=0.0)
    scale = largest / (2 ** (bits - 1) - 1)
    scale = np.where(scale == 0, 1.0, scale)
    return scale, np.zeros_like(scale)


def _zero_point(parts: Array, shared: tuple[int, ...], bits: int) -> tuple[Array, Array]:
    # The range holds 0, so that zeros (padding, ReLU) come back as zeros (pytorch report 108646).
    low = parts.min(axis=shared, keepdims=True, initial=0.0)
    high = parts.max(axis=shared, keepdims=True, initial=0.0)
    scale = (high - low) / (2**bits - 1)
    scale = np.where(scale == 0, 1.0, scale)
    return scale, np.rint(-low / scale)


def _like(source: Reals, codes: Array) -> Any:
    """Return codes as a tensor where the numbers came as one, else as an array."""
    restored = source.restore(np.zeros(codes.shape), False)
    if isinstance(restored, (np.ndarray, np.generic, float)):
        return codes
    import torch

    return torch.from_numpy(codes).to(restored.device)
