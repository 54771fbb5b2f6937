"""Save quantized tensors to .npz and .safetensors files, and load them again, bit for bit.

Codes are stored packed, the scales of blocks as codes of their own format, and what else is needed as JSON: in the
metadata of a .safetensors file, or in an array of bytes named `__numfmt__`. Everything else in such a file is an
ordinary array, which NumPy's and safetensors' own readers read too.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ._arrays import Array, torch_if_loaded
from .codes import decode
from .float_format import FloatFormat, Specials
from .formats import IntFormat
from .microscaling import INT8_UNIT, Blocks
from .packing import pack, unpack
from .quantization import Quantized, Scheme
from .registry import get_format
from .tensor_files import read_metadata, read_tensors

_VERSION = 1
_KEY = "numfmt"
_NPZ_KEY = "__numfmt__"
Stored = Quantized | Blocks | Array


def save(path: str | os.PathLike[str], tensors: Mapping[str, object]) -> None:
    """Write named tensors (`Quantized`, `Blocks`, or arrays and tensors of ordinary dtypes) to a file.

    The name's suffix says which kind: .npz, or .safetensors, for which the package safetensors is needed. The file
    appears whole or not at all; one that was there before stays until then. Raises ValueError for another suffix and
    for names that can't be told apart, TypeError for what can't be stored, ModuleNotFoundError without safetensors.
    """
    target = Path(path)
    kind = _suffix(target)
    arrays: dict[str, Array] = {}
    described: dict[str, dict[str, Any]] = {}
    for name, tensor in tensors.items():
        if not isinstance(name, str) or not name or name.startswith("__"):
            raise ValueError(f"save: a tensor's name is text that doesn't begin with __, got {name!r}")
        parts, description = _taken_apart(name, tensor)
        if clash := set(parts) & set(arrays):
            raise ValueError(f"save: two tensors would be stored as {sorted(clash)[0]!r}; rename one")
        arrays |= parts
        if description is not None:
            described[name] = description
    text = json.dumps({"version": _VERSION, "tensors": described})
    handle, scratch = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.", suffix=kind)
    os.close(handle)
    try:
        if kind == ".npz":
            np.savez(scratch, **{**arrays, _NPZ_KEY: np.frombuffer(text.encode(), np.uint8)})  # type: ignore[arg-type]
        else:
            _safetensors_save(arrays, scratch, {_KEY: text})
        os.chmod(scratch, 0o666 & ~_umask())
        os.replace(scratch, target)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise


def load(path: str | os.PathLike[str]) -> dict[str, Stored]:
    """Read what `save` wrote, or the arrays of any other .npz or .safetensors file of numbers.

    Codes and arrays come as NumPy arrays, those of dtypes that NumPy lacks (BF16, FP8) as float32. Raises ValueError,
    naming the file and the cure, for a file that isn't there, is damaged, or lies about itself.
    """
    source = Path(path)
    kind = _suffix(source)
    stored = {tensor.name: tensor for tensor in read_tensors(source)}
    if kind == ".npz":
        text = bytes(stored.pop(_NPZ_KEY).read()) if _NPZ_KEY in stored else None
    else:
        found = read_metadata(source).get(_KEY)
        text = found.encode() if isinstance(found, str) else None
    described = {} if text is None else _described(source, text)
    arrays = {name: tensor.read() for name, tensor in stored.items()}
    whole: dict[str, Stored] = {}
    for name, description in described.items():
        try:
            whole[name] = _put_together(name, description, arrays)
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise ValueError(f"{source}: {name} isn't what its description says ({error}); save it again") from None
    return {**arrays, **whole}


def _suffix(path: Path) -> str:
    kind = path.suffix.lower()
    if kind not in (".npz", ".safetensors"):
        raise ValueError(f"{path}: the name should end in .npz or .safetensors")
    return kind


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _safetensors_save(arrays: dict[str, Array], path: str, metadata: dict[str, str]) -> None:
    try:
        from safetensors.numpy import save_file
    except ImportError:
        raise ModuleNotFoundError(
            "save: a .safetensors file needs the package safetensors: pip install safetensors, or save as .npz"
        ) from None
    save_file({name: np.asarray(array, order="C") for name, array in arrays.items()}, path, metadata)


def _taken_apart(name: str, tensor: object) -> tuple[dict[str, Array], dict[str, Any] | None]:
    """Return the arrays that a tensor is stored as, and its description (None for an ordinary array)."""
    if isinstance(tensor, Quantized):
        codes = _numpy(tensor.codes)
        description = {
            "kind": "quantized", "bits": tensor.bits, "scheme": str(tensor.scheme), "shape": codes.shape,
            "group_size": tensor.group_size,
        }  # fmt: skip
        scale, zero = _numpy(tensor.scale), _numpy(tensor.zero_point)
        packed = pack(codes.reshape(-1), tensor.bits)
        return {f"{name}.codes": packed, f"{name}.scale": scale, f"{name}.zero_point": zero}, description
    if isinstance(tensor, Blocks):
        elements, scales = tensor.codes()
        description = {
            "kind": "blocks", "format": _format_fields(tensor.fmt), "scale_format": _format_fields(tensor.scale_fmt),
            "block": tensor.block, "shape": elements.shape, "tensor_scale": float(tensor.tensor_scale).hex(),
        }  # fmt: skip
        packed = pack(np.asarray(elements).reshape(-1), tensor.fmt.bits)
        return {f"{name}.codes": packed, f"{name}.scales": scales}, description
    array = _numpy(tensor)
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise TypeError(f"save: {name} has dtype {array.dtype}; quantize it, or make it float64, float32 or integers")
    return {name: array.astype(array.dtype.newbyteorder("="), copy=False)}, None


def _numpy(x: object) -> Array:
    torch = torch_if_loaded()
    if torch is not None and isinstance(x, torch.Tensor):
        if x.dtype.is_floating_point and x.dtype not in (torch.float64, torch.float32, torch.float16):
            raise TypeError(f"save: NumPy has no {x.dtype}; store encode(x, {str(x.dtype).removeprefix('torch.')!r})")
        return np.asarray(x.detach().cpu().numpy())
    return np.asarray(x)


def _format_fields(fmt: FloatFormat | IntFormat) -> dict[str, Any]:
    return asdict(fmt)


def _format_of(fields: dict[str, Any]) -> FloatFormat | IntFormat:
    if "exponent_bits" not in fields:
        return IntFormat(**fields)
    found = FloatFormat(**{**fields, "specials": Specials(fields["specials"])})
    try:
        known = get_format(found.name)
    except ValueError:
        return found
    return known if known == found else found


def _described(path: Path, text: bytes) -> dict[str, dict[str, Any]]:
    try:
        description = json.loads(text)
        version, tensors = description["version"], description["tensors"]
        if not isinstance(tensors, dict) or not all(isinstance(each, dict) for each in tensors.values()):
            raise TypeError("its list of tensors is none")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{path}: its description can't be read ({error}); save the file again") from None
    if version != _VERSION:
        raise ValueError(f"{path} was written by another version (layout {version!r}, this one reads {_VERSION})")
    return tensors


def _put_together(name: str, description: dict[str, Any], arrays: dict[str, Array]) -> Quantized | Blocks:
    """Build a tensor from its arrays, which are taken out of `arrays`; any error says that they don't agree."""
    shape = tuple(description["shape"])
    if not all(type(each) is int and each >= 0 for each in shape):
        raise ValueError(f"shape {shape}")
    if description["kind"] == "quantized":
        return _quantized(name, description, arrays, shape)
    if description["kind"] == "blocks":
        return _blocks(name, description, arrays, shape)
    raise ValueError(f"unknown kind {description['kind']!r}")


def _unpacked(packed: Array, bits: int, shape: tuple[int, ...], signed: bool) -> Array:
    count = math.prod(shape)
    if packed.dtype != np.uint8 or packed.shape != (-(-count * bits // 8),):
        raise ValueError(f"{count:,} codes of {bits} bits don't fill {packed.dtype} of shape {packed.shape}")
    return np.asarray(unpack(packed, bits, count, signed)).reshape(shape)


def _quantized(name: str, description: dict[str, Any], arrays: dict[str, Array], shape: tuple[int, ...]) -> Quantized:
    bits, scheme, size = description["bits"], Scheme(description["scheme"]), description["group_size"]
    codes = _unpacked(arrays.pop(f"{name}.codes"), bits, shape, scheme is Scheme.ABSMAX)
    scale, zero = arrays.pop(f"{name}.scale"), arrays.pop(f"{name}.zero_point")
    if scale.dtype != np.float64 or zero.dtype != np.int64 or scale.shape != zero.shape:
        raise ValueError(f"scale of {scale.dtype} {scale.shape}, zero point of {zero.dtype} {zero.shape}")
    grouped = shape if size is None else (*shape[:-1], shape[-1] // size, size)
    if math.prod(grouped) != math.prod(shape) or np.broadcast_shapes(grouped, scale.shape) != grouped:
        raise ValueError(f"scales of shape {scale.shape} don't fit codes of shape {shape}, group size {size}")
    return Quantized(codes, scale, zero, bits, scheme, size)


def _blocks(name: str, description: dict[str, Any], arrays: dict[str, Array], shape: tuple[int, ...]) -> Blocks:
    fmt, scale_fmt = _format_of(description["format"]), _format_of(description["scale_format"])
    block = description["block"]
    if not isinstance(scale_fmt, FloatFormat) or type(block) is not int or block < 1 or not shape:
        raise ValueError(f"blocks of {block} with scales in {scale_fmt}")
    codes = _unpacked(arrays.pop(f"{name}.codes"), fmt.bits, shape, False)
    scales = arrays.pop(f"{name}.scales")
    wanted = (*shape[:-1], -(-shape[-1] // block))
    if scales.shape != wanted or scales.dtype != scale_fmt.code_dtype:
        raise ValueError(f"scales of {scales.dtype} {scales.shape}, expected {scale_fmt.code_dtype} {wanted}")
    elements = np.asarray(decode(codes, fmt), dtype=np.float64) * (INT8_UNIT if isinstance(fmt, IntFormat) else 1.0)
    tensor_scale = float.fromhex(description["tensor_scale"])
    return Blocks(elements, decode(scales, scale_fmt), fmt, scale_fmt, block, tensor_scale)
