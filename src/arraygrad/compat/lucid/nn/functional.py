"""`lucid.nn.functional`: activations and losses that are a few functions each."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops
from ....ops.special import activations, sigmoids
from ....ops.special import softmax as softmax_ops
from ...arguments import class_places
from ...torchlike import FUNCTIONS
from ..tensors import Tensor

__all__ = [
    "cross_entropy",
    "elu",
    "gelu",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "linear",
    "log_softmax",
    "mish",
    "mse_loss",
    "nll_loss",
    "relu",
    "relu6",
    "relu_",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "tanh",
]


def __dir__() -> list[str]:
    return __all__


def _lifted(function: Any) -> Any:
    return Tensor._lifted(function)


relu, sigmoid, tanh = (_lifted(FUNCTIONS[name]) for name in ("relu", "sigmoid", "tanh"))
softmax, log_softmax = (_lifted(FUNCTIONS[name]) for name in ("softmax", "log_softmax"))
softplus = _lifted(sigmoids.softplus)


@_lifted
def relu6(x: Any) -> Any:
    """Elements below 0 become 0, and above 6, 6."""
    return ops.clip(x, 0, 6)


def relu_(x: Any) -> Any:
    """`relu`, written to the tensor itself."""
    return x.relu_()


@_lifted
def hardtanh(x: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """Elements below one bound, or above the other, become these."""
    return ops.clip(x, min_val, max_val)


@_lifted
def leaky_relu(x: Any, negative_slope: float = 0.01) -> Any:
    """Elements below zero are multiplied by a slope."""
    return ops.where(x > 0, x, negative_slope * x)


@_lifted
def elu(x: Any, alpha: float = 1.0) -> Any:
    """Below zero, an exponential that goes to `-alpha`."""
    return _elu(x, alpha)


def _elu(x: Any, alpha: float) -> Any:
    return ops.where(x > 0, x, alpha * ops.expm1(ops.where(x > 0, x * 0, x)))


@_lifted
def selu(x: Any) -> Any:
    """`elu` with the factors that keep mean and variance."""
    return 1.0507009873554805 * _elu(x, 1.6732632423543772)


@_lifted
def silu(x: Any) -> Any:
    """`x * sigmoid(x)`."""
    return activations.silu(x)


@_lifted
def mish(x: Any) -> Any:
    """`x * tanh(softplus(x))`."""
    return x * ops.tanh(sigmoids.softplus(x))


@_lifted
def gelu(x: Any) -> Any:
    """`x` times the probability that a normal number is smaller."""
    return activations.gelu(x)


@_lifted
def hardsigmoid(x: Any) -> Any:
    """A line between 0 at -3 and 1 at 3."""
    return ops.clip(x + 3, 0, 6) / 6


@_lifted
def hardswish(x: Any) -> Any:
    """`x * hardsigmoid(x)`."""
    return x * ops.clip(x + 3, 0, 6) / 6


@_lifted
def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """`x @ weight.T + bias`."""
    out = ops.matmul(x, ops.matrix_transpose(weight))
    return out if bias is None else out + bias


@_lifted
def mse_loss(x: Any, target: Any, reduction: str = "mean") -> Any:
    """Squared differences."""
    return _reduced((x - target) ** 2, reduction)


@_lifted
def nll_loss(x: Any, target: Any, reduction: str = "mean") -> Any:
    """Minus the logarithmic probabilities of the right classes, given by their places."""
    return _reduced(-_chosen(x, target), reduction)


@_lifted
def cross_entropy(x: Any, target: Any, reduction: str = "mean") -> Any:
    """`nll_loss` of `log_softmax`."""
    return _reduced(-_chosen(softmax_ops.log_softmax(x, axis=1), target), reduction)


def _chosen(x: Any, target: Any) -> Any:
    return x[np.arange(x.shape[0]), class_places(target, x.shape)]


def _reduced(losses: Any, reduction: str) -> Any:
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f'reduction must be "mean", "sum" or "none", not {reduction!r}')
    return losses if reduction == "none" else getattr(ops, reduction)(losses)
