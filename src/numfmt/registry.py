"""From a name or a dtype of NumPy, ml_dtypes or torch to the format it stands for."""

from __future__ import annotations

import difflib
import re

import numpy as np

from ._arrays import torch_if_loaded
from .formats import INTEGER_FORMATS, MAX_BITS, IntFormat

# Three digits reach past every width there is, so that "int65" meets the message about the range.
_INTEGER_NAME = re.compile(r"(u?)int(0|[1-9][0-9]{0,2})")


def get_format(spec: object) -> IntFormat:
    """Return the format that `spec` names: a format, a name such as "int8" or "INT24", or a dtype.

    Names are read without regard to case; dtypes may come from NumPy, ml_dtypes or torch, and byte order
    is ignored. Raises ValueError for a name or dtype that is no format here, and TypeError for any other
    kind of object.
    """
    if isinstance(spec, IntFormat):
        return spec
    name = _name_of(spec)
    match = _INTEGER_NAME.fullmatch(name.lower())
    if match is None:
        raise ValueError(_unknown(name))
    unsigned, bits = match.groups()
    return IntFormat(int(bits), signed=not unsigned)


def _name_of(spec: object) -> str:
    if isinstance(spec, str):
        return spec
    if isinstance(spec, np.dtype):
        return spec.name
    if isinstance(spec, type) and issubclass(spec, np.generic):
        try:
            return np.dtype(spec).name
        except TypeError:  # an abstract type, such as np.integer
            return spec.__name__
    torch = torch_if_loaded()
    if torch is not None and isinstance(spec, torch.dtype):
        return str(spec).removeprefix("torch.")
    raise TypeError(
        f"expected a format, a name such as 'int8', or a NumPy, ml_dtypes or torch dtype, "
        f"got {type(spec).__name__} {spec!r}"
    )


def _unknown(name: str) -> str:
    aliases = [fmt.alias for fmt in INTEGER_FORMATS]
    nearest = difflib.get_close_matches(name.upper(), aliases, n=1)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else "."
    return (
        f"unknown format {name!r}{hint} There are {', '.join(aliases)}, "
        f"and INTn and UINTn for any width n from 1 to {MAX_BITS}"
    )
