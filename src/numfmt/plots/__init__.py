"""Figures of the course, a module a section. Each function returns a matplotlib figure; `show` displays it."""

from ._page import show
from .arithmetic import (
    block_results,
    error_growth,
    exponentials,
    grid_stride,
    landing,
    order_histogram,
    stall_staircase,
    sum_errors,
    summation_trees,
    variance_against_mean,
)
from .floats import all_codes, number_lines, rounding_staircase, seats, spacing_chart, window_and_offset
from .integers import number_wheel, running_sums, wrap_sawtooth

__all__ = [
    "all_codes",
    "block_results",
    "error_growth",
    "exponentials",
    "grid_stride",
    "landing",
    "number_lines",
    "number_wheel",
    "order_histogram",
    "rounding_staircase",
    "running_sums",
    "seats",
    "show",
    "spacing_chart",
    "stall_staircase",
    "sum_errors",
    "summation_trees",
    "variance_against_mean",
    "window_and_offset",
    "wrap_sawtooth",
]
