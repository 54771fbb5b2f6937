"""The six sections that the course is to have, whether they are written yet or not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Planned:
    """A section of the course: the name of its folder, its title, and one sentence on what it is about."""

    name: str
    title: str
    about: str


PLAN = (
    Planned(
        "01_integers",
        "Integers",
        "Two's complement as an odometer; sums that wrap around in silence; indices and accumulators that overflow.",
    ),
    Planned(
        "02_floats",
        "Floats",
        "Sign, exponent, mantissa; the formats from FP32 down to FP4; rounding, spacing, and where the numbers end.",
    ),
    Planned(
        "03_arithmetic",
        "Arithmetic pitfalls",
        "Sums that stall and orders that disagree; cancellation; and the cures: pairwise, Kahan, Welford.",
    ),
    Planned(
        "04_mixed_precision",
        "Mixed precision",
        "Updates that vanish; master weights and loss scaling; a real training run, and the same loop by hand.",
    ),
    Planned(
        "05_quantization",
        "Quantization",
        "Scales and zero points; what one outlier does; groups and microscaling; real weights in four bits.",
    ),
    Planned(
        "06_choosing_a_format",
        "Choosing a format",
        "Range, then precision, then throughput: six scenarios, one decision table, and numbers to defend it.",
    ),
)
