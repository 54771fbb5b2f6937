"""Codes of float formats: every code up to 16 bits, both ways, against an oracle and the libraries."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import torch

import numfmt as nf
from numfmt.float_format import FLOAT_FORMATS
from tests.numfmt.float_oracle import CUSTOM, table

SMALL = [*(fmt for fmt in FLOAT_FORMATS if fmt.bits <= 16), *CUSTOM]


def same(a: float, b: Fraction | str, code: int, fmt: nf.FloatFormat) -> bool:
    if isinstance(b, str):
        return math.isnan(a) if b == "nan" else a == float(b)
    return Fraction(a) == b and math.copysign(1, a) == (-1 if fmt.signed and code >= fmt.count // 2 else 1)


@pytest.mark.parametrize("fmt", SMALL, ids=str)
def test_every_code_means_what_the_standard_says(fmt: nf.FloatFormat) -> None:
    found = nf.decode(np.arange(fmt.count), fmt)
    assert found.dtype == np.float64
    assert all(same(a, b, code, fmt) for code, (a, b) in enumerate(zip(found.tolist(), table(fmt), strict=True)))
    assert np.array_equal(nf.values(fmt), found, equal_nan=True)


@pytest.mark.parametrize("fmt", SMALL, ids=str)
def test_encode_gives_every_code_back(fmt: nf.FloatFormat) -> None:
    codes = np.arange(fmt.count)
    values = nf.values(fmt)
    back = nf.encode(values, fmt)
    assert back.dtype == fmt.code_dtype
    is_nan = np.isnan(values)
    assert np.array_equal(back[~is_nan], codes[~is_nan])
    assert is_nan.sum() == fmt.count_nan and (back[is_nan] == (fmt.nan_code or 0)).all()


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_wide_codes_are_the_machine_s(name: str) -> None:
    generator = np.random.default_rng(5)
    width = np.dtype(name).itemsize
    codes = np.frombuffer(generator.bytes(width * 20_000), dtype=f"u{width}")
    edges = [0, 1, 2, (1 << (8 * width - 1)) - 1, 1 << (8 * width - 1), (1 << (8 * width)) - 1]
    codes = np.concatenate([codes, np.array(edges, dtype=f"u{width}")])
    values = codes.view(name)
    ours = nf.decode(codes, name)
    finite = ~np.isnan(values)
    assert np.array_equal(np.isnan(ours), ~finite)
    assert np.array_equal(ours[finite], values[finite].astype(np.float64))
    assert np.array_equal(nf.encode(values, name)[finite], codes[finite])


def test_bits_of_floats() -> None:
    assert nf.to_bits(np.pi, nf.FP16) == "0100001001001000"
    assert nf.to_bits(-0.75, nf.FP16, group=4) == "1011 1010 0000 0000"
    assert nf.from_bits("0 10010 0100000000", nf.FP16) == 10.0
    assert nf.to_bits(np.array([0.5, -6.0]), nf.E2M1).tolist() == ["0001", "1111"]
    assert nf.from_bits(["0111", "1111"], nf.E2M1).tolist() == [6.0, -6.0]


def test_pi_in_half_precision() -> None:
    code = nf.encode(np.pi, nf.FP16)
    assert (code >> 10, code & 1023) == (16, 584)
    assert nf.decode(code, nf.FP16) == 3.140625


def test_the_values_of_fp4() -> None:
    assert nf.values(nf.E2M1).tolist()[:8] == [0, 0.5, 1, 1.5, 2, 3, 4, 6]


def test_tensors_go_in_and_come_out() -> None:
    x = torch.tensor([[1.5, -0.25]], dtype=torch.bfloat16)
    codes = nf.encode(x, nf.E4M3)
    assert codes.dtype == torch.uint8 and codes.shape == x.shape
    assert torch.equal(codes, x.to(torch.float8_e4m3fn).view(torch.uint8))
    assert nf.decode(codes, nf.E4M3).tolist() == [[1.5, -0.25]]


@pytest.mark.parametrize("code", [-1, 256])
def test_what_is_no_code(code: int) -> None:
    with pytest.raises(OverflowError, match="is not a code of E4M3"):
        nf.decode(code, nf.E4M3)


def test_a_format_beyond_float64_says_so() -> None:
    with pytest.raises(ValueError, match="float64 doesn't hold"):
        nf.decode(0, nf.FloatFormat(15, 40))
