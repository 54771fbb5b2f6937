"""What a floating-point format is: its widths, its bias, its special codes, and everything that follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

MAX_BITS = 64


class Specials(StrEnum):
    """Which codes of a float format stand for no finite number."""

    IEEE = "ieee"
    """The top exponent holds the infinities and the NaNs (IEEE 754-2019, 3.4)."""
    FN = "fn"
    """No infinity; NaN is the code whose exponent and mantissa are all ones (OCP 8-bit Floating Point, E4M3)."""
    FNUZ = "fnuz"
    """No infinity and no negative zero; the code of negative zero is the one NaN."""
    FINITE = "finite"
    """Neither infinity nor NaN (OCP Microscaling Formats, FP6 and FP4)."""


@dataclass(frozen=True)
class FloatFormat:
    """A binary float format of at most 64 bits; all other properties are derived, with the words of `numpy.finfo`.

    A value is (-1)**sign * 2**(max(E, 1) - bias) * (hidden + M / 2**m) with exponent field E, mantissa field M and a
    hidden bit that is 0 where E is 0. An unsigned format without a mantissa (E8M0) has no zero and no subnormals:
    its values are 2**(E - bias). Raises TypeError and ValueError for fields that make no format.
    """

    exponent_bits: int
    mantissa_bits: int
    bias: int = None  # type: ignore[assignment]  # None stands for 2**(exponent_bits - 1) - 1
    specials: Specials = Specials.IEEE
    signed: bool = True
    name: str = ""

    def __post_init__(self) -> None:
        for what in ("exponent_bits", "mantissa_bits"):
            value = getattr(self, what)
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"{what} must be an int, got {type(value).__name__} {value!r}")
        if self.exponent_bits < 1 or self.mantissa_bits < 0 or self.bits > MAX_BITS:
            raise ValueError(
                f"a float format has at least 1 exponent bit, 0 mantissa bits, and at most {MAX_BITS} bits in all; "
                f"got {self.exponent_bits} and {self.mantissa_bits} ({self.bits} bits)"
            )
        object.__setattr__(self, "specials", Specials(self.specials))
        if self.specials is Specials.IEEE and (self.mantissa_bits < 1 or self.exponent_bits < 2):
            raise ValueError("IEEE specials need 2 exponent bits and 1 mantissa bit at least; choose other specials")
        if self.specials is Specials.FNUZ and not self.signed:
            raise ValueError("an unsigned format has no code of negative zero for the NaN of 'fnuz'; choose 'fn'")
        if self.bias is None:
            object.__setattr__(self, "bias", 2 ** (self.exponent_bits - 1) - 1)
        if isinstance(self.bias, bool) or not isinstance(self.bias, int):
            raise TypeError(f"bias must be an int, got {type(self.bias).__name__} {self.bias!r}")
        if not self.name:
            parts = [f"float{self.bits}_e{self.exponent_bits}m{self.mantissa_bits}", f"b{self.bias}", self.specials]
            object.__setattr__(self, "name", "_".join(map(str, parts)) + ("" if self.signed else "_unsigned"))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.exponent_bits, self.mantissa_bits, self.bias, self.specials, self.signed, self.name))

    @cached_property
    def bits(self) -> int:
        """The width of a code."""
        return self.signed + self.exponent_bits + self.mantissa_bits

    @property
    def nexp(self) -> int:
        """The number of bits in the exponent."""
        return self.exponent_bits

    @property
    def nmant(self) -> int:
        """The number of stored bits in the mantissa."""
        return self.mantissa_bits

    @property
    def count(self) -> int:
        """The number of codes."""
        return 1 << self.bits

    @cached_property
    def has_zero(self) -> bool:
        """Whether zero is a value; without a sign and a mantissa the lowest code is a power of two instead."""
        return self.signed or self.mantissa_bits > 0

    @cached_property
    def has_negative_zero(self) -> bool:
        """Whether zero has two codes."""
        return self.signed and self.specials is not Specials.FNUZ

    @property
    def has_subnormals(self) -> bool:
        """Whether there are values between zero and the smallest normal one."""
        return self.mantissa_bits > 0

    @cached_property
    def has_inf(self) -> bool:
        """Whether infinity has a code."""
        return self.specials is Specials.IEEE

    @cached_property
    def has_nan(self) -> bool:
        """Whether NaN has a code."""
        return self.specials is not Specials.FINITE

    @cached_property
    def minexp(self) -> int:
        """The exponent of the smallest normal value."""
        return self.has_zero - self.bias

    @cached_property
    def maxexp(self) -> int:
        """One more than the exponent of the largest finite value, as in finfo."""
        top = (1 << self.exponent_bits) - 1
        taken = self.specials is Specials.IEEE or (self.specials is Specials.FN and self.mantissa_bits == 0)
        return top - taken - self.bias + 1

    @cached_property
    def max_code(self) -> int:
        """The code of the largest finite value."""
        top = (1 << (self.exponent_bits + self.mantissa_bits)) - 1
        if self.specials is Specials.IEEE:
            return top - (1 << self.mantissa_bits)
        return top - (self.specials is Specials.FN)

    @cached_property
    def inf_code(self) -> int | None:
        """The code of positive infinity."""
        return self.max_code + 1 if self.has_inf else None

    @cached_property
    def nan_code(self) -> int | None:
        """The code that NaN is encoded as: quiet and positive where there is a choice."""
        if self.specials is Specials.IEEE:
            return self.max_code + 1 + (1 << (self.mantissa_bits - 1))
        if self.specials is Specials.FN:
            return self.max_code + 1
        return self._sign_bit if self.specials is Specials.FNUZ else None

    @property
    def count_nan(self) -> int:
        """The number of codes that stand for NaN."""
        each = {Specials.IEEE: (1 << self.mantissa_bits) - 1, Specials.FN: 1}.get(self.specials, 0)
        return each * (1 + self.signed) + (self.specials is Specials.FNUZ)

    @property
    def count_finite(self) -> int:
        """The number of distinct finite values; the two zeros count once."""
        infinities = (1 + self.signed) * self.has_inf
        return self.count - self.count_nan - infinities - self.has_negative_zero

    @property
    def eps(self) -> float:
        """The distance from 1 to the next larger number with this many mantissa bits."""
        return 2.0**-self.mantissa_bits

    @cached_property
    def max(self) -> float | Fraction:
        """The largest finite value (a Fraction where float64 doesn't hold it)."""
        return _plain(self.exact(self.max_code))

    @cached_property
    def min(self) -> float | Fraction:
        """The lowest finite value: -max if signed, else the value of code 0."""
        return -self.max if self.signed else _plain(self.exact(0))

    @cached_property
    def smallest_normal(self) -> float | Fraction:
        """The smallest positive normal value."""
        return _plain(_power(self.minexp))

    @property
    def smallest_subnormal(self) -> float | Fraction | None:
        """The smallest positive subnormal value, None if there are no subnormals."""
        return _plain(_power(self.minexp - self.mantissa_bits)) if self.has_subnormals else None

    @cached_property
    def code_dtype(self) -> np.dtype[Any]:
        """The smallest unsigned NumPy dtype that holds every code."""
        return np.dtype(f"uint{max(8, 1 << (self.bits - 1).bit_length())}")

    @cached_property
    def fits_float64(self) -> bool:
        """Whether every finite value is a float64."""
        lowest = self.minexp - self.mantissa_bits
        return self.mantissa_bits <= 52 and lowest >= -1074 and self.maxexp <= 1024

    def contains(self, inner: FloatFormat) -> bool:
        """Say whether this format has every value of another, infinities and NaN too."""
        return self == inner or (
            self.signed
            and self.mantissa_bits >= inner.mantissa_bits
            and self.minexp - self.mantissa_bits <= inner.minexp - inner.mantissa_bits
            and self.max >= inner.max
            and (self.has_inf or not inner.has_inf)
            and (self.has_nan or not inner.has_nan)
            and (self.has_negative_zero or not inner.has_negative_zero)
        )

    def exact(self, code: int) -> Fraction:
        """Return the exact value of a finite code; ValueError for NaN, infinity and what is no code."""
        if not 0 <= code < self.count:
            raise ValueError(f"{code} is not a code of {self}, which has {self.bits} bits")
        magnitude = code & (self._sign_bit - 1) if self.signed else code
        if magnitude > self.max_code or (code == self.nan_code):
            raise ValueError(f"code {code} of {self} stands for no finite number")
        field, mantissa = magnitude >> self.mantissa_bits, magnitude & ((1 << self.mantissa_bits) - 1)
        if self.has_zero and field:
            mantissa += 1 << self.mantissa_bits
        if not self.has_zero:
            return _power(field - self.bias)
        value = mantissa * _power(max(field, 1) - self.bias - self.mantissa_bits)
        return -value if self.signed and code >= self._sign_bit else value

    @property
    def _sign_bit(self) -> int:
        return 1 << (self.bits - 1)

    def __str__(self) -> str:
        return ALIASES.get(self.name, self.name)

    def _repr_html_(self) -> str:
        """Show the format in a notebook: its bit fields by letter and colour, and its range."""
        fields = (
            ("S", self.signed, "#D55E00"),
            ("E", self.exponent_bits, "#009E73"),
            ("M", self.mantissa_bits, "#0072B2"),
        )
        boxes = "".join(
            f'<span style="color:{colour};font-family:monospace;font-weight:bold">{letter * count}</span>'
            for letter, count, colour in fields
        )
        cells = {
            "format": str(self),
            "bits": boxes,
            "bias": self.bias,
            "max": f"{float(self.max):.6g}",
            "smallest normal": f"{float(self.smallest_normal):.6g}",
            "eps": f"{self.eps:.6g}",
            "finite values": f"{self.count_finite:,}",
        }
        head = "".join(f"<th>{title}</th>" for title in cells)
        body = "".join(f"<td>{cell}</td>" for cell in cells.values())
        return f"<table><thead><tr>{head}</tr></thead><tbody><tr>{body}</tr></tbody></table>"


def _power(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def _plain(value: Fraction) -> float | Fraction:
    """Return a value as a float where float64 holds it exactly."""
    try:
        number = float(value)
    except OverflowError:
        return value
    return number if Fraction(number) == value else value


FP64 = FloatFormat(11, 52, name="float64")
FP32 = FloatFormat(8, 23, name="float32")
TF32 = FloatFormat(8, 10, name="tfloat32")
FP16 = FloatFormat(5, 10, name="float16")
BF16 = FloatFormat(8, 7, name="bfloat16")
E5M2 = FloatFormat(5, 2, name="float8_e5m2")
E5M2FNUZ = FloatFormat(5, 2, 16, Specials.FNUZ, name="float8_e5m2fnuz")
E4M3 = FloatFormat(4, 3, 7, Specials.FN, name="float8_e4m3fn")
E4M3IEEE = FloatFormat(4, 3, name="float8_e4m3")
E4M3FNUZ = FloatFormat(4, 3, 8, Specials.FNUZ, name="float8_e4m3fnuz")
E4M3B11FNUZ = FloatFormat(4, 3, 11, Specials.FNUZ, name="float8_e4m3b11fnuz")
E3M4 = FloatFormat(3, 4, name="float8_e3m4")
E8M0 = FloatFormat(8, 0, 127, Specials.FN, signed=False, name="float8_e8m0fnu")
E2M3 = FloatFormat(2, 3, 1, Specials.FINITE, name="float6_e2m3fn")
E3M2 = FloatFormat(3, 2, 3, Specials.FINITE, name="float6_e3m2fn")
E2M1 = FloatFormat(2, 1, 1, Specials.FINITE, name="float4_e2m1fn")

FLOAT_ALIASES = {
    "FP64": FP64,
    "FP32": FP32,
    "TF32": TF32,
    "FP16": FP16,
    "BF16": BF16,
    "E5M2": E5M2,
    "E5M2FNUZ": E5M2FNUZ,
    "E4M3": E4M3,
    "E4M3IEEE": E4M3IEEE,
    "E4M3FNUZ": E4M3FNUZ,
    "E4M3B11FNUZ": E4M3B11FNUZ,
    "E3M4": E3M4,
    "E8M0": E8M0,
    "E2M3": E2M3,
    "E3M2": E3M2,
    "E2M1": E2M1,
}
"""The short names."""

ALIASES = {fmt.name: alias for alias, fmt in FLOAT_ALIASES.items()}
FLOAT_FORMATS = tuple(FLOAT_ALIASES.values())
