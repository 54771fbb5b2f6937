"""Float formats: the figures of each, derived from its widths, against the published ones and two libraries."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import torch

import numfmt as nf
from numfmt.float_format import FLOAT_FORMATS, Specials
from tests.numfmt.float_oracle import table

# max, smallest normal, smallest subnormal, eps, NaN codes, distinct finite values (the formats' specifications).
FACTS = {
    nf.FP64: (1.7976931348623157e308, 2.0**-1022, 5e-324, 2.0**-52, 2**53 - 2, 2**64 - 2**53 - 1),
    nf.FP32: (3.4028234663852886e38, 2.0**-126, 2.0**-149, 2.0**-23, 2**24 - 2, 4_278_190_079),
    nf.TF32: (3.4011621342146535e38, 2.0**-126, 2.0**-136, 2.0**-10, 2046, 522_239),
    nf.FP16: (65504, 2.0**-14, 2.0**-24, 2.0**-10, 2046, 63_487),
    nf.BF16: (3.3895313892515355e38, 2.0**-126, 2.0**-133, 2.0**-7, 254, 65_279),
    nf.E5M2: (57344, 2.0**-14, 2.0**-16, 0.25, 6, 247),
    nf.E5M2FNUZ: (57344, 2.0**-15, 2.0**-17, 0.25, 1, 255),
    nf.E4M3: (448, 2.0**-6, 2.0**-9, 0.125, 2, 253),
    nf.E4M3IEEE: (240, 2.0**-6, 2.0**-9, 0.125, 14, 239),
    nf.E4M3FNUZ: (240, 2.0**-7, 2.0**-10, 0.125, 1, 255),
    nf.E4M3B11FNUZ: (30, 2.0**-10, 2.0**-13, 0.125, 1, 255),
    nf.E3M4: (15.5, 0.25, 2.0**-6, 0.0625, 30, 223),
    nf.E8M0: (2.0**127, 2.0**-127, None, 1, 1, 255),
    nf.E2M3: (7.5, 1, 0.125, 0.125, 0, 63),
    nf.E3M2: (28, 0.25, 0.0625, 0.25, 0, 63),
    nf.E2M1: (6, 1, 0.5, 0.5, 0, 15),
}


@pytest.mark.parametrize("fmt", FLOAT_FORMATS, ids=str)
def test_the_figures_of_a_format(fmt: nf.FloatFormat) -> None:
    found = (fmt.max, fmt.smallest_normal, fmt.smallest_subnormal, fmt.eps, fmt.count_nan, fmt.count_finite)
    assert found == FACTS[fmt]
    assert fmt.min == (-fmt.max if fmt is not nf.E8M0 else 2.0**-127)


@pytest.mark.parametrize("fmt", [fmt for fmt in FLOAT_FORMATS if fmt.bits <= 16], ids=str)
def test_the_counts_are_those_of_an_enumeration(fmt: nf.FloatFormat) -> None:
    meanings = table(fmt)
    finite = [each for each in meanings if isinstance(each, Fraction)]
    assert fmt.count_nan == meanings.count("nan")
    assert fmt.count_finite == len(set(finite))
    assert fmt.has_inf == ("inf" in meanings)
    assert fmt.has_zero == (0 in finite)
    assert fmt.has_negative_zero == (finite.count(Fraction(0)) == 2)
    assert fmt.max == max(finite) and fmt.exact(fmt.max_code) == max(finite)
    assert fmt.nan_code is None or meanings[fmt.nan_code] == "nan"
    assert fmt.inf_code is None or meanings[fmt.inf_code] == "inf"


WORDS = ("bits", "eps", "max", "min", "nmant", "nexp", "minexp", "maxexp", "smallest_normal", "smallest_subnormal")


@pytest.mark.parametrize("fmt", [fmt for fmt in FLOAT_FORMATS if fmt not in (nf.TF32, nf.E8M0)], ids=str)
def test_the_words_mean_what_finfo_means(fmt: nf.FloatFormat) -> None:
    info = ml_dtypes.finfo(getattr(ml_dtypes, fmt.name, None) or np.dtype(fmt.name))
    for word in WORDS:
        assert float(getattr(fmt, word)) == float(getattr(info, word)), word


@pytest.mark.parametrize("name", ["float64", "float32", "float16", "bfloat16", "float8_e5m2", "float8_e4m3fn"])
def test_torch_agrees(name: str) -> None:
    info, fmt = torch.finfo(getattr(torch, name)), nf.get_format(name)
    assert (fmt.bits, fmt.max, fmt.min, fmt.eps) == (info.bits, info.max, info.min, info.eps)
    assert fmt.smallest_normal == info.smallest_normal


def test_torch_is_wrong_about_the_eps_of_e5m2fnuz() -> None:
    """Known report: torch gives 0.125; a format with two mantissa bits has eps 0.25."""
    assert torch.finfo(torch.float8_e5m2fnuz).eps == 0.125
    assert nf.E5M2FNUZ.eps == 0.25 == float(ml_dtypes.finfo(ml_dtypes.float8_e5m2fnuz).eps)


@pytest.mark.parametrize(
    ("spec", "fmt"),
    [
        ("E4M3", nf.E4M3),
        ("e4m3", nf.E4M3),
        ("float8_e4m3fn", nf.E4M3),
        ("float8_e4m3", nf.E4M3IEEE),
        ("BF16", nf.BF16),
        ("bfloat16", nf.BF16),
        (np.float16, nf.FP16),
        (np.dtype(">f4"), nf.FP32),
        (ml_dtypes.float4_e2m1fn, nf.E2M1),
        (np.dtype(ml_dtypes.float8_e8m0fnu), nf.E8M0),
        (torch.float8_e5m2fnuz, nf.E5M2FNUZ),
        (torch.bfloat16, nf.BF16),
        (nf.TF32, nf.TF32),
    ],
    ids=str,
)
def test_formats_are_found_by_name_and_dtype(spec: object, fmt: nf.FloatFormat) -> None:
    assert nf.get_format(spec) is fmt


def test_a_format_of_ones_own() -> None:
    fmt = nf.FloatFormat(3, 8)
    assert (fmt.bits, fmt.bias, fmt.max, fmt.smallest_subnormal) == (12, 3, 15.96875, 2.0**-10)
    assert fmt == nf.FloatFormat(3, 8, 3) and str(fmt) == "float12_e3m8_b3_ieee"
    wide = nf.FloatFormat(15, 48)
    assert not wide.fits_float64 and wide.max == wide.exact(wide.max_code) == (2 - Fraction(1, 2**48)) * 2**16383


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((0, 3), ValueError, "at least 1 exponent bit"),
        ((11, 53), ValueError, "at most 64 bits"),
        ((4, -1), ValueError, "0 mantissa bits"),
        ((4, 0), ValueError, "IEEE specials"),
        ((4.0, 3), TypeError, "exponent_bits must be an int"),
        ((4, 3, 7.5), TypeError, "bias must be an int"),
        ((4, 3, 7, "fn2"), ValueError, "fn2"),
        ((4, 3, 7, Specials.FNUZ, False), ValueError, "no code of negative zero"),
    ],
)
def test_what_makes_no_format(arguments: tuple[object, ...], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        nf.FloatFormat(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("function", [nf.wrap, nf.dot])
def test_integer_functions_refuse_float_formats(function: object) -> None:
    arguments = ([1], [1], nf.E4M3) if function is nf.dot else (1, nf.E4M3)
    with pytest.raises(TypeError, match="expected an integer format"):
        function(*arguments)  # type: ignore[operator]


def test_the_notebook_shows_the_fields() -> None:
    shown = nf.E4M3._repr_html_()
    for part in (">S<", ">EEEE<", ">MMM<", "448", "253"):
        assert part in shown
