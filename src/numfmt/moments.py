"""Mean and variance in one pass, in any float format, without cancellation: Welford's algorithm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ._float_arithmetic import Arithmetic
from ._reals import read_reals
from .float_format import FP64, FloatFormat
from .registry import get_float_format
from .rounding import round_to


@dataclass(frozen=True)
class Moments:
    """The number of values, their mean, and `m2`, the sum of squared distances from it, all in the format `fmt`."""

    count: int
    mean: float
    m2: float
    fmt: FloatFormat = FP64

    @property
    def variance(self) -> float:
        """The variance m2 / count (of a population), rounded to the format; NaN without values."""
        return float(round_to(self.m2 / self.count, self.fmt)) if self.count else float("nan")

    def merge(self, other: Moments) -> Moments:
        """Return the moments of both sets of values together (Chan, Golub and LeVeque, 1979)."""
        if other.fmt != self.fmt:
            raise ValueError(f"merge: the moments are in {self.fmt} and {other.fmt}; compute both in one format")
        if not self.count or not other.count:
            return other if not self.count else self
        ops, count = Arithmetic(self.fmt), self.count + other.count
        delta = ops.sub(other.mean, self.mean)
        mean = ops.add(self.mean, ops.round(delta * other.count / count))
        between = ops.round(ops.round(delta * delta) * self.count * other.count / count)
        return Moments(count, mean, ops.add(ops.add(self.m2, other.m2), between), self.fmt)


def welford(x: object, fmt: object = FP64) -> Moments:
    """Return the moments of a 1-D input by Welford's algorithm (Technometrics 4, 1962), each step rounded to `fmt`.

    Raises ValueError for other shapes and for a format without a sign, TypeError for what is no real number.
    """
    *_, last = welford_steps(x, fmt)
    return last


def welford_steps(x: object, fmt: object = FP64) -> Iterator[Moments]:
    """Yield the moments after 0, 1, 2 … values of a 1-D input; see `welford`."""
    fmt = get_float_format(fmt, "welford")
    if not fmt.signed:
        raise ValueError(f"welford: {fmt} has no sign, and differences need one; choose a signed format")
    values = read_reals(round_to(x, fmt), "welford").array
    if values.ndim != 1:
        raise ValueError(f"welford: x must be 1-D, got shape {values.shape}; pass one row, or x.ravel()")
    ops = Arithmetic(fmt)
    moments = Moments(0, 0.0, 0.0, fmt)
    yield moments
    for count, value in enumerate(values.tolist(), 1):
        before = ops.sub(value, moments.mean)
        mean = ops.add(moments.mean, ops.round(before / count))
        m2 = ops.add(moments.m2, ops.round(before * ops.sub(value, mean)))
        moments = Moments(count, mean, m2, fmt)
        yield moments
