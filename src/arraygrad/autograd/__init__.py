"""Differentiation in PyTorch's vocabulary: `grad`, `backward`, modes, hooks and graph tools.

Transforms of functions are in `func`.
"""

from ..core.describing import describe as _describe
from ..core.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from . import forward_ad, graph
from .anomaly import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_detect_anomaly,
)
from .context import FunctionCtx
from .differentiate import backward, grad
from .function import Function, once_differentiable

__all__ = [
    "Function",
    "FunctionCtx",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "grad",
    "graph",
    "inference_mode",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "once_differentiable",
    "set_detect_anomaly",
    "set_grad_enabled",
]

_describe([globals()[name] for name in __all__], {}, {"Rule": "callable | The method."}, {})


def __dir__() -> list[str]:
    return __all__
