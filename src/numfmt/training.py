"""The two habits of mixed precision: clip unscaled gradients, and add updates to weights kept in float32."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._reals import read_reals
from .float_format import FloatFormat
from .loss_scaling import LossScaler, at_least_float32
from .registry import get_float_format
from .rounding import round_to


def clip_by_norm(gradients: Iterable[Any], max_norm: float) -> tuple[list[Any], float]:
    """Return the gradients, scaled down together if their joint 2-norm exceeds `max_norm`, and the norm before.

    The norm is computed in float64. An infinite gradient makes the others 0 and itself NaN, as in torch: look for it
    first. Arrays and tensors come back as float32, or wider if they were. Raises ValueError unless max_norm > 0.
    """
    if not max_norm > 0:
        raise ValueError(f"clip_by_norm: max_norm must be above 0, got {max_norm}")
    wide = [at_least_float32(each) for each in gradients]
    norm = math.hypot(*(float(np.linalg.norm(read_reals(each, "clip_by_norm").array.ravel())) for each in wide))
    if norm <= max_norm:
        return wide, norm
    with np.errstate(invalid="ignore"):
        return [each * (max_norm / norm) for each in wide], norm


def unscale_then_clip(scaler: LossScaler, gradients: Iterable[Any], max_norm: float) -> tuple[list[Any], float, bool]:
    """Return gradients divided by the loss scale and then clipped, their true norm, and whether one overflowed.

    In the other order the limit applies to scaled gradients: updates shrink toward max_norm / scale, and change
    whenever the scale does. Gradients that overflowed come back unclipped, for a step that is to be skipped.
    """
    unscaled, found_inf = scaler.unscaled(gradients)
    clipped, norm = clip_by_norm(unscaled, max_norm)
    return (unscaled if found_inf else clipped), norm, found_inf


@dataclass(frozen=True)
class MasterWeights:
    """Weights in float32 (`master`) beside the copy in a narrow format that the model computes with (`weights`).

    An update of less than half the narrow format's spacing changes nothing there, but adds up here (Micikevicius and
    others, Mixed Precision Training, 2018, 3.1). `master` is an array or tensor; make one with `master_weights`.
    """

    master: Any
    fmt: FloatFormat

    @property
    def weights(self) -> Any:
        """The master weights, rounded to the narrow format."""
        return round_to(self.master, self.fmt)

    def updated(self, update: Any) -> MasterWeights:
        """Return the state after `update`, an array, a tensor or a number, is added in float32."""
        return replace(self, master=self.master + _in_dtype_of(update, self.master))


def master_weights(weights: Any, fmt: object) -> MasterWeights:
    """Return master weights that start from `weights`, read as float32 (or float64, if they are)."""
    return MasterWeights(at_least_float32(weights), get_float_format(fmt, "master_weights"))


def _in_dtype_of(update: Any, master: Any) -> Any:
    """Return an update in the dtype of the master weights, so that adding it doesn't change that."""
    if hasattr(update, "to") and hasattr(master, "to"):
        return update.to(master.dtype)
    return update if hasattr(master, "to") else np.asarray(update, dtype=master.dtype)
