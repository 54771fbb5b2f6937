from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import torch

import numfmt as nf

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("int8", nf.INT8), ("INT8", nf.INT8), ("Int8", nf.INT8), ("uint16", nf.UINT16), ("UINT4", nf.UINT4),
        ("int4", nf.INT4), ("int24", nf.IntFormat(24)), ("UINT1", nf.IntFormat(1, signed=False)),
        ("uint64", nf.UINT64), (np.str_("int2"), nf.INT2),
        (nf.INT8, nf.INT8), (nf.IntFormat(13), nf.IntFormat(13)),
        (np.int8, nf.INT8), (np.uint64, nf.UINT64), (np.longlong, nf.INT64), (np.dtype("int16"), nf.INT16),
        (np.dtype(">i4"), nf.INT32), (np.dtype("<u2"), nf.UINT16), (np.zeros(3, np.uint8).dtype, nf.UINT8),
        (ml_dtypes.int4, nf.INT4), (np.dtype(ml_dtypes.uint4), nf.UINT4), (ml_dtypes.int2, nf.INT2),
        (np.dtype(ml_dtypes.uint2), nf.UINT2),
        (torch.int8, nf.INT8), (torch.uint8, nf.UINT8), (torch.long, nf.INT64), (torch.uint64, nf.UINT64),
        (torch.int4, nf.INT4),
    ],
    ids=repr,
)  # fmt: skip
def test_what_names_a_format(spec: object, expected: nf.IntFormat) -> None:
    assert nf.get_format(spec) == expected


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("bits", range(1, 65))
def test_every_width_by_name_and_alias(bits: int, signed: bool) -> None:
    fmt = nf.IntFormat(bits, signed)
    assert nf.get_format(fmt.name) == nf.get_format(fmt.alias) == fmt


@pytest.mark.parametrize(
    ("spec", "nearest"),
    [
        ("integer8", "INT8"), ("uint_8", "UINT8"), ("int 16", "INT16"), ("itn32", "INT32"), (" int8", "INT8"),
        ("int08", "INT8"), ("int٨", "INT8"),
    ],
)  # fmt: skip
def test_unknown_name_suggests_the_nearest(spec: str, nearest: str) -> None:
    with pytest.raises(ValueError, match=f"did you mean '{nearest}'") as caught:
        nf.get_format(spec)
    assert repr(spec) in str(caught.value)


@pytest.mark.parametrize(
    "spec",
    ["", "u8", "int", "blue", "int1234", np.complex64, np.bool_, np.integer, np.dtype("m8[s]"),
     torch.complex64, torch.bool, torch.qint8, np.longdouble, np.dtype([("a", np.int8)])],
    ids=repr,
)  # fmt: skip
def test_unknown_format_lists_what_there_is(spec: object) -> None:
    with pytest.raises(ValueError, match=r"unknown format .* There are INT2, INT4, .* from 1 to 64"):
        nf.get_format(spec)


@pytest.mark.parametrize("spec", ["int0", "uint65", "INT999"])
def test_known_family_unknown_width(spec: str) -> None:
    with pytest.raises(ValueError, match="bits must lie in 1 to 64"):
        nf.get_format(spec)


@pytest.mark.parametrize("spec", [8, None, int, 8.0, b"int8", ("int8",), np.zeros(2, np.int8)], ids=repr)
def test_other_objects_are_type_errors(spec: object) -> None:
    with pytest.raises(TypeError, match=r"expected a format, a name such as 'int8'.*got "):
        nf.get_format(spec)


@pytest.mark.parametrize(
    "call",
    [
        lambda fmt: nf.wrap(200, fmt),
        lambda fmt: nf.encode(-56, fmt),
        lambda fmt: nf.decode(200, fmt),
        lambda fmt: nf.to_bits(-56, fmt),
        lambda fmt: nf.from_bits("11001000", fmt),
        lambda fmt: nf.values(fmt)[200],
        lambda fmt: nf.dot([100], [2], accumulate=fmt),
        lambda fmt: nf.dot([100], [2], multiply=fmt),
    ],
)
def test_every_function_takes_whatever_names_a_format(call: object) -> None:
    results = [call(fmt) for fmt in (nf.INT8, "int8", np.int8, torch.int8)]  # type: ignore[operator]
    assert results == [results[0]] * 4
