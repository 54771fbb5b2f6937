from __future__ import annotations

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

import numfmt as nf
from numfmt.formats import INTEGER_FORMATS

from .oracles import SIGNS, range_of

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize("signed", SIGNS)
@pytest.mark.parametrize("bits", range(1, 65))
def test_range_of_every_width(bits: int, signed: bool) -> None:
    fmt = nf.IntFormat(bits, signed)
    assert (fmt.min, fmt.max) == range_of(bits, signed)
    assert fmt.count == fmt.max - fmt.min + 1 == 2**bits
    assert fmt.name == ("int" if signed else "uint") + str(bits)
    assert fmt.alias == str(fmt) == fmt.name.upper()


@pytest.mark.parametrize("signed", SIGNS)
@pytest.mark.parametrize("bits", range(1, 65))
def test_dtype_is_the_smallest_that_holds_every_value(bits: int, signed: bool) -> None:
    fmt = nf.IntFormat(bits, signed)
    family = [np.int8, np.int16, np.int32, np.int64] if signed else [np.uint8, np.uint16, np.uint32, np.uint64]
    holding = [t for t in family if np.iinfo(t).min <= fmt.min and fmt.max <= np.iinfo(t).max]
    assert fmt.dtype == holding[0]
    assert fmt.code_dtype == next(
        t for t in (np.uint8, np.uint16, np.uint32, np.uint64) if np.iinfo(t).max >= 2**bits - 1
    )


@pytest.mark.parametrize("fmt", INTEGER_FORMATS, ids=str)
def test_range_agrees_with_iinfo(fmt: nf.IntFormat) -> None:
    info = ml_dtypes.iinfo(getattr(ml_dtypes, fmt.name, None) or np.dtype(fmt.name))
    assert (fmt.min, fmt.max, fmt.bits) == (info.min, info.max, info.bits)
    assert getattr(nf, fmt.alias) is fmt


def test_symmetric_max() -> None:
    assert (nf.INT8.symmetric_max, nf.INT4.symmetric_max, nf.IntFormat(1).symmetric_max) == (127, 7, 0)
    with pytest.raises(AttributeError, match=r"UINT8 is unsigned.*use UINT8\.max"):
        _ = nf.UINT8.symmetric_max


@pytest.mark.parametrize("bits", [0, -1, 65, 10**30])
def test_width_out_of_range(bits: int) -> None:
    with pytest.raises(ValueError, match=rf"bits must lie in 1 to 64, got {bits}"):
        nf.IntFormat(bits)


@pytest.mark.parametrize("bits", [8.0, "8", True, None, np.bool_(True), np.float32(8), np.array([8, 8])])
def test_width_of_the_wrong_type(bits: object) -> None:
    with pytest.raises(TypeError, match="bits must be an integer"):
        nf.IntFormat(bits)  # type: ignore[arg-type]


@pytest.mark.parametrize("signed", [1, 0, None, "yes"])
def test_sign_of_the_wrong_type(signed: object) -> None:
    with pytest.raises(TypeError, match="signed must be True or False"):
        nf.IntFormat(8, signed)  # type: ignore[arg-type]


def test_numpy_width_becomes_a_python_int() -> None:
    fmt = nf.IntFormat(np.int8(64), signed=False)
    assert type(fmt.bits) is int
    assert fmt.max == 2**64 - 1


def test_formats_are_values() -> None:
    assert nf.IntFormat(8) == nf.INT8 != nf.UINT8
    assert {nf.INT8: "a"}[nf.IntFormat(8, signed=True)] == "a"
    assert pickle.loads(pickle.dumps(nf.INT8)) == copy.deepcopy(nf.INT8) == nf.INT8
    assert repr(nf.INT8) == "IntFormat(bits=8, signed=True)"
    with pytest.raises(AttributeError):
        nf.INT8.bits = 9  # type: ignore[misc]


@pytest.mark.parametrize(
    ("value", "inside"),
    [
        (-129, False), (-128, True), (0, True), (127, True), (128, False), (True, True), (10**40, False),
        (np.uint64(2**64 - 1), False), (np.int8(-128), True), (np.array(5), True), (np.bool_(True), True),
    ],
)  # fmt: skip
def test_membership(value: object, inside: bool) -> None:
    assert (value in nf.INT8) is inside


@pytest.mark.parametrize("value", [3.0, "3", None, np.arange(3), np.float32(1), 1j])
def test_membership_is_about_one_integer(value: object) -> None:
    with pytest.raises(TypeError, match=r"`in INT8` asks about one integer, got "):
        _ = value in nf.INT8


def test_table_for_notebooks() -> None:
    html = nf.UINT4._repr_html_()
    assert html.count("<tr>") == html.count("</tr>") == 2
    for cell in ("UINT4", "4", "0", "15", "16"):
        assert f"<td>{cell}</td>" in html
