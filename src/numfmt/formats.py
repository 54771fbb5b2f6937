"""What an integer format is: a width, a sign, and everything that follows from the two."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

MAX_BITS = 64


@dataclass(frozen=True)
class IntFormat:
    """An integer format of 1 to 64 bits, two's complement if signed; all other properties are derived.

    Raises TypeError if `bits` is no integer or `signed` no bool, and ValueError if `bits` is out of range.
    """

    bits: int
    signed: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "bits", _width(self.bits))
        if not isinstance(self.signed, bool):
            raise TypeError(f"signed must be True or False, got {type(self.signed).__name__} {self.signed!r}")
        if not 1 <= self.bits <= MAX_BITS:
            raise ValueError(f"bits must lie in 1 to {MAX_BITS}, got {self.bits}")

    @property
    def name(self) -> str:
        """The lower-case name that NumPy, ml_dtypes and torch use, such as "int8" or "uint4"."""
        return f"{'' if self.signed else 'u'}int{self.bits}"

    @property
    def alias(self) -> str:
        """The short upper-case name, such as "INT8" or "UINT4"."""
        return self.name.upper()

    @property
    def count(self) -> int:
        """The number of values, which is the number of codes: 2**bits."""
        return 1 << self.bits

    @property
    def min(self) -> int:
        """The smallest value, as a Python int (as in `numpy.iinfo`)."""
        return -(self.count // 2) if self.signed else 0

    @property
    def max(self) -> int:
        """The largest value, as a Python int (as in `numpy.iinfo`)."""
        return self.count + self.min - 1

    @property
    def symmetric_max(self) -> int:
        """The largest value whose negative is a value too, 2**(bits-1) - 1; AttributeError if unsigned."""
        if not self.signed:
            raise AttributeError(f"{self} is unsigned, so it has no symmetric range; use {self}.max")
        return self.max

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest NumPy dtype that holds every value."""
        return np.dtype(f"{'' if self.signed else 'u'}int{self._storage_bits}")

    @property
    def code_dtype(self) -> np.dtype[Any]:
        """The smallest unsigned NumPy dtype that holds every code, 0 to 2**bits - 1."""
        return np.dtype(f"uint{self._storage_bits}")

    @property
    def _storage_bits(self) -> int:
        return max(8, 1 << (self.bits - 1).bit_length())

    def __contains__(self, value: Any) -> bool:
        """Tell whether one integer is a value of the format; TypeError for anything but one integer."""
        if isinstance(value, np.bool_):
            value = bool(value)
        try:
            return self.min <= operator.index(value) <= self.max
        except TypeError:
            raise TypeError(
                f"`in {self}` asks about one integer, got {type(value).__name__} {value!r}; "
                f"for an array, compare with {self}.min and {self}.max"
            ) from None

    def __str__(self) -> str:
        return self.alias

    def _repr_html_(self) -> str:
        """Show the format as a one-row table in a notebook."""
        cells = {"format": self.alias, "bits": self.bits, "min": self.min, "max": self.max, "values": self.count}
        head = "".join(f"<th>{title}</th>" for title in cells)
        body = "".join(f"<td>{cell}</td>" for cell in cells.values())
        return f"<table><thead><tr>{head}</tr></thead><tbody><tr>{body}</tr></tbody></table>"


def _width(bits: Any) -> int:
    """Return `bits` as a Python int, since a NumPy one would overflow in 2**bits."""
    try:
        if not isinstance(bits, bool):
            return operator.index(bits)
    except TypeError:
        pass
    raise TypeError(f"bits must be an integer, got {type(bits).__name__} {bits!r}")


INT2 = IntFormat(2)
INT4 = IntFormat(4)
INT8 = IntFormat(8)
INT16 = IntFormat(16)
INT32 = IntFormat(32)
INT64 = IntFormat(64)
UINT2 = IntFormat(2, signed=False)
UINT4 = IntFormat(4, signed=False)
UINT8 = IntFormat(8, signed=False)
UINT16 = IntFormat(16, signed=False)
UINT32 = IntFormat(32, signed=False)
UINT64 = IntFormat(64, signed=False)

INTEGER_FORMATS = (INT2, INT4, INT8, INT16, INT32, INT64, UINT2, UINT4, UINT8, UINT16, UINT32, UINT64)
