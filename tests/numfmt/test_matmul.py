"""Matrix products with chosen product and accumulator formats, element by element against `dot` and the machine."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import numfmt as nf

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize("multiply", [None, nf.BF16, nf.E4M3], ids=str)
@pytest.mark.parametrize(
    "accumulate", [nf.FP64, nf.FP32, nf.FP16, nf.BF16, nf.E5M2FNUZ, nf.E2M1, nf.FloatFormat(11, 51)], ids=str
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_element_is_the_dot_of_a_row_and_a_column(
    multiply: nf.FloatFormat | None, accumulate: nf.FloatFormat, dtype: type
) -> None:
    generator = np.random.default_rng(7)
    a, b = generator.standard_normal((3, 40)).astype(dtype), generator.standard_normal((40, 2)).astype(dtype)
    a[0, 0], b[3, 1] = 2.0**-60, -(2.0**-40)
    result = nf.matmul(a, b, multiply, accumulate)
    assert result.shape == (3, 2) and result.dtype == np.float64
    for i in range(3):
        for j in range(2):
            assert result[i, j] == nf.dot(a[i], b[:, j], multiply, accumulate)


def test_an_addition_that_float64_lacks_rounds_once() -> None:
    a = [[1.0, 2.0**-8 * (1 + 2.0**-23)]]
    b = [[1 + 2.0**-7], [1 - 2.0**-23]]  # the second product is 2**-54 short of a tie that would go up to even
    assert nf.matmul(a, b, None, nf.BF16).tolist() == [[1 + 2.0**-7]]
    assert nf.round_to(b[0][0] + a[0][1] * b[1][0], nf.BF16) == 1 + 2.0**-6


def test_narrow_multiplication_with_a_wide_accumulator() -> None:
    """A column of ones stalls at 2048 in FP16 and at 256 in BF16, and nowhere in FP32."""
    ones = np.ones((1, 5000), np.float16)
    ends = [nf.matmul(ones, ones.T, fmt, wide)[0, 0] for fmt in (nf.FP16,) for wide in (nf.FP16, nf.BF16, nf.FP32)]
    assert ends == [2048, 256, 5000]


def test_integers_wrap_as_numpy_s() -> None:
    generator = np.random.default_rng(8)
    a, b = (generator.integers(-128, 128, shape, dtype=np.int8) for shape in ((4, 300), (300, 5)))
    np.testing.assert_array_equal(nf.matmul(a, b, nf.INT8, nf.INT8), a @ b)
    np.testing.assert_array_equal(nf.matmul(a, b), a.astype(np.int32) @ b.astype(np.int32))
    assert nf.matmul([[2**40]], [[2**40]], accumulate=None).tolist() == [[2**80]]


def test_kinds_of_input() -> None:
    x = torch.tensor([[0.5, 2.0]], dtype=torch.bfloat16)
    result = nf.matmul(x, x.T, None, nf.FP32)
    assert isinstance(result, torch.Tensor) and result.dtype == torch.float64 and result.tolist() == [[4.25]]
    assert nf.matmul(np.zeros((2, 0)), np.zeros((0, 3)), None, nf.FP16).tolist() == [[0.0] * 3] * 2
    assert nf.matmul(np.zeros((0, 2)), np.zeros((2, 3)), None, nf.FP16).shape == (0, 3)
    assert math.isnan(nf.matmul([[math.inf]], [[0.0]], None, nf.FP16)[0, 0])
    assert nf.matmul([[300.0]], [[300.0]], nf.FP16, nf.FP32)[0, 0] == math.inf


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (([[1.0]], [1.0], None, nf.FP32), ValueError, r"\(1, 1\) and \(1,\)"),
        (([[1, 2]], [[1, 2]]), ValueError, "transpose one"),
        (([[1.0]], [[1.0]], nf.INT8, nf.FP32), TypeError, "expected a float format"),
        (([[1]], [[1]], nf.BF16, nf.INT32), TypeError, "expected an integer format"),
        (([[1.0]], [[1.0]]), TypeError, "expected integers"),
    ],
)
def test_wrong_calls(arguments: tuple[object, ...], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        nf.matmul(*arguments)  # type: ignore[arg-type]
