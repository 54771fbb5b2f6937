"""The counts and sums of a census for one format, block by block.

Rounding to nearest even treats both signs alike, so that a tally takes magnitudes. What is counted is counted in
Python's integers, and the sums of the blocks (float64, pairwise) are added as fractions, so that no sum grows worse
with the number of blocks, overflows or vanishes.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ._arrays import Array
from ._kernels import overflow_limit
from .float_format import FP64, FloatFormat
from .rounding import round_to

_SQUARABLE = 400
"""Numbers of 2**-400 to 2**400 have squares that float64 holds, and so have sums of these."""
_SCALABLE = 1000


class Tally:
    """The running counts and sums of one format that has a sign and whose values float64 holds."""

    def __init__(self, fmt: FloatFormat) -> None:
        self.fmt = fmt
        self.limit = math.inf if fmt == FP64 else overflow_limit(fmt)
        self.seen = self.zeroed = self.subnormal = self.overflowed = 0
        self.worst = 0.0
        self.relative_errors = Fraction(0)
        self.signal = self.noise = Fraction(0)
        """The sums of the squares of what doesn't overflow, and of its errors."""

    def add(self, sizes: Array, largest: float, source: FloatFormat | None, scratch: tuple[Array, Array]) -> None:
        """Count finite magnitudes above zero, of which `largest` is the largest.

        They are values of the format `source`, if that is known; `scratch` is two float64 arrays as long as `sizes`.
        """
        self.seen += sizes.size
        inside = sizes if largest <= self.limit else sizes[sizes <= self.limit]
        self.overflowed += sizes.size - inside.size
        if not inside.size:
            return
        self.signal += sum_of_squares(inside, scratch[0][: inside.size])
        if source is not None and self.fmt.contains(source):
            self._count(inside)
            return
        rounded, errors = (each[: inside.size] for each in scratch)
        round_to(inside, self.fmt, out=rounded)
        self._count(rounded)
        np.abs(np.subtract(rounded, inside, out=errors), out=errors)
        relative = np.divide(errors, inside, out=rounded)
        self.worst = max(self.worst, float(relative.max()))
        self.relative_errors += Fraction(float(relative.sum()))
        self.noise += sum_of_squares(errors, rounded)

    def _count(self, rounded: Array) -> None:
        """Count what rounding gave, which lies below the limit."""
        zeroed = rounded.size - int(np.count_nonzero(rounded))
        self.zeroed += zeroed
        self.subnormal += int(np.count_nonzero(rounded < float(self.fmt.smallest_normal))) - zeroed

    @property
    def inside(self) -> int:
        """How many numbers didn't overflow."""
        return self.seen - self.overflowed


def sum_of_squares(sizes: Array, scratch: Array) -> Fraction:
    """Return the sum of the squares of magnitudes, as accurate as float64's pairwise sum, whatever their size."""
    largest = float(sizes.max())
    if largest == 0:
        return Fraction(0)
    exponent = math.frexp(largest)[1]
    if abs(exponent) <= _SQUARABLE:
        return Fraction(float(np.multiply(sizes, sizes, out=scratch).sum()))
    # 2**1074 is no float64, and needn't be: scaled by 2**1000, the smallest number is 2**-74.
    scale = max(-_SCALABLE, min(_SCALABLE, -exponent))
    np.multiply(sizes, 2.0**scale, out=scratch)
    total = Fraction(float(np.multiply(scratch, scratch, out=scratch).sum()))
    return total / (1 << 2 * scale) if scale > 0 else total * (1 << -2 * scale)


def decibels(signal: Fraction, noise: Fraction) -> float:
    """Return 10 * log10(signal / noise): infinite without noise, NaN without signal."""
    if signal == 0:
        return math.nan
    if noise == 0:
        return math.inf
    # The ratio may lie beyond float64; as a power of two times a number near 1, it doesn't.
    ratio = signal / noise
    exponent = ratio.numerator.bit_length() - ratio.denominator.bit_length()
    power = Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)
    return 10 * (math.log10(ratio / power) + exponent * math.log10(2))
