"""Block formats: a few elements share a scale (OCP Microscaling Formats 1.0, and NVFP4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from ._arrays import Array
from ._reals import Reals, read_reals
from .codes import encode
from .float_format import E2M1, E4M3, E8M0, FP32, FloatFormat
from .formats import INT8, IntFormat
from .registry import get_format
from .rounding import round_to

MX_BLOCK, NVFP4_BLOCK = 32, 16
INT8_UNIT = 2.0**-6
"""An MXINT8 element is its integer times this: from -2 to 1.984375."""


class ScaleRule(StrEnum):
    """How the power of two of a block follows from amax, the largest magnitude in it."""

    FLOOR = "floor"
    """2**(floor(log2(amax)) - emax): the OCP default; values above the largest element saturate."""
    CEIL = "ceil"
    """2**(ceil(log2(amax)) - emax)."""
    EVEN = "even"
    """As floor, after amax is rounded to the elements' mantissa, ties to even."""
    RCEIL = "rceil"
    """2**ceil(log2(amax / max)): the smallest power of two with which nothing saturates."""


@dataclass(frozen=True)
class Blocks:
    """A tensor in a block format, blocks along its last axis: x is about elements * scales * tensor_scale.

    `elements` has x's shape and holds values of `fmt` (for MXINT8, multiples of 2**-6); `scales` has one value a
    block in its last axis; both are float64. `tensor_scale` is 1 for the MX formats.
    """

    elements: Array
    scales: Array
    fmt: FloatFormat | IntFormat
    scale_fmt: FloatFormat
    block: int
    tensor_scale: float = 1.0

    def dequantize(self) -> Array:
        """Return the numbers that the blocks stand for, in float64."""
        spread = np.repeat(self.scales, self.block, axis=-1)[..., : self.elements.shape[-1]]
        return np.asarray(self.elements * spread * self.tensor_scale)

    def codes(self) -> tuple[Array, Array]:
        """Return the codes of the elements and of the scales."""
        elements = self.elements / INT8_UNIT if isinstance(self.fmt, IntFormat) else self.elements
        integers = elements.astype(np.int64) if isinstance(self.fmt, IntFormat) else elements
        return encode(integers, self.fmt), encode(self.scales, self.scale_fmt)

    @property
    def effective_bits(self) -> float:
        """The bits for each number, the scales of the blocks counted in."""
        return self.fmt.bits + self.scale_fmt.bits * self.scales.size / max(1, self.elements.size)


def mx_quantize(x: object, fmt: object = E4M3, rule: str = "floor", block: int = MX_BLOCK) -> Blocks:
    """Quantize numbers to an MX format: blocks along the last axis with an E8M0 scale each.

    `fmt` is the element's: E4M3, E5M2, E2M3, E3M2, E2M1, or INT8 for MXINT8. The last block may be short. A block of
    zeros gets the smallest scale and zeros; a block with NaN or an infinity gets the scale NaN, so all of it comes
    back as NaN (OCP, 6.3, leaves it open). Elements round to nearest even and saturate. Raises ValueError for another
    rule, format or block, TypeError for what is no real number.
    """
    elements = get_format(fmt)
    if isinstance(elements, IntFormat) and elements != INT8:
        raise ValueError(f"mx_quantize: of the integer formats, MX has INT8 only, got {elements}")
    if isinstance(elements, FloatFormat) and not elements.signed:
        raise ValueError(f"mx_quantize: elements need a sign, and {elements} has none")
    try:
        how = ScaleRule(rule)
    except ValueError:
        raise ValueError(f"mx_quantize: unknown rule {rule!r}; there are {', '.join(ScaleRule)}") from None
    source, parts = _blocks(x, block, "mx_quantize")
    largest = np.abs(parts).max(axis=-1, initial=0.0)
    exponent = np.clip(_exponents(largest, elements, how), -127, 127)
    scales = np.where(np.isfinite(largest), np.ldexp(1.0, exponent), np.nan)
    rounded = _elements(parts / scales[..., None], elements)
    return Blocks(_joined(rounded, source), scales, elements, E8M0, block)


def nvfp4_quantize(x: object, block: int = NVFP4_BLOCK) -> Blocks:
    """Quantize numbers to NVFP4: E2M1 elements, an E4M3 scale for each block of 16, an FP32 scale for the tensor.

    The tensor's scale is amax / (6 * 448), so that the largest block scale is 448; a block's scale is its amax / 6 in
    units of that. Zeros stay zeros. Raises ValueError for NaN and infinities, which no scale covers.
    """
    source, parts = _blocks(x, block, "nvfp4_quantize")
    if not np.isfinite(parts).all():
        raise ValueError("nvfp4_quantize: x has NaN or infinities, and a scale can't cover them; replace them first")
    largest = np.abs(parts).max(axis=-1, initial=0.0)
    whole = round_to(float(largest.max(initial=0.0)) / (float(E2M1.max) * float(E4M3.max)), FP32) or 1.0
    scales = np.asarray(round_to(largest / float(E2M1.max) / whole, E4M3, overflow="saturate"))
    divisor = np.where(scales > 0, scales, 1.0) * whole
    rounded = _elements(parts / divisor[..., None], E2M1)
    return Blocks(_joined(np.where(scales[..., None] > 0, rounded, 0.0), source), scales, E2M1, E4M3, block, whole)


def _blocks(x: object, block: int, what: str) -> tuple[Reals, Array]:
    """Return the numbers as read, and with the last axis cut into blocks, the last one filled up with zeros."""
    if isinstance(block, bool) or not isinstance(block, int) or block < 1:
        raise ValueError(f"{what}: block counts elements, so it must be an int of at least 1, got {block!r}")
    source = read_reals(x, what)
    if source.array.ndim == 0:
        raise ValueError(f"{what}: x must have at least one axis")
    missing = -source.array.shape[-1] % block
    filled = np.pad(source.array, [(0, 0)] * (source.array.ndim - 1) + [(0, missing)])
    return source, filled.reshape(*filled.shape[:-1], filled.shape[-1] // block, block)


def _joined(parts: Array, source: Reals) -> Array:
    shape = source.array.shape
    return np.ascontiguousarray(parts.reshape(*shape[:-1], parts.shape[-2] * parts.shape[-1])[..., : shape[-1]])


def _exponents(largest: Array, fmt: FloatFormat | IntFormat, rule: ScaleRule) -> Array:
    """Return the exponent of each block's scale; by frexp, for log2 is wrong just below powers of two."""
    emax, top = (0, 127 * INT8_UNIT) if isinstance(fmt, IntFormat) else (fmt.maxexp - 1, float(fmt.max))
    size = np.where(np.isfinite(largest) & (largest > 0), largest, 0.0)
    if rule is ScaleRule.EVEN:
        bits = 6 if isinstance(fmt, IntFormat) else fmt.mantissa_bits
        size = np.asarray(round_to(size, FloatFormat(11, bits) if bits else FP32))
    if rule is ScaleRule.RCEIL:
        size, emax = size / top, 0
    fraction, exponent = np.frexp(size)
    up = fraction > 0.5 if rule in (ScaleRule.CEIL, ScaleRule.RCEIL) else np.zeros(size.shape, dtype=bool)
    return np.where(size > 0, exponent - 1 + up - emax, -127).astype(np.int64)


def _elements(scaled: Array, fmt: FloatFormat | IntFormat) -> Array:
    if isinstance(fmt, IntFormat):
        known = np.where(np.isnan(scaled), 0.0, scaled)  # the scale says NaN
        # Adding 0 makes -0 the 0 that an integer has.
        return np.clip(np.rint(known / INT8_UNIT), fmt.min, fmt.max) * INT8_UNIT + 0.0
    return np.asarray(round_to(scaled, fmt, overflow="saturate", nan="max" if not fmt.has_nan else "raise"))
