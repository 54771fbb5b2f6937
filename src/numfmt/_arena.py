"""Scratch memory that outlives a call: asking the system for fresh pages costs more than rounding a block."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ._arrays import Array

ARENA_BYTES = 1280 * 1024
_ALIGNMENT = 64

Empty = Callable[[int, "np.dtype[Any]"], Array]
"""Makes an uninitialized 1-D array of a size and a dtype."""

_kept = threading.local()


@contextmanager
def arena() -> Iterator[Empty]:
    """Lend this thread's scratch memory; what doesn't fit in is allocated, and so is what a nested call needs."""
    memory = getattr(_kept, "memory", None)
    _kept.memory = None
    if memory is None:
        memory = np.empty(ARENA_BYTES, np.uint8)
    used = 0

    def empty(size: int, dtype: np.dtype[Any]) -> Array:
        nonlocal used
        start, end = used, used + size * dtype.itemsize
        if end > ARENA_BYTES:
            return np.empty(size, dtype)
        used = -(-end // _ALIGNMENT) * _ALIGNMENT
        return memory[start:end].view(dtype)

    try:
        yield empty
    finally:
        _kept.memory = memory
