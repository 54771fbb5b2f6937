"""Tensors in .npy, .npz and .safetensors files, read block by block, so that a file may be larger than memory.

Whatever a file holds, nothing in it is run, and its lies cost a message of one line and no memory.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypeVar

from ._arrays import Array
from ._npy_files import NO_ARCHIVE, npy, npz_members
from ._safetensors_files import metadata, safetensors
from ._tensor import BLOCK, BadFile, Tensor, parsing, shown

__all__ = ["BLOCK", "Tensor", "read_arrays", "read_metadata", "read_tensors"]

T = TypeVar("T")


def read_tensors(path: Path) -> list[Tensor]:
    """List the tensors of a file; nothing but headers is read yet.

    Raises ValueError, naming the file and the cure, for a file that isn't there, isn't what its name says, or lies
    about itself; a block that can't be read raises it when its turn comes.
    """
    return _read(path, {".npy": npy, ".npz": _npz, ".safetensors": safetensors})


def read_arrays(path: Path) -> dict[str, Array]:
    """Read all tensors of a .npz or .safetensors file whole, by name; errors as in `read_tensors`."""
    return _read(path, {".npz": _npz_arrays, ".safetensors": lambda path: _arrays(safetensors(path))})


def read_metadata(path: Path) -> dict[str, Any]:
    """Return the metadata of a .safetensors file, empty if it has none; ValueError as in `read_tensors`."""
    return _read(path, {".safetensors": metadata})


def _read(path: Path, readers: dict[str, Callable[[Path], T]]) -> T:
    try:
        if path.is_dir():
            raise BadFile(f"{shown(path)} is a folder; name the file in it")
        if not path.exists():
            raise BadFile(f"{shown(path)} doesn't exist; check the name and the folder")
        if not path.is_file():  # a pipe would wait for ever
            raise BadFile(f"{shown(path)} is no ordinary file; copy its contents to one")
        reader = readers.get(path.suffix.lower())
        if reader is None:
            names = ", ".join(readers)
            raise BadFile(f"{shown(path)}: the name should end in {names}; save the tensors as one of these")
        return reader(path)
    except OSError as error:
        why = error.strerror or error
        raise BadFile(f"{shown(path)} can't be read: {why}; check its permissions and the disk") from None


def _npz(path: Path) -> list[Tensor]:
    with parsing(path, NO_ARCHIVE), zipfile.ZipFile(path) as archive:
        return npz_members(path, archive, lambda: zipfile.ZipFile(path))


def _npz_arrays(path: Path) -> dict[str, Array]:
    """Read a whole archive, opening it once: its list of contents takes as long to read as many arrays."""
    with parsing(path, NO_ARCHIVE), zipfile.ZipFile(path) as archive:
        return _arrays(npz_members(path, archive, lambda: nullcontext(archive)))


def _arrays(tensors: list[Tensor]) -> dict[str, Array]:
    for tensor in tensors:
        tensor.check()
    return {tensor.name: tensor.read() for tensor in tensors}
