"""Arrays in, arrays out: read what a caller passed once, and hand the result back in the same kind.

Everything that looks at torch goes through `torch_if_loaded`, so that numfmt never imports it: an object
can only be a tensor if its owner has imported torch already.
"""

from __future__ import annotations

import operator
import reprlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_TORCH_INTEGERS = ("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")


@dataclass(frozen=True)
class Integers:
    """Integers as read from a caller: `array` holds them, `restore` turns a result into the caller's kind.

    `array` has the caller's shape and a dtype from int8 to uint64 in either byte order, or dtype object with
    Python ints if some value needs more than 64 bits. `restore` takes an array of that shape. `single` tells
    one number (of Python or NumPy) from an array without axes.
    """

    array: Array
    restore: Callable[[Array], Any]
    single: bool = False


def torch_if_loaded() -> Any | None:
    """Return the torch module if someone has imported it, else None."""
    return sys.modules.get("torch")


def read_integers(x: object, what: str) -> Integers:
    """Read integers of any kind: Python, NumPy (any byte order), ml_dtypes, torch, sequences; True is 1.

    Raises TypeError, naming `what` and the type, for anything that isn't integers, and ValueError for a
    ragged sequence.
    """
    if isinstance(x, int):
        return Integers(_narrow([int(x)], ()), _to_python, single=True)
    torch = torch_if_loaded()
    if torch is not None and isinstance(x, torch.Tensor):
        return _read_tensor(x, what, torch)
    if isinstance(x, np.generic):
        return Integers(_as_integers(np.asarray(x), what), _to_numpy_scalar, single=True)
    if isinstance(x, list | tuple | range):
        return Integers(_as_integers(_as_objects(x, what), what), _as_it_is)
    if isinstance(x, np.ndarray) or hasattr(x, "__array__"):
        return Integers(_as_integers(np.asarray(x), what), _as_it_is)
    return Integers(_narrow([_index(x, what)], ()), _to_python, single=True)


def _read_tensor(x: Any, what: str, torch: Any) -> Integers:
    if str(x.dtype).removeprefix("torch.") not in _TORCH_INTEGERS:
        raise _not_integers(what, str(x.dtype), f"a tensor of {x.dtype}")
    if x.layout is not torch.strided:
        raise TypeError(f"{what}: expected a dense tensor, got layout {x.layout}; call .to_dense() first")
    array = x.detach().cpu().numpy()
    return Integers(_as_integers(array, what), lambda result: torch.from_numpy(result).to(x.device))


def _as_integers(array: Array, what: str) -> Array:
    """Return the integers of `array`, exactly, in a dtype that `Integers.array` may have."""
    dtype = array.dtype
    if dtype.kind in "iu":
        return array
    if dtype.kind == "b":
        return array.astype(np.uint8)
    if dtype.kind == "O":
        return _narrow([_index(element, what) for element in array.ravel()], array.shape)
    if dtype.type.__module__ == "ml_dtypes" and dtype.name.startswith(("int", "uint")):
        return array.astype(np.int8)
    raise _not_integers(what, dtype.name, f"dtype {dtype.name}")


def _as_objects(x: list[Any] | tuple[Any, ...] | range, what: str) -> Array:
    # Only dtype object keeps every int: np.asarray([2**63, -1]) is a float64 array.
    try:
        array = np.array(x, dtype=object)
    except ValueError as error:
        raise ValueError(f"{what}: rows differ in shape ({error}); give every row the same length") from error
    if any(isinstance(element, list | tuple | np.ndarray) for element in array.ravel()):
        raise ValueError(f"{what}: rows differ in length; give every row the same length")
    return array


def _narrow(integers: list[int], shape: tuple[int, ...]) -> Array:
    """Store Python ints as int64, as uint64, or, where neither holds them all, as Python ints."""
    low, high = (min(integers), max(integers)) if integers else (0, 0)
    if low >= -(2**63) and high < 2**63:
        return np.array(integers, dtype=np.int64).reshape(shape)
    if low >= 0 and high < 2**64:
        return np.array(integers, dtype=np.uint64).reshape(shape)
    array = np.empty(len(integers), dtype=object)
    array[:] = integers
    return array.reshape(shape)


def _index(element: Any, what: str) -> int:
    if isinstance(element, np.bool_):
        return int(element)
    try:
        return operator.index(element)
    except TypeError:
        kind = type(element).__name__
        raise _not_integers(what, kind, f"{kind} {reprlib.repr(element)}") from None


def _not_integers(what: str, kind: str, got: str) -> TypeError:
    if "str" in kind:
        cure = "read digits with int(text), or a bit string with from_bits(text)"
    elif "float" in kind:
        cure = "round it first, for example with np.rint(x).astype(np.int64), or int(round(x)) for one number"
    else:
        cure = "pass Python ints or an array or tensor of an integer dtype"
    return TypeError(f"{what}: expected integers, got {got}; {cure}")


def _to_python(result: Array) -> Any:
    return result.item()


def _to_numpy_scalar(result: Array) -> Any:
    return result[()]


def _as_it_is(result: Array) -> Any:
    return result
