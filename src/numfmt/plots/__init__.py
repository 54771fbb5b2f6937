"""Figures of the course, a module a section. Each function returns a matplotlib figure; `show` displays it."""

from ._page import show
from .floats import all_codes, number_lines, rounding_staircase, seats, spacing_chart, window_and_offset
from .integers import number_wheel, running_sums, wrap_sawtooth

__all__ = [
    "all_codes",
    "number_lines",
    "number_wheel",
    "rounding_staircase",
    "running_sums",
    "seats",
    "show",
    "spacing_chart",
    "window_and_offset",
    "wrap_sawtooth",
]
