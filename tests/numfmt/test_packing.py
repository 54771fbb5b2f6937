"""Packing codes into bytes: against Python's integers, for every width and both orders."""

from __future__ import annotations

import numpy as np
import pytest

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


def test_without_a_count_all_that_the_bytes_hold() -> None:
    assert nf.unpack([0xFF, 0x0F], 3).tolist() == [7, 7, 7, 7, 0]
    assert nf.unpack(np.zeros((2, 0), np.uint8), 6).shape == (2, 0)
    assert nf.pack(np.zeros((2, 0), np.int64), 6).shape == (2, 0)


def test_four_fp6_codes_take_three_bytes() -> None:
    codes = nf.encode([1.0, -7.5, 0.125, 0.0], nf.E2M3)
    assert nf.pack(codes, 6).nbytes == 3
    assert nf.decode(nf.unpack(nf.pack(codes, 6), 6), nf.E2M3).tolist() == [1.0, -7.5, 0.125, 0.0]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: nf.pack([16]), OverflowError, "16 doesn't fit"),
        (lambda: nf.pack([-9]), OverflowError, "-9 doesn't fit"),
        (lambda: nf.pack([1], 17), ValueError, "bits must be an int from 1 to 16, got 17"),
        (lambda: nf.pack([1], True), ValueError, "bits must be an int from 1 to 16, got True"),
        (lambda: nf.pack([1], first="left"), ValueError, "'low' or 'high'"),
        (lambda: nf.pack(1), ValueError, "at least one axis"),
        (lambda: nf.unpack([256]), ValueError, "bytes"),
        (lambda: nf.unpack([1], count=3), ValueError, "hold 2 codes"),
        (lambda: nf.pack([0.5]), TypeError, "expected integers"),
    ],
)
def test_wrong_packing(call: object, error: type[Exception], words: str) -> None:
    assert callable(call)
    with pytest.raises(error, match=words):
        call()
