from __future__ import annotations

import ctypes

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import numfmt as nf

from .oracles import SIGNS, WIDTHS, wrapped

pytestmark = pytest.mark.filterwarnings("error")

C_TYPES = {
    "int8": ctypes.c_int8, "int16": ctypes.c_int16, "int32": ctypes.c_int32, "int64": ctypes.c_int64,
    "uint8": ctypes.c_uint8, "uint16": ctypes.c_uint16, "uint32": ctypes.c_uint32, "uint64": ctypes.c_uint64,
}  # fmt: skip


@pytest.mark.parametrize(
    ("value", "fmt", "expected"),
    [
        (127 + 1, nf.INT8, -128),
        (-128 - 1, nf.INT8, 127),
        (100 + 100, nf.INT8, -56),
        (255 + 1, nf.UINT8, 0),
        (0 - 1, nf.UINT8, 255),
        (150 - 160, nf.UINT8, 246),
        (abs(-128), nf.INT8, -128),
        (32_768 * 128_256 - 1, nf.INT32, -92_274_689),
        (2**63, nf.INT64, -(2**63)),
        (-1, nf.UINT64, 2**64 - 1),
        (10**100, nf.UINT64, 0),
        (1, nf.IntFormat(1), -1),
    ],
)
def test_known_cases(value: int, fmt: nf.IntFormat, expected: int) -> None:
    assert nf.wrap(value, fmt) == expected
    assert nf.wrap([value], fmt).tolist() == [expected]


@pytest.mark.parametrize("signed", SIGNS)
@pytest.mark.parametrize("bits", WIDTHS)
def test_two_turns_each_way_at_every_width(bits: int, signed: bool) -> None:
    fmt = nf.IntFormat(bits, signed)
    numbers = np.arange(-2 * fmt.count, 2 * fmt.count + 1, dtype=np.int64)
    result = nf.wrap(numbers, fmt)
    assert result.dtype == fmt.dtype
    one_turn = np.array([wrapped(v, bits, signed) for v in range(fmt.count)])
    np.testing.assert_array_equal(result, np.append(np.tile(one_turn, 4), one_turn[0]))


@pytest.mark.parametrize("signed", SIGNS)
@pytest.mark.parametrize("bits", WIDTHS)
def test_one_number_agrees_with_the_array(bits: int, signed: bool) -> None:
    fmt = nf.IntFormat(bits, signed)
    step = max(1, fmt.count // 1000)
    numbers = list(range(-fmt.count - 3, fmt.count + 3, step))
    singles = [nf.wrap(number, fmt) for number in numbers]
    assert all(type(single) is int for single in singles)
    assert singles == nf.wrap(np.array(numbers), fmt).tolist()


@pytest.mark.parametrize("name", C_TYPES)
@given(number=st.integers(-(2**200), 2**200))
def test_c_integers(name: str, number: int) -> None:
    assert nf.wrap(number, name) == C_TYPES[name](number).value


@given(
    numbers=st.lists(st.one_of(st.integers(-(2**65), 2**65), st.integers(-(2**300), 2**300)), max_size=8),
    bits=st.integers(1, 64),
    signed=st.booleans(),
)
def test_any_integers_at_any_width(numbers: list[int], bits: int, signed: bool) -> None:
    fmt = nf.IntFormat(bits, signed)
    expected = [wrapped(number, bits, signed) for number in numbers]
    assert [nf.wrap(number, fmt) for number in numbers] == expected
    assert nf.wrap(numbers, fmt).tolist() == expected
    assert nf.wrap(nf.wrap(numbers, fmt), fmt).tolist() == expected


@given(numbers=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), bits=st.integers(1, 64), signed=st.booleans())
def test_int64_arrays(numbers: list[int], bits: int, signed: bool) -> None:
    result = nf.wrap(np.array(numbers, dtype=np.int64), nf.IntFormat(bits, signed))
    assert result.tolist() == [wrapped(number, bits, signed) for number in numbers]


@pytest.mark.parametrize("target", C_TYPES)
@pytest.mark.parametrize("source", C_TYPES)
def test_every_pair_of_numpy_dtypes(source: str, target: str) -> None:
    info = np.iinfo(source)
    corners = [info.min, info.min + 1, -1, 0, 1, 127, 128, 255, 256, 32768, 65535, info.max - 1, info.max]
    numbers = [n for n in corners if info.min <= n <= info.max]
    result = nf.wrap(np.array(numbers, dtype=source), target)
    assert result.dtype == target
    assert result.tolist() == [C_TYPES[target](number).value for number in numbers]


@pytest.mark.parametrize("name", ["int2", "uint2", "int4", "uint4"])
def test_narrow_dtypes_of_ml_dtypes(name: str) -> None:
    numbers = np.arange(-300, 301)
    narrow = getattr(ml_dtypes, name)
    np.testing.assert_array_equal(nf.wrap(numbers, name), numbers.astype(narrow).astype(np.int64))
    np.testing.assert_array_equal(nf.wrap(numbers.astype(narrow), name), nf.wrap(numbers, name))


@given(a=st.integers(-(2**70), 2**70), b=st.integers(-(2**70), 2**70), bits=st.integers(1, 64), signed=st.booleans())
def test_wrapping_early_or_late_makes_no_difference(a: int, b: int, bits: int, signed: bool) -> None:
    fmt = nf.IntFormat(bits, signed)
    assert nf.wrap(a + b, fmt) == nf.wrap(nf.wrap(a, fmt) + nf.wrap(b, fmt), fmt)
    assert nf.wrap(a * b, fmt) == nf.wrap(nf.wrap(a, fmt) * nf.wrap(b, fmt), fmt)
