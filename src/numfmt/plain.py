"""Plain data: the one form in which answers are compared, hashed and shown."""

from __future__ import annotations

import json

import numpy as np

from ._arrays import torch_if_loaded

Plain = None | bool | int | float | str | list["Plain"] | dict[str, "Plain"]
"""What an answer is reduced to: JSON's types, with integers of any size."""


def plain(value: object) -> Plain:
    """Reduce an answer to plain data.

    Tuples, NumPy arrays and torch tensors become lists, NumPy scalars become Python's, NumPy types their names.
    Anything that isn't data (a function, a generator, an object of a class) raises TypeError.
    """
    if value is None or isinstance(value, (bool, np.bool_)):
        return None if value is None else bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return np.dtype(value).name
    torch = torch_if_loaded()
    if torch is not None and isinstance(value, torch.Tensor):
        return plain(value.detach().cpu().tolist())
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    kind = type(value).__name__
    raise TypeError(
        f"an answer must be plain data (numbers, text, True or False, None, or lists, tuples, dicts and "
        f"arrays of these); yours holds {'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"
    )


def to_bytes(value: Plain) -> bytes:
    """Return the canonical bytes of plain data: equal bytes mean equal answers (1, 1.0 and True differ)."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def show(value: object, limit: int = 60) -> str:
    """Return a value as short text for a message, arrays as lists."""
    try:
        text = repr(plain(value))
    except TypeError:
        text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
