from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import numfmt as nf

from .oracles import naive_dot

pytestmark = pytest.mark.filterwarnings("error")

INT64S = st.one_of(st.integers(-(2**63), 2**63 - 1), st.sampled_from([-(2**63), 2**63 - 1, -1, 0]))
FORMATS = st.one_of(st.none(), st.tuples(st.integers(1, 64), st.booleans()))


def as_format(pair: tuple[int, bool] | None) -> nf.IntFormat | None:
    return None if pair is None else nf.IntFormat(*pair)


@pytest.fixture(scope="module")
def int8_vectors() -> tuple[np.ndarray, np.ndarray]:
    g = np.random.default_rng(0)
    return g.integers(-127, 128, 4096, dtype=np.int8), g.integers(-127, 128, 4096, dtype=np.int8)


@pytest.mark.parametrize(
    ("accumulate", "expected"), [(None, 63748), (nf.INT32, 63748), (nf.INT16, -1788), (nf.INT8, 4)], ids=str
)
def test_int8_vectors(
    int8_vectors: tuple[np.ndarray, np.ndarray], accumulate: nf.IntFormat | None, expected: int
) -> None:
    a, b = int8_vectors
    assert nf.dot(a, b, accumulate=accumulate) == expected
    pair = accumulate and (accumulate.bits, accumulate.signed)
    assert naive_dot(a.tolist(), b.tolist(), None, pair) == expected
    assert nf.dot(torch.from_numpy(a), b.tolist(), accumulate=accumulate) == expected


def test_numpy_and_torch_accumulate_int8_in_int8(int8_vectors: tuple[np.ndarray, np.ndarray]) -> None:
    a, b = int8_vectors
    assert nf.dot(a, b, multiply=nf.INT8, accumulate=nf.INT8) == int(a @ b) == 4
    assert int(torch.from_numpy(a) @ torch.from_numpy(b)) == 4


def test_default_is_exact_products_in_int32() -> None:
    assert nf.dot([2**15] * 2, [2**15] * 2) == -(2**31)
    assert nf.dot([2**20], [2**20]) == 0


@given(pairs=st.lists(st.tuples(INT64S, INT64S), max_size=12), multiply=FORMATS, accumulate=FORMATS)
def test_one_wrap_at_the_end_equals_a_wrap_at_every_step(
    pairs: list[tuple[int, int]], multiply: tuple[int, bool] | None, accumulate: tuple[int, bool] | None
) -> None:
    a, b = [left for left, _ in pairs], [right for _, right in pairs]
    result = nf.dot(
        np.array(a, dtype=np.int64), np.array(b, dtype=np.int64), as_format(multiply), as_format(accumulate)
    )
    assert type(result) is int
    assert result == naive_dot(a, b, multiply, accumulate)


@given(
    pairs=st.lists(st.tuples(st.integers(-(2**90), 2**90), st.integers(0, 2**64 - 1)), min_size=1, max_size=6),
    multiply=FORMATS,
    accumulate=FORMATS,
)
def test_integers_of_any_size(
    pairs: list[tuple[int, int]], multiply: tuple[int, bool] | None, accumulate: tuple[int, bool] | None
) -> None:
    a, b = [left for left, _ in pairs], [right for _, right in pairs]
    result = nf.dot(a, np.array(b, dtype=np.uint64), as_format(multiply), as_format(accumulate))
    assert result == naive_dot(a, b, multiply, accumulate)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([2**31], [2**32 - 1], 2**63 - 2**31),
        ([2**31, 2**31], [2**31, 2**31], 2**63),
        ([-(2**31), -(2**31)], [2**31, 2**31], -(2**63)),
        ([-(2**63)], [-(2**63)], 2**126),
        ([2**63 - 1, -(2**63)], [1, 1], -1),
        ([2**100, 5], [0, 0], 0),
        ([2**64 - 1] * 3, [2**64 - 1] * 3, 3 * (2**64 - 1) ** 2),
        ([], [], 0),
    ],
)
def test_exact_sums_around_the_limits_of_int64(a: list[int], b: list[int], expected: int) -> None:
    assert nf.dot(a, b, accumulate=None) == expected


@pytest.mark.parametrize(
    ("length", "largest", "accumulate", "safe"),
    [
        (2, 127, nf.INT16, True), (3, 127, nf.INT16, False),
        (133_144, 127, nf.INT32, True), (133_145, 127, nf.INT32, False),
        (131_071, -128, nf.INT32, True), (131_072, -128, nf.INT32, False),
    ],
)  # fmt: skip
def test_longest_dot_product_that_cannot_overflow(
    length: int, largest: int, accumulate: nf.IntFormat, safe: bool
) -> None:
    worst = np.full(length, largest, dtype=np.int8)
    assert (nf.dot(worst, worst, accumulate=accumulate) == length * largest**2) is safe


@pytest.mark.parametrize(
    ("a", "b", "error", "message"),
    [
        ([1, 2], [1], ValueError, "a has 2 elements and b has 1"),
        ([[1, 2]], [[1, 2]], ValueError, r"a must be 1-D, got shape \(1, 2\)"),
        ([1], np.array(1), ValueError, r"b must be 1-D, got shape \(\)"),
        (3, [1], ValueError, r"a must be 1-D, got shape \(\)"),
        ([1.0], [1], TypeError, "dot, argument a: expected integers, got float 1.0; round it first"),
        ([1], np.array([0.5]), TypeError, "dot, argument b: expected integers, got dtype float64"),
        ([1], torch.tensor([0.5]), TypeError, "got a tensor of torch.float32"),
        ("1", [1], TypeError, "got str '1'"),
    ],
)
def test_inputs_that_are_no_integer_vectors(a: object, b: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        nf.dot(a, b)


@pytest.mark.parametrize("name", ["multiply", "accumulate"])
def test_formats_that_do_not_exist(name: str) -> None:
    with pytest.raises(ValueError, match="unknown format 'int_8'; did you mean 'INT8'"):
        nf.dot([1], [1], **{name: "int_8"})  # type: ignore[arg-type]
