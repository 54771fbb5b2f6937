"""Loss scaling: move gradients into a narrow format's range before they are stored, and back afterwards."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._arrays import torch_if_loaded
from ._reals import read_reals


@dataclass(frozen=True)
class LossScaler:
    """The state of dynamic loss scaling, with the rules and defaults of `torch.amp.GradScaler`.

    After a step whose gradients overflowed the scale is multiplied by `backoff_factor`; after `growth_interval` steps
    in a row without overflow by `growth_factor`. The scale is kept as a float32, as torch does, and doesn't grow to
    infinity. `min_scale` and `max_scale`, which torch doesn't have, keep it in a range: without a lower limit a run
    of overflows drives a scale to 0, and every gradient with it. (Micikevicius and others, Mixed Precision Training,
    2018, 3.2.)
    """

    scale: float = 2.0**16
    growth_factor: float = 2.0
    backoff_factor: float = 0.5
    growth_interval: int = 2000
    growth_tracker: int = 0
    min_scale: float = 0.0
    max_scale: float = math.inf
    enabled: bool = True

    def __post_init__(self) -> None:
        if not self.growth_factor > 1:
            raise ValueError(f"growth_factor must be above 1, got {self.growth_factor}")
        if not 0 < self.backoff_factor < 1:
            raise ValueError(f"backoff_factor must be between 0 and 1, got {self.backoff_factor}")
        if self.growth_interval < 1 or not 0 <= self.growth_tracker < self.growth_interval:
            raise ValueError(
                f"growth_interval must be at least 1 and growth_tracker below it, "
                f"got {self.growth_interval} and {self.growth_tracker}"
            )
        if not 0 <= self.min_scale <= self.scale <= self.max_scale or not math.isfinite(self.scale):
            raise ValueError(
                f"the scale must be a finite number from min_scale to max_scale, "
                f"got {self.scale} outside [{self.min_scale}, {self.max_scale}]"
            )

    def scaled(self, loss: Any) -> Any:
        """Return the loss times the scale, as it is if scaling is disabled."""
        return loss * self.scale if self.enabled else loss

    def unscaled(self, gradients: Iterable[Any]) -> tuple[list[Any], bool]:
        """Return the gradients divided by the scale, and whether any of them holds an infinity or NaN.

        Arrays and tensors come back as float32, or wider if they were, so that small gradients survive the division.
        Clip after this, not before: the true norm is that of unscaled gradients (see `unscale_then_clip`).
        """
        if not self.enabled:
            return list(gradients), False
        inverse = float(np.float32(1.0) / np.float32(self.scale)) if self.scale else math.inf
        result, found = [], False
        for gradient in gradients:
            found = found or not bool(np.isfinite(read_reals(gradient, "unscaled").array).all())
            result.append(at_least_float32(gradient) * inverse)
        return result, found

    def updated(self, found_inf: bool) -> LossScaler:
        """Return the state after a step, which is skipped if `found_inf` (an infinity or NaN was found)."""
        if not self.enabled:
            return self
        if found_inf:
            smaller = max(self.min_scale, _float32(self.scale * self.backoff_factor))
            return replace(self, scale=smaller, growth_tracker=0)
        if self.growth_tracker + 1 < self.growth_interval:
            return replace(self, growth_tracker=self.growth_tracker + 1)
        larger = min(self.max_scale, _float32(self.scale * self.growth_factor))
        return replace(self, scale=larger if math.isfinite(larger) else self.scale, growth_tracker=0)

    @property
    def at_floor(self) -> bool:
        """Whether another overflow would leave the scale as it is: a loop that waits for a smaller one never ends."""
        return self.enabled and self.updated(True).scale == self.scale

    def state_dict(self) -> dict[str, Any]:
        """Return what torch's scaler stores in a checkpoint: five entries, none if scaling is disabled."""
        if not self.enabled:
            return {}
        names = ("scale", "growth_factor", "backoff_factor", "growth_interval")
        return {**{name: getattr(self, name) for name in names}, "_growth_tracker": self.growth_tracker}

    def load_state_dict(self, state: dict[str, Any]) -> LossScaler:
        """Return the state that a checkpoint of this class or of torch's holds, within this one's limits.

        A disabled scaler stays as it is, as in torch. Raises ValueError for an empty checkpoint (that of a disabled
        scaler), for missing entries, and for a scale beyond the limits.
        """
        if not self.enabled:
            return self
        wanted = LossScaler().state_dict().keys()
        if missing := wanted - state.keys():
            raise ValueError(
                f"load_state_dict: the checkpoint lacks {', '.join(sorted(missing))}; "
                "an empty one comes from a disabled scaler"
            )
        fields = {name.removeprefix("_"): state[name] for name in wanted}
        return replace(self, **fields)


def at_least_float32(x: Any) -> Any:
    """Return numbers as an array or tensor of float32, or as they are if they are wider."""
    torch = torch_if_loaded()
    if torch is not None and isinstance(x, torch.Tensor):
        return x if x.dtype in (torch.float32, torch.float64) else x.float()
    array = np.asarray(x)
    return array if array.dtype.kind == "f" and array.dtype.itemsize >= 4 else array.astype(np.float32)


def _float32(number: float) -> float:
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float32(number))
