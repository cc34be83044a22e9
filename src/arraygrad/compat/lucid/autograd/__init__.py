"""`lucid.autograd`: `grad`, which returns plain arrays; cotangents of outputs default to ones."""

from ....autograd import (
    detect_anomaly,
    enable_grad,
    inference_mode,
    is_anomaly_enabled,
    is_grad_enabled,
    no_grad,
    set_detect_anomaly,
    set_grad_enabled,
)
from . import graph
from .differentiate import backward, grad
from .function import Function, FunctionCtx
from .functional import checkpoint, gradcheck, gradgradcheck, hessian, hvp, jacobian, jvp, vjp

__all__ = [
    "Function", "FunctionCtx", "backward", "checkpoint", "detect_anomaly", "enable_grad", "grad",
    "gradcheck", "gradgradcheck", "graph", "hessian", "hvp", "inference_mode", "is_anomaly_enabled",
    "is_grad_enabled", "jacobian", "jvp", "no_grad", "set_detect_anomaly", "set_grad_enabled",
    "vjp",
]  # fmt: skip
