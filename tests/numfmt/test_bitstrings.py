from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import numfmt as nf

from .oracles import SIGNS, WIDTHS, range_of, value_of

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize(
    ("value", "fmt", "group", "expected"),
    [
        (-5, nf.INT8, None, "11111011"),
        (-100, nf.INT8, None, "10011100"),
        (-5 + 3, nf.INT8, None, "11111110"),
        (-5, nf.INT8, 4, "1111 1011"),
        (5, "int10", 4, "00 0000 0101"),
        (5, nf.INT8, 3, "00 000 101"),
        (5, nf.INT8, 1, "0 0 0 0 0 1 0 1"),
        (5, nf.INT8, 8, "00000101"),
        (5, nf.INT8, 100, "00000101"),
        (-1, "int1", 4, "1"),
        (2**64 - 1, nf.UINT64, 32, f"{'1' * 32} {'1' * 32}"),
    ],
)
def test_known_strings(value: int, fmt: object, group: int | None, expected: str) -> None:
    assert nf.to_bits(value, fmt, group=group) == expected
    assert nf.from_bits(expected, fmt) == value


@pytest.mark.parametrize("signed", SIGNS)
@pytest.mark.parametrize("bits", WIDTHS)
def test_every_code_of_every_width(bits: int, signed: bool) -> None:
    fmt = nf.IntFormat(bits, signed)
    expected = [format(code, f"0{bits}b") for code in range(2**bits)]
    texts = nf.to_bits(nf.values(fmt), fmt)
    assert texts.tolist() == expected
    values = nf.from_bits(expected, fmt)
    assert values.dtype == fmt.dtype
    np.testing.assert_array_equal(values, nf.values(fmt))


@given(data=st.data(), bits=st.integers(1, 64), signed=st.booleans(), group=st.integers(1, 70))
def test_reading_undoes_writing(data: st.DataObject, bits: int, signed: bool, group: int) -> None:
    fmt = nf.IntFormat(bits, signed)
    value = data.draw(st.integers(*range_of(bits, signed)))
    text = nf.to_bits(value, fmt, group=group)
    assert value_of(text.replace(" ", ""), signed) == value == nf.from_bits(text, fmt)
    pieces = text.split(" ")
    assert all(len(piece) == group for piece in pieces[1:])
    assert 1 <= len(pieces[0]) <= group


@pytest.mark.parametrize("x", [np.int8(-5), -5, np.array(-5)], ids=repr)
def test_one_number(x: object) -> None:
    text = nf.to_bits(x, nf.INT8)
    assert isinstance(text, str) is not isinstance(x, np.ndarray)
    assert str(text) == "11111011"


def test_arrays_keep_their_shape() -> None:
    texts = nf.to_bits([[0, 1], [2, 3], [-4, -1]], "int3")
    assert isinstance(texts, np.ndarray)
    assert texts.tolist() == [["000", "001"], ["010", "011"], ["100", "111"]]
    np.testing.assert_array_equal(nf.from_bits(texts, "int3"), [[0, 1], [2, 3], [-4, -1]])
    assert nf.to_bits(np.zeros((0, 3), np.int8), nf.INT8).shape == (0, 3)
    assert nf.from_bits([], nf.INT8).shape == (0,)
    assert nf.to_bits(torch.tensor([-5, 3], dtype=torch.int8), nf.INT8).tolist() == ["11111011", "00000011"]


def test_without_a_format_a_string_is_unsigned() -> None:
    assert nf.from_bits("1111_1011") == 251
    assert nf.from_bits("1" * 100) == 2**100 - 1
    read = nf.from_bits(["1", "1 0000_0000"])
    assert read.dtype == np.uint16
    assert read.tolist() == [1, 256]


@pytest.mark.parametrize(
    ("text", "fmt", "message"),
    [
        ("0b101", None, r"'b' at position 1 of '0b101' is not a bit; write 0 and 1 only"),
        ("1012", None, r"'2' at position 3"),
        ("-101", None, r"'-' at position 0"),
        ("10\n", None, r"'\\n' at position 2"),
        ("1٠", None, r"'٠' at position 1"),
        ("", None, r"'' holds no bits; write at least one 0 or 1"),
        ("_ _", nf.INT8, r"'_ _' holds no bits"),
        ("1011", nf.INT8, r"'1011' has 4 bits, but INT8 has 8; write all 8"),
        ("1111 1111 1", nf.INT8, r"has 9 bits, but INT8 has 8"),
        (["11", "1"], "int2", r"'1' has 1 bits, but INT2 has 2"),
    ],
)
def test_strings_that_are_not_bits(text: object, fmt: object, message: str) -> None:
    with pytest.raises(ValueError, match=f"from_bits: .*{message}"):
        nf.from_bits(text, fmt)


@pytest.mark.parametrize("text", [1011, None, b"1011", [1, 0], np.array([1.0]), [["1", "0"], ["1"]]], ids=repr)
def test_only_strings_are_read(text: object) -> None:
    with pytest.raises(TypeError, match="from_bits: expected a string of bits such as '1111 1011', got "):
        nf.from_bits(text)


@pytest.mark.parametrize("group", [0, -4, 1.5, "4"])
def test_group_counts_bits(group: Any) -> None:
    with pytest.raises(ValueError, match=f"to_bits: group counts bits, .* at least 1, got {group!r}"):
        nf.to_bits(5, nf.INT8, group=group)


def test_a_value_out_of_range_has_no_bits() -> None:
    with pytest.raises(OverflowError, match="to_bits: value 128 does not fit INT8"):
        nf.to_bits(128, nf.INT8)
