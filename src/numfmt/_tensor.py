"""A tensor in a file, and what all readers of such files share: the stream of blocks, and errors of one line."""

from __future__ import annotations

import errno
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from ._arrays import Array
from ._text import printable

BLOCK = 64 * 1024
"""Elements a block."""
_MAX_AXES = 64  # as NumPy has


class BadFile(ValueError):
    """A file that can't be read: the message, one line, names the file and the cure."""


@dataclass(frozen=True)
class Tensor:
    """A tensor in a file: its name, dtype (as the file calls it) and shape; `blocks` yields it as 1-D arrays.

    `refusal` says why the numbers can't be read, if they can't though the file is whole; `blocks` raises it then.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    blocks: Callable[[], Iterator[Array]]
    block_dtype: np.dtype[Any]
    is_fortran: bool = False
    """Whether the first axis varies fastest in the file."""
    refusal: str = ""

    def read(self) -> Array:
        """Return the whole tensor; it grows block by block, so a wrong size costs no memory."""
        self.check()
        data = bytearray()
        for block in self.blocks():
            data += block.view(np.uint8).data
        flat = np.frombuffer(data, self.block_dtype)
        whole = flat.reshape(self.shape, order="F" if self.is_fortran else "C")
        return whole.astype(whole.dtype.newbyteorder("="), copy=False)

    def check(self) -> None:
        """Raise ValueError if the numbers can't be read."""
        if self.refusal:
            raise BadFile(self.refusal)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)


def refused(path: Path, name: str, dtype: str, shape: tuple[int, ...], why: str) -> Tensor:
    """Return a tensor that is there, but can't be read."""
    message = f"{shown(path)}: {printable(name)} {why}"

    def blocks() -> Iterator[Array]:
        raise BadFile(message)

    return Tensor(name, dtype, shape, blocks, np.dtype(np.float64), refusal=message)


def shown(path: Path) -> str:
    """Return a path for a message of one line."""
    return printable(str(path))


def damaged(path: Path, why: str) -> BadFile:
    """Return the error of a file that isn't whole, or not what it says."""
    return BadFile(f"{shown(path)}: {why}; copy or save the file again")


@contextmanager
def parsing(path: Path, complaint: str) -> Iterator[None]:
    """Turn whatever a parser raises on bytes that make no sense into the error of a damaged file.

    Parsers of others (zip, its methods of compression, NumPy's headers) raise errors of many kinds on hostile bytes.
    """
    try:
        yield
    except (BadFile, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise  # the system's, not the parser's
        first = (str(error).splitlines() or [""])[0]
        raise damaged(path, f"{complaint} ({printable(first)[:200] or type(error).__name__})") from None


def check_shape(path: Path, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """Raise ValueError for a shape that no array can have."""
    # NumPy counts the bytes as if there were no axis of length 0.
    fits = len(shape) <= _MAX_AXES and all(0 <= each < 2**63 for each in shape)
    if not fits or math.prod(each or 1 for each in shape) * max(dtype.itemsize, 8) >= 2**63:
        cut = str(shape[: _MAX_AXES + 1])[:100]
        raise damaged(path, f"{printable(name)} says that its shape is {cut}, which no array has")


def stream(path: Path, file: IO[bytes], dtype: np.dtype[Any], count: int) -> Iterator[Array]:
    """Yield `count` numbers of a file that is open where they begin."""
    while count:
        size = min(count, BLOCK)
        with parsing(path, "the data can't be read"):
            data = file.read(size * dtype.itemsize)
        if len(data) < size * dtype.itemsize:
            raise damaged(path, "the data ends too early")
        yield np.frombuffer(data, dtype)
        count -= size
