"""Tensors in .npy, .npz and .safetensors files, read block by block, so that a file may be larger than memory.

The .safetensors layout (8 bytes of length, a JSON header, the data) is read here and not by its own package, whose
NumPy side knows no BF16 and no FP8 and loads a tensor whole.
"""

from __future__ import annotations

import json
import math
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from ._arrays import Array
from .codes import decode

BLOCK = 64 * 1024
"""Elements a block."""

T = TypeVar("T")
_MAX_HEADER = 100_000_000  # bytes, the limit of the format's reference implementation
_MAX_AXES = 64  # as NumPy has
_SAFETENSORS = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?",
}  # fmt: skip
_CODES = {
    "BF16": ("<u2", "bfloat16"), "F8_E4M3": ("u1", "float8_e4m3fn"), "F8_E5M2": ("u1", "float8_e5m2"),
    "F8_E8M0": ("u1", "float8_e8m0fnu"), "F8_E4M3FNUZ": ("u1", "float8_e4m3fnuz"),
    "F8_E5M2FNUZ": ("u1", "float8_e5m2fnuz"),
}  # fmt: skip


@dataclass(frozen=True)
class Tensor:
    """A tensor in a file: its name, dtype (as the file calls it) and shape; `blocks` yields it as 1-D arrays."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    blocks: Callable[[], Iterator[Array]]
    block_dtype: np.dtype[Any]
    is_fortran: bool = False
    """Whether the first axis varies fastest in the file."""

    def read(self) -> Array:
        """Return the whole tensor; it grows block by block, so a wrong size costs no memory."""
        data = bytearray()
        for block in self.blocks():
            data += block.view(np.uint8).data
        flat = np.frombuffer(data, self.block_dtype)
        whole = flat.reshape(self.shape, order="F" if self.is_fortran else "C")
        return whole.astype(whole.dtype.newbyteorder("="), copy=False)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)


def read_tensors(path: Path) -> list[Tensor]:
    """List the tensors of a file; nothing but headers is read yet.

    Raises ValueError, naming the file and the cure, for a file that isn't there, isn't what its name says, or lies
    about itself; a block that can't be read raises it when its turn comes.
    """
    return _read(path, {".npy": _npy, ".npz": _npz, ".safetensors": _safetensors})


def read_arrays(path: Path) -> dict[str, Array]:
    """Read all tensors of a .npz or .safetensors file whole, by name; errors as in `read_tensors`."""
    readers = {".npz": _npz_arrays, ".safetensors": lambda path: _arrays(_safetensors(path))}
    return _read(path, readers)


def _read(path: Path, readers: dict[str, Callable[[Path], T]]) -> T:
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise ValueError(f"{path}: the name should end in {', '.join(readers)}; save the tensors as one of these")
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name the file in it")
    try:
        return reader(path)
    except FileNotFoundError:
        raise ValueError(f"{path} doesn't exist; check the name and the folder") from None
    except OSError as error:
        raise ValueError(f"{path} can't be read: {error.strerror or error}") from None


def _damaged(path: Path, why: str) -> ValueError:
    return ValueError(f"{path}: {why}; copy or save the file again")


def _numeric(path: Path, name: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "fiub" or dtype.itemsize > 16:
        what = "Python objects" if dtype.hasobject else f"dtype {dtype}"
        raise ValueError(f"{path}: {name} holds {what}, which are no real numbers; save these as floats")


def _npy(path: Path) -> list[Tensor]:
    with path.open("rb") as file:
        dtype, shape, is_fortran = _npy_header(path, path.stem, file)
        start, length = file.tell(), path.stat().st_size
    _numeric(path, path.stem, dtype)
    _check_length(path, path.stem, dtype, shape, length - start)

    def blocks() -> Iterator[Array]:
        with path.open("rb") as file:
            file.seek(start)
            yield from _stream(path, file, dtype, math.prod(shape))

    return [Tensor(path.stem, dtype.name, shape, blocks, dtype, is_fortran)]


def _npy_header(path: Path, name: str, file: IO[bytes]) -> tuple[np.dtype[Any], tuple[int, ...], bool]:
    try:
        version = np.lib.format.read_magic(file)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        if read is None:
            raise ValueError(f"version {version} of the format isn't known")
        shape, is_fortran, dtype = read(file)
    except (ValueError, TypeError, SyntaxError, EOFError, RecursionError, MemoryError) as error:
        raise _damaged(path, f"{name} is no array that NumPy saved ({_first_line(error)})") from None
    if any(each < 0 for each in shape):
        raise _damaged(path, f"{name} says that its shape is {shape}")
    return dtype, shape, is_fortran


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def _check_length(path: Path, name: str, dtype: np.dtype[Any], shape: tuple[int, ...], there: int) -> None:
    needed = math.prod(shape) * dtype.itemsize
    if there < needed:
        raise _damaged(path, f"{name} should have {needed:,} bytes of data, and {there:,} are there")
    _check_shape(path, name, dtype, shape)


def _check_shape(path: Path, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    # NumPy counts the bytes as if there were no axis of length 0.
    if len(shape) > _MAX_AXES or math.prod(each or 1 for each in shape) * max(dtype.itemsize, 8) >= 2**63:
        raise _damaged(path, f"{name} says that its shape is {str(shape)[:100]}, which no array has")


def _stream(path: Path, file: IO[bytes], dtype: np.dtype[Any], count: int) -> Iterator[Array]:
    while count:
        size = min(count, BLOCK)
        try:
            data = file.read(size * dtype.itemsize)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise _damaged(path, f"the data can't be read ({_first_line(error)})") from None
        if len(data) < size * dtype.itemsize:
            raise _damaged(path, "the data ends too early")
        yield np.frombuffer(data, dtype)
        count -= size


def _npz(path: Path) -> list[Tensor]:
    try:
        with zipfile.ZipFile(path) as archive:
            return _npz_members(path, archive, lambda: zipfile.ZipFile(path))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise _damaged(path, f"it is no archive that NumPy saved ({_first_line(error)})") from None


def _npz_arrays(path: Path) -> dict[str, Array]:
    """Read a whole archive, opening it once: its list of contents takes as long to read as many arrays."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _arrays(_npz_members(path, archive, lambda: nullcontext(archive)))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise _damaged(path, f"it is no archive that NumPy saved ({_first_line(error)})") from None


def _arrays(tensors: list[Tensor]) -> dict[str, Array]:
    return {tensor.name: tensor.read() for tensor in tensors}


Reopen = Callable[[], AbstractContextManager[zipfile.ZipFile]]


def _npz_members(path: Path, archive: zipfile.ZipFile, reopen: Reopen) -> list[Tensor]:
    tensors = [_npz_member(path, archive, info, reopen) for info in archive.infolist() if not info.is_dir()]
    if len({tensor.name for tensor in tensors}) < len(tensors):
        raise _damaged(path, "it holds two arrays of one name")
    return tensors


def _npz_member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo, reopen: Reopen) -> Tensor:
    name = info.filename.removesuffix(".npy")
    with archive.open(info) as member:
        dtype, shape, is_fortran = _npy_header(path, name, member)
        start = member.tell()
    _numeric(path, name, dtype)
    _check_length(path, name, dtype, shape, info.file_size - start)

    def blocks() -> Iterator[Array]:
        with reopen() as again, again.open(info) as member:
            member.read(start)
            yield from _stream(path, member, dtype, math.prod(shape))

    return Tensor(name, dtype.name, shape, blocks, dtype, is_fortran)


def read_metadata(path: Path) -> dict[str, Any]:
    """Return the metadata of a .safetensors file, empty if it has none; ValueError as in `read_tensors`."""
    header, _ = _header(path)
    found = header.get("__metadata__", {})
    if not isinstance(found, dict):
        raise _damaged(path, "its metadata are no table")
    return found


def _header(path: Path) -> tuple[dict[str, Any], int]:
    """Return the header of a .safetensors file, and where the data begin."""
    length = path.stat().st_size
    with path.open("rb") as file:
        prefix = file.read(8)
        header_length = struct.unpack("<Q", prefix)[0] if len(prefix) == 8 else length
        if header_length > min(_MAX_HEADER, length - 8):
            raise _damaged(path, f"its header should have {header_length:,} bytes, and the file has {length:,}")
        text = file.read(header_length)
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"its header isn't what the format asks for ({_first_line(error)})") from None
    if not isinstance(header, dict):
        raise _damaged(path, "its header isn't what the format asks for (it is no table)")
    return header, 8 + header_length


def _safetensors(path: Path) -> list[Tensor]:
    header, base = _header(path)
    entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
    tensors = [_safetensor(path, name, entry, base, path.stat().st_size) for name, entry in entries.items()]
    end = 0
    for begin, following in sorted(entry["data_offsets"] for entry in entries.values()):
        if begin < end:  # otherwise a small file could fill the memory with the same bytes again and again
            raise _damaged(path, f"two of its tensors share the bytes from {base + begin:,} to {base + end:,}")
        end = following
    return tensors


def _safetensor(path: Path, name: str, entry: Any, base: int, length: int) -> Tensor:
    try:
        kind, shape, (begin, end) = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"]
        whole = isinstance(kind, str) and all(type(each) is int and each >= 0 for each in (*shape, begin, end))
    except (KeyError, TypeError, ValueError):
        whole = False
    if not whole:
        raise _damaged(path, f"{name} lacks a dtype, a shape or two offsets")
    if kind not in _SAFETENSORS and kind not in _CODES:
        known = ", ".join([*_SAFETENSORS, *_CODES])
        raise ValueError(f"{path}: {name} has dtype {kind!r}, and can be read as {known}; convert it to one of these")
    dtype = np.dtype(_SAFETENSORS[kind] if kind in _SAFETENSORS else _CODES[kind][0])
    if end - begin != math.prod(shape) * dtype.itemsize or base + end > length:
        raise _damaged(path, f"{name} should lie at bytes {base + begin:,} to {base + end:,}, which can't be")
    _check_shape(path, name, dtype, shape)

    def blocks() -> Iterator[Array]:
        with path.open("rb") as file:
            file.seek(base + begin)
            for block in _stream(path, file, dtype, math.prod(shape)):
                yield block if kind in _SAFETENSORS else decode(block, _CODES[kind][1], np.float32)

    return Tensor(name, kind, shape, blocks, dtype if kind in _SAFETENSORS else np.dtype(np.float32))
