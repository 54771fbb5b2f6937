"""Rounding to nearest even, and encoding, a block at a time: a few passes of NumPy over numbers in the cache.

A kernel does its work in a carrier, float32 or float64, for the numbers that it can do; `outside` says which ones it
can't (NaN, overflow and the like), and the caller rounds those step by step. Integer operations on the bits and
additions are all that happens, so a processor that flushes subnormals to zero changes nothing.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ._arena import Empty
from ._arrays import Array, torch_if_loaded
from ._float_codes import values_of
from .float_format import BF16, FP16, FP32, FP64, FloatFormat

Scratch = tuple[Array, ...]

_MANY = 1 / 8
"""The share of places from which on comparing all numbers costs less than picking some."""


@dataclass(frozen=True)
class Carrier:
    """A dtype that a kernel computes in, with the unsigned and the signed dtype of its bits."""

    fmt: FloatFormat

    @cached_property
    def floats(self) -> np.dtype[Any]:
        """The dtype of the numbers."""
        return np.dtype(self.fmt.name)

    @cached_property
    def codes(self) -> np.dtype[Any]:
        """The dtype of their bits."""
        return self.fmt.code_dtype

    @cached_property
    def signed(self) -> np.dtype[Any]:
        """The signed dtype of the same width: negative where the number is."""
        return np.dtype(f"int{self.fmt.bits}")

    @property
    def mantissa_bits(self) -> int:
        """The number of stored mantissa bits."""
        return self.fmt.mantissa_bits

    def constant(self, code: int) -> Array:
        """Return a code as an array without axes, which NumPy takes in faster than a scalar."""
        return np.array(code, dtype=self.codes)

    @cached_property
    def sign(self) -> Array:
        """The sign bit."""
        return self.constant(1 << (self.fmt.bits - 1))

    @cached_property
    def magnitude(self) -> Array:
        """All bits but the sign."""
        return self.constant((1 << (self.fmt.bits - 1)) - 1)

    @cached_property
    def exponent(self) -> Array:
        """The exponent field, which is also the code of infinity."""
        return self.constant(self.fmt.inf_code or 0)


FLOAT32, FLOAT64 = Carrier(FP32), Carrier(FP64)


def kernel_for(fmt: FloatFormat, carrier: Carrier) -> Kernel | None:
    """Return the kernel for a format in a carrier, or None if there is none."""
    return _kernel_for(fmt, carrier, torch_if_loaded() is not None)


@lru_cache(maxsize=256)
def _kernel_for(fmt: FloatFormat, carrier: Carrier, with_torch: bool) -> Kernel | None:
    if with_torch and carrier == FLOAT32 and fmt in (FP16, BF16):
        cast = TorchCast(fmt, carrier)
        if cast.keeps_subnormals():
            return cast
    if fmt == carrier.fmt:
        return Same(fmt, carrier)
    if not fmt.has_zero:
        return Powers(fmt, carrier) if fmt.maxexp <= carrier.fmt.maxexp else None
    if not fmt.signed or carrier.mantissa_bits - fmt.mantissa_bits < 2:
        return None
    same_range = (fmt.exponent_bits, fmt.bias, fmt.has_inf) == (carrier.fmt.exponent_bits, carrier.fmt.bias, True)
    if same_range:
        return Truncation(fmt, carrier)
    # The constant that is added must be finite, and half a quantum a normal number.
    spare = carrier.mantissa_bits - fmt.mantissa_bits
    if fmt.maxexp + spare <= carrier.fmt.maxexp and fmt.minexp - fmt.mantissa_bits > carrier.fmt.minexp:
        return Adder(fmt, carrier)
    return None


def _limit(fmt: FloatFormat, carrier: Carrier) -> int:
    """Return the carrier's code of the largest number that rounds to at most the format's largest value."""
    largest = Fraction(fmt.max)
    quantum = Fraction(2) ** (fmt.maxexp - 1 - fmt.mantissa_bits)
    tie = np.array(float(largest + quantum / 2), dtype=carrier.floats)
    return int(tie.view(carrier.codes)) - int(largest / quantum) % 2


def overflow_limit(fmt: FloatFormat) -> float:
    """Return the largest float64 number that rounds to nearest even to at most the format's largest value."""
    return float(np.array(_limit(fmt, FLOAT64), FLOAT64.codes).view(FLOAT64.floats))


def _beyond(magnitudes: Array, limit: Array) -> Array | None:
    return np.flatnonzero(magnitudes > limit) if magnitudes.max() > limit else None


@dataclass(frozen=True)
class Kernel(ABC):
    """What rounds and encodes blocks for a format, in a carrier.

    `outside` comes before `round` or `encode` of the same block, and may leave something for these in `scratch`.
    """

    fmt: FloatFormat
    carrier: Carrier

    @property
    def encodes(self) -> bool:
        """Whether `encode` works for this format."""
        return True

    @property
    def spare(self) -> int:
        """How many mantissa bits more the carrier has than the format."""
        return self.carrier.mantissa_bits - self.fmt.mantissa_bits

    @property
    def sees_ties(self) -> bool:
        """Whether the carrier holds what lies in the middle of two values of the format: `lean` needs it."""
        return self.spare > 1

    @cached_property
    def limit(self) -> Array:
        """The carrier's code of the largest number that doesn't overflow."""
        return self.carrier.constant(_limit(self.fmt, self.carrier))

    @cached_property
    def _to_top(self) -> Array:
        """How far to shift a code to keep only the bits below that of half a quantum."""
        return self.carrier.constant(self.carrier.fmt.bits - self.spare + 1)

    def lean(self, x: Array, wide: Array, scratch: Scratch) -> None:
        """Move x, which was rounded from `wide`, off each tie that `wide` isn't, towards it.

        Only there would rounding a second time give another result than rounding once.
        """
        work = scratch[0]
        np.left_shift(x.view(self.carrier.codes), self._to_top, out=work)
        if work.min() > 0:
            return
        like_ties = work == 0
        if np.count_nonzero(like_ties) > _MANY * like_ties.size:
            like_ties &= x != wide
        places = np.flatnonzero(like_ties)
        near, far = np.abs(x[places]), np.abs(wide[places])
        x.view(self.carrier.signed)[places] += (far > near).view(np.int8) - (far < near).view(np.int8)

    def scratch(self, size: int, empty: Empty) -> Scratch:
        """Return the arrays that the other methods work in, for blocks of that size."""
        return (empty(size, self.carrier.codes),)

    def outside(self, x: Array, scratch: Scratch, natural: bool) -> Array | None:
        """Return the places of NaN and of what overflows, None if there are none.

        With `natural`, a kernel for which overflow to infinity (NaN without it) takes no care leaves these out.
        """
        if natural:
            return np.flatnonzero(np.isnan(x)) if np.isnan(x.max()) else None
        np.bitwise_and(x.view(self.carrier.codes), self.carrier.magnitude, out=scratch[0])
        return _beyond(scratch[0], self.limit)

    @abstractmethod
    def round(self, x: Array, out: Array, scratch: Scratch) -> None:
        """Round x into `out`, which may be x; the places in `outside` get anything."""

    @abstractmethod
    def encode(self, x: Array, out: Array, scratch: Scratch) -> None:
        """Write the codes of x into `out`; the places in `outside` get anything."""


class Same(Kernel):
    """A format that is its own carrier: there is nothing to round."""

    @cached_property
    def limit(self) -> Array:
        return self.carrier.constant(self.fmt.max_code)

    def round(self, x: Array, out: Array, scratch: Scratch) -> None:
        np.copyto(out, x)

    def encode(self, x: Array, out: Array, scratch: Scratch) -> None:
        np.copyto(out, x.view(self.carrier.codes))


class Truncation(Kernel):
    """A format with the carrier's exponents and fewer mantissa bits, such as BF16 in float32.

    Adding half a quantum less one, and one if the last bit that stays is set, carries into that bit when it must, up
    to infinity.
    """

    @cached_property
    def _constants(self) -> tuple[Array, ...]:
        keep = (1 << self.carrier.fmt.bits) - (1 << self.spare)
        return tuple(map(self.carrier.constant, (self.spare, 1, (1 << (self.spare - 1)) - 1, keep)))

    def _carried(self, x: Array, scratch: Scratch) -> Array:
        cut, one, half, _ = self._constants
        bits, (work,) = x.view(self.carrier.codes), scratch
        np.right_shift(bits, cut, out=work)
        np.bitwise_and(work, one, out=work)
        np.add(work, bits, out=work)
        np.add(work, half, out=work)
        return work

    def round(self, x: Array, out: Array, scratch: Scratch) -> None:
        np.bitwise_and(self._carried(x, scratch), self._constants[3], out=out.view(self.carrier.codes))

    def encode(self, x: Array, out: Array, scratch: Scratch) -> None:
        work = self._carried(x, scratch)
        np.copyto(out, np.right_shift(work, self._constants[0], out=work), casting="unsafe")


class Adder(Kernel):
    """A signed format whose exponents lie well inside the carrier's: the adder rounds.

    c = 1.5 * 2**(max(exponent(x), minexp) + M - m), with M mantissa bits in the carrier, has the format's quantum at
    x as its last bit. So x + c is rounded there, to even, and (x + c) - c is exact. The last bits of |x| + c are the
    number of quanta, and its exponent is that of x, which together make the code.
    """

    @property
    def encodes(self) -> bool:
        """The number of quanta must not reach into the bits that the code's exponent is taken from."""
        return self.fmt.mantissa_bits + 1 < self.spare

    @cached_property
    def _constants(self) -> tuple[Array, ...]:
        raised = (self.spare << self.carrier.mantissa_bits) + (1 << (self.carrier.mantissa_bits - 1))
        top = int(self.limit) >> self.carrier.mantissa_bits << self.carrier.mantissa_bits
        return tuple(map(self.carrier.constant, (raised, top)))

    def scratch(self, size: int, empty: Empty) -> Scratch:
        floor = empty(size, self.carrier.codes)
        floor.fill((self.fmt.minexp + self.carrier.fmt.bias) << self.carrier.mantissa_bits)
        wide = (empty(size, self.carrier.codes), empty(size, self.carrier.codes))
        return *wide, floor, empty(size, self.fmt.code_dtype), empty(size, self.fmt.code_dtype)

    def outside(self, x: Array, scratch: Scratch, natural: bool) -> Array | None:
        bits, (exponents, work, *_) = x.view(self.carrier.codes), scratch
        np.bitwise_and(bits, self.carrier.exponent, out=exponents)
        if exponents.max() < self._constants[1]:
            return None
        return _beyond(np.bitwise_and(bits, self.carrier.magnitude, out=work), self.limit)

    def _addend(self, scratch: Scratch) -> Array:
        exponents, _, floor, *_ = scratch
        np.maximum(exponents, floor, out=exponents)
        return np.add(exponents, self._constants[0], out=exponents).view(self.carrier.floats)

    def round(self, x: Array, out: Array, scratch: Scratch) -> None:
        addend, signs = self._addend(scratch), scratch[1]
        if self.fmt.has_negative_zero:
            np.bitwise_and(x.view(self.carrier.codes), self.carrier.sign, out=signs)
        np.add(x, addend, out=out)
        np.subtract(out, addend, out=out)
        if self.fmt.has_negative_zero:
            bits = out.view(self.carrier.codes)
            np.bitwise_or(bits, signs, out=bits)

    @cached_property
    def _code_constants(self) -> tuple[Array, ...]:
        lowest = self.fmt.minexp + self.carrier.fmt.bias + self.spare
        offset = (lowest << self.fmt.mantissa_bits) + (1 << (self.carrier.mantissa_bits - 1) >> self.spare)
        dtype = self.fmt.code_dtype
        return (
            self.carrier.constant(self.spare),
            np.array(offset % (1 << 8 * dtype.itemsize), dtype),
            self.carrier.constant(self.carrier.fmt.bits - self.fmt.bits),
            np.array(1 << (self.fmt.bits - 1), dtype),
        )

    def encode(self, x: Array, out: Array, scratch: Scratch) -> None:
        spare, offset, to_sign, sign = self._code_constants
        addend, work, (part, other) = self._addend(scratch), scratch[1], scratch[3:]
        bits, size = x.view(self.carrier.codes), work.view(self.carrier.floats)
        # 1. The number of quanta, from the last bits, plus the exponent, all modulo the width of the dtype.
        np.bitwise_and(bits, self.carrier.magnitude, out=work)
        np.add(size, addend, out=size)
        np.copyto(out, work, casting="unsafe")
        np.copyto(part, np.right_shift(work, spare, out=work), casting="unsafe")
        np.add(out, part, out=out)
        np.subtract(out, offset, out=out)
        # 2. The sign, which zero doesn't get in a format without negative zero.
        np.copyto(part, np.right_shift(bits, to_sign, out=work), casting="unsafe")
        np.bitwise_and(part, sign, out=part)
        if not self.fmt.has_negative_zero:
            np.minimum(out, np.array(1, out.dtype), out=other)
            np.multiply(part, other, out=part)
        np.bitwise_or(out, part, out=out)


class Powers(Kernel):
    """A format of powers of two without sign and zero, such as E8M0: add half a binade and cut the mantissa."""

    @property
    def sees_ties(self) -> bool:
        """The smallest values may be subnormal in the carrier, where a tie has fewer zero bits than `lean` wants."""
        return False

    @cached_property
    def _constants(self) -> tuple[Array, ...]:
        bits = self.carrier.mantissa_bits
        keep = (1 << self.carrier.fmt.bits) - (1 << bits)
        lowest = max(float(self.fmt.smallest_normal), float(self.carrier.fmt.smallest_normal))
        code = int(np.array(lowest, self.carrier.floats).view(self.carrier.codes))
        return tuple(map(self.carrier.constant, (1 << (bits - 1), keep, code)))

    def scratch(self, size: int, empty: Empty) -> Scratch:
        nans = empty(size, self.carrier.codes)
        nans.fill(self.carrier.fmt.nan_code)
        return empty(size, self.carrier.codes), nans

    def outside(self, x: Array, scratch: Scratch, natural: bool) -> Array | None:
        """Find what is too small or too large; with `natural`, a negative number is done: it becomes NaN."""
        bits, signed, work = x.view(self.carrier.codes), x.view(self.carrier.signed), scratch[0]
        half, keep, lowest = self._constants
        np.add(bits, half, out=work)
        np.bitwise_and(work, keep, out=work)
        limit = self.limit.view(self.carrier.signed)
        if natural:
            # Adding wraps around for negative NaNs, whose sums are as small as those of the smallest numbers.
            last = self.carrier.sign | self.carrier.exponent
            if signed.max() <= limit and work.min() > lowest:
                return None
            return np.flatnonzero((signed > limit) | (bits < lowest) | (bits > last))
        lowest = lowest.view(self.carrier.signed)
        if signed.max() <= limit and signed.min() >= lowest:
            return None
        return np.flatnonzero((signed > limit) | (signed < lowest))

    def round(self, x: Array, out: Array, scratch: Scratch) -> None:
        work, nans = scratch
        # The codes of negative numbers are the largest.
        np.minimum(work, nans, out=out.view(self.carrier.codes))

    def encode(self, x: Array, out: Array, scratch: Scratch) -> None:
        work, nans = scratch
        np.minimum(work, nans, out=work)
        np.right_shift(work, self.carrier.constant(self.carrier.mantissa_bits), out=work)
        if (offset := self.carrier.fmt.bias - self.fmt.bias) != 0:
            np.subtract(work, self.carrier.constant(offset), out=work)
            if self.fmt.nan_code is not None:
                np.minimum(work, self.carrier.constant(self.fmt.nan_code), out=work)
        np.copyto(out, work, casting="unsafe")


class TorchCast(Kernel):
    """FP16 and BF16 in float32 by way of torch's casts, where torch is loaded: the fastest there are."""

    @property
    def _dtype(self) -> Any:
        return getattr(sys.modules["torch"], self.fmt.name)

    def keeps_subnormals(self) -> bool:
        """Say whether a cast keeps subnormals: integer operations do always, some processors' instructions never."""
        codes = np.arange(64, dtype=np.uint16)
        numbers = values_of(codes, self.fmt).astype(np.float32)
        found = np.empty_like(codes)
        self.encode(numbers, found, self.scratch(codes.size, np.empty))
        return np.array_equal(found, codes)

    def scratch(self, size: int, empty: Empty) -> Scratch:
        return empty(size, self.carrier.codes), empty(size, self.fmt.code_dtype)

    def outside(self, x: Array, scratch: Scratch, natural: bool) -> Array | None:
        return None if natural else super().outside(x, scratch, natural)

    def round(self, x: Array, out: Array, scratch: Scratch) -> None:
        torch = sys.modules["torch"]
        torch.from_numpy(out).copy_(self._narrowed(x, scratch))

    def encode(self, x: Array, out: Array, scratch: Scratch) -> None:
        self._narrowed(x, scratch)
        np.copyto(out, scratch[1])
        if np.isnan(x.max()):
            out[np.isnan(x)] = self.fmt.nan_code

    def _narrowed(self, x: Array, scratch: Scratch) -> Any:
        """Cast into the scratch memory and return that as a tensor of the format's dtype."""
        torch = sys.modules["torch"]
        if not x.flags.writeable:  # torch warns of these
            work = scratch[0].view(x.dtype)
            np.copyto(work, x)
            x = work
        return torch.from_numpy(scratch[1]).view(self._dtype).copy_(torch.from_numpy(x))
