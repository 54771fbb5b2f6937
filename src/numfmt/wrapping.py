"""Wrap-around: what an integer register of a given width keeps."""

from __future__ import annotations

from typing import Any, overload

from ._arrays import read_integers
from ._modular import as_values, codes_of, extend, residues, wrap_int
from .registry import get_int_format


@overload
def wrap(x: int, fmt: object) -> int: ...
@overload
def wrap(x: object, fmt: object) -> Any: ...
def wrap(x: object, fmt: object) -> Any:
    """Reduce integers of any size modulo 2**bits into the range of `fmt`, exactly and silently.

    Python ints give a Python int; NumPy arrays, sequences and torch tensors give an array or tensor of the
    same shape in `fmt.dtype`; True counts as 1. Raises TypeError for anything that isn't integers.
    """
    fmt = get_int_format(fmt, "wrap")
    if isinstance(x, int):
        return wrap_int(int(x), fmt)
    source = read_integers(x, "wrap")
    return source.restore(as_values(extend(codes_of(residues(source.array), fmt), fmt), fmt))
