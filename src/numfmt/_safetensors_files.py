"""The tensors of .safetensors files: 8 bytes of length, a JSON header, the data.

The layout is read here and not by its own package, whose NumPy side knows no BF16 and no FP8. The rules are those of
https://github.com/huggingface/safetensors#format: the tensors fill the data without holes and overlaps, and no name
comes twice.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ._arrays import Array
from ._tensor import Tensor, check_shape, damaged, parsing, refused, stream
from ._text import printable
from .codes import decode

_MAX_HEADER = 100_000_000  # bytes, the limit of the format's reference implementation
_PLAIN = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?",
}  # fmt: skip
_CODES = {
    "BF16": ("<u2", "bfloat16"), "F8_E4M3": ("u1", "float8_e4m3fn"), "F8_E5M2": ("u1", "float8_e5m2"),
    "F8_E8M0": ("u1", "float8_e8m0fnu"), "F8_E4M3FNUZ": ("u1", "float8_e4m3fnuz"),
    "F8_E5M2FNUZ": ("u1", "float8_e5m2fnuz"),
}  # fmt: skip


def safetensors(path: Path) -> list[Tensor]:
    """Return the tensors of a .safetensors file, in the order of its header."""
    header, base = _header(path)
    entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
    length = path.stat().st_size
    tensors = [_tensor(path, name, entry, base, length) for name, entry in entries.items()]
    end = 0
    for begin, following in sorted(entry["data_offsets"] for entry in entries.values()):
        if begin < end:  # otherwise a small file could fill the memory with the same bytes again and again
            raise damaged(path, f"two of its tensors share the bytes from {base + begin:,} to {base + end:,}")
        if begin > end:
            raise damaged(path, f"the bytes from {base + end:,} to {base + begin:,} belong to no tensor")
        end = following
    if base + end < length:
        raise damaged(path, f"the bytes from {base + end:,} to {length:,} belong to no tensor")
    return tensors


def metadata(path: Path) -> dict[str, Any]:
    """Return the metadata of a .safetensors file, empty if it has none."""
    header, _ = _header(path)
    found = header.get("__metadata__", {})
    if not isinstance(found, dict):
        raise damaged(path, "its metadata are no table")
    return found


def _header(path: Path) -> tuple[dict[str, Any], int]:
    """Return the header of a .safetensors file, and where the data begin."""
    length = path.stat().st_size
    with path.open("rb") as file:
        prefix = file.read(8)
        header_length = struct.unpack("<Q", prefix)[0] if len(prefix) == 8 else length
        if header_length > min(_MAX_HEADER, length - 8):
            raise damaged(path, f"its header should have {header_length:,} bytes, and the file has {length:,}")
        text = file.read(header_length)
    with parsing(path, "its header isn't what the format asks for"):
        header = json.loads(text, object_pairs_hook=_table)
        if not isinstance(header, dict):
            raise ValueError("it is no table")
    return header, 8 + header_length


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a name comes twice")
    return table


def _tensor(path: Path, name: str, entry: Any, base: int, length: int) -> Tensor:
    try:
        kind, shape, (begin, end) = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"]
        whole = isinstance(kind, str) and all(type(each) is int and each >= 0 for each in (*shape, begin, end))
    except (KeyError, TypeError, ValueError):
        whole = False
    if not whole:
        raise damaged(path, f"{printable(name)} lacks a dtype, a shape or two offsets")
    is_known = kind in _PLAIN or kind in _CODES
    dtype = np.dtype(_PLAIN[kind] if kind in _PLAIN else _CODES[kind][0] if kind in _CODES else "u1")
    check_shape(path, name, dtype, shape)
    if begin > end or base + end > length or (is_known and end - begin != math.prod(shape) * dtype.itemsize):
        place = f"at bytes {base + begin:,} to {base + end:,}"
        raise damaged(path, f"{printable(name)} should lie {place}, which can't be")
    if not is_known:
        known = ", ".join([*_PLAIN, *_CODES])
        return refused(
            path, name, kind, shape, f"has dtype {kind!r}, and can be read as {known}; convert it to one of these"
        )

    def blocks() -> Iterator[Array]:
        with path.open("rb") as file:
            file.seek(base + begin)
            for block in stream(path, file, dtype, math.prod(shape)):
                yield block if kind in _PLAIN else decode(block, _CODES[kind][1], np.float32)

    return Tensor(name, kind, shape, blocks, dtype if kind in _PLAIN else np.dtype(np.float32))
