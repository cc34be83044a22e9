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
from .function import Function, FunctionCtx, InplaceFunction, once_differentiable
from .grad_mode import *
from .nodes import SavedTensor

__all__ = [
    "Function", "FunctionCtx", "GradcheckError", "InplaceFunction", "SavedTensor", "Variable",
    "backward", "detect_anomaly", "forward_ad", "function", "functional", "grad", "grad_mode",
    "gradcheck", "gradgradcheck", "graph", "is_anomaly_check_nan_enabled", "is_anomaly_enabled",
    "once_differentiable", "set_detect_anomaly",
]  # fmt: skip
__all__ += grad_mode.__all__


class _OldName(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor)


class Variable(metaclass=_OldName):
    """The old name of a tensor."""

    _execution_engine = engine

    def __new__(cls, data: Tensor, requires_grad: bool = False) -> Tensor:  # type: ignore[misc]
        """Make a leaf on the memory of a tensor."""
        return data.detach().requires_grad_(requires_grad)
