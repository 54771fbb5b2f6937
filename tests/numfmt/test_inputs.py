"""What may be passed where integers are expected, and the kind that comes back."""

from __future__ import annotations

import decimal
import enum
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import numfmt as nf

pytestmark = pytest.mark.filterwarnings("error")

FUNCTIONS = [nf.wrap, nf.encode, nf.decode]
Function = Callable[[object, object], Any]


class Colour(enum.IntEnum):
    RED = 5


class Index:
    def __index__(self) -> int:
        return 5


class ArrayLike:
    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return np.array([[5, 7]], dtype=np.int16)


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


ARRAYS = {
    "list": [5, 7],
    "nested list": [[5], [7]],
    "tuple": (5, True),
    "range": range(5, 9),
    "empty list": [],
    "list of NumPy numbers": [np.int8(5), np.uint64(7), np.bool_(True)],
    "list of arrays": [np.array([5, 7], np.int8), np.array([1, 2], np.uint64)],
    "list of tensors": [torch.tensor(5), torch.tensor(7)],
    "0-d": np.array(5),
    "0-d object": np.array(5, dtype=object),
    "empty": np.zeros((2, 0, 3), np.int16),
    "empty object": np.zeros(0, dtype=object),
    "three axes": np.arange(24, dtype=np.uint8).reshape(2, 3, 4),
    "big-endian": np.array([5, 7], dtype=">i8"),
    "big-endian unsigned": np.array([[5], [7]], dtype=">u2"),
    "little-endian": np.array([5, 7], dtype="<i4"),
    "every other": np.arange(20, dtype=np.int16)[::2],
    "backwards": np.arange(20, dtype=np.int64)[::-1],
    "transposed": np.arange(6, dtype=np.uint64).reshape(2, 3).T,
    "broadcast": np.broadcast_to(np.int32(5), (2, 3)),
    "read-only": read_only(np.array([5, 7], np.int64)),
    "object": np.array([5, True, np.int8(7)], dtype=object),
    "bool": np.array([True, False]),
    "ml_dtypes": np.array([5, 7], dtype=ml_dtypes.uint4),
    "array-like": ArrayLike(),
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("x", ARRAYS.values(), ids=ARRAYS)
def test_arrays_give_arrays(function: Function, x: object) -> None:
    plain = np.asarray(x if not isinstance(x, list | tuple) else np.array(x, dtype=object))
    expected = np.vectorize(int, otypes=[object])(plain) if plain.size else plain
    result = function(x, nf.UINT8)
    assert type(result) is np.ndarray
    assert result.dtype == np.uint8
    assert result.dtype.isnative
    assert result.shape == expected.shape
    assert result.tolist() == expected.tolist()
    assert result.flags.writeable


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.uint64])
def test_results_share_no_memory_with_the_input(function: Function, dtype: type) -> None:
    x = np.arange(10, dtype=dtype)
    before = x.copy()
    result = function(x, np.dtype(dtype))
    assert not np.shares_memory(result, x)
    result += 1
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("x", "expected"),
    [(5, 5), (True, 1), (False, 0), (Colour.RED, 5), (Index(), 5)],
    ids=["5", "True", "False", "enum", "index"],
)
def test_python_numbers_give_python_ints(function: Function, x: object, expected: int) -> None:
    result = function(x, nf.INT8)
    assert type(result) is int
    assert result == expected


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("x", [np.int8(5), np.uint64(5), np.longlong(5), np.bool_(True), ml_dtypes.int4(5)], ids=repr)
def test_numpy_numbers_give_numpy_numbers(function: Function, x: Any) -> None:
    result = function(x, nf.UINT16)
    assert type(result) is np.uint16
    assert int(result) == int(x)


@pytest.mark.parametrize(
    "x",
    [
        np.array([2**64 - 1, 2**63], np.uint64),
        np.array([2**64 - 1, 2**63], ">u8"),
        np.array([2**64 - 1, 2**63], object),
        [2**64 - 1, 2**63],
        torch.tensor([2**64 - 1, 2**63], dtype=torch.uint64),
    ],
    ids=["uint64", "big-endian", "object", "list", "torch"],
)
def test_the_top_of_uint64(x: object) -> None:
    assert nf.wrap(x, nf.INT64).tolist() == [-1, -(2**63)]
    assert nf.wrap(x, nf.UINT64).tolist() == nf.encode(x, nf.UINT64).tolist() == [2**64 - 1, 2**63]
    assert nf.decode(x, nf.INT64).tolist() == [-1, -(2**63)]
    assert nf.dot(x, [1, 1], accumulate=None) == 2**64 - 1 + 2**63


def test_a_list_that_numpy_would_turn_into_floats() -> None:
    mixed = [2**63, -1]
    assert np.asarray(mixed).dtype == np.float64
    assert nf.wrap(mixed, nf.INT64).tolist() == [-(2**63), -1]
    assert nf.wrap([2**53 + 1, 2**64], nf.UINT64).tolist() == [2**53 + 1, 0]


TORCH_DTYPES = [
    torch.int8, torch.uint8, torch.int16, torch.uint16, torch.int32, torch.uint32, torch.int64, torch.uint64,
]  # fmt: skip


@pytest.mark.parametrize("target", TORCH_DTYPES, ids=str)
@pytest.mark.parametrize("source", TORCH_DTYPES, ids=str)
def test_tensors_give_tensors(source: torch.dtype, target: torch.dtype) -> None:
    info = torch.iinfo(source)
    corners = np.array([[info.min, info.max], [5, 7]], dtype=str(source).removeprefix("torch."))
    x = torch.from_numpy(corners)
    result = nf.wrap(x, target)
    assert isinstance(result, torch.Tensor)
    assert (result.dtype, result.shape, result.device) == (target, x.shape, x.device)
    assert result.tolist() == nf.wrap(corners, nf.get_format(target)).tolist()


@pytest.mark.parametrize(
    "x",
    [
        torch.tensor(5),
        torch.zeros((2, 0), dtype=torch.int32),
        torch.arange(20)[::2],
        torch.arange(6).reshape(2, 3).T,
        torch.tensor(5).expand(2, 3),
        torch.tensor([True, False]),
    ],
    ids=["0-d", "empty", "every other", "transposed", "expanded", "bool"],
)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_tensors_of_any_layout(function: Function, x: torch.Tensor) -> None:
    result = function(x, nf.UINT8)
    assert isinstance(result, torch.Tensor)
    assert result.dtype == torch.uint8
    assert result.shape == x.shape
    assert result.tolist() == x.int().tolist()


class Elsewhere(torch.Tensor):
    """A tensor that says it lives on another device, as one on a GPU does."""

    @property
    def device(self) -> torch.device:
        return torch.device("meta")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_tensors_go_back_to_their_device(function: Function) -> None:
    x = torch.tensor([5, 7]).as_subclass(Elsewhere)
    assert function(x, nf.INT8).device == torch.device("meta")


@pytest.mark.parametrize("function", [*FUNCTIONS, nf.to_bits])
@pytest.mark.parametrize(
    ("x", "message"),
    [
        (2.0, r"expected integers, got float 2\.0; round it first.*np\.rint.*int\(round\(x\)\)"),
        (float("nan"), r"got float nan; round it first"),
        (np.float32(2), r"got dtype float32; round it first"),
        (np.array([1.0]), r"got dtype float64; round it first"),
        (np.zeros(0), r"got dtype float64; round it first"),
        ([1, 2.5], r"got float 2\.5; round it first"),
        (np.array([1, 2.5], dtype=object), r"got float 2\.5; round it first"),
        (np.array([1], ml_dtypes.bfloat16), r"got dtype bfloat16; round it first"),
        (torch.tensor([1.0]), r"got a tensor of torch\.float32; round it first"),
        (torch.tensor([1.0], dtype=torch.bfloat16), r"got a tensor of torch\.bfloat16; round it first"),
        (1j, r"got complex 1j; pass Python ints or an array or tensor of an integer dtype"),
        (np.array([1j]), r"got dtype complex128; pass Python ints"),
        ("12", r"got str '12'; read digits with int\(text\), or a bit string with from_bits"),
        (["1", 2], r"got str '1'; read digits"),
        (np.array(["1"]), r"got dtype str32; read digits"),
        (b"1", r"got bytes b'1'"),
        (None, r"got NoneType None"),
        ([None], r"got NoneType None"),
        ({1, 2}, r"got set {1, 2}"),
        (decimal.Decimal(1), r"got Decimal Decimal\('1'\)"),
        (np.array([1], "m8[s]"), r"got dtype timedelta64\[s\]"),
        (np.array([(1,)], [("a", np.int8)]), r"got dtype void8"),
        (torch.tensor([1, 2]).to_sparse(), r"expected a dense tensor, got layout torch\.sparse_coo"),
    ],
)  # fmt: skip
def test_what_is_not_an_integer(function: Function, x: object, message: str) -> None:
    with pytest.raises(TypeError, match=f"^(wrap|encode|decode|to_bits): .*{message}"):
        function(x, nf.INT8)


@pytest.mark.parametrize(
    "x",
    [[[1, 2], [3]], [[1], 2], [np.arange(2), np.arange(3)], [np.array([[1, 2]]), np.array([3])]],
    ids=["rows", "row and number", "arrays", "axes"],
)
def test_ragged_sequences(x: object) -> None:
    with pytest.raises(ValueError, match=r"wrap: rows differ in .*; give every row the same length"):
        nf.wrap(x, nf.INT8)
