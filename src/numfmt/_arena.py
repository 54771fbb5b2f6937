"""Scratch memory that outlives a call: asking the system for fresh pages costs more than rounding a block."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ._arrays import Array

ARENA_BYTES = 1280 * 1024
_ALIGNMENT = 64
_SMALL = 64 * 1024
"""What is smaller comes from the allocator's own store of pages anyway."""

Empty = Callable[[int, "np.dtype[Any]"], Array]
"""Makes an uninitialized 1-D array of a size and a dtype."""

_kept = threading.local()


class Arena:
    """This thread's scratch memory, while it is lent; what doesn't fit in is allocated, and so is a nested call's."""

    def __enter__(self) -> Arena:
        self._memory: Array | None = getattr(_kept, "memory", None)
        _kept.memory = None
        self._used = 0
        return self

    def __exit__(self, *error: object) -> None:
        _kept.memory = self._memory

    def empty(self, size: int, dtype: np.dtype[Any]) -> Array:
        """Return an uninitialized 1-D array."""
        length = size * dtype.itemsize
        if length < _SMALL or self._used + length > ARENA_BYTES:
            return np.empty(size, dtype)
        if self._memory is None:
            self._memory = np.empty(ARENA_BYTES, np.uint8)
        start = self._used
        self._used += -(-length // _ALIGNMENT) * _ALIGNMENT
        return self._memory[start : start + length].view(dtype)
