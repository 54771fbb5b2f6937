"""Plain data across the border: what may cross comes back as it was, and nothing else crosses."""

from __future__ import annotations

import io
import json
import math
import pickle
from base64 import b64encode
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import numfmt as nf
from autograder.sealed.codec import MAX_DEPTH, NotPlain, pack, receive, send, unpack


def across(value: Any) -> Any:
    file = io.BytesIO()
    send(file, pack(value))
    file.seek(0)
    return unpack(receive(file))


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.complex_numbers(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(PLAIN)
def test_plain_data_comes_back_with_its_types(value: Any) -> None:
    back = across(value)
    assert repr(back) == repr(value) and type(back) is type(value)


@pytest.mark.parametrize(
    "value",
    [
        ..., 2**600, -0.0, {1, 2}, frozenset({"a"}), Fraction(1, 3), np.float32(0.1), np.int8(-5), np.bool_(True),
        np.dtype("uint16"), np.int32, torch.bfloat16, nf.INT4, nf.E4M3, nf.FloatFormat(3, 4, 5, "fnuz"),
        ({"a": [1]},),
    ],
    ids=repr,
)  # fmt: skip
def test_other_known_kinds(value: Any) -> None:
    back = across(value)
    assert type(back) is type(value) and back == value


@pytest.mark.parametrize(
    "dtype", ["int8", "uint16", "float16", "float32", "float64", "complex64", "bool", "<U3", ">i4"]
)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_arrays(dtype: str, shape: tuple[int, ...]) -> None:
    value = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    back = across(value)
    assert type(back) is np.ndarray and back.dtype == value.dtype and np.array_equal(back, value)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float8_e4m3fn, torch.int64, torch.bool])
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_tensors(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    value = (
        torch.arange(math.prod(shape))
        .reshape(shape)
        .to(torch.float32)
        .to(dtype)
        .requires_grad_(dtype.is_floating_point and dtype == torch.float32)
    )
    back = across(value)
    assert type(back) is torch.Tensor and back.dtype == dtype and back.shape == value.shape
    assert torch.equal(back.float(), value.detach().float())


class Yes(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        Yes(3), type("Str", (str,), {})("a"), type("List", (list,), {})([1]), type("Fraction", (), {})(), object(),
        len, (x for x in ()), np.array([object()]), np.array(["2020"], "M8[D]"), nested(MAX_DEPTH + 2), 1 << 10**6,
        io,
        type("IntFormat", (), {"bits": 3, "signed": True})(),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_is_not_plain_does_not_cross(value: Any) -> None:
    with pytest.raises(NotPlain):
        pack(value)
    with pytest.raises(NotPlain):
        pack({"deep": [value]})


def npy(array: np.ndarray) -> str:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return b64encode(file.getvalue()).decode()


@pytest.mark.parametrize(
    "data",
    [
        3, [1], {"v": 1}, {"t": 1}, {"t": "int", "v": 3}, {"t": "int", "v": "1" * 9_000}, {"t": "list", "v": {}},
        {"t": "dict", "v": [[1]]}, {"t": "object"}, {"t": "int", "v": "1", "x": 1}, {"t": "float", "v": 1.0},
        {"t": "bytes", "v": "!"}, {"t": "array", "v": b64encode(pickle.dumps([1])).decode()},
        {"t": "array", "v": npy(np.array([{}]))}, {"t": "tensor", "v": ["float32", [2**40], ""]},
        {"t": "tensor", "v": ["float32", [-1], ""]}, {"t": "tensor", "v": ["nn", [1], ""]},
        {"t": "torch", "v": "load"}, {"t": "dtype", "v": "O,O("}, {"t": "IntFormat", "v": [-1, 2]},
        {"t": "fraction", "v": ["1", "0"]},
    ],
    ids=lambda data: json.dumps(data)[:40],
)  # fmt: skip
def test_what_was_not_packed_is_refused(data: Any) -> None:
    with pytest.raises((ValueError, TypeError, ArithmeticError, AttributeError, EOFError)):
        unpack(data)


def test_an_array_that_says_it_is_huge_is_refused_without_making_it() -> None:
    text = npy(np.zeros(1))
    import base64

    raw = base64.b64decode(text).replace(b"(1,), }      ", b"(9999999,), }")
    with pytest.raises(ValueError, match="isn't what it says"):
        unpack({"t": "array", "v": b64encode(raw).decode()})


def test_messages_that_end_early_or_are_too_long_are_refused() -> None:
    with pytest.raises(EOFError):
        receive(io.BytesIO(b"\0\0"))
    with pytest.raises(EOFError):
        receive(io.BytesIO((5).to_bytes(8, "big") + b"{}"))
    with pytest.raises(ValueError, match="too long"):
        receive(io.BytesIO((2**60).to_bytes(8, "big")))
    with pytest.raises(NotPlain, match="too large"):
        send(io.BytesIO(), "x" * (65 * 2**20))
