"""The quick way to round and encode: block by block, in float32 and float64, with and without torch."""

from __future__ import annotations

import math
import re
import threading
import tracemalloc

import ml_dtypes
import numpy as np
import pytest
import torch

import numfmt as nf
from numfmt import _arena, _kernels
from numfmt._blockwise import BLOCK_BYTES
from numfmt._kernels import FLOAT32, FLOAT64, Same, TorchCast, Truncation, kernel_for
from tests.numfmt import test_midpoints as midpoints
from tests.numfmt.float_oracle import table

BLOCK = BLOCK_BYTES // 4


def same(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    return (found == wanted) & (np.signbit(found) == np.signbit(wanted)) | (np.isnan(found) & np.isnan(wanted))


@pytest.fixture
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_kernels, "torch_if_loaded", lambda: None)


@pytest.mark.usefixtures("without_torch")
@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("fmt", [nf.FP16, nf.BF16], ids=str)
def test_what_torch_casts_is_the_same_without_it(fmt: nf.FloatFormat, name: str) -> None:
    assert not isinstance(kernel_for(fmt, FLOAT32), TorchCast)
    if fmt.name != name and midpoints.reaches(fmt, nf.get_format(name)):  # type: ignore[arg-type]
        midpoints.test_narrower_dtypes(fmt, name)
        midpoints.test_encode(fmt, name)
    midpoints.test_infinities_and_nan(fmt, "float32")


def test_every_kind_of_kernel_is_tested() -> None:
    kinds = {type(kernel_for(fmt, carrier)).__name__ for fmt in midpoints.FORMATS for carrier in (FLOAT32, FLOAT64)}
    assert kinds == {"Adder", "Powers", "TorchCast", "Truncation", "NoneType"}
    assert isinstance(kernel_for(nf.TF32, FLOAT32), Truncation)
    assert isinstance(kernel_for(nf.FP32, FLOAT32), Same)


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 5])
@pytest.mark.parametrize("fmt", [nf.E4M3, nf.BF16, nf.E8M0, nf.E2M1], ids=str)
def test_blocks_meet_without_a_seam(fmt: nf.FloatFormat, size: int) -> None:
    x = np.random.default_rng(size).standard_normal(size).astype(np.float32)
    for at, odd in ((0, 1e30), (BLOCK - 1, -1e30), (BLOCK, math.inf), (size - 1, 1e-40)):
        if 0 <= at < size:
            x[at] = odd
    one_by_one = nf.round_to(x[::-1].astype(np.float64), fmt)[::-1]
    assert same(nf.round_to(x, fmt), one_by_one).all()
    assert np.array_equal(nf.encode(x, fmt), nf.encode(one_by_one, fmt))


@pytest.mark.parametrize("kind", ["bfloat16 array", "bfloat16 tensor", "float16 tensor", "float32 tensor"])
def test_narrow_arrays_keep_their_type(kind: str) -> None:
    numbers = np.random.default_rng(1).standard_normal((3, 50_000)).astype(ml_dtypes.bfloat16)
    wanted = nf.round_to(numbers.astype(np.float64), nf.E4M3)
    if kind == "bfloat16 array":
        found = nf.round_to(numbers, nf.E4M3)
        assert found.dtype == numbers.dtype and np.array_equal(found.astype(np.float64), wanted)
        return
    dtype = getattr(torch, kind.split()[0])
    tensor = torch.from_numpy(numbers.astype(np.float32)).to(dtype)
    found = nf.round_to(tensor, nf.E4M3)
    assert found.dtype == dtype and np.array_equal(found.double().numpy(), wanted)
    assert np.array_equal(nf.encode(tensor, nf.E4M3).numpy(), nf.encode(wanted, nf.E4M3))


def test_out_may_be_the_input_or_overlap_it() -> None:
    x = np.random.default_rng(2).standard_normal(3 * BLOCK).astype(np.float32)
    wanted = nf.round_to(x, nf.E5M2)
    memory = np.concatenate([x, np.zeros(7, np.float32)])
    nf.round_to(memory[:-7], nf.E5M2, out=memory[7:])
    assert np.array_equal(memory[7:], wanted)
    assert nf.round_to(x, nf.E5M2, out=x) is x
    assert np.array_equal(x, wanted)


@pytest.mark.parametrize("fmt", [nf.E4M3, nf.BF16, nf.FP16, nf.E8M0, nf.E2M1], ids=str)
def test_a_refusal_names_the_number_as_it_came(fmt: nf.FloatFormat) -> None:
    x = float(fmt.max) * (4 + 1e-12)
    for given in (x, np.array([1.0, x])):
        with pytest.raises(OverflowError, match=rf"round_to: {re.escape(repr(x))} is beyond"):
            nf.round_to(given, fmt, overflow="raise")


def test_a_refusal_leaves_out_alone() -> None:
    x = np.ones(2 * BLOCK, np.float32)
    x[-1] = 1e9
    out = np.full_like(x, 7)
    with pytest.raises(OverflowError, match="beyond E4M3"):
        nf.round_to(x, nf.E4M3, overflow="raise", out=out)
    x[-1] = math.nan
    with pytest.raises(ValueError, match="no code for it"):
        nf.round_to(x, nf.E2M1, out=out)
    assert (out == 7).all()


def test_threads_do_not_share_scratch_memory() -> None:
    xs = [np.random.default_rng(seed).standard_normal(5 * BLOCK).astype(np.float32) for seed in range(4)]
    wanted = [nf.round_to(x, nf.E4M3) for x in xs]
    found: dict[int, np.ndarray] = {}

    def work(index: int) -> None:
        for _ in range(5):
            found[index] = nf.round_to(xs[index], nf.E4M3)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(found[index], wanted[index]) for index in range(4))


def test_a_nested_call_gets_scratch_memory_of_its_own() -> None:
    size, dtype = 30_000, np.dtype(np.float32)
    with _arena.Arena() as outer:
        first = outer.empty(size, dtype)
        with _arena.Arena() as inner:
            assert not np.may_share_memory(first, inner.empty(size, dtype))
        assert not np.may_share_memory(first, outer.empty(size, dtype))
        assert outer.empty(_arena.ARENA_BYTES, np.dtype(np.uint8)).size == _arena.ARENA_BYTES
    with _arena.Arena() as again:
        assert np.may_share_memory(first, again.empty(size, dtype))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("work", [nf.round_to, nf.encode])
def test_it_needs_less_than_two_mebibytes_beyond_the_result(work: object, dtype: type[np.floating]) -> None:
    for fmt in (nf.E4M3, nf.BF16, nf.E8M0, nf.E2M1):
        x = np.random.default_rng(0).standard_normal(2**21).astype(dtype)
        _arena._kept.memory = None  # which would not be counted
        tracemalloc.start()
        result = work(x, fmt)  # type: ignore[operator]
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak - result.nbytes < 2 * 2**20, fmt


@pytest.mark.parametrize("fmt", midpoints.FORMATS, ids=str)
def test_decoding_to_float32_gives_the_same_values(fmt: nf.FloatFormat) -> None:
    codes = np.arange(fmt.count, dtype=fmt.code_dtype)
    if not nf.FP32.contains(fmt):
        with pytest.raises(ValueError, match="float32 doesn't hold"):
            nf.decode(codes, fmt, dtype=np.float32)
        return
    narrow = nf.decode(codes, fmt, dtype=np.float32)
    assert narrow.dtype == np.float32
    with np.errstate(invalid="ignore"):  # signalling NaNs
        wide = narrow.astype(np.float64)
    assert np.array_equal(wide, [float(each) for each in table(fmt)], equal_nan=True)
    assert same(narrow, nf.decode(codes, fmt)).all()


def test_decoding_to_a_dtype_that_is_too_narrow_is_refused() -> None:
    with pytest.raises(ValueError, match="int8 doesn't hold the values of UINT8; leave dtype out for uint8"):
        nf.decode(3, nf.UINT8, dtype=np.int8)
    with pytest.raises(ValueError, match="float16 doesn't hold"):
        nf.decode(3, nf.E4M3, dtype=np.float16)
