"""LossScaler: state by state with torch's GradScaler, the course's traces, and wrong settings."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

import numfmt as nf


class Twin:
    """torch's own scaler, driven by gradients that overflow when told to."""

    def __init__(self, **options: float) -> None:
        self.scaler = torch.amp.GradScaler("cpu", **options)  # type: ignore[arg-type]
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.optimizer = torch.optim.SGD([self.weight], lr=1.0)

    def step(self, overflow: bool) -> tuple[float, int]:
        self.optimizer.zero_grad()
        self.scaler.scale(self.weight.sum()).backward()
        if overflow:
            assert self.weight.grad is not None
            self.weight.grad.fill_(math.inf)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return self.scaler.get_scale(), self.scaler._get_growth_tracker()


@pytest.mark.parametrize(
    "options",
    [
        {"init_scale": 2.0**16, "growth_interval": 3},
        {"init_scale": 2.0**10, "growth_interval": 1, "growth_factor": 3.0, "backoff_factor": 0.3},
        {"init_scale": 2.0**120, "growth_interval": 1},
        {"init_scale": 1e-38, "growth_interval": 5},
    ],
    ids=str,
)
def test_state_by_state_with_torch(options: dict[str, float]) -> None:
    twin = Twin(**options)
    ours = nf.LossScaler(
        scale=float(np.float32(options["init_scale"])),
        growth_interval=int(options["growth_interval"]),
        growth_factor=options.get("growth_factor", 2.0),
        backoff_factor=options.get("backoff_factor", 0.5),
    )
    overflows = np.random.default_rng(0).random(60) < 0.3
    for overflow in overflows.tolist():
        ours = ours.updated(overflow)
        assert (ours.scale, ours.growth_tracker) == twin.step(overflow)


def test_the_defaults_are_torch_s() -> None:
    theirs = torch.amp.GradScaler("cpu")
    ours = nf.LossScaler()
    assert ours.scale == theirs.get_scale() and ours.growth_factor == theirs.get_growth_factor()
    assert ours.backoff_factor == theirs.get_backoff_factor()
    assert ours.growth_interval == theirs.get_growth_interval()


def test_the_trace_of_the_course() -> None:
    scaler, skipped = nf.LossScaler(growth_interval=3), 0
    for overflow in (1, 0, 0, 0, 0, 1):
        skipped += overflow
        scaler = scaler.updated(bool(overflow))
    assert (scaler.scale, skipped) == (2.0**15, 2)


def test_checkpoints_go_to_torch_and_back() -> None:
    twin, ours = Twin(growth_interval=4), nf.LossScaler(growth_interval=4)
    for overflow in (True, False, False):
        ours = ours.updated(overflow)
        twin.step(overflow)
    assert ours.state_dict() == twin.scaler.state_dict()
    assert nf.LossScaler(min_scale=1.0).load_state_dict(twin.scaler.state_dict()) == replace(ours, min_scale=1.0)
    other = Twin()
    other.scaler.load_state_dict(ours.state_dict())
    for overflow in (False, False, True):
        ours = ours.updated(overflow)
        assert (ours.scale, ours.growth_tracker) == other.step(overflow)


def test_checkpoints_of_disabled_scalers() -> None:
    off = nf.LossScaler(enabled=False)
    assert off.state_dict() == torch.amp.GradScaler("cpu", enabled=False).state_dict() == {}
    assert off.load_state_dict({}) is off
    with pytest.raises(ValueError, match="comes from a disabled scaler"):
        nf.LossScaler().load_state_dict({})
    with pytest.raises(ValueError, match="min_scale to max_scale"):
        nf.LossScaler(max_scale=2.0**16).load_state_dict(nf.LossScaler(scale=2.0**17).state_dict())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_narrow_tensors_come_back_wide(dtype: torch.dtype) -> None:
    [back], found = nf.LossScaler().unscaled([torch.tensor([2.0**-10], dtype=dtype)])
    assert not found and back.dtype == torch.float32 and back.item() == 2.0**-26


def test_gradients_survive_in_half_precision() -> None:
    small = 3e-8
    assert nf.round_to(small, nf.FP16) == 2.0**-24  # almost twice as large
    scaler = nf.LossScaler(scale=1024.0)
    stored = np.array([nf.round_to(scaler.scaled(small), nf.FP16)], dtype=np.float16)
    [back], found = scaler.unscaled([stored])
    assert not found and back.dtype == np.float32
    assert back[0] == pytest.approx(small, rel=8e-4)


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_overflow_is_found_in_any_gradient(bad: float) -> None:
    scaler = nf.LossScaler(scale=4.0)
    gradients = [np.ones(3, np.float32), np.array([1.0, bad], np.float32), torch.ones(2)]
    found = scaler.unscaled(gradients)
    assert found[1] and torch.equal(found[0][2], torch.full((2,), 0.25))
    assert not scaler.unscaled(gradients[::2])[1]


def test_a_disabled_scaler_does_nothing() -> None:
    scaler = nf.LossScaler(enabled=False)
    assert scaler.scaled(2.0) == 2.0 and scaler.updated(True) is scaler
    assert scaler.unscaled([np.array([math.inf])])[1] is False


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"growth_factor": 1.0}, "above 1"),
        ({"backoff_factor": 1.0}, "between 0 and 1"),
        ({"growth_interval": 0}, "at least 1"),
        ({"growth_tracker": 2000}, "below it"),
        ({"scale": math.inf}, "finite"),
        ({"scale": 0.5, "min_scale": 1.0}, "min_scale to max_scale"),
    ],
)
def test_wrong_settings(options: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        nf.LossScaler(**options)  # type: ignore[arg-type]
