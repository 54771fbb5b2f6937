"""Clipping after unscaling, and master weights: the course's figures, and torch's own clipping."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import numfmt as nf

pytestmark = pytest.mark.filterwarnings("error")


def test_clipping_first_shrinks_the_update_to_one_over_the_scale() -> None:
    scaler = nf.LossScaler()
    true = np.array([0.03, -0.04], np.float32)
    stored = scaler.scaled(true)
    [right], norm, overflowed = nf.unscale_then_clip(scaler, [stored], max_norm=1.0)
    assert not overflowed and norm == pytest.approx(0.05) and right.tolist() == true.tolist()
    clipped, scaled_norm = nf.clip_by_norm([stored], max_norm=1.0)
    assert scaled_norm == pytest.approx(0.05 * 2**16)
    [wrong], _ = scaler.unscaled(clipped)
    assert float(np.linalg.norm(wrong)) == pytest.approx(1.53e-5, rel=0.005) == 2.0**-16


def test_an_infinity_clips_to_nan_and_zero() -> None:
    [clipped], norm = nf.clip_by_norm([np.array([math.inf, 1.0])], 1.0)
    np.testing.assert_array_equal(clipped, [math.nan, 0.0])
    assert norm == math.inf
    [kept], _, overflowed = nf.unscale_then_clip(nf.LossScaler(scale=2.0), [np.array([math.inf, 1.0])], 1.0)
    assert overflowed and kept.tolist() == [math.inf, 0.5]


@pytest.mark.parametrize("max_norm", [0.1, 1.0, 100.0])
def test_clipping_is_torch_s(max_norm: float) -> None:
    generator = np.random.default_rng(6)
    arrays = [generator.standard_normal(shape).astype(np.float32) for shape in ((3, 4), (5,))]
    weights = [torch.nn.Parameter(torch.zeros(each.shape)) for each in arrays]
    for weight, array in zip(weights, arrays, strict=True):
        weight.grad = torch.from_numpy(array.copy())
    theirs = torch.nn.utils.clip_grad_norm_(weights, max_norm)
    clipped, norm = nf.clip_by_norm([arrays[0], torch.from_numpy(arrays[1])], max_norm)
    assert norm == pytest.approx(float(theirs), rel=1e-6)
    for weight, ours in zip(weights, clipped, strict=True):
        torch.testing.assert_close(torch.as_tensor(ours), weight.grad, rtol=2e-5, atol=0.0)


def test_clipping_half_precision_does_not_overflow() -> None:
    [clipped], norm = nf.clip_by_norm([np.full(4, 60000, np.float16)], 1.0)
    assert norm == 120000 and clipped.dtype == np.float32 and clipped.tolist() == [0.5] * 4
    assert nf.clip_by_norm([], 1.0) == ([], 0.0)
    with pytest.raises(ValueError, match="above 0"):
        nf.clip_by_norm([np.ones(2)], 0.0)


@pytest.mark.parametrize(
    ("fmt", "update", "swallowed", "kept"),
    [
        (nf.BF16, 0.01, 4.0, 11.0),
        (nf.BF16, 0.005, 2.0, 6.0),
        (nf.BF16, 0.001, 1.0, 2.0),
        (nf.FP16, 0.001, 1.9766, 2.0),
    ],
    ids=str,
)
def test_a_thousand_updates(fmt: nf.FloatFormat, update: float, swallowed: float, kept: float) -> None:
    assert nf.running_sum([1.0] + [update] * 1000, fmt) == pytest.approx(swallowed, abs=5e-5)
    state = nf.master_weights(np.ones(1), fmt)
    for _ in range(1000):
        state = state.updated(update)
    assert state.weights[0] == kept


def test_master_weights_keep_their_kind() -> None:
    start = torch.ones(2, dtype=torch.bfloat16)
    state = nf.master_weights(start, "bfloat16").updated(torch.full((2,), 2.0**-10, dtype=torch.bfloat16))
    assert state.master.dtype == torch.float32 and state.master.tolist() == [1 + 2.0**-10] * 2
    assert state.weights.tolist() == [1.0, 1.0] and start.tolist() == [1.0, 1.0]
    array = nf.master_weights(np.ones(2, np.float16), nf.FP16).updated(np.full(2, 2.0**-12))
    assert array.master.dtype == np.float32 and array.master[0] == 1 + 2.0**-12 and array.weights[0] == 1.0
    assert array.updated(torch.full((2,), 2.0**-12)).master[0] == 1 + 2.0**-11
    with pytest.raises(TypeError, match="expected a float format"):
        nf.master_weights(np.ones(1), nf.INT8)
