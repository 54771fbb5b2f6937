from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import numfmt as nf

from .oracles import SIGNS, WIDTHS, range_of, value_of

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize("signed", SIGNS)
@pytest.mark.parametrize("bits", WIDTHS)
def test_every_code_of_every_width(bits: int, signed: bool) -> None:
    fmt = nf.IntFormat(bits, signed)
    codes = range(2**bits)
    expected = [value_of(format(code, f"0{bits}b"), signed) for code in codes]
    listed = nf.values(fmt)
    assert listed.dtype == fmt.dtype
    assert listed.tolist() == expected
    assert sorted(expected) == list(range(fmt.min, fmt.max + 1))
    decoded = nf.decode(np.array(codes, dtype=np.uint32), fmt)
    assert decoded.dtype == fmt.dtype
    assert decoded.tolist() == expected
    encoded = nf.encode(listed, fmt)
    assert encoded.dtype == fmt.code_dtype
    assert encoded.tolist() == list(codes)


@pytest.mark.parametrize("bits", [8, 16])
def test_codes_are_the_bits_in_memory(bits: int) -> None:
    codes = np.arange(2**bits, dtype=f"uint{bits}")
    np.testing.assert_array_equal(nf.values(f"int{bits}"), codes.view(f"int{bits}"))
    np.testing.assert_array_equal(nf.encode(codes.view(f"int{bits}"), f"int{bits}"), codes)


@pytest.mark.parametrize("name", ["int2", "uint2", "int4", "uint4"])
def test_codes_of_ml_dtypes(name: str) -> None:
    fmt = nf.get_format(name)
    narrow = nf.values(fmt).astype(getattr(ml_dtypes, name))
    np.testing.assert_array_equal(narrow.view(np.uint8) % fmt.count, np.arange(fmt.count))
    np.testing.assert_array_equal(nf.encode(narrow, fmt), np.arange(fmt.count))


@given(data=st.data(), bits=st.integers(1, 64), signed=st.booleans())
def test_decode_undoes_encode(data: st.DataObject, bits: int, signed: bool) -> None:
    fmt = nf.IntFormat(bits, signed)
    value = data.draw(st.one_of(st.integers(*range_of(bits, signed)), st.sampled_from(range_of(bits, signed))))
    code = nf.encode(value, fmt)
    assert type(code) is int
    assert 0 <= code < 2**bits
    assert value_of(format(code, f"0{bits}b"), signed) == value == nf.decode(code, fmt)
    assert nf.encode([value], fmt).tolist() == [code]
    assert nf.decode(np.array([code], dtype=fmt.code_dtype), fmt).tolist() == [value]


@given(value=st.integers(-(2**63), 2**63 - 1))
def test_int64_codes_are_python_bytes(value: int) -> None:
    assert nf.encode(value, nf.INT64) == int.from_bytes(value.to_bytes(8, "little", signed=True), "little")


@pytest.mark.parametrize(
    ("x", "fmt", "message"),
    [
        (200, nf.INT8, r"encode: value 200 does not fit INT8, which holds -128 to 127; "
                       r"wrap\(x, INT8\) would reduce it to -56"),
        (-1, nf.UINT8, r"value -1 does not fit UINT8, which holds 0 to 255; .* would reduce it to 255"),
        ([1, 2, 8, 9], nf.INT4, r"value 8 at index 2 does not fit INT4, .* to -8"),
        (np.array([[1, 2], [-130, 500]], np.int16), nf.INT8, r"value -130 at index 1, 0 does not fit INT8"),
        (np.array(2**64 - 1, np.uint64), nf.INT64, r"value 18446744073709551615 does not fit INT64.* to -1"),
        (np.uint64(2**63), "int64", r"value 9223372036854775808 does not fit"),
        (10**30, nf.UINT64, r"value 1000000000000000000000000000000 does not fit UINT64"),
        ([0, -(10**30)], nf.UINT64, r"value -1000000000000000000000000000000 at index 1 does not fit UINT64"),
        (np.array([2, -3], np.int8), nf.UINT64, r"value -3 at index 1"),
    ],
)  # fmt: skip
def test_values_that_do_not_fit(x: object, fmt: object, message: str) -> None:
    with pytest.raises(OverflowError, match=message):
        nf.encode(x, fmt)


@pytest.mark.parametrize(
    ("codes", "fmt", "message"),
    [
        (256, nf.INT8, r"decode: code 256 is not a code of INT8, which has 8 bits: 0 to 255"),
        (-5, nf.INT8, r"code -5 is not a code of INT8.*encode\(x, INT8\) turns values into codes"),
        ([0, 15, 16], "uint4", r"code 16 at index 2 is not a code of UINT4"),
        (np.array([[1], [-1]], np.int8), nf.UINT64, r"code -1 at index 1, 0 is not a code of UINT64"),
        (2**64, nf.UINT64, r"code 18446744073709551616 is not a code of UINT64"),
    ],
)
def test_codes_that_do_not_exist(codes: object, fmt: object, message: str) -> None:
    with pytest.raises(OverflowError, match=message):
        nf.decode(codes, fmt)


@pytest.mark.parametrize("fmt", [nf.INT32, nf.UINT64, nf.IntFormat(25)], ids=str)
def test_too_many_values_to_list(fmt: nf.IntFormat) -> None:
    with pytest.raises(ValueError, match=rf"values: {fmt} has {fmt.count} values, too many.*24 bits"):
        nf.values(fmt)


def test_widest_list_of_values() -> None:
    listed = nf.values("int24")
    assert listed.shape == (2**24,)
    assert listed[[0, 2**23 - 1, 2**23, -1]].tolist() == [0, 2**23 - 1, -(2**23), -1]
