"""What may be passed where real numbers are expected: every kind, width and layout, and the kind that comes back."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import numfmt as nf
from numfmt.policies import Rounding
from tests.numfmt.float_oracle import meaning, quantized

pytestmark = pytest.mark.filterwarnings("error")

MODES = [mode for mode in Rounding if mode is not Rounding.STOCHASTIC]
THIRD, TINY = np.longdouble(1) / 3, np.finfo(np.longdouble).smallest_subnormal


def exact(number: Any) -> Fraction:
    """Return a number of any kind as it is."""
    if isinstance(number, Fraction | Decimal | int):
        return Fraction(number)
    if isinstance(number, np.bool_ | np.integer):
        return Fraction(int(number))
    numerator, denominator = (number if isinstance(number, np.longdouble) else float(number)).as_integer_ratio()
    return Fraction(numerator, denominator)


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


NUMBERS = np.array([[1.3, -2.7, 0.0], [430.0, -1e-3, 17.0]])
ARRAYS = {
    "0-d": np.array(1.3),
    "empty": np.empty((0, 3)),
    "one": np.array([1.3]),
    "strided": np.arange(20.0)[::3] / 7,
    "backwards": np.arange(20.0)[::-1] / 7,
    "transposed": NUMBERS.T,
    "columns": np.asfortranarray(NUMBERS),
    "broadcast": np.broadcast_to(np.float32(1.3), (2, 3)),
    "read-only": read_only(NUMBERS.copy()),
    "unaligned": np.frombuffer(b"\0" + NUMBERS.astype("<f4").tobytes(), "<f4", offset=1),
    "float16": NUMBERS.astype(np.float16),
    "strided float16": np.repeat(NUMBERS.astype(np.float16), 2, axis=1)[:, ::2],
    "float32": NUMBERS.astype(np.float32),
    "big-endian float16": NUMBERS.astype(">f2"),
    "big-endian float32": NUMBERS.astype(">f4"),
    "big-endian float64": NUMBERS.astype(">f8")[:, ::2],
    "big-endian int64": np.array([2**62 + 1, -3], ">i8"),
    "int8": np.array([[100, -57]], np.int8),
    "uint64": np.array([2**64 - 1, 2**63 + 1], np.uint64),
    "bool": np.array([True, False]),
    "longdouble": np.array([THIRD, -THIRD, 300 + THIRD]),
    "0-d longdouble": np.array(THIRD),
    "empty longdouble": np.empty((2, 0), np.longdouble),
    "strided longdouble": np.array([[THIRD, 1], [-THIRD, 2]])[:, 0],
    "bfloat16": NUMBERS.astype(ml_dtypes.bfloat16),
    "strided bfloat16": np.repeat(NUMBERS, 2, axis=1).astype(ml_dtypes.bfloat16)[:, ::2],
    "float8": NUMBERS.astype(ml_dtypes.float8_e5m2),
    "float4": NUMBERS.astype(ml_dtypes.float4_e2m1fn),
    "int4": np.array([7, -8], ml_dtypes.int4),
}


def wanted(numbers: list[Any], fmt: nf.FloatFormat, mode: str) -> list[float]:
    return [float(quantized(exact(each), fmt, mode)) for each in numbers]


@pytest.mark.parametrize("mode", ["nearest_even", "toward_zero"])
@pytest.mark.parametrize("fmt", [nf.E4M3, nf.FP16, nf.BF16, nf.FP32], ids=str)
@pytest.mark.parametrize("x", ARRAYS.values(), ids=ARRAYS)
def test_arrays(x: np.ndarray, fmt: nf.FloatFormat, mode: str) -> None:
    before = x.copy()
    result = nf.round_to(x, fmt, mode, "saturate")
    own = x.dtype.name in ("float16", "float32", "float64", "bfloat16") and nf.get_format(x.dtype).contains(fmt)
    assert result.dtype == (x.dtype.newbyteorder("=") if own else np.float64)
    expected = wanted(list(x.ravel()), fmt, mode)
    assert result.astype(np.float64).ravel().tolist() == expected
    if mode == "nearest_even":
        codes = nf.encode(result, fmt)
        inside = np.abs(result.astype(np.float64)) < float(fmt.max)
        assert np.array_equal(nf.encode(x, fmt)[inside], codes[inside])
        assert codes.dtype == fmt.code_dtype and [meaning(int(each), fmt) for each in codes.ravel()] == expected
        result = codes
    assert type(result) is np.ndarray and result.shape == x.shape
    assert result.dtype.isnative and result.flags.writeable and not np.shares_memory(result, x)
    assert np.array_equal(x, before)


TENSORS = {
    "0-d": torch.tensor(1.3),
    "empty": torch.empty(0, 3),
    "strided": torch.arange(20.0)[::3] / 7,
    "transposed": torch.from_numpy(NUMBERS).T,
    "expanded": torch.tensor(1.3).expand(2, 3),
    "float16": torch.from_numpy(NUMBERS).half(),
    "transposed bfloat16": torch.from_numpy(NUMBERS).bfloat16().T,
    "with a gradient": torch.tensor([1.3], requires_grad=True),
    "negative view": torch.tensor([1 + 1.3j, -2.7j]).conj().imag,
    "float8": torch.from_numpy(NUMBERS).to(torch.float8_e5m2),
    "e8m0": torch.from_numpy(NUMBERS).abs().to(torch.float8_e8m0fnu),
    "int64": torch.tensor([2**62 + 1, -3]),
    "uint8": torch.tensor([[200, 3]], dtype=torch.uint8),
    "bool": torch.tensor([True, False]),
}


@pytest.mark.parametrize("mode", ["nearest_even", "toward_zero"])
@pytest.mark.parametrize("fmt", [nf.E4M3, nf.BF16], ids=str)
@pytest.mark.parametrize("x", TENSORS.values(), ids=TENSORS)
def test_tensors(x: torch.Tensor, fmt: nf.FloatFormat, mode: str) -> None:
    result = nf.round_to(x, fmt, mode, "saturate")
    assert isinstance(result, torch.Tensor) and not result.requires_grad
    assert (result.shape, result.device) == (x.shape, x.device)
    own = x.dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16)
    assert result.dtype == (x.dtype if own and nf.get_format(x.dtype).contains(fmt) else torch.float64)
    numbers = x.detach().ravel().tolist()
    assert result.double().ravel().tolist() == wanted(numbers, fmt, mode)
    codes = nf.encode(result, fmt)
    assert codes.dtype == (torch.uint8 if fmt.bits == 8 else torch.uint16) and codes.shape == x.shape
    assert nf.decode(codes, fmt).ravel().tolist() == wanted(numbers, fmt, mode)


@pytest.mark.parametrize(
    ("x", "fmt", "kind"),
    [
        (1.3, nf.E4M3, float),
        (7, nf.E4M3, float),
        (True, nf.E4M3, float),
        (10**400, nf.E4M3, float),
        (Fraction(1, 3), nf.FP64, float),
        (Decimal("0.1"), nf.FP64, float),
        (np.float32(1.3), nf.E4M3, np.float32),
        (np.float32(1.3), nf.FP64, np.float64),
        (np.float16(1.3), nf.BF16, np.float64),
        (np.float64(1.3), nf.BF16, np.float64),
        (np.int64(7), nf.BF16, np.float64),
        (THIRD, nf.BF16, np.float64),
        (ml_dtypes.bfloat16(1.3), nf.E4M3, ml_dtypes.bfloat16),
    ],
    ids=str,
)
def test_single_numbers_keep_their_kind(x: object, fmt: nf.FloatFormat, kind: type) -> None:
    found = nf.round_to(x, fmt, overflow="saturate")
    assert type(found) is kind and float(found) == float(quantized(exact(x), fmt, "nearest_even"))
    code = nf.encode(found, fmt)
    assert type(code) is (int if kind is float else fmt.code_dtype.type)


WIDE = {
    "int64": np.array([2**53 + 1, -(2**53) - 1, 2**62 + 1, -(2**63)], np.int64),
    "uint64": np.array([2**63 + 2**52 + 1, 2**64 - 1], np.uint64),
    "longdouble": np.array([1, -3, 2**60], np.longdouble) / 3,
    "tiny longdouble": np.array([TINY, -TINY, np.longdouble(2) ** -1074 * (1 + THIRD)]),
    "huge longdouble": np.array([np.finfo(np.longdouble).max, 2 - np.longdouble(2) ** -60]),
    "longdouble numbers": [THIRD, -THIRD, np.longdouble(0)],
    "integers": [2**200 + 1, 10**30, -(2**70) - 1, 10**400, 1],
    "mixed": [Fraction(1, 3), Decimal("0.1"), 0.25, True, np.float32(0.1), np.int8(-3)],
    "nested": [[Fraction(-22, 7), 2**80 + 1], [Decimal("1e-30"), 1.1]],
    "far away": [Fraction(1, 10**400), Fraction(-(10**400)), Decimal("-1e-5000"), Decimal("1e5000")],
    "midpoints": [
        1 + Fraction(1, 2**k) + Fraction(sign, 2**200) for k in (4, 8, 24, 31, 41, 52, 53) for sign in (1, -1)
    ],
}
FORMATS = [
    nf.FP64,
    nf.FP32,
    nf.TF32,
    nf.BF16,
    nf.E4M3,
    nf.FloatFormat(11, 51),
    nf.FloatFormat(11, 50),
    nf.FloatFormat(11, 40),
    nf.FloatFormat(8, 30),
    nf.FloatFormat(9, 20, 100, "fn"),
    nf.FloatFormat(7, 40, 63, "fnuz"),
    nf.FloatFormat(6, 30, 31, "finite", signed=False),
    nf.FloatFormat(10, 52, 500, "finite"),
]


@pytest.mark.parametrize("x", WIDE.values(), ids=WIDE)
@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_numbers_that_float64_lacks_round_once(fmt: nf.FloatFormat, x: Any) -> None:
    numbers = (
        list(x.ravel())
        if isinstance(x, np.ndarray)
        else [each for row in x for each in (row if isinstance(row, list) else [row])]
    )
    for mode in MODES:
        found = nf.round_to(x, fmt, mode, "saturate")
        for number, y in zip(numbers, found.ravel().tolist(), strict=True):
            assert Fraction(y) == quantized(exact(number), fmt, mode), (number, mode)
        if not fmt.signed or mode != "nearest_even":
            continue
        codes = np.asarray(nf.encode(x, fmt)).ravel().tolist()
        for code, y in zip(codes, found.ravel().tolist(), strict=True):
            assert meaning(code, fmt) in (Fraction(y), "inf", "-inf", "nan")
            assert abs(y) == fmt.max or meaning(code, fmt) == Fraction(y)


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_codes_and_midpoints_of_wide_formats(fmt: nf.FloatFormat) -> None:
    generator = np.random.default_rng(fmt.mantissa_bits)
    last = fmt.max_code
    codes = {0, 1, 2, last, last - 1, (1 << fmt.mantissa_bits) - 1, 1 << fmt.mantissa_bits}
    codes |= {int(each) % last for each in generator.integers(0, 2**63, 60)}
    values = {code: meaning(code, fmt) for code in codes}
    assert nf.decode(np.array(list(codes), np.uint64), fmt).tolist() == [float(each) for each in values.values()]
    assert nf.encode([float(each) for each in values.values()], fmt).tolist() == list(codes)
    low = sorted(codes - {last})
    below, above = ([meaning(code + step, fmt) for code in low] for step in (0, 1))
    for place, eighths in enumerate((0, 1, 3, 4, 5, 7)):
        x = [a + (b - a) * Fraction(eighths, 8) for a, b in zip(below, above, strict=True)]  # type: ignore[operator]
        for mode in MODES:
            up = [
                {
                    "nearest_even": place > 3 or (place == 3 and code % 2 == 1),
                    "nearest_away": place >= 3,
                    "toward_zero": False,
                    "toward_negative": False,
                    "away_from_zero": place > 0,
                    "toward_positive": place > 0,
                    "to_odd": place > 0 and code % 2 == 0,
                }[mode]
                for code in low
            ]
            expected = [float(b if goes else a) for a, b, goes in zip(below, above, up, strict=True)]  # type: ignore[arg-type]
            assert nf.round_to(x, fmt, mode).tolist() == expected
            if mode == "nearest_even":
                assert nf.encode(x, fmt).tolist() == [code + goes for code, goes in zip(low, up, strict=True)]


@pytest.mark.parametrize(
    ("bias", "x", "mode", "steps"),
    [
        (1054, Fraction(1, 2) + Fraction(1, 2**100), "nearest_even", 1),
        (1054, Fraction(1, 2) - Fraction(1, 2**100), "nearest_away", 0),
        (1055, Fraction(1, 4), "toward_zero", 0),
        (1055, Fraction(1, 4), "nearest_even", 0),
    ],
)
def test_the_last_bits_of_float64(bias: int, x: Fraction, mode: str, steps: int) -> None:
    fmt = nf.FloatFormat(5, 20, bias)
    quantum = Fraction(2) ** (1 - bias - 20)
    assert fmt.fits_float64 and quantum in (Fraction(1, 2**1073), Fraction(1, 2**1074))
    assert Fraction(nf.round_to(x * quantum, fmt, mode)) == steps * quantum


def test_special_numbers_of_every_kind() -> None:
    for kind in (float, Decimal, np.float16, np.float32, np.longdouble, ml_dtypes.bfloat16):
        for text in ("inf", "-inf", "nan", "-0.0"):
            number = kind(text) if kind is not ml_dtypes.bfloat16 else kind(float(text))
            for x in (number, [number], [number, 2**53 + 1]):
                for fmt in (nf.FP16, nf.FP64, nf.FloatFormat(11, 51)):
                    found = float(np.asarray(nf.round_to(x, fmt)).ravel()[0])
                    assert repr(found) == repr(float(text)), (kind, x, fmt)
                    code = int(np.asarray(nf.encode(x, fmt)).ravel()[0])
                    assert code == {"inf": fmt.inf_code, "nan": fmt.nan_code, "-0.0": 1 << (fmt.bits - 1)}.get(
                        text, (fmt.inf_code or 0) | 1 << (fmt.bits - 1)
                    )
    assert math.isnan(nf.round_to(Decimal("sNaN"), nf.FP16))
    wide = np.array([np.nan, np.inf, -np.inf, -0.0, THIRD], np.longdouble)
    np.testing.assert_array_equal(nf.round_to(wide, nf.FP64), [math.nan, math.inf, -math.inf, -0.0, 1 / 3])


OUTS = {
    "float64": lambda shape: np.empty(shape),
    "float32": lambda shape: np.empty(shape, np.float32),
    "float16": lambda shape: np.empty(shape, np.float16),
    "big-endian": lambda shape: np.empty(shape, ">f8"),
    "strided": lambda shape: np.empty((shape[0], 2 * shape[1]))[:, ::2],
    "columns": lambda shape: np.empty(shape, order="F"),
    "bfloat16": lambda shape: np.empty(shape, ml_dtypes.bfloat16),
}


@pytest.mark.parametrize("mode", ["nearest_even", "toward_zero"])
@pytest.mark.parametrize("make", OUTS.values(), ids=OUTS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", ">f4"])
def test_out(dtype: str, make: Callable[[tuple[int, ...]], np.ndarray], mode: str) -> None:
    x = NUMBERS.astype(getattr(ml_dtypes, dtype, dtype))
    out = make(x.shape)
    for policy in ("ieee", "raise"):
        assert nf.round_to(x, nf.E4M3, mode, policy, out=out) is out
        assert out.astype(np.float64).ravel().tolist() == [
            float(quantized(exact(each), nf.E4M3, mode)) for each in x.ravel()
        ]


@pytest.mark.parametrize("mode", ["nearest_even", "toward_zero"])
def test_out_may_be_the_input_or_overlap_it(mode: str) -> None:
    numbers = np.arange(40.0) / 7
    expected = nf.round_to(numbers, nf.E4M3, mode)
    x = numbers.copy()
    assert nf.round_to(x, nf.E4M3, mode, out=x) is x and np.array_equal(x, expected)
    for source, target in (
        (slice(None, -1), slice(1, None)),
        (slice(1, None), slice(None, -1)),
        (slice(None), slice(None, None, -1)),
    ):
        x = numbers.copy()
        nf.round_to(x[source], nf.E4M3, mode, out=x[target])
        assert np.array_equal(x[target], expected[source])


def test_out_stays_as_it_was_when_something_is_wrong() -> None:
    out = np.full(2, 7.0)
    with pytest.raises(OverflowError):
        nf.round_to(np.array([1.0, 500.0]), nf.E4M3, overflow="raise", out=out)
    with pytest.raises(ValueError, match="no code for it"):
        nf.round_to(np.array([1.0, math.nan]), nf.E2M1, out=out)
    assert out.tolist() == [7.0, 7.0]
    for wrong in (np.empty(3), np.empty((2, 1)), [0.0, 0.0], torch.empty(2)):
        with pytest.raises(ValueError, match=r"out must be an array of shape \(2,\)"):
            nf.round_to(np.array([1.0, 2.0]), nf.E4M3, out=wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="read-only"):
        nf.round_to(np.array([1.0, 2.0]), nf.E4M3, out=read_only(np.empty(2)))
    with pytest.raises(TypeError, match="int64"):
        nf.round_to(np.array([1.0, 2.0]), nf.E4M3, out=np.empty(2, np.int64))


@pytest.mark.parametrize("x", [1e30, 1 + 2.0**-20])
def test_out_must_hold_the_format(x: float) -> None:
    with pytest.raises((TypeError, ValueError), match="float16"):
        nf.round_to(np.array([x]), nf.FP32, out=np.empty(1, np.float16))
