"""Packing codes into bytes: against Python's integers, for every width and both orders."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import numfmt as nf


def by_hand(codes: list[int], bits: int, first: str) -> bytes:
    """Pack into one large integer, the first code at its low or at its high end."""
    fields = [code % 2**bits for code in codes]
    size = -(-len(fields) * bits // 8)
    if first == "low":
        whole = sum(field << (bits * index) for index, field in enumerate(fields))
        return whole.to_bytes(size, "little")
    whole = sum(field << (8 * size - bits * (index + 1)) for index, field in enumerate(fields))
    return whole.to_bytes(size, "big")


@pytest.mark.parametrize("bits", range(1, 17))
@pytest.mark.parametrize("first", ["low", "high"])
@pytest.mark.parametrize("signed", [False, True])
def test_packing_is_that_of_a_large_integer_and_is_undone(bits: int, first: str, signed: bool) -> None:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if signed else (0, 2**bits)
    codes = np.random.default_rng(bits).integers(low, high, (3, 29))
    codes[0, :2] = low, high - 1
    packed = nf.pack(codes, bits, first)
    assert packed.dtype == np.uint8
    assert [bytes(row) for row in packed] == [by_hand(row, bits, first) for row in codes.tolist()]
    back = nf.unpack(packed, bits, 29, signed, first)
    assert np.array_equal(back, codes)
    assert back.dtype == np.dtype(("int" if signed else "uint") + ("8" if bits <= 8 else "16"))


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, int, str]:
    """Return codes of some shape and integer dtype, signed or not, with their width and order."""
    bits = draw(st.integers(1, 16))
    signed = draw(st.booleans())
    shape = draw(st.lists(st.integers(0, 20), min_size=1, max_size=3))
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if signed else (0, 2**bits)
    codes = np.random.default_rng(draw(st.integers(0, 2**32))).integers(low, high, shape)
    dtype = draw(st.sampled_from(["<i4", ">i4", "i8", ">i8"] + ([] if signed else ["u2", ">u8"])))
    return codes.astype(dtype), bits, draw(st.sampled_from(["low", "high"]))


@given(cases(), st.booleans())
@settings(max_examples=100, deadline=None)
def test_any_shape_and_dtype_agree_with_large_integers(case: tuple[np.ndarray, int, str], turned: bool) -> None:
    codes, bits, first = case
    if turned:
        codes = codes.swapaxes(0, -1)[..., ::-1]
    packed = nf.pack(codes, bits, first)
    assert packed.shape == (*codes.shape[:-1], -(-codes.shape[-1] * bits // 8))
    rows = codes.reshape(-1, codes.shape[-1]) if codes.size else codes[:0].reshape(0, codes.shape[-1])
    found = packed.reshape(len(rows), packed.shape[-1])
    assert [bytes(row) for row in found] == [by_hand(row, bits, first) for row in rows.tolist()]
    back = nf.unpack(packed, bits, codes.shape[-1], bool(codes.size and codes.min() < 0), first)
    assert back.shape == codes.shape and np.array_equal(back, codes)


@pytest.mark.parametrize("bits", [1, 5, 11])
@pytest.mark.parametrize("first", ["low", "high"])
def test_rows_longer_than_a_block_have_no_seam(bits: int, first: str) -> None:
    codes = np.random.default_rng(bits).integers(0, 2**bits, (2, 65_536 + 13))
    packed = nf.pack(codes, bits, first)
    assert [bytes(row) for row in packed] == [by_bits(row, bits, first) for row in codes]
    assert np.array_equal(nf.unpack(packed, bits, codes.shape[1], first=first), codes)
    many = codes[:, :65_545].reshape(-1, 5)
    assert np.array_equal(nf.unpack(nf.pack(many, bits, first), bits, 5, first=first), many)


def by_bits(codes: np.ndarray, bits: int, first: str) -> bytes:
    """Pack by writing every code as text of zeros and ones; a large integer would take too long."""
    digits = "".join(f"{code:0{bits}b}"[:: 1 if first == "high" else -1] for code in codes.tolist())
    digits += "0" * (-len(digits) % 8)
    whole = (digits[start : start + 8][:: 1 if first == "high" else -1] for start in range(0, len(digits), 8))
    return bytes(int(byte, 2) for byte in whole)


@pytest.mark.parametrize("bits", [4, 6, 16])
def test_little_memory_is_needed_beyond_the_result(bits: int) -> None:
    codes = np.ones((1_000, 1_000), np.uint8)
    tracemalloc.start()
    packed = nf.pack(codes, bits)
    packing = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    back = nf.unpack(packed, bits, 1_000)
    unpacking = tracemalloc.get_traced_memory()[1] - packed.nbytes
    tracemalloc.stop()
    assert packing - packed.nbytes < 2**20 and unpacking - back.nbytes < 2**20


@pytest.mark.parametrize("bits", [4, 12])
def test_tensors_stay_tensors(bits: int) -> None:
    codes = torch.arange(10).reshape(2, 5) - 5
    packed = nf.pack(codes, bits)
    assert packed.dtype == torch.uint8 and np.array_equal(packed.numpy(), nf.pack(codes.numpy(), bits))
    back = nf.unpack(packed, bits, 5, signed=True)
    assert back.dtype == (torch.int8 if bits == 4 else torch.int16) and torch.equal(back.long(), codes)


def test_without_a_count_all_that_the_bytes_hold() -> None:
    assert nf.unpack([0xFF, 0x0F], 3).tolist() == [7, 7, 7, 7, 0]
    assert nf.unpack(np.zeros((2, 0), np.uint8), 6).shape == (2, 0)
    assert nf.pack(np.zeros((2, 0), np.int64), 6).shape == (2, 0)
    assert nf.pack(np.zeros((0, 5), np.int64), 6).shape == (0, 4)
    assert nf.pack([1, 2], np.int64(4)).tolist() == [0x21]


def test_four_fp6_codes_take_three_bytes() -> None:
    codes = nf.encode([1.0, -7.5, 0.125, 0.0], nf.E2M3)
    assert nf.pack(codes, 6).nbytes == 3
    assert nf.decode(nf.unpack(nf.pack(codes, 6), 6), nf.E2M3).tolist() == [1.0, -7.5, 0.125, 0.0]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: nf.pack([[1, 2], [16, 99]]), OverflowError, "16 at index 1, 0 doesn't fit into 4 bits"),
        (lambda: nf.pack([-9]), OverflowError, "-9 at index 0 doesn't fit"),
        (lambda: nf.pack([2**70]), OverflowError, "1180591620717411303424 at index 0 doesn't fit"),
        (lambda: nf.pack(np.uint64([2**63])), OverflowError, "9223372036854775808 at index 0 doesn't fit"),
        (lambda: nf.pack([1], 0), ValueError, "bits must be an int from 1 to 16, got 0"),
        (lambda: nf.pack([1], 4.0), ValueError, "bits must be an int from 1 to 16, got 4.0"),
        (lambda: nf.pack([1], 17), ValueError, "bits must be an int from 1 to 16, got 17"),
        (lambda: nf.pack([1], True), ValueError, "bits must be an int from 1 to 16, got True"),
        (lambda: nf.pack([1], first="left"), ValueError, "'low' or 'high'"),
        (lambda: nf.pack(1), ValueError, "at least one axis"),
        (lambda: nf.unpack([256]), ValueError, "expected an array of bytes"),
        (lambda: nf.unpack([-1]), ValueError, "expected an array of bytes"),
        (lambda: nf.unpack(7), ValueError, "with at least one axis"),
        (lambda: nf.unpack([1], first="right"), ValueError, "'low' or 'high'"),
        (lambda: nf.unpack([1], count=-1), ValueError, "count is -1"),
        (lambda: nf.unpack([1], count=1.5), ValueError, "count must be an int"),
        (lambda: nf.unpack([1, 2], 6, count=3), ValueError, "hold 2 codes"),
        (lambda: nf.unpack([1], count=3), ValueError, "hold 2 codes"),
        (lambda: nf.pack([0.5]), TypeError, "expected integers"),
    ],
)
def test_wrong_packing(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()
