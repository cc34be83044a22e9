"""`torch.autograd`: gradients, functions of one's own, modes, hooks and graph tools."""

from ..handles import Tensor
from . import forward_ad, function, functional, grad_mode, graph
from .anomaly import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_detect_anomaly,
)
from .callbacks import engine
from .checking import GradcheckError, gradcheck, gradgradcheck
from .differentiate import backward, grad
from .function import Function, FunctionCtx, once_differentiable
from .grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)

__all__ = [
    "Function", "FunctionCtx", "GradcheckError", "Variable",
    "backward", "detect_anomaly", "enable_grad", "forward_ad", "function", "functional", "grad",
    "grad_mode", "gradcheck", "gradgradcheck", "graph", "inference_mode",
    "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "is_grad_enabled",
    "is_inference_mode_enabled", "no_grad", "once_differentiable", "set_detect_anomaly",
    "set_grad_enabled",
]  # fmt: skip


class _OldName(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor)


class Variable(metaclass=_OldName):
    """The old name of a tensor."""

    _execution_engine = engine

    def __new__(cls, data: Tensor, requires_grad: bool = False) -> Tensor:  # type: ignore[misc]
        """Make a leaf on the memory of a tensor."""
        return data.detach().requires_grad_(requires_grad)
