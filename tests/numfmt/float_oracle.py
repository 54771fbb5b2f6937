"""A scalar oracle for float formats, with Fractions and the formats' definitions alone: slow and obviously right."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from functools import cache

import numfmt as nf

NAN, INF = "nan", "inf"

CUSTOM = (
    nf.FloatFormat(2, 1),
    nf.FloatFormat(2, 2),
    nf.FloatFormat(3, 0, 3, "fn"),
    nf.FloatFormat(5, 0, 16, "fnuz"),
    nf.FloatFormat(4, 0, 7, "finite"),
    nf.FloatFormat(5, 0, 15, "finite", signed=False),
    nf.FloatFormat(5, 0, 40, "fn", signed=False),
    nf.FloatFormat(1, 6, 0, "finite"),
    nf.FloatFormat(1, 6, 1, "fn"),
    nf.FloatFormat(1, 6, 1, "fnuz"),
    nf.FloatFormat(1, 6, 0, "finite", signed=False),
    nf.FloatFormat(1, 4, 0, "finite"),
    nf.FloatFormat(5, 4, 20, "fnuz"),
    nf.FloatFormat(4, 3, -20),
    nf.FloatFormat(4, 3, 60, "fn"),
    nf.FloatFormat(3, 3, 0, "fn", signed=False),
    nf.FloatFormat(4, 4, 7, "ieee", signed=False),
    nf.FloatFormat(3, 5, 3, "finite", signed=False),
    nf.FloatFormat(9, 3),
    nf.FloatFormat(11, 2),
    nf.FloatFormat(2, 13),
    nf.FloatFormat(6, 6, 40, "finite"),
    nf.FloatFormat(5, 6, 12, "fn"),
    nf.FloatFormat(6, 5, 31, "fnuz"),
    nf.FloatFormat(4, 3, -100),  # beyond float32 at the top
    nf.FloatFormat(4, 3, 140),  # among float32's subnormals
    nf.FloatFormat(3, 11, 3, "fn"),  # with more than half of float32's mantissa
)
"""Formats that nobody has a name for: other widths and biases, without sign, with all kinds of special codes."""


@cache
def table(fmt: nf.FloatFormat) -> tuple[Fraction | str, ...]:
    """Return what each code stands for, from the fields as the standards define them; infinities as "inf", "-inf"."""
    return tuple(meaning(code, fmt) for code in range(2**fmt.bits))


def meaning(code: int, fmt: nf.FloatFormat) -> Fraction | str:
    """Return what one code stands for."""
    text = format(code, f"0{fmt.bits}b")
    sign, rest = (text[0], text[1:]) if fmt.signed else ("0", text)
    exponent, mantissa = rest[: fmt.exponent_bits], rest[fmt.exponent_bits :]
    if fmt.specials == "ieee" and set(exponent) == {"1"}:
        return NAN if "1" in mantissa else ("-" if sign == "1" else "") + INF
    if fmt.specials == "fn" and set(rest) == {"1"}:
        return NAN
    if fmt.specials == "fnuz" and sign == "1" and "1" not in rest:
        return NAN
    fraction = Fraction(int(mantissa or "0", 2), 2 ** len(mantissa))
    if not fmt.signed and fmt.mantissa_bits == 0:
        return Fraction(2) ** (int(exponent, 2) - fmt.bias)
    if "1" in exponent:
        value = (1 + fraction) * Fraction(2) ** (int(exponent, 2) - fmt.bias)
    else:
        value = fraction * Fraction(2) ** (1 - fmt.bias)
    return -value if sign == "1" else value


@cache
def magnitudes(fmt: nf.FloatFormat) -> tuple[Fraction, ...]:
    """Return the finite values from zero up, sorted, and the one that would come next."""
    finite = sorted({each for each in table(fmt) if isinstance(each, Fraction) and each >= 0})
    top = finite[-1]
    quantum = top - finite[-2] if len(finite) > 1 and fmt.mantissa_bits else top
    return (*finite, top + quantum)


def rounded(x: Fraction, fmt: nf.FloatFormat, mode: str) -> tuple[Fraction, bool]:
    """Return |x| rounded as if one more value stood above the largest, and whether that one was chosen."""
    size, grid = abs(x), magnitudes(fmt)
    if size >= grid[-1]:
        return grid[-1], True
    low_index = bisect_right(grid, size) - 1
    if low_index < 0:  # below the smallest value of a format without zero
        return grid[0], False
    low, high = grid[low_index], grid[low_index + 1]
    if size == low:
        return low, False
    chosen = _choose(size, low, high, low_index, x < 0, mode, fmt)
    return chosen, chosen == grid[-1]


def _choose(
    size: Fraction, low: Fraction, high: Fraction, index: int, negative: bool, mode: str, fmt: nf.FloatFormat
) -> Fraction:
    # The values in order are the codes in order, so the parity of the index is the parity of the mantissa's last bit;
    # a format without mantissa has only its hidden bit, which is odd at every value but zero.
    low_is_even = index % 2 == 0 if fmt.mantissa_bits else low == 0
    if mode == "nearest_even":
        if size - low == high - size:
            return low if low_is_even else high
        return low if size - low < high - size else high
    if mode == "nearest_away":
        return low if size - low < high - size else high
    if mode == "to_odd":
        return high if low_is_even else low
    up = {"toward_zero": False, "away_from_zero": True, "toward_positive": not negative, "toward_negative": negative}
    return high if up[mode] else low


def quantized(x: Fraction, fmt: nf.FloatFormat, mode: str) -> Fraction:
    """Round to a format of any width with a mantissa, by the definition of the quantum; saturate at its limits."""
    size = abs(x)
    if x < 0 and not fmt.signed:
        return Fraction(0)
    # The power of two at or below size, or the next one.
    power = Fraction(2) ** (size.numerator.bit_length() - size.denominator.bit_length())
    if power > size > 0:
        power /= 2
    quantum = max(power, Fraction(2) ** (1 - fmt.bias)) / 2**fmt.mantissa_bits
    low, rest = divmod(size, quantum)
    up = {
        "nearest_even": rest * 2 > quantum or (rest * 2 == quantum and low % 2 == 1),
        "nearest_away": rest * 2 >= quantum,
        "toward_zero": False,
        "away_from_zero": rest > 0,
        "toward_positive": rest > 0 and x > 0,
        "toward_negative": rest > 0 and x < 0,
        "to_odd": rest > 0 and low % 2 == 0,
    }[mode]
    size = min(Fraction(fmt.max), (low + up) * quantum)
    return -size if x < 0 else size
