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
from .choosing import census_grid, decision_path, format_map, kv_memory
from .floats import all_codes, number_lines, rounding_staircase, seats, spacing_chart, window_and_offset
from .integers import number_wheel, running_sums, wrap_sawtooth
from .quantization import (
    bits_against_error,
    code_grids,
    granularity_errors,
    group_layouts,
    outlier_columns,
    outlier_shadow,
)
from .training import gradient_window, loss_curves, master_and_copy, scaler_trace, swallowed_updates

__all__ = [
    "all_codes",
    "bits_against_error",
    "block_results",
    "census_grid",
    "code_grids",
    "decision_path",
    "error_growth",
    "exponentials",
    "format_map",
    "gradient_window",
    "granularity_errors",
    "grid_stride",
    "group_layouts",
    "kv_memory",
    "landing",
    "loss_curves",
    "master_and_copy",
    "number_lines",
    "number_wheel",
    "order_histogram",
    "outlier_columns",
    "outlier_shadow",
    "rounding_staircase",
    "running_sums",
    "scaler_trace",
    "seats",
    "show",
    "spacing_chart",
    "stall_staircase",
    "sum_errors",
    "summation_trees",
    "swallowed_updates",
    "variance_against_mean",
    "window_and_offset",
    "wrap_sawtooth",
]
