"""Scalar arithmetic in a float format: each operation rounded once to nearest even, as hardware does it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from .float_format import FloatFormat
from .rounding import round_to

_BY_FLOAT64 = 50
"""Formats with no more mantissa bits are reached exactly by way of float64 rounded to odd."""


@dataclass(frozen=True)
class Arithmetic:
    """The operations of a float format on Python floats; overflow goes as with IEEE 754 (infinity, else NaN)."""

    fmt: FloatFormat

    def round(self, x: float) -> float:
        """Return x rounded to the format."""
        return self._quick(x) if self.fmt.mantissa_bits <= _BY_FLOAT64 else float(round_to(x, self.fmt))

    def add(self, a: float, b: float) -> float:
        """Return a + b, rounded once."""
        if self.fmt.mantissa_bits <= _BY_FLOAT64:
            return self._quick(add_to_odd(a, b))
        total = a + b
        if self.fmt.mantissa_bits == 52 or not math.isfinite(total):
            return self.round(total)
        return float(round_to(Fraction(a) + Fraction(b), self.fmt))

    def sub(self, a: float, b: float) -> float:
        """Return a - b, rounded once."""
        return self.add(a, -b)

    def _quick(self, x: float) -> float:
        fmt = self.fmt
        if x == 0 or not math.isfinite(x):
            return x if fmt.has_inf or not math.isinf(x) else float(round_to(x, fmt))
        shift = max(math.frexp(x)[1] - 1, fmt.minexp) - fmt.mantissa_bits
        y = math.ldexp(round(math.ldexp(x, -shift)), shift)
        if abs(y) > fmt.max or (y == 0 and not fmt.has_negative_zero):
            return float(round_to(x, fmt))
        return math.copysign(y, x)


def add_to_odd(a: float, b: float) -> float:
    """Return a + b in float64, rounded to odd: the neighbour with the odd last bit where the sum is inexact."""
    total = a + b
    if not math.isfinite(total):
        return total
    # Knuth's two-sum gives the error exactly (The Art of Computer Programming, volume 2, 4.2.2, theorem B).
    part = total - a
    error = (a - (total - part)) + (b - part)
    if error == 0 or int(math.ldexp(math.frexp(total)[0], 53)) % 2:
        return total
    return math.nextafter(total, math.inf if error > 0 else -math.inf)
