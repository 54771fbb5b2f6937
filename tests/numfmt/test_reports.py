"""Faults that people reported of other libraries, each as a test that numfmt gets it right.

A test's name carries the project and the number, its docstring the kind of fault and where it was reported. All
expected values come from arithmetic: a power of two times a small integer, or a rule of the format.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

import numfmt as nf
from numfmt.float_format import FLOAT_FORMATS
from numfmt.policies import Rounding
from tests.numfmt.test_loss_scaling import Twin

pytestmark = pytest.mark.filterwarnings("error")

DETERMINISTIC = [mode for mode in Rounding if mode is not Rounding.STOCHASTIC]


def test_ml_dtypes_401_wide_numbers_round_once() -> None:
    """Conversions by way of float32 round twice, and the first rounding makes ties that weren't there.

    https://github.com/jax-ml/ml_dtypes/pull/401
    """
    below_tie = math.nextafter(-432, 0)  # halfway between 416 and 448 lies 432
    assert nf.round_to(np.array([below_tie]), nf.E4M3).tolist() == [-416.0]
    assert nf.round_to(np.array([1 + 2.0**-8 + 2.0**-40]), nf.BF16).tolist() == [1 + 2.0**-7]
    assert nf.round_to(np.array([1 + 2.0**-4 + 2.0**-40]), nf.E4M3).tolist() == [1.125]
    assert nf.round_to(np.array([math.nextafter(248, 0)]), nf.E4M3IEEE).tolist() == [240.0]
    # 258.99… * 2**16, whose neighbours are 258 * 2**16 and 260 * 2**16; float32 makes it the tie, 259 * 2**16.
    assert nf.round_to(np.array([259 * 2**16 - 1]), nf.BF16).tolist() == [258 * 2**16]
    if np.finfo(np.longdouble).nmant > 52:
        x = np.longdouble(1) + np.longdouble(2) ** -8 + np.longdouble(2) ** -60
        assert nf.round_to(np.array([x]), nf.BF16).tolist() == [1 + 2.0**-7]
        assert nf.encode(np.array([x]), nf.BF16).tolist() == [0x3F81]


def test_ml_dtypes_260_out_of_range_is_a_choice() -> None:
    """A cast far beyond the range gives NaN in one library and the largest value in another.

    https://github.com/jax-ml/ml_dtypes/issues/260
    """
    x = np.array([3e10, 465, 464, -464, -465])
    assert nf.round_to(x, nf.E4M3, overflow="saturate").tolist() == [448, 448, 448, -448, -448]
    strict = nf.round_to(x, nf.E4M3)
    assert np.isnan(strict).tolist() == [True, True, False, False, True]
    assert strict[2:4].tolist() == [448, -448]  # the tie at max + ulp/2 goes to the even code, which is 448's


def test_ml_dtypes_147_rounding_down_to_max_is_no_saturation() -> None:
    """449 becomes 448 without any saturation, for it is nearer to 448 than to 480, the next step.

    https://github.com/jax-ml/ml_dtypes/issues/147
    """
    for policy in ("ieee", "saturate", "saturate_finite", "raise"):
        assert nf.round_to(449.0, nf.E4M3, overflow=policy) == 448
    assert math.isnan(nf.round_to(480.0, nf.E4M3))
    with pytest.raises(OverflowError, match=r"480\.0.* beyond E4M3"):
        nf.round_to(480.0, nf.E4M3, overflow="raise")


@pytest.mark.parametrize("x", [math.inf, -math.inf, math.nan])
def test_ml_dtypes_320_an_int4_of_infinity_is_an_error_that_says_so(x: float) -> None:
    """The constructor of a 4-bit integer fails with an internal error, and its cast gives 0.

    https://github.com/jax-ml/ml_dtypes/issues/320
    """
    for function in (nf.encode, nf.wrap):
        for kind in (x, np.float32(x), np.array([x]), [x]):
            with pytest.raises(TypeError, match=r"expected integers, got .*round it first"):
                function(kind, nf.INT4)
    with pytest.raises(ValueError, match="NaN or infinities"):
        nf.quantize([x], 4)
    with pytest.raises(OverflowError, match="value 8 does not fit INT4"):
        nf.encode(8, nf.INT4)


def test_ml_dtypes_312_results_can_be_compared_with_isclose() -> None:
    """numpy.isclose has no common type for bfloat16 arrays; what numfmt returns are ordinary floats.

    https://github.com/jax-ml/ml_dtypes/issues/312
    """
    x = np.array([0.0, 1.1, -300.0])
    plain = nf.round_to(x, nf.BF16)
    widened = nf.round_to(x.astype(ml_dtypes.bfloat16), nf.FP32)
    decoded = nf.decode(nf.encode(x, nf.BF16), nf.BF16)
    for array in (plain, widened, decoded):
        assert array.dtype == np.float64 and array.tolist() == [0.0, 141 / 128, -300.0]
        assert np.isclose(array, x, rtol=2.0**-8).all()


@pytest.mark.parametrize("fmt", [fmt for fmt in FLOAT_FORMATS if fmt.name in dir(ml_dtypes)], ids=str)
def test_ml_dtypes_318_finfo_of_every_dtype(fmt: nf.FloatFormat) -> None:
    """numpy.finfo doesn't know the small dtypes; the format of a dtype has finfo's words.

    https://github.com/jax-ml/ml_dtypes/issues/318
    """
    info = nf.get_format(np.dtype(getattr(ml_dtypes, fmt.name)))
    assert isinstance(info, nf.FloatFormat) and info is fmt
    e, m = (8, 7) if fmt is nf.BF16 else (int(digit) for digit in re.findall(r"[em](\d)", fmt.name))
    assert (info.bits, info.nexp, info.nmant, info.eps) == (fmt.signed + e + m, e, m, 2.0**-m)
    assert info.smallest_normal == 2.0**info.minexp and info.max < 2.0**info.maxexp <= info.max * 2
    assert info.smallest_subnormal == (2.0 ** (info.minexp - m) if m else None)


def test_pytorch_ao_1912_saturation_is_asked_for_and_keeps_nan() -> None:
    """One path of a library saturates and another doesn't; and clamping must not turn NaN into a number.

    https://github.com/pytorch/ao/issues/1912
    """
    x = np.array([480.0, -480.0, 448.0, math.nan], np.float32)
    np.testing.assert_array_equal(nf.round_to(x, nf.E4M3), [math.nan, math.nan, 448, math.nan])
    np.testing.assert_array_equal(nf.round_to(x, nf.E4M3, overflow="saturate"), [448, -448, 448, math.nan])


def test_pytorch_ao_2035_the_scale_rule_is_named() -> None:
    """Rounding log2(amax / max) up is another rule than OCP's rounded exponents of amax and max apart.

    https://github.com/pytorch/ao/issues/2035
    """
    codes = {rule: nf.mx_quantize([150.0], nf.E4M3, rule).codes()[1].tolist() for rule in ("rceil", "ceil", "floor")}
    assert codes == {"rceil": [126], "ceil": [127], "floor": [126]}
    # 300 / 448 needs 2**0, 300 has the exponent 8, and 8 - 8 = 0; rounded up it is 9 - 8 = 1.
    scales = {rule: nf.mx_quantize([300.0], nf.E4M3, rule).scales.tolist() for rule in ("rceil", "ceil", "floor")}
    assert scales == {"rceil": [1.0], "ceil": [2.0], "floor": [1.0]}


def test_pytorch_ao_4725_a_scale_comes_from_amax_itself() -> None:
    """Rounding amax to bfloat16 before taking its exponent lifts some values over the threshold.

    https://github.com/pytorch/ao/pull/4725
    """
    below = np.nextafter(np.float32(512), np.float32(0))
    assert below.astype(ml_dtypes.bfloat16) == 512
    assert nf.mx_quantize([below], nf.E4M3).scales.tolist() == [1.0]
    above = np.nextafter(np.float32(448), np.float32(1000))
    assert above.astype(ml_dtypes.bfloat16) == 448
    assert nf.mx_quantize([above], nf.E4M3, "rceil").scales.tolist() == [2.0]
    assert nf.mx_quantize([448.0], nf.E4M3, "rceil").scales.tolist() == [1.0]


def test_pytorch_ao_436_a_block_maximum_that_rounds_beyond_the_format_saturates() -> None:
    """The floor rule scales 127.9999 to just below 2**16 in E5M2, which rounds up: OCP says clamp.

    https://github.com/pytorch/ao/issues/436
    """
    x = np.array([*range(1, 32), 127.99999], np.float32)
    found = nf.mx_quantize(x, nf.E5M2)
    assert found.scales.tolist() == [2.0 ** (6 - 15)] and found.codes()[1].tolist() == [118]
    assert found.elements[[0, 7, 8, 31]].tolist() == [512, 4096, 4096, 57344]  # 9 is the tie of 8 and 10
    assert found.dequantize()[31] == 112
    assert nf.mx_quantize(x, nf.E5M2, "rceil").dequantize()[31] == 128


def test_pytorch_ao_2939_the_first_code_goes_to_the_low_nibble() -> None:
    """Two 4-bit codes share a byte, and a library had the first in the high half; OCP and ONNX have it in the low.

    https://github.com/pytorch/ao/issues/2939
    """
    assert nf.pack([0x1, 0xA]).tolist() == [0xA1]
    assert nf.pack([0x1, 0xA], first="high").tolist() == [0x1A]
    assert nf.pack([-1, 7]).tolist() == [0x7F]
    assert nf.pack(nf.encode(np.array([0.5, -1.0, 6.0]), nf.E2M1)).tolist() == [0xA1, 0x07]
    oracle = sum(code << (2 * place) for place, code in enumerate([3, 0, 1, 2]))
    assert nf.pack([3, 0, 1, 2], 2).tolist() == [oracle]


@pytest.mark.parametrize(("fmt", "largest"), [(nf.E4M3FNUZ, 240.0), (nf.E5M2FNUZ, 57344.0)], ids=str)
def test_onnx_6220_infinity_in_a_format_without_it(fmt: nf.FloatFormat, largest: float) -> None:
    """A reference turned infinity into the largest value where its table said NaN: now it is the caller's choice.

    https://github.com/onnx/onnx/issues/6220
    """
    x = np.array([math.inf, -math.inf])
    assert np.isnan(nf.round_to(x, fmt)).all() and nf.encode(x, fmt).tolist() == [0x80, 0x80]
    assert nf.round_to(x, fmt, overflow="saturate").tolist() == [largest, -largest]
    assert np.isnan(nf.round_to(x, fmt, overflow="saturate_finite")).all()


def test_onnx_7030_e8m0_in_every_direction() -> None:
    """Libraries round to E8M0 up, down or to nearest, and say so nowhere; here direction and overflow are named.

    https://github.com/onnx/onnx/pull/7030
    """
    x = np.array([1.0, 1.125, 1.5, 1.9, 5.0])
    assert nf.round_to(x, nf.E8M0, "toward_positive").tolist() == [1, 2, 2, 2, 8]
    assert nf.round_to(x, nf.E8M0, "toward_zero").tolist() == [1, 1, 1, 1, 4]
    assert nf.round_to(x, nf.E8M0).tolist() == [1, 1, 2, 2, 4]
    ends = np.array([0.0, math.inf, 1.25 * 2.0**127, math.nan])
    saturated = nf.round_to(ends, nf.E8M0, "toward_positive", "saturate")
    np.testing.assert_array_equal(saturated, [2.0**-127, 2.0**127, 2.0**127, math.nan])
    np.testing.assert_array_equal(nf.round_to(ends, nf.E8M0), [math.nan, math.nan, 2.0**127, math.nan])


def test_microxcaling_4_the_floor_rule_saturates_the_largest_of_a_block() -> None:
    """957 comes back as 896 with OCP's default scale, where 960 was near; RCEIL saves it.

    https://github.com/microsoft/microxcaling/issues/4
    """
    x = np.array([957.0, 1.0])
    assert nf.mx_quantize(x, nf.E4M3).dequantize().tolist() == [448 * 2.0, 1.0]
    assert nf.mx_quantize(x, nf.E4M3, "rceil").dequantize().tolist() == [240 * 4.0, 1.0]


def test_gfloat_49_rounding_skips_no_value() -> None:
    """An exponent from log2 is one too large just below a power of two, and rounding down then skips a value.

    https://github.com/graphcore-research/gfloat/pull/49
    """
    a, b = 6.6461399789245764e35, 6.620178494631905e35
    assert b == (2 - 2.0**-7) * 2.0**118 < a < 2.0**119
    for x in (a, np.float64(a), np.array([a])):
        assert nf.round_to(x, nf.BF16, "toward_zero") == b


@pytest.mark.parametrize("mode", DETERMINISTIC)
def test_gfloat_62_e8m0_has_nothing_below_its_smallest_value(mode: str) -> None:
    """Numbers below 2**-127 came back as they were, which E8M0 can't hold, and were then encoded as NaN.

    https://github.com/graphcore-research/gfloat/issues/62
    """
    x = np.array([2.0**-128, 1.99 * 2.0**-128, 2.0**-149, 5e-324])
    for policy in ("ieee", "saturate", "saturate_finite", "raise"):
        assert nf.round_to(x, nf.E8M0, mode, policy).tolist() == [2.0**-127] * 4
    assert nf.encode(x, nf.E8M0).tolist() == [0] * 4


def test_higham_chop_5_exponents_just_below_powers_of_two() -> None:
    """floor(log2(x)) is wrong for the last numbers before a power of two.

    https://github.com/higham/chop/pull/5
    """
    powers = 2.0 ** np.arange(-1000, 1024)
    below = np.nextafter(powers, 0)
    assert (np.floor(np.log2(below)) == np.log2(powers)).any()
    assert np.array_equal(nf.round_to(below, nf.FloatFormat(11, 10), "toward_zero"), powers * (1 - 2.0**-11))
    assert np.array_equal(nf.spacing(below, nf.FloatFormat(11, 10)), powers * 2.0**-11)


def test_qpytorch_23_ties_go_to_even() -> None:
    """Nearest rounding that sends ties away from zero disagrees with the half precision of everybody else.

    https://github.com/Tiiiger/QPyTorch/issues/23
    """
    x = np.array([1 + 2.0**-11, 1 + 3 * 2.0**-11], np.float32)
    assert nf.round_to(x, nf.FP16).tolist() == [1.0, 1 + 2 * 2.0**-10]
    assert nf.round_to(x, nf.FP16, "nearest_away").tolist() == [1 + 2.0**-10, 1 + 2 * 2.0**-10]


def test_qpytorch_24_subnormals_are_values_too() -> None:
    """A cast to half precision that knows no subnormals flushes numbers that half precision has.

    https://github.com/Tiiiger/QPyTorch/issues/24
    """
    steps = np.arange(1, 1024)
    for off, wanted in ((0.0, steps), (0.25, steps), (-0.25, steps), (0.5, steps + steps % 2)):
        x = ((steps + off) * 2.0**-24).astype(np.float32)
        assert np.array_equal(nf.round_to(x, nf.FP16), (wanted * 2.0**-24).astype(np.float32))


def test_qpytorch_48_the_full_width_changes_nothing() -> None:
    """Quantizing float32 to 8 exponent and 23 mantissa bits flipped signs; it has to be the identity.

    https://github.com/Tiiiger/QPyTorch/issues/48
    """
    codes = np.random.default_rng(48).integers(0, 2**32, 10_000, dtype=np.uint32)
    x = np.concatenate([codes.view(np.float32), np.float32([3.0, -3.0, 0.0, -0.0, math.inf, -math.inf])])
    x = x[~np.isnan(x)]
    for fmt in (nf.FP32, nf.FloatFormat(8, 23)):
        assert np.array_equal(nf.round_to(x, fmt).view(np.uint32), x.view(np.uint32))


@pytest.mark.parametrize("fmt", [fmt for fmt in FLOAT_FORMATS if fmt.has_subnormals and fmt is not nf.FP64], ids=str)
def test_apytypes_1023_a_subnormal_carries_into_the_exponent(fmt: nf.FloatFormat) -> None:
    """A number that rounds up from the subnormals to the smallest normal one kept a mantissa and lost the exponent.

    https://github.com/apytypes/apytypes/issues/1023
    """
    smallest, quantum = 2.0**fmt.minexp, 2.0 ** (fmt.minexp - fmt.mantissa_bits)
    x = np.array([smallest - quantum / 4, smallest - quantum / 2, quantum / 2 * 1.5, smallest / 2 - quantum / 4])
    assert nf.round_to(x, fmt).tolist() == [smallest, smallest, quantum, max(smallest / 2, quantum)]
    m = fmt.mantissa_bits
    assert nf.encode(x, fmt).tolist() == [1 << m, 1 << m, 1, 1 << (m - 1)]


def test_transformer_engine_485_the_largest_value_is_the_format_s_own() -> None:
    """A scale made with 448, the largest value of E4M3, overflows E4M3FNUZ, whose largest is 240.

    https://github.com/ROCm/TransformerEngine/pull/485
    """
    assert nf.E4M3FNUZ.max == (2 - 2.0**-3) * 2**7 == 240 and nf.E4M3.max == (2 - 2.0**-2) * 2**8 == 448
    x = np.array([960.0, -480.0, 30.0])
    assert nf.round_to(x * (float(nf.E4M3FNUZ.max) / 960), nf.E4M3FNUZ).tolist() == [240, -120, 7.5]
    assert np.isnan(nf.round_to(x * (448 / 960), nf.E4M3FNUZ)).tolist() == [True, False, False]


def test_vllm_7210_the_same_bits_are_half_as_much_in_fnuz() -> None:
    """Weights stored as E4M3FN and read as E4M3FNUZ are off by a factor of 2, which the scale has to make good.

    https://github.com/vllm-project/vllm/pull/7210
    """
    codes = np.setdiff1d(np.arange(256), [0x7F, 0x80, 0xFF])
    assert np.array_equal(nf.decode(codes, nf.E4M3), 2 * nf.decode(codes, nf.E4M3FNUZ))


def test_vllm_50467_the_codes_that_mean_something_else_in_fnuz() -> None:
    """-0 in E4M3FN has the bits of FNUZ's NaN, and its two NaNs are numbers there: bits alone are no conversion.

    https://github.com/vllm-project/vllm/issues/50467
    """
    codes = np.array([0x7F, 0x80, 0xFF])
    np.testing.assert_array_equal(nf.decode(codes, nf.E4M3), [math.nan, -0.0, math.nan])
    np.testing.assert_array_equal(nf.decode(codes, nf.E4M3FNUZ), [240, math.nan, -240])
    assert nf.encode(nf.decode(codes, nf.E4M3) / 2, nf.E4M3FNUZ).tolist() == [0x80, 0x00, 0x80]
    halves = nf.values(nf.E4M3)[:0x7F] / 2
    assert nf.encode(halves, nf.E4M3FNUZ).tolist() == list(range(0x7F))


def test_numpy_22208_a_half_precision_sum_of_ones_stops_at_2048() -> None:
    """A float16 sum stalls where one more is half a step: numfmt shows the step and has the cures.

    https://github.com/numpy/numpy/issues/22208
    """
    ones = np.ones(2100, np.float16)
    partial = nf.running_sum(ones, nf.FP16, partial=True)
    assert partial[:2048].tolist() == list(range(1, 2049)) and (partial[2047:] == 2048).all()
    assert nf.spacing(2048.0, nf.FP16) == 2
    assert nf.kahan_sum(ones, nf.FP16) == nf.pairwise_sum(ones, nf.FP16) == 2100


def test_numpy_15785_the_order_of_a_sum_is_the_caller_s() -> None:
    """The same float16 ones add up to 2048 along one axis and to 3000 along another; the order is hidden.

    https://github.com/numpy/numpy/issues/15785
    """
    ones = np.ones((3000, 2), np.float16)
    column = ones[:, 1]
    assert not column.flags.c_contiguous
    for x in (column, column.copy()):
        assert nf.running_sum(x, nf.FP16) == 2048
        assert nf.pairwise_sum(x, nf.FP16) == nf.blocked_sum(x, nf.FP16, 100) == 3000


@pytest.mark.parametrize("fmt", [nf.FP16, nf.FP32, nf.FP64, nf.BF16, nf.E4M3], ids=str)
def test_numpy_15331_spacing_is_a_distance(fmt: nf.FloatFormat) -> None:
    """numpy.spacing is negative for some negative numbers, and looks the other way for float16.

    https://github.com/numpy/numpy/issues/15331
    """
    for x in (1.0, 1.5, 2.0):
        assert nf.spacing(-x, fmt) == nf.spacing(x, fmt) == fmt.eps * (1 if x < 2 else 2)
    assert nf.spacing(-0.0, fmt) == nf.spacing(0.0, fmt) == fmt.smallest_subnormal


def test_onnxruntime_10170_a_symmetric_range_leaves_the_lowest_code_free() -> None:
    """A symmetric quantizer that counts -128 in gets a zero point other than 0.

    https://github.com/microsoft/onnxruntime/pull/10170
    """
    for bits in (2, 4, 8, 16):
        top = 2 ** (bits - 1) - 1
        found = nf.quantize([-3.0, 1.0, 3.0], bits)
        assert found.codes[[0, 2]].tolist() == [-top, top] and found.zero_point.item() == 0
        assert found.scale.item() == 3 / top


def test_onnxruntime_18576_half_precision_input_is_rounded_not_cut() -> None:
    """Codes of float16 numbers were cut toward zero instead of rounded to nearest.

    https://github.com/microsoft/onnxruntime/issues/18576
    """
    x = np.array([2.11, 2.5, 2.6, 5.3, 5.5, 5.9, 61.3, 62.5, 80.9, -80.9, 127], np.float16)
    assert nf.quantize(x).codes.tolist() == [2, 2, 3, 5, 6, 6, 61, 62, 81, -81, 127]


def test_onnxruntime_25045_ties_go_to_even_before_the_zero_point_is_added() -> None:
    """Rounding ties away, or rounding the sum with the zero point, is off by one in a part of the codes.

    https://github.com/microsoft/onnxruntime/issues/25045
    """
    x = [127.0, -127.0, 2.5, -2.5, 3.5, 0.5]
    assert nf.quantize(x).codes.tolist() == [127, -127, 2, -2, 4, 0]
    affine = nf.quantize([-1.0, 254.0, 0.5, 1.5], 8, "zero_point")
    assert (affine.scale.item(), affine.zero_point.item()) == (1.0, 1)
    assert affine.codes.tolist() == [0, 255, 1, 3]


def test_pytorch_108646_an_affine_range_holds_zero() -> None:
    """Users wonder why the range of an affine quantizer includes 0: so that 0.0 comes back as 0.0.

    https://github.com/pytorch/pytorch/issues/108646
    """
    found = nf.quantize([5.0, 5.0, 7.0], 8, "zero_point")
    assert (found.scale.item(), found.zero_point.item()) == (7 / 255, 0)
    negative = nf.quantize([-3.0, -1.0], 4, "zero_point")
    assert negative.zero_point.item() == 15 and negative.dequantize()[0] == -15 * (3 / 15)
    assert nf.quantize([5.0, 0.0, 7.0], 8, "zero_point").dequantize()[1] == 0.0


def test_pytorch_98828_a_scale_does_not_grow_to_infinity() -> None:
    """Gradients that never overflow let the loss scale grow beyond float32.

    https://github.com/pytorch/pytorch/issues/98828
    """
    twin, free = Twin(growth_interval=1), nf.LossScaler(growth_interval=1)
    held = nf.LossScaler(growth_interval=1, max_scale=2.0**20)
    for _ in range(150):
        free, held = free.updated(False), held.updated(False)
        assert free.scale == twin.step(False)[0]
    assert (free.scale, held.scale) == (2.0**127, 2.0**20)


def test_deepspeed_1958_a_scale_at_its_floor_says_so() -> None:
    """At its lowest scale a run skips every step and loops for ever; the caller must see it.

    https://github.com/deepspeedai/DeepSpeed/issues/1958
    """
    scaler, steps = nf.LossScaler(scale=8.0, min_scale=1.0), 0
    while not scaler.at_floor:
        scaler, steps = scaler.updated(True), steps + 1
    assert (scaler.scale, steps) == (1.0, 3)
    assert scaler.updated(True).scale == 1.0
    assert not nf.LossScaler(enabled=False).at_floor


def test_insightface_2262_a_scale_that_reaches_zero() -> None:
    """Without a lower limit the loss scale becomes 0, as torch's does, and nothing is learnt; with one it doesn't.

    https://github.com/deepinsight/insightface/issues/2262
    """
    twin, free, held = Twin(), nf.LossScaler(), nf.LossScaler(min_scale=2.0**-10)
    for _ in range(200):
        free, held = free.updated(True), held.updated(True)
        assert free.scale == twin.step(True)[0]
    assert free.scale == 0 and free.at_floor
    assert held.scale == 2.0**-10


REPORTS = {
    "jax-ml/ml_dtypes": [401, 260, 147, 320, 312, 318],
    "pytorch/ao": [1912, 2035, 4725, 436, 2939],
    "onnx/onnx": [6220, 7030],
    "microsoft/microxcaling": [4],
    "graphcore-research/gfloat": [49, 62],
    "higham/chop": [5],
    "Tiiiger/QPyTorch": [23, 24, 48],
    "apytypes/apytypes": [1023],
    "ROCm/TransformerEngine": [485],
    "vllm-project/vllm": [7210, 50467],
    "numpy/numpy": [22208, 15785, 15331],
    "microsoft/onnxruntime": [10170, 18576, 25045],
    "pytorch/pytorch": [108646, 98828],
    "deepspeedai/DeepSpeed": [1958],
    "deepinsight/insightface": [2262],
}


def test_each_report_has_one_test_that_names_and_links_it() -> None:
    tests: dict[str, Callable[..., None]] = {name: f for name, f in globals().items() if name.startswith("test_")}
    found = []
    for name, function in tests.items():
        for project, number in re.findall(r"https://github\.com/(\S+)/(?:issues|pull)/(\d+)", function.__doc__ or ""):
            assert f"_{number}_" in name, name
            found.append((project, int(number)))
    assert sorted(found) == sorted((project, number) for project, each in REPORTS.items() for number in each)
