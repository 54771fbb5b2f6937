"""Quantized tensors as plain arrays and a description of plain data, and back, bit for bit.

A `Quantized` named w becomes `w.codes` (packed), `w.scale` and `w.zero_point`; `Blocks` become `w.codes` (packed) and
`w.scales`, the codes of the scales. Whatever can't be rebuilt bit for bit is refused on the way out, and whatever
contradicts itself on the way in.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from ._arrays import Array, torch_if_loaded
from .codes import decode, encode
from .float_format import FloatFormat, Specials
from .formats import INT8, IntFormat
from .microscaling import INT8_UNIT, Blocks
from .packing import ORDERS, pack, unpack
from .quantization import Quantized, Scheme
from .registry import get_format

MAX_PACKED_BITS = 16
"""Wider codes are stored in the smallest unsigned dtype that holds them."""
_PIECE = 64 * 1024
_MAX_EXPONENT_BITS, _MAX_BIAS = 16, 2**17  # more than float64 needs; still more would only take memory

Description = dict[str, Any]


def take_apart(name: str, tensor: object) -> tuple[dict[str, Array], Description | None]:
    """Return the arrays that a tensor is stored as, and its description (None for an ordinary array).

    Raises TypeError for a dtype that can't be stored, ValueError for a tensor that contradicts itself.
    """
    if isinstance(tensor, Quantized):
        return _take_quantized(name, tensor)
    if isinstance(tensor, Blocks):
        return _take_blocks(name, tensor)
    array = _numpy(name, tensor)
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise TypeError(f"save: {name} has dtype {array.dtype}; quantize it, or make it float64, float32 or integers")
    return {name: array.astype(array.dtype.newbyteorder("="), copy=False)}, None


def put_together(name: str, description: Description, arrays: dict[str, Array]) -> Quantized | Blocks:
    """Build a tensor from its arrays, which are taken out of `arrays`.

    Raises one of ValueError, TypeError, ArithmeticError and AttributeError if they don't agree with each other.
    """
    shape = tuple(_field(description, "shape"))
    if not all(type(each) is int and each >= 0 for each in shape):
        raise ValueError(f"shape {shape}")
    kind = _field(description, "kind")
    if kind == "quantized":
        return _put_quantized(name, description, arrays, shape)
    if kind == "blocks":
        return _put_blocks(name, description, arrays, shape)
    raise ValueError(f"unknown kind {kind!r}")


def _take_quantized(name: str, tensor: Quantized) -> tuple[dict[str, Array], Description]:
    codes, scale, zero = (_numpy(name, each) for each in (tensor.codes, tensor.scale, tensor.zero_point))
    try:
        scheme = Scheme(tensor.scheme)
        _check_scales(codes.shape, tensor.group_size, scale, zero)
    except ValueError as error:
        raise ValueError(f"save: {name} contradicts itself: {error}; make it with quantize") from None
    fmt = IntFormat(tensor.bits, signed=scheme is Scheme.ABSMAX)
    if codes.size and not (fmt.min <= codes.min() and codes.max() <= fmt.max):
        raise ValueError(
            f"save: {name} has codes from {codes.min()} to {codes.max()}, and {fmt} holds {fmt.min} to {fmt.max}"
        )
    description = {
        "kind": "quantized", "bits": fmt.bits, "scheme": str(scheme), "shape": codes.shape, "order": "low",
        "group_size": tensor.group_size,
    }  # fmt: skip
    packed = pack(codes.reshape(-1), fmt.bits)
    return {f"{name}.codes": packed, f"{name}.scale": scale, f"{name}.zero_point": zero}, description


def _put_quantized(name: str, fields: Description, arrays: dict[str, Array], shape: tuple[int, ...]) -> Quantized:
    bits, scheme, size = _field(fields, "bits"), Scheme(_field(fields, "scheme")), _field(fields, "group_size")
    packed = _packed(arrays, name, shape, bits)
    codes = unpack(packed, bits, math.prod(shape), scheme is Scheme.ABSMAX, _order(fields)).reshape(shape)
    scale, zero = _array(arrays, f"{name}.scale"), _array(arrays, f"{name}.zero_point")
    _check_scales(shape, size, scale, zero)
    return Quantized(codes, scale, zero, bits, scheme, size)


def _check_scales(shape: tuple[int, ...], size: Any, scale: Array, zero: Array) -> None:
    if scale.dtype.kind != "f" or scale.dtype.itemsize > 8 or zero.dtype.kind not in "iu":
        raise ValueError(f"its scale is {scale.dtype} and its zero point {zero.dtype}")
    if size is not None and (type(size) is not int or size < 1 or not shape or shape[-1] % size):
        raise ValueError(f"groups of {size!r} don't fit codes of shape {shape}")
    grouped = shape if size is None else (*shape[:-1], shape[-1] // size, size)
    for what, array in (("scale", scale), ("zero point", zero)):
        try:
            fits = np.broadcast_shapes(grouped, array.shape) == grouped
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"a {what} of shape {array.shape} doesn't fit codes of shape {grouped}")


def _take_blocks(name: str, tensor: Blocks) -> tuple[dict[str, Array], Description]:
    shape, wanted = tensor.elements.shape, _scale_shape(tensor.elements.shape, tensor.block)
    if tensor.scales.shape != wanted:
        raise ValueError(f"save: {name} has scales of shape {tensor.scales.shape} and needs {wanted}")
    description = {
        "kind": "blocks", "format": _fields(tensor.fmt), "scale_format": _fields(tensor.scale_fmt), "order": "low",
        "block": tensor.block, "shape": shape, "tensor_scale": float(tensor.tensor_scale).hex(),
    }  # fmt: skip
    count, bits = math.prod(shape), tensor.fmt.bits
    stored = np.empty(-(-count * bits // 8) if bits <= MAX_PACKED_BITS else count, _stored_dtype(tensor.fmt))
    flat = tensor.elements.reshape(-1)
    for piece, place in _pieces(count, bits):
        codes = _codes(flat[piece], tensor.fmt, f"{name}'s elements")
        stored[place] = pack(codes, bits) if bits <= MAX_PACKED_BITS else codes
    scales = _codes(tensor.scales, tensor.scale_fmt, f"{name}'s scales")
    return {f"{name}.codes": stored, f"{name}.scales": scales}, description


def _put_blocks(name: str, fields: Description, arrays: dict[str, Array], shape: tuple[int, ...]) -> Blocks:
    fmt, scale_fmt, block = (_field(fields, each) for each in ("format", "scale_format", "block"))
    fmt, scale_fmt = _format(fmt), _format(scale_fmt)
    if not isinstance(scale_fmt, FloatFormat) or (isinstance(fmt, IntFormat) and fmt != INT8):
        raise ValueError(f"blocks of {fmt} with scales in {scale_fmt}")
    wanted = _scale_shape(shape, block)
    stored, scales = _packed(arrays, name, shape, fmt.bits, _stored_dtype(fmt)), _array(arrays, f"{name}.scales")
    if scales.shape != wanted or scales.dtype != scale_fmt.code_dtype:
        raise ValueError(f"scales of {scales.dtype} {scales.shape}, expected {scale_fmt.code_dtype} {wanted}")
    flat, order = np.empty(math.prod(shape)), _order(fields)
    for piece, place in _pieces(flat.size, fmt.bits):
        codes = stored[place]
        if fmt.bits <= MAX_PACKED_BITS:
            codes = unpack(codes, fmt.bits, flat[piece].size, first=order)
        flat[piece] = _values(codes, fmt)
    tensor_scale = float.fromhex(_field(fields, "tensor_scale"))
    return Blocks(flat.reshape(shape), _values(scales, scale_fmt), fmt, scale_fmt, block, tensor_scale)


def _scale_shape(shape: tuple[int, ...], block: Any) -> tuple[int, ...]:
    if not shape or type(block) is not int or block < 1:
        raise ValueError(f"blocks of {block!r} elements in a tensor of shape {shape}")
    return (*shape[:-1], -(-shape[-1] // block))


def _pieces(count: int, bits: int) -> Iterator[tuple[slice, slice]]:
    """Yield where pieces of the elements lie, and where their codes do: packed, unless they are too wide for that."""
    for begin in range(0, count, _PIECE):
        end = min(begin + _PIECE, count)
        packed = slice(begin * bits // 8, -(-end * bits // 8))
        yield slice(begin, end), packed if bits <= MAX_PACKED_BITS else slice(begin, end)


def _stored_dtype(fmt: FloatFormat | IntFormat) -> np.dtype[Any]:
    return np.dtype(np.uint8) if fmt.bits <= MAX_PACKED_BITS else fmt.code_dtype


def _codes(values: Array, fmt: FloatFormat | IntFormat, what: str) -> Array:
    """Return the codes of values; ValueError if one isn't a value of the format."""
    scaled: Array = values
    if isinstance(fmt, IntFormat):
        if not np.isfinite(values).all() or np.abs(values).max(initial=0.0) > 2.0**40:
            raise ValueError(f"save: {what} aren't all values of {fmt} * {INT8_UNIT}")
        scaled = (values / INT8_UNIT).astype(np.int64)
    try:
        codes = np.asarray(encode(scaled, fmt))
        back = _values(codes, fmt)
        is_same = ((back == values) & (np.signbit(back) == np.signbit(values))) | (np.isnan(back) & np.isnan(values))
    except OverflowError:
        is_same = np.zeros((), bool)
    if not is_same.all():
        raise ValueError(f"save: {what} aren't all values of {fmt}; make it with mx_quantize or nvfp4_quantize")
    return codes


def _values(codes: Array, fmt: FloatFormat | IntFormat) -> Array:
    values = np.asarray(decode(codes, fmt), dtype=np.float64)
    return values * INT8_UNIT if isinstance(fmt, IntFormat) else values


def _packed(arrays: dict[str, Array], name: str, shape: tuple[int, ...], bits: Any, dtype: Any = np.uint8) -> Array:
    packed, count = _array(arrays, f"{name}.codes"), math.prod(shape)
    if type(bits) is not int or bits < 1:
        raise ValueError(f"codes of {bits!r} bits")
    size = -(-count * bits // 8) if bits <= MAX_PACKED_BITS else count
    if packed.dtype != dtype or packed.shape != (size,):
        raise ValueError(f"{count:,} codes of {bits} bits don't fill {packed.dtype} of shape {packed.shape}")
    return packed


def _field(fields: Description, name: str) -> Any:
    if name not in fields:
        raise ValueError(f"it lacks {name!r}")
    return fields[name]


def _order(fields: Description) -> str:
    order = _field(fields, "order")
    if order not in ORDERS:
        raise ValueError(f"unknown order {order!r}")
    return str(order)


def _array(arrays: dict[str, Array], name: str) -> Array:
    if name not in arrays:
        raise ValueError(f"the array {name!r} is missing")
    return arrays.pop(name)


def _numpy(name: str, x: object) -> Array:
    torch = torch_if_loaded()
    if torch is not None and isinstance(x, torch.Tensor):
        if x.dtype.is_floating_point and x.dtype not in (torch.float64, torch.float32, torch.float16):
            raise TypeError(
                f"save: {name} is {x.dtype}, which NumPy lacks; store "
                f"encode(x, {str(x.dtype).removeprefix('torch.')!r}), or x.float()"
            )
        return np.asarray(x.detach().cpu().resolve_neg().numpy())
    try:
        return np.asarray(x)
    except ValueError as error:
        raise ValueError(f"save: {name} is no array ({error})") from None


def _fields(fmt: FloatFormat | IntFormat) -> Description:
    fields = asdict(fmt)
    _format(fields)  # what can't be read again isn't written either
    return fields


def _format(fields: Any) -> FloatFormat | IntFormat:
    if not isinstance(fields, dict):
        raise ValueError(f"unknown format {fields!r}")
    if "exponent_bits" not in fields:
        return IntFormat(**fields)
    exponent_bits, bias, name = fields["exponent_bits"], fields.get("bias"), fields.get("name")
    plain = isinstance(name, str) and type(exponent_bits) is int and type(fields.get("signed")) is bool
    if not plain or type(bias) is not int:
        raise ValueError(f"unknown format {fields}")
    if exponent_bits > _MAX_EXPONENT_BITS or abs(bias) > _MAX_BIAS:
        raise ValueError(f"format {name} with {exponent_bits} exponent bits and bias {bias} goes beyond all use")
    found = FloatFormat(**{**fields, "specials": Specials(str(fields.get("specials")))})
    try:
        known = get_format(found.name)
    except ValueError:
        return found
    return known if known == found else found
