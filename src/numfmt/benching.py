"""What the quantization bench shows: weights with four outliers among them, and what is left of the others."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from ._arrays import Array
from ._text import aligned
from .quantization import Quantized, Scheme, quantize

WEIGHTS = 64
GROUP_SIZES = (8, 16, 32, 64)
WIDTHS = (2, 3, 4, 5, 6, 7, 8)
LARGEST = 4.0
SPREAD = 0.02
"""The standard deviation of the ordinary weights."""

ALIGNMENTS = {
    "aligned": (0, 1, 2, 3),
    "straddling": (30, 31, 32, 33),
    "strided": (4, 20, 36, 52),
}
"""Where the outliers stand: at the start of a group, on both sides of a group's end, one in every sixteen weights."""

VISIBLE = 4 * SPREAD
"""How far up and down the picture goes: the outliers stick out of it."""


@dataclass(frozen=True)
class Bench:
    """The settings of the bench; ValueError says which one there isn't."""

    outlier: float = 1.0
    """The value of each of the four outliers."""
    bits: int = 4
    scheme: str = "absmax"
    group_size: int = 16
    alignment: str = "aligned"

    def __post_init__(self) -> None:
        if isinstance(self.outlier, bool) or not isinstance(self.outlier, (int, float)):
            raise ValueError(f"an outlier is a number, not {self.outlier!r}")
        if not -LARGEST <= self.outlier <= LARGEST:
            raise ValueError(f"an outlier is between -{LARGEST:g} and {LARGEST:g}, not {self.outlier!r}")
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                words = name.replace("_", " ")
                raise ValueError(f"{words} is one of {', '.join(map(str, known))}, not {getattr(self, name)!r}")

    def set(self, name: str, value: object) -> Bench:
        """Return the bench with another setting."""
        if name not in (each.name for each in fields(self)):
            raise ValueError(f"the bench has no setting {name!r}")
        return replace(self, **{name: value})  # type: ignore[arg-type]

    @property
    def places(self) -> tuple[int, ...]:
        """Where the outliers stand."""
        return ALIGNMENTS[self.alignment]

    @cached_property
    def weights(self) -> Array:
        """The row: 60 normal numbers of the generator with seed 0, and the outliers among them."""
        row = np.random.default_rng(0).standard_normal(WEIGHTS) * SPREAD
        row[list(self.places)] = self.outlier
        return row

    @cached_property
    def quantized(self) -> Quantized:
        """The row, quantized."""
        return quantize(self.weights, self.bits, self.scheme, group_size=self.group_size)


CHOICES: dict[str, tuple[Any, ...]] = {
    "bits": WIDTHS,
    "scheme": tuple(map(str, Scheme)),
    "group_size": GROUP_SIZES,
    "alignment": tuple(ALIGNMENTS),
}
"""The settings that are chosen from a list."""


def facts(bench: Bench) -> dict[str, Any]:
    """Return all that is to be shown: settings, numbers as text, and what the picture needs."""
    weights, back = bench.weights, bench.quantized.dequantize()
    ordinary = np.ones(WEIGHTS, bool)
    ordinary[list(bench.places)] = False
    groups = [_group(bench, start, weights, back, ordinary) for start in range(0, WEIGHTS, bench.group_size)]
    found = {
        "settings": {each.name: getattr(bench, each.name) for each in fields(bench)},
        "choices": {name: list(known) for name, known in CHOICES.items()},
        "largest": LARGEST,
        "visible": VISIBLE,
        "weights": weights.tolist(),
        "back": back.tolist(),
        "outliers": list(bench.places),
        "groups": groups,
        "ordinary": int(ordinary.sum()),
        "zeros": int((back[ordinary] == 0).sum()),
        "error": _percent(weights[ordinary], back[ordinary]),
        "error_of_all": _percent(weights, back),
        "bits": f"{bench.quantized.effective_bits:g}",
    }
    return {**found, "words": _words(found)}


def as_text(bench: Bench) -> str:
    """Return the same facts as lines of text, where nothing can be dragged."""
    found = facts(bench)
    rows: list[tuple[str, ...]] = [("weights", "scale", "levels in ±0.08", "zeros", "error")]
    rows += [
        (
            each["name"],
            each["scale"],
            str(len(each["levels"])),
            f"{each['zeros']} of {each['ordinary']}",
            each["error"],
        )
        for each in found["groups"]
    ]
    lines = [
        f"{WEIGHTS} weights, {len(bench.places)} outliers of {bench.outlier:g}, {bench.alignment}; "
        f"{bench.bits} bits, {bench.scheme}, groups of {bench.group_size}",
        aligned(rows),
        found["words"],
    ]
    return "\n".join(lines)


def _group(bench: Bench, start: int, weights: Array, back: Array, ordinary: Array) -> dict[str, Any]:
    here = slice(start, start + bench.group_size)
    scale = float(bench.quantized.scale[start // bench.group_size, 0])
    own = ordinary[here]
    return {
        "name": f"{start} to {start + bench.group_size - 1}",
        "start": start,
        "scale": f"{scale:.4g}",
        "levels": _levels(bench, start // bench.group_size, scale),
        "ordinary": int(own.sum()),
        "zeros": int((back[here][own] == 0).sum()),
        "error": _percent(weights[here][own], back[here][own]),
    }


def _levels(bench: Bench, group: int, scale: float) -> list[float]:
    """Return the numbers that a group can hold, as far as the picture goes."""
    if bench.scheme == Scheme.ABSMAX:
        most = 2 ** (bench.bits - 1) - 1
        codes = np.arange(-most, most + 1)
    else:
        codes = np.arange(2**bench.bits) - bench.quantized.zero_point[group, 0]
    values = codes * scale
    kept: list[float] = values[np.abs(values) <= VISIBLE].tolist()
    return kept


def _percent(x: Array, back: Array) -> str:
    """Return the relative error in the Euclidean norm."""
    norm = float(np.linalg.norm(x))
    return f"{100 * float(np.linalg.norm(x - back)) / norm:.2f} %" if norm else "0.00 %"


def _words(found: dict[str, Any]) -> str:
    return (
        f"{found['zeros']} of the {found['ordinary']} ordinary weights become 0; their error is {found['error']}, "
        f"that of all weights {found['error_of_all']}; {found['bits']} bits a weight with the scales."
    )
