"""Dot products with chosen product and accumulator formats: the course's figures, and an oracle in Fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import torch

import numfmt as nf


def vectors() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(1)
    return nf.round_to(generator.standard_normal(4096), nf.BF16), nf.round_to(
        generator.standard_normal(4096), nf.BF16
    )


@pytest.mark.parametrize(
    ("multiply", "accumulate", "result"),
    [
        (nf.BF16, nf.BF16, 30.625),
        (None, nf.BF16, 30.125),
        (nf.BF16, nf.FP32, 29.990547),
        (None, nf.FP32, 29.969946),
        (None, nf.FP64, 29.969941),
    ],
    ids=str,
)
def test_the_error_comes_from_the_accumulator(multiply: object, accumulate: object, result: float) -> None:
    assert nf.dot(*vectors(), multiply, accumulate) == pytest.approx(result, abs=5e-7)


@pytest.mark.parametrize("multiply", [None, nf.FP16, nf.E5M2], ids=str)
@pytest.mark.parametrize("accumulate", [nf.FP16, nf.BF16, nf.E4M3], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_step_rounds_once(multiply: nf.FloatFormat | None, accumulate: nf.FloatFormat, dtype: type) -> None:
    generator = np.random.default_rng(4)
    a, b = (generator.standard_normal(60).astype(dtype) for _ in range(2))
    total = 0.0
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        product: Fraction | float = Fraction(x) * Fraction(y)
        if multiply is not None:
            product = nf.round_to(product, multiply)
        total = nf.round_to(Fraction(total) + Fraction(product), accumulate)
    assert nf.dot(a, b, multiply, accumulate) == total


def test_kinds_of_input() -> None:
    assert nf.dot([0.5, 2], [4, 0.25], None, "bfloat16") == 2.5
    x = torch.tensor([0.5, 2.0], dtype=torch.bfloat16)
    assert nf.dot(x, x, None, nf.FP32) == 4.25
    assert nf.dot([], [], None, nf.FP32) == 0.0
    assert math.isnan(nf.dot([math.inf, 1.0], [0.0, 1.0], None, nf.FP32))
    assert nf.dot([1e30, 1.0], [1e30, 1.0], None, nf.FP32) == math.inf


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (([1.0], [1.0, 2.0], None, nf.FP32), ValueError, "equally many"),
        (([[1.0]], [1.0], None, nf.FP32), ValueError, "must be 1-D"),
        (([1.0], [1.0], nf.INT8, nf.FP32), TypeError, "expected a float format"),
        (([1], [1], nf.BF16, nf.INT32), TypeError, "expected an integer format"),
        (([1.0], [1.0]), TypeError, "expected integers"),
    ],
)
def test_wrong_calls(arguments: tuple[object, ...], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        nf.dot(*arguments)  # type: ignore[arg-type]
