"""Differentiation in PyTorch's vocabulary: `grad`, `backward`, modes, hooks and graph tools.

Transforms of functions are in `func`.
"""

from typing import TYPE_CHECKING

from ..core.describing import describe as _describe
from ..core.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .anomaly import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_detect_anomaly,
)
from .differentiate import backward, grad

__all__ = [
    "Function", "FunctionCtx", "backward", "detect_anomaly", "enable_grad", "forward_ad", "grad",
    "graph", "inference_mode", "is_anomaly_check_nan_enabled", "is_anomaly_enabled",
    "is_grad_enabled", "is_inference_mode_enabled", "no_grad", "once_differentiable",
    "set_detect_anomaly", "set_grad_enabled",
]  # fmt: skip

_describe([globals().get(name) for name in __all__], {}, {}, {})

if TYPE_CHECKING:
    from . import forward_ad, graph
    from .context import FunctionCtx
    from .function import Function, once_differentiable
else:  # hidden from type checkers, which would otherwise accept every misspelt name

    def __getattr__(name):
        """Import the modules that not every program needs, when they are first used."""
        import importlib

        if name in ("forward_ad", "graph"):
            return importlib.import_module(f".{name}", __name__)
        if name in ("Function", "FunctionCtx", "once_differentiable"):
            return getattr(importlib.import_module(".function", __name__), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
