"""Slow, obviously right definitions in plain Python, sharing nothing with the library."""

from __future__ import annotations

from collections.abc import Sequence

WIDTHS = range(1, 17)
SIGNS = (True, False)


def range_of(bits: int, signed: bool) -> tuple[int, int]:
    """Return the smallest and the largest value."""
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)


def value_of(digits: str, signed: bool) -> int:
    """Add up place values; in two's complement the first place counts negative."""
    weights = [2**place for place in reversed(range(len(digits)))]
    if signed:
        weights[0] = -weights[0]
    return sum(weight for weight, digit in zip(weights, digits, strict=True) if digit == "1")


def wrapped(value: int, bits: int, signed: bool) -> int:
    """Walk `value` into the range in steps of 2**bits, all steps at once by floor division."""
    low, _ = range_of(bits, signed)
    return value - 2**bits * ((value - low) // 2**bits)


def naive_dot(
    a: Sequence[int],
    b: Sequence[int],
    multiply: tuple[int, bool] | None,
    accumulate: tuple[int, bool] | None,
) -> int:
    """Wrap after every product and after every addition; formats as (bits, signed)."""
    total = 0
    for left, right in zip(a, b, strict=True):
        product = left * right if multiply is None else wrapped(left * right, *multiply)
        total += product
        total = total if accumulate is None else wrapped(total, *accumulate)
    return total
