"""Save quantized tensors to .npz and .safetensors files, and load them again, bit for bit.

Codes are stored packed, the scales of blocks as codes of their own format, and what else is needed as JSON: in the
metadata of a .safetensors file under `numfmt`, or in an array of bytes named `__numfmt__`. Everything else in such a
file is an ordinary array, which NumPy's and safetensors' own readers read too.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ._arrays import Array
from ._tensor_parts import Description, put_together, take_apart
from .microscaling import Blocks
from .quantization import Quantized
from .tensor_files import read_arrays, read_metadata

_VERSION = 1
_KEY = "numfmt"
_NPZ_KEY = "__numfmt__"
_RESERVED = (_NPZ_KEY, "__metadata__")
_MAX_NAME = 1_000  # bytes
Stored = Quantized | Blocks | Array


def save(path: str | os.PathLike[str], tensors: Mapping[str, object]) -> None:
    """Write named tensors (`Quantized`, `Blocks`, or arrays and tensors of ordinary dtypes) to a file.

    The name's suffix says which kind: .npz, or .safetensors, for which the package safetensors is needed. The file
    appears whole or not at all; one that was there before stays until then. Raises ValueError for another suffix, for
    names that can't be told apart, and for a tensor that wouldn't come back bit for bit (codes beyond their width,
    elements that their format lacks); TypeError for what can't be stored; ModuleNotFoundError without safetensors;
    OSError, with the old file as it was, where nothing can be written.
    """
    target = Path(path)
    kind = _suffix(target)
    if not isinstance(tensors, Mapping):
        raise TypeError(f"save: expected a dict of names and tensors, got {type(tensors).__name__}; give {{'x': x}}")
    arrays: dict[str, Array] = {}
    described: dict[str, Description] = {}
    for name, tensor in tensors.items():
        _check_name(name)
        parts, description = take_apart(name, tensor)
        if clash := set(parts) & set(arrays):
            raise ValueError(f"save: two tensors would be stored as {sorted(clash)[0]!r}; rename one")
        arrays |= parts
        if description is not None:
            described[name] = description
    text = json.dumps({"version": _VERSION, "tensors": described})
    if kind == ".npz":
        arrays[_NPZ_KEY] = np.frombuffer(text.encode(), np.uint8)
        _replace(target, lambda scratch: _write_npz(scratch, arrays))
    else:
        write = _safetensors_writer()
        _replace(target, lambda scratch: write(arrays, scratch, {_KEY: text}))


def load(path: str | os.PathLike[str]) -> dict[str, Stored]:
    """Read what `save` wrote, or the arrays of any other .npz or .safetensors file of numbers.

    Codes and arrays come as NumPy arrays, those of dtypes that NumPy lacks (BF16, FP8) as float32; the package
    safetensors isn't needed. Nothing in a file is ever run. Raises ValueError, naming the file and the cure, for a
    file that isn't there, is damaged, or lies about itself.
    """
    source = Path(path)
    kind = _suffix(source)
    arrays = read_arrays(source)
    if kind == ".npz":
        text = arrays.pop(_NPZ_KEY).tobytes() if _NPZ_KEY in arrays else None
    else:
        found = read_metadata(source).get(_KEY)
        text = found.encode(errors="replace") if isinstance(found, str) else None
    whole: dict[str, Stored] = {}
    for name, description in ({} if text is None else _described(source, text)).items():
        try:
            whole[name] = put_together(name, description, arrays)
        except (ValueError, TypeError, ArithmeticError, AttributeError) as error:
            raise ValueError(f"{source}: {name} isn't what its description says ({error}); save it again") from None
    if twice := arrays.keys() & whole.keys():
        raise ValueError(f"{source}: there are two tensors named {min(twice)!r}; save the file again")
    return {**arrays, **whole}


def _suffix(path: Path) -> str:
    kind = path.suffix.lower()
    if kind not in (".npz", ".safetensors"):
        raise ValueError(f"{path}: the name should end in .npz or .safetensors")
    return kind


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name or name in _RESERVED:
        raise ValueError(f"save: a tensor's name is text other than {' and '.join(_RESERVED)}, got {name!r}")
    if "\0" in name or len(name.encode(errors="replace")) > _MAX_NAME or any("\ud800" <= c <= "\udfff" for c in name):
        raise ValueError(f"save: the name {name[:50]!r} can't be stored; choose a shorter one of ordinary characters")


def _replace(target: Path, write: Callable[[str], None]) -> None:
    """Put in the target's place what `write` writes to the path that it gets; links are followed, modes kept."""
    place = Path(os.path.realpath(target))
    if not place.parent.is_dir():
        raise FileNotFoundError(f"save: there is no folder {place.parent}; make it, or save elsewhere")
    if place.exists() and not place.is_file():
        raise OSError(f"save: {target} is no file; save under another name")
    scratch = place.with_name(f".numfmt-{secrets.token_hex(8)}.part")
    try:
        file = os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        mode = stat.S_IMODE((place.stat() if place.exists() else os.fstat(file)).st_mode)
        os.close(file)
        write(str(scratch))
        os.chmod(scratch, mode)
        _flush(scratch)
        os.replace(scratch, place)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise


def _flush(path: Path) -> None:
    """See the file's data to the disk, so that a crash after the replacement can't leave it empty."""
    file = os.open(path, os.O_RDWR)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _write_npz(path: str, arrays: dict[str, Array]) -> None:
    # numpy.savez takes the names as keywords, and so can't store what is called "file" or "allow_pickle".
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def _safetensors_writer() -> Callable[[dict[str, Array], str, dict[str, str]], None]:
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import save_file
    except ImportError:
        raise ModuleNotFoundError(
            "save: a .safetensors file needs the package safetensors: pip install safetensors, or save as .npz"
        ) from None

    def write(arrays: dict[str, Array], path: str, metadata: dict[str, str]) -> None:
        try:
            save_file({name: np.asarray(array, order="C") for name, array in arrays.items()}, path, metadata)
        except SafetensorError as error:
            raise OSError(f"save: the file can't be written ({error})") from None

    return write


def _described(path: Path, text: bytes) -> dict[str, Description]:
    try:
        description: dict[str, Any] = json.loads(text)
        version = description["version"]
        if type(version) is not int:
            raise TypeError(f"its version is {version!r}")
        tensors = description["tensors"] if version == _VERSION else {}
        if not isinstance(tensors, dict) or not all(isinstance(each, dict) for each in tensors.values()):
            raise TypeError("its list of tensors is none")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{path}: its description can't be read ({error}); save the file again") from None
    if version != _VERSION:
        cure = "update numfmt" if version > _VERSION else "save it again"
        raise ValueError(f"{path} has layout {version} and this numfmt reads layout {_VERSION}; {cure}")
    return tensors
