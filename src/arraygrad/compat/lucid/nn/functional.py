"""`lucid.nn.functional`: activations and losses, a table over `arraygrad.nn`."""

from __future__ import annotations

from typing import Any

from .... import nn
from ...arguments import class_places
from ...torchlike import FUNCTIONS
from ..tensors import Tensor

__all__ = [
    "cross_entropy", "elu", "gelu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "linear",
    "log_softmax", "mish", "mse_loss", "nll_loss", "relu", "relu6", "relu_", "selu", "sigmoid",
    "silu", "softmax", "softplus", "tanh",
]  # fmt: skip


def _lifted(function: Any) -> Any:
    return Tensor._lifted(function)


relu, relu6, sigmoid, tanh = map(_lifted, (nn.relu, nn.relu6, nn.sigmoid, nn.tanh))
hardtanh, leaky_relu, elu, selu = map(_lifted, (nn.hardtanh, nn.leaky_relu, nn.elu, nn.selu))
silu, mish, gelu, softplus = map(_lifted, (nn.silu, nn.mish, nn.gelu, nn.softplus))
hardsigmoid, hardswish, linear = map(_lifted, (nn.hardsigmoid, nn.hardswish, nn.linear))
softmax, log_softmax, mse_loss = map(
    _lifted, (*(FUNCTIONS[n] for n in ("softmax", "log_softmax")), nn.mse_loss)
)


def relu_(x: Any) -> Any:
    """`relu`, written to the tensor itself."""
    return x.relu_()


@_lifted
def nll_loss(x: Any, target: Any, reduction: str = "mean") -> Any:
    """Minus the logarithmic probabilities of the right classes, given by their places."""
    return nn.nll_loss(x, class_places(target, x.shape), reduction=reduction)


@_lifted
def cross_entropy(x: Any, target: Any, reduction: str = "mean") -> Any:
    """`nll_loss` of `log_softmax`."""
    return nn.cross_entropy(x, class_places(target, x.shape), reduction=reduction)
