"""The tensors of .npy and .npz files, never unpickled (the layout is that of NEP 1)."""

from __future__ import annotations

import math
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any

import numpy as np

from ._arrays import Array
from ._tensor import Tensor, check_shape, damaged, parsing, refused, stream
from ._text import printable

Header = tuple[np.dtype[Any], tuple[int, ...], bool]
Reopen = Callable[[], AbstractContextManager[zipfile.ZipFile]]

NO_ARCHIVE = "it is no archive that NumPy saved"
_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def npy(path: Path) -> list[Tensor]:
    """Return the one tensor of a .npy file, named after the file."""
    name = path.stem
    with path.open("rb") as file:
        dtype, shape, is_fortran = _header(path, name, file)
        start, length = file.tell(), path.stat().st_size

    def blocks() -> Iterator[Array]:
        with path.open("rb") as file:
            file.seek(start)
            yield from stream(path, file, dtype, math.prod(shape))

    return [_tensor(path, name, (dtype, shape, is_fortran), length - start, blocks)]


def npz_members(path: Path, archive: zipfile.ZipFile, reopen: Reopen) -> list[Tensor]:
    """Return the tensors of an archive; `reopen` gives the archive again when their numbers are read."""
    tensors = [_member(path, archive, info, reopen) for info in archive.infolist() if not info.is_dir()]
    if len({tensor.name for tensor in tensors}) < len(tensors):
        raise damaged(path, "it holds two arrays of one name")
    return tensors


def _member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo, reopen: Reopen) -> Tensor:
    name = info.filename.removesuffix(".npy")
    with archive.open(info) as member:
        header = _header(path, name, member)
        start = member.tell()

    def blocks() -> Iterator[Array]:
        with parsing(path, NO_ARCHIVE), reopen() as again, again.open(info) as member:
            member.read(start)
            yield from stream(path, member, header[0], math.prod(header[1]))

    return _tensor(path, name, header, info.file_size - start, blocks)


def _header(path: Path, name: str, file: IO[bytes]) -> Header:
    with parsing(path, f"{printable(name)} is no array that NumPy saved"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of headers that Python 2 wrote, and of names that NumPy will forget
        version = np.lib.format.read_magic(file)
        if version == (3, 0):  # only for fields, whose names are Unicode
            return np.dtype([("", "V1")]), (), False
        if version not in _READERS:
            raise ValueError(f"version {version} of the format isn't known")
        try:
            shape, is_fortran, dtype = _READERS[version](file)
        except MemoryError:  # Python's parser means that brackets are nested too deeply
            raise ValueError("its header is too deep") from None
    return dtype, shape, is_fortran


def _tensor(path: Path, name: str, header: Header, there: int, blocks: Callable[[], Iterator[Array]]) -> Tensor:
    dtype, shape, is_fortran = header
    if why := _objection(dtype):
        return refused(path, name, str(dtype), shape, why)
    check_shape(path, name, dtype, shape)
    needed = math.prod(shape) * dtype.itemsize
    if there < needed:
        raise damaged(path, f"{printable(name)} should have {needed:,} bytes of data, and {there:,} are there")
    return Tensor(name, dtype.name, shape, blocks, dtype, is_fortran)


def _objection(dtype: np.dtype[Any]) -> str:
    """Return what speaks against an array of this dtype, with the cure; nothing if it holds real numbers."""
    if dtype.kind in "fiub" and dtype.itemsize <= 16:
        return ""
    if dtype.hasobject:
        return "holds Python objects, which are no real numbers; save these as floats"
    if dtype.names is not None:
        return "holds fields with names; save each field as an array of its own"
    if dtype.kind == "V":
        return (
            f"holds {dtype.itemsize} raw bytes an element, as NumPy stores BF16 and FP8 without saying which; "
            "save x.astype(np.float32), or a .safetensors file"
        )
    return f"holds dtype {dtype}, which are no real numbers; save these as floats"
