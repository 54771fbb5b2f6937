"""From a name or a dtype of NumPy, ml_dtypes or torch to the format it stands for."""

from __future__ import annotations

import re

import numpy as np

from ._arrays import torch_if_loaded
from .float_format import FLOAT_ALIASES, FLOAT_FORMATS, FloatFormat
from .formats import INTEGER_FORMATS, MAX_BITS, IntFormat

Format = IntFormat | FloatFormat

# Three digits reach past every width there is, so that "int65" meets the message about the range.
_INTEGER_NAME = re.compile(r"(u?)int(0|[1-9][0-9]{0,2})")


_FLOATS = {
    **{name.lower(): fmt for name, fmt in FLOAT_ALIASES.items()},
    **{fmt.name: fmt for fmt in FLOAT_FORMATS},
    # The libraries' names without the width: e4m3fn, e8m0fnu, but not e4m3, which is the alias of another format.
    **{fmt.name.split("_")[1]: fmt for fmt in FLOAT_FORMATS if "_" in fmt.name and fmt.name != "float8_e4m3"},
}


def get_format(spec: object) -> Format:
    """Return the format that `spec` names: a format, a name such as "int8", "E4M3" or "bfloat16", or a dtype.

    Names are read without regard to case; dtypes may come from NumPy, ml_dtypes or torch, and byte order
    is ignored. Raises ValueError for a name or dtype that is no format here, and TypeError for any other
    kind of object.
    """
    if isinstance(spec, (IntFormat, FloatFormat)):
        return spec
    name = _name_of(spec)
    if name.lower() in _FLOATS:
        return _FLOATS[name.lower()]
    match = _INTEGER_NAME.fullmatch(name.lower())
    if match is None:
        raise ValueError(_unknown(name))
    unsigned, bits = match.groups()
    return IntFormat(int(bits), signed=not unsigned)


def get_int_format(spec: object, what: str) -> IntFormat:
    """Return the integer format that `spec` names; TypeError, naming `what`, if it is a float format."""
    fmt = get_format(spec)
    if not isinstance(fmt, IntFormat):
        raise TypeError(f"{what}: expected an integer format such as INT8, got the float format {fmt}")
    return fmt


def get_float_format(spec: object, what: str) -> FloatFormat:
    """Return the float format that `spec` names; TypeError, naming `what`, if it is an integer format."""
    fmt = get_format(spec)
    if not isinstance(fmt, FloatFormat):
        raise TypeError(f"{what}: expected a float format such as E4M3, got the integer format {fmt}")
    return fmt


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
    import difflib  # only here, as importing it takes as long as half of the rest

    aliases = [*(fmt.alias for fmt in INTEGER_FORMATS), *FLOAT_ALIASES]
    nearest = difflib.get_close_matches(name.upper(), aliases, n=1)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else "."
    return (
        f"unknown format {name!r}{hint} There are {', '.join(aliases)}, "
        f"and INTn and UINTn for any width n from 1 to {MAX_BITS}"
    )
