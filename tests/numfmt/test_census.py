"""The census: against plain NumPy and ml_dtypes, whatever the blocks, and as tables, HTML and JSON."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import torch

import numfmt as nf
from numfmt.tallying import CENSUS_FORMATS

from .float_oracle import magnitudes, rounded


def by_format(found: nf.Census) -> dict[str, nf.FormatCensus]:
    return {row.format: row for row in found.formats}


@pytest.fixture(scope="module")
def numbers() -> np.ndarray:
    rng = np.random.default_rng(3)
    wide = rng.standard_normal(30_000) * 2.0 ** rng.integers(-30, 20, 30_000)
    return np.concatenate([wide.astype(np.float32), np.zeros(7, np.float32)])


@pytest.mark.parametrize(
    ("fmt", "dtype", "largest", "normal"),
    [
        ("FP64", np.float64, math.inf, 2.0**-1022),
        ("FP32", np.float32, math.inf, 2.0**-126),
        ("FP16", np.float16, 65504, 2.0**-14),
        ("BF16", ml_dtypes.bfloat16, 3.38953e38, 2.0**-126),
        ("E4M3", ml_dtypes.float8_e4m3fn, 448, 2.0**-6),
        ("E5M2", ml_dtypes.float8_e5m2, 57344, 2.0**-14),
        ("E4M3FNUZ", ml_dtypes.float8_e4m3fnuz, 240, 2.0**-7),
    ],
)
def test_the_figures_are_those_of_a_cast(
    numbers: np.ndarray, fmt: str, dtype: type, largest: float, normal: float
) -> None:
    row = by_format(nf.census(numbers))[fmt]
    some = numbers[numbers != 0]
    with np.errstate(over="ignore"):
        cast = some.astype(dtype).astype(np.float64)
    lost = ~np.isfinite(cast)
    assert row.overflowed == lost.mean()
    assert row.zeroed == (cast == 0).mean()
    assert row.subnormal == ((cast != 0) & (np.abs(cast) < normal)).mean()
    x, y = some[~lost].astype(np.float64), cast[~lost]
    assert row.worst_relative_error == (np.abs(y - x) / np.abs(x)).max()
    assert row.mean_relative_error == pytest.approx((np.abs(y - x) / np.abs(x)).mean(), rel=1e-12)
    if (x == y).all():
        assert row.snr_db == math.inf
    else:
        assert row.snr_db == pytest.approx(10 * np.log10((x**2).sum() / ((y - x) ** 2).sum()), abs=1e-9)
    assert row.bytes == numbers.size * np.dtype(dtype).itemsize
    assert np.abs(y).max() <= largest


@pytest.mark.parametrize("fmt", [fmt for fmt in CENSUS_FORMATS if fmt.bits <= 8], ids=str)
def test_the_figures_are_those_of_exact_fractions(fmt: nf.FloatFormat) -> None:
    rng = np.random.default_rng(fmt.bits)
    grid = [float(each) for each in magnitudes(fmt)]
    ties = [(low + high) / 2 for low, high in pairwise(grid)]
    top = [ties[-1] * factor for factor in (1 - 2**-40, 1 + 2**-40)]
    drawn = rng.standard_normal(100) * 2.0 ** rng.integers(fmt.minexp - 15, fmt.maxexp + 2, 100)
    numbers = [*grid, *(-each for each in ties), *top, *drawn]
    exact = [Fraction(each) for each in numbers if each]
    results = [rounded(each, fmt, "nearest_even") for each in exact]
    inside = [(abs(x), y) for x, (y, beyond) in zip(exact, results, strict=True) if not beyond]
    errors = [abs(y - x) / x for x, y in inside]
    (row,) = nf.census(numbers, [fmt]).formats
    assert row.overflowed == (len(exact) - len(inside)) / len(exact)
    assert row.zeroed == sum(y == 0 for _, y in inside) / len(exact)
    assert row.subnormal == sum(0 < y < Fraction(2) ** fmt.minexp for _, y in inside) / len(exact)
    assert row.worst_relative_error == pytest.approx(float(max(errors)), rel=1e-15)
    assert row.mean_relative_error == pytest.approx(float(sum(errors) / len(errors)), rel=1e-14)
    ratio = sum(x * x for x, _ in inside) / sum((y - x) ** 2 for x, y in inside)
    assert row.snr_db == pytest.approx(10 * math.log10(ratio), rel=1e-13)


def test_formats_without_infinity_count_what_lies_beyond_the_last_tie() -> None:
    # E2M1 ends at 6; its next value would be 8, and 6 is the code 7, which is odd: the tie at 7 is lost.
    row = by_format(nf.census([6.0, 6.9, 7.0, 7.1, -100.0]))["E2M1"]
    assert row.overflowed == 3 / 5
    # E4M3 ends at 448, an even code, and the tie at 464 comes back to it.
    assert by_format(nf.census([448.0, 464.0, 464.5]))["E4M3"].overflowed == 1 / 3


def test_counts_of_what_is_no_finite_number() -> None:
    found = nf.census([0.0, -0.0, math.inf, -math.inf, math.nan, 2.0, -0.5], name="mixed")
    assert (found.count, found.zeros, found.infinities, found.nans) == (7, 2, 2, 1)
    assert (found.smallest, found.largest) == (0.5, 2.0)
    assert all(row.zeroed == row.overflowed == 0 for row in found.formats)
    assert by_format(found)["E2M1"].bytes == 4  # 28 bits


@pytest.mark.parametrize("size", [1, 7, 1000, 40_000])
def test_blocks_make_no_difference(numbers: np.ndarray, size: int) -> None:
    few = numbers if size > 100 else numbers[:100]
    whole = nf.census(few)
    parts = nf.census_of_blocks(few[start : start + size] for start in range(0, few.size, size))
    assert (parts.count, parts.zeros, parts.smallest, parts.largest) == (
        whole.count, whole.zeros, whole.smallest, whole.largest,
    )  # fmt: skip
    for one, other in zip(parts.formats, whole.formats, strict=True):
        counted = ("format", "bits", "zeroed", "subnormal", "overflowed", "worst_relative_error", "bytes")
        assert all(getattr(one, name) == getattr(other, name) for name in counted)
        assert one.mean_relative_error == pytest.approx(other.mean_relative_error, rel=1e-12)
        assert one.snr_db == pytest.approx(other.snr_db, rel=1e-12, nan_ok=True)


def test_squares_neither_overflow_nor_vanish() -> None:
    for scale in (2.0**1000, 2.0**-1000):
        x = np.array([1.1, 1.3, -1.7]) * scale
        assert by_format(nf.census(x))["FP64"].snr_db == math.inf
        fmt = nf.FloatFormat(11, 7, name="wide")
        row = nf.census(x, [fmt]).formats[0]
        y = nf.round_to(x / scale, nf.BF16)
        assert row.snr_db == pytest.approx(10 * math.log10(((x / scale) ** 2).sum() / ((y - x / scale) ** 2).sum()))
    # Blocks of very different size: the small one doesn't count, the large one must.
    found = nf.census_of_blocks([np.array([1.1e-200]), np.array([1.1])], [nf.BF16])
    assert found.formats[0].snr_db == pytest.approx(nf.census([1.1], [nf.BF16]).formats[0].snr_db)


@pytest.mark.parametrize("x", [[], [0.0, 0.0], [math.nan]])
def test_without_a_finite_number_the_figures_are_undefined(x: list[float]) -> None:
    found = nf.census(x)
    assert math.isnan(found.largest) and math.isnan(found.smallest)
    for row in found.formats:
        assert math.isnan(row.zeroed) and math.isnan(row.mean_relative_error) and math.isnan(row.snr_db)
    json.dumps(found.to_dict(), allow_nan=False)
    assert str(found).splitlines()[2].split()[1:-1] == ["-"] * 6
    assert "nan" not in str(found) and "nan" not in found._repr_html_()


@pytest.mark.parametrize(
    "x",
    [
        torch.tensor([[1.0, 0.1], [1e-9, 70000.0]]).bfloat16(),
        np.array([[1.0, 0.1], [1e-9, 70000.0]]).astype(ml_dtypes.bfloat16),
        np.asfortranarray(np.array([[1.0, 0.1], [1e-9, 70000.0]]).astype(ml_dtypes.bfloat16).astype(">f4")),
        np.array([[1.0, 7.0, 0.1, 7.0], [1e-9, 7.0, 70000.0, 7.0]])[::-1, ::2],
        torch.tensor([[1.0, 0.1], [1e-9, 70000.0]], requires_grad=True).T,
        np.array([1.0, 0.1, 1e-9, 70000.0], np.longdouble),
        [Fraction(1), 0.1, 1e-9, 70000],
    ],
    ids=["tensor", "ml_dtypes", "big-endian", "strided", "transposed", "long double", "list"],
)
def test_every_kind_of_array(x: object) -> None:
    row = by_format(nf.census(x))["FP16"]
    assert (row.zeroed, row.overflowed) == (0.25, 0.25)


def test_formats_can_be_chosen_and_wrong_ones_are_refused() -> None:
    assert [row.format for row in nf.census([1.0], ["e4m3fn", nf.E2M1]).formats] == ["E4M3", "E2M1"]
    assert [row.format for row in nf.census([1.0]).formats] == [str(fmt) for fmt in CENSUS_FORMATS]
    with pytest.raises(ValueError, match="unknown format 'e9'"):
        nf.census([1.0], ["e9"])
    with pytest.raises(TypeError, match="census: expected a float format"):
        nf.census([1.0], ["int8"])
    with pytest.raises(TypeError, match="formats is a list, such as \\['fp16'\\]"):
        nf.census([1.0], "fp16")
    for x in ([], [1.0]):
        with pytest.raises(ValueError, match="E8M0 has no sign"):
            nf.census(x, [nf.E8M0])
        with pytest.raises(ValueError, match="has values that float64 doesn't hold; choose a narrower format"):
            nf.census(x, [nf.FloatFormat(12, 4)])


@pytest.mark.parametrize(
    "x",
    [
        np.array([1j]),
        np.zeros(0, complex),
        np.array(["a"]),
        np.array([None]),
        np.array("2026-12-01", "M8[D]"),
        torch.zeros(2, dtype=torch.complex64),
        torch.eye(2).to_sparse(),
        "1.0",
        None,
    ],
    ids=lambda x: str(getattr(x, "dtype", x)),
)
def test_what_is_no_real_number_is_refused(x: object) -> None:
    with pytest.raises(TypeError, match="census: expected"):
        nf.census(x)


def test_single_numbers_and_integers() -> None:
    for x in (0.1, np.float32(0.1), np.array(0.1), torch.tensor(0.1)):
        found = nf.census(x, ["BF16"])
        assert found.count == 1 and found.formats[0].worst_relative_error > 0
    ends = np.array([-(2**63), 2**63 - 1, 0, 1, 70000])
    found = nf.census(ends, ["FP32", "FP16"])
    assert (found.largest, found.zeros, found.formats[1].overflowed) == (2.0**63, 1, 0.75)
    assert nf.census(np.array([True, False]), ["E2M1"]).formats[0].snr_db == math.inf
    assert nf.census(np.array([2**64 - 1], np.uint64), ["BF16"]).largest == 2.0**64


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp == 1024, reason="long double is float64 here")
def test_long_doubles_beyond_float64_are_finite_numbers_still() -> None:
    found = nf.census(np.array([np.longdouble(2) ** 3000, np.longdouble(2) ** -3000, 1]), ["FP16"])
    assert (found.infinities, found.zeros, found.formats[0].overflowed, found.formats[0].zeroed) == (
        0,
        0,
        1 / 3,
        1 / 3,
    )


@pytest.mark.parametrize(
    "view", [lambda x: x, lambda x: x.T, lambda x: x[:, ::2]], ids=["whole", "turned", "strided"]
)
def test_an_array_on_disk_is_not_read_whole(tmp_path: Path, view: Callable[[np.ndarray], np.ndarray]) -> None:
    x = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", dtype=np.float32, shape=(2**12, 2**10))
    x[0, :] = 1.0
    nf.census([1.0], ["BF16"])
    tracemalloc.start()
    found = nf.census(view(x), ["BF16"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.count in (2**22, 2**21) and found.count - found.zeros == found.count // 2**12
    assert peak < 4 * 2**20  # of 16 MiB, 32 in float64


def test_shares_that_are_not_quite_0_or_1_do_not_read_so() -> None:
    x = np.full(200_000, 1.0)
    x[0] = 1e-9
    text = str(nf.census(x, [nf.E4M3]))
    assert "<0.01%" in text
    assert ">99.99%" in str(nf.census(np.where(x == 1, 1e-9, 1.0), [nf.E4M3]))


def test_the_html_table_shows_each_share_in_figures_and_as_a_bar() -> None:
    found = nf.census([1e-9, 1.0, 0.01, 1e9], [nf.E4M3], name="<b>w</b> & co")
    page = found._repr_html_()
    assert "<b>w</b>" not in page and "&lt;b&gt;w&lt;/b&gt; &amp; co" in page
    assert re.findall(r"width:([0-9.]+)%", page) == ["25", "25", "25"]
    assert page.count("25.00%") == 3
    assert page.count('scope="row"') == 1 and page.count('scope="col"') == 8
    assert found._repr_html_().count('aria-hidden="true"') == 3


def test_names_cannot_spoil_a_terminal() -> None:
    assert str(nf.census([1.0], [], "a\n\x1b[31mb\ud800")).startswith("a\\n\\x1b[31mb\\ud800: 1 numbers")


def test_a_census_in_memory_loads_nothing_for_files() -> None:
    heavy = "{'torch', 'safetensors', 'zipfile', 'json'}"
    code = f"import sys, numfmt as nf; nf.census([1.0]); print({heavy} & {{*sys.modules}})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"
