"""Loss scaling: move gradients into a narrow format's range before they are stored, and back afterwards."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

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

        Arrays come back as float32 (or wider, if they were) and tensors as they were, so that small gradients
        survive the division. Clip after this, not before: the true norm is that of unscaled gradients.
        """
        if not self.enabled:
            return list(gradients), False
        inverse = float(np.float32(1.0) / np.float32(self.scale)) if self.scale else math.inf
        result, found = [], False
        for gradient in gradients:
            found = found or not bool(np.isfinite(read_reals(gradient, "unscaled").array).all())
            wide = gradient.astype(np.float32) if getattr(gradient, "dtype", None) == np.float16 else gradient
            result.append(wide * inverse)
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


def _float32(number: float) -> float:
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float32(number))
