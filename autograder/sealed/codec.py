"""Plain data across a border: exact types only, tagged, with caps on depth and size; never pickle, never attributes.

This file runs on both sides: its text is sent into the student's process, so it imports nothing of ours.
"""

import base64
import io
import json
import math
import sys
from collections.abc import Callable
from typing import Any

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 50
MAX_BITS = 20_000
"""The width of an integer, so that a huge one doesn't stop the other side."""


class NotPlain(TypeError):
    """A value that isn't plain data; `kind` is the name of its class."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"{kind} is no plain data")
        self.kind = kind


def pack(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON's types; NotPlain if it can't cross."""
    if depth > MAX_DEPTH:
        raise NotPlain("a value that is nested too deeply")
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if value is Ellipsis:
        return {"t": "ellipsis"}
    if kind is int:
        if value.bit_length() > MAX_BITS:
            raise NotPlain("an integer that is too large")
        return {"t": "int", "v": hex(value)}
    if kind is float:
        return {"t": "float", "v": value.hex()}
    if kind is complex:
        return {"t": "complex", "v": [value.real.hex(), value.imag.hex()]}
    if kind is bytes:
        return {"t": "bytes", "v": base64.b64encode(value).decode()}
    if kind in (list, tuple, set, frozenset):
        return {"t": kind.__name__, "v": [pack(item, depth + 1) for item in value]}
    if kind is dict:
        return {"t": "dict", "v": [[pack(key, depth + 1), pack(item, depth + 1)] for key, item in value.items()]}
    if kind.__name__ in ("Fraction", "IntFormat", "FloatFormat"):
        known = _known(kind)
        if known:
            return known(value)
    return _pack_arrays(value)


def _known(kind: type) -> Callable[[Any], Any] | None:
    """Return how to pack Fractions and numfmt's formats, if the class is the real one."""
    fractions, numfmt = sys.modules.get("fractions"), sys.modules.get("numfmt")
    if fractions and kind is fractions.Fraction:
        return lambda value: {"t": "fraction", "v": [hex(value.numerator), hex(value.denominator)]}
    if numfmt and kind is numfmt.IntFormat:
        return lambda value: {"t": "IntFormat", "v": [value.bits, value.signed]}
    if numfmt and kind is numfmt.FloatFormat:
        return lambda value: {
            "t": "FloatFormat",
            "v": [
                value.exponent_bits,
                value.mantissa_bits,
                value.bias,
                str(value.specials),
                value.signed,
                value.name,
            ],
        }
    return None


def _pack_arrays(value: Any) -> Any:
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    kind = type(value)
    if numpy is not None:
        if kind is numpy.ndarray or isinstance(value, numpy.generic):
            array = numpy.asarray(value)
            if array.dtype.kind not in "biufcUS":
                raise NotPlain(f"an array of {array.dtype}")
            file = io.BytesIO()
            numpy.save(file, array, allow_pickle=False)
            return {
                "t": "array" if kind is numpy.ndarray else "scalar",
                "v": base64.b64encode(file.getvalue()).decode(),
            }
        if isinstance(value, numpy.dtype):
            return {"t": "dtype", "v": value.str}
        if isinstance(value, type) and issubclass(value, numpy.generic):
            return {"t": "nptype", "v": numpy.dtype(value).str}
    if torch is not None:
        if isinstance(value, torch.Tensor):
            plain = value.detach().cpu().contiguous()
            codes = plain.reshape(-1).view(torch.uint8).numpy()
            return {"t": "tensor", "v": [str(plain.dtype)[6:], list(plain.shape), base64.b64encode(codes).decode()]}
        if isinstance(value, torch.dtype):
            return {"t": "torch", "v": str(value)[6:]}
    raise NotPlain(kind.__name__)


TORCH_DTYPES = (
    "float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz",
    "float8_e8m0fnu", "int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64", "bool",
)  # fmt: skip


def unpack(data: Any, depth: int = 0) -> Any:
    """Return the value of what `pack` made; ValueError for anything else."""
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    if data is None or data is True or data is False or type(data) is str:
        return data
    if type(data) is not dict or set(data) - {"t", "v"} or type(data.get("t")) is not str:
        raise ValueError("no tagged value")
    tag, value = data["t"], data.get("v")
    if tag == "ellipsis":
        return Ellipsis
    if tag == "int" and type(value) is str and len(value) <= MAX_BITS // 4 + 4:
        return int(value, 16)
    if tag == "float" and type(value) is str:
        return float.fromhex(value)
    if tag == "complex" and type(value) is list and len(value) == 2:
        return complex(*map(float.fromhex, value))
    if tag == "bytes" and type(value) is str:
        return base64.b64decode(value, validate=True)
    if tag in ("list", "tuple", "set", "frozenset") and type(value) is list:
        kind = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}[tag]
        return kind(unpack(item, depth + 1) for item in value)
    if tag == "dict" and type(value) is list:
        return {unpack(key, depth + 1): unpack(item, depth + 1) for key, item in value}
    return _unpack_known(tag, value)


def _unpack_known(tag: str, value: Any) -> Any:
    if tag == "fraction":
        from fractions import Fraction

        return Fraction(*(int(each, 16) for each in value))
    if tag == "IntFormat":
        from numfmt import IntFormat

        return IntFormat(*value)
    if tag == "FloatFormat":
        from numfmt import FloatFormat

        return FloatFormat(*value)
    if tag in ("array", "scalar", "dtype", "nptype"):
        import numpy

        if tag in ("dtype", "nptype"):
            dtype = numpy.dtype(value)
            return dtype if tag == "dtype" else dtype.type
        raw = base64.b64decode(value, validate=True)
        file = io.BytesIO(raw)
        version = numpy.lib.format.read_magic(file)
        if version != (1, 0):
            raise ValueError("an array of another version")
        shape, _, dtype = numpy.lib.format.read_array_header_1_0(file)
        if dtype.hasobject or math.prod(shape) * max(dtype.itemsize, 1) > len(raw):
            raise ValueError("an array that isn't what it says")
        array = numpy.load(io.BytesIO(raw), allow_pickle=False)
        return array if tag == "array" else array[()]
    if tag in ("tensor", "torch"):
        import torch

        name, shape, codes = (value, (), "") if tag == "torch" else value
        if name not in TORCH_DTYPES:
            raise ValueError("a tensor of another dtype")
        dtype = getattr(torch, name)
        if tag == "torch":
            return dtype
        memory = bytearray(base64.b64decode(codes, validate=True))
        sizes = [each for each in shape if type(each) is int and each >= 0]
        if len(sizes) != len(shape) or math.prod(sizes) * dtype.itemsize != len(memory):
            raise ValueError("a tensor that isn't what it says")
        flat = torch.frombuffer(memory, dtype=torch.uint8) if memory else torch.empty(0, dtype=torch.uint8)
        return flat.view(dtype).reshape(sizes)
    raise ValueError(f"unknown tag {tag[:40]!r}")


def send(file: Any, message: Any) -> None:
    """Write one message: its length in eight bytes, then JSON."""
    data = json.dumps(message).encode()
    if len(data) > MAX_BYTES:
        raise NotPlain("a value that is too large")
    file.write(len(data).to_bytes(8, "big") + data)
    file.flush()


def receive(file: Any) -> Any:
    """Read one message; EOFError at the end, ValueError for what is too long or no JSON."""
    prefix = file.read(8)
    if len(prefix) < 8:
        raise EOFError
    length = int.from_bytes(prefix, "big")
    if length > MAX_BYTES:
        raise ValueError("a message that is too long")
    data = file.read(length)
    if len(data) < length:
        raise EOFError
    return json.loads(data)
