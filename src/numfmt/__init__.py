"""Number formats for machine learning, exact to the last bit; arrays of NumPy and tensors of torch alike."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .bitstrings import from_bits, to_bits
from .codes import decode, encode, values
from .float_format import (
    BF16,
    E2M1,
    E2M3,
    E3M2,
    E3M4,
    E4M3,
    E4M3B11FNUZ,
    E4M3FNUZ,
    E4M3IEEE,
    E5M2,
    E5M2FNUZ,
    E8M0,
    FP16,
    FP32,
    FP64,
    TF32,
    FloatFormat,
)
from .formats import (
    INT2,
    INT4,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT2,
    UINT4,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    IntFormat,
)
from .neighbours import next_down, next_up, spacing
from .registry import get_format
from .rounding import round_to
from .wrapping import wrap

if TYPE_CHECKING:
    from .explaining import Explanation, explain
    from .exponentials import log_sum_exp, softmax
    from .loss_scaling import LossScaler
    from .matrices import matmul
    from .microscaling import Blocks, mx_quantize, nvfp4_quantize
    from .moments import Moments, welford
    from .packing import pack, unpack
    from .progressing import Progress, progress
    from .quantization import Quantized, quantize
    from .reductions import dot
    from .storing import load, save
    from .sums import blocked_sum, kahan_sum, neumaier_sum, pairwise_sum, running_sum
    from .tallying import Census, FormatCensus, census, census_of_blocks
    from .training import MasterWeights, clip_by_norm, master_weights, unscale_then_clip

__all__ = [
    "BF16",
    "E2M1",
    "E2M3",
    "E3M2",
    "E3M4",
    "E4M3",
    "E4M3B11FNUZ",
    "E4M3FNUZ",
    "E4M3IEEE",
    "E5M2",
    "E5M2FNUZ",
    "E8M0",
    "FP16",
    "FP32",
    "FP64",
    "INT2",
    "INT4",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "TF32",
    "UINT2",
    "UINT4",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
    "Blocks",
    "Census",
    "Explanation",
    "FloatFormat",
    "FormatCensus",
    "IntFormat",
    "LossScaler",
    "MasterWeights",
    "Moments",
    "Progress",
    "Quantized",
    "blocked_sum",
    "census",
    "census_of_blocks",
    "clip_by_norm",
    "decode",
    "dot",
    "encode",
    "explain",
    "from_bits",
    "get_format",
    "kahan_sum",
    "load",
    "log_sum_exp",
    "master_weights",
    "matmul",
    "mx_quantize",
    "neumaier_sum",
    "next_down",
    "next_up",
    "nvfp4_quantize",
    "pack",
    "pairwise_sum",
    "progress",
    "quantize",
    "round_to",
    "running_sum",
    "save",
    "softmax",
    "spacing",
    "to_bits",
    "unpack",
    "unscale_then_clip",
    "values",
    "welford",
    "wrap",
]

# What rounding and encoding don't need is imported when it is first asked for, so that `import numfmt` stays quick.
_LATER = {
    "Census": "tallying",
    "FormatCensus": "tallying",
    "census": "tallying",
    "census_of_blocks": "tallying",
    "Blocks": "microscaling",
    "Explanation": "explaining",
    "LossScaler": "loss_scaling",
    "MasterWeights": "training",
    "Moments": "moments",
    "Progress": "progressing",
    "Quantized": "quantization",
    "blocked_sum": "sums",
    "clip_by_norm": "training",
    "dot": "reductions",
    "explain": "explaining",
    "kahan_sum": "sums",
    "load": "storing",
    "log_sum_exp": "exponentials",
    "master_weights": "training",
    "matmul": "matrices",
    "mx_quantize": "microscaling",
    "neumaier_sum": "sums",
    "nvfp4_quantize": "microscaling",
    "pack": "packing",
    "pairwise_sum": "sums",
    "progress": "progressing",
    "quantize": "quantization",
    "running_sum": "sums",
    "save": "storing",
    "softmax": "exponentials",
    "unpack": "packing",
    "unscale_then_clip": "training",
    "welford": "moments",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_LATER[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
