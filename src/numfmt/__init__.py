"""Number formats for machine learning, exact to the last bit; arrays of NumPy and tensors of torch alike."""

from .bitstrings import from_bits, to_bits
from .codes import decode, encode, values
from .formats import (
    INT2,
    INT4,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT2,
    UINT4,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    IntFormat,
)
from .reductions import dot
from .registry import get_format
from .wrapping import wrap

__all__ = [
    "INT2",
    "INT4",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "UINT2",
    "UINT4",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
    "IntFormat",
    "decode",
    "dot",
    "encode",
    "from_bits",
    "get_format",
    "to_bits",
    "values",
    "wrap",
]
