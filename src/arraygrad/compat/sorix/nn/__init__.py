"""Layers and losses that are a few functions each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .... import nn
from ... import modules
from ...arguments import class_places
from ..functions import randn, relu, sigmoid, tanh  # type: ignore[attr-defined]
from ..kinds import float32
from ..tensor import Tensor

__all__ = [
    "BCEWithLogitsLoss", "CrossEntropyLoss", "LeakyReLU", "Linear", "MSELoss", "Module", "ReLU",
    "Sequential", "Sigmoid", "Tanh",
]  # fmt: skip


mse_loss, cross_entropy = Tensor._lifted(nn.mse_loss), Tensor._lifted(nn.cross_entropy)
bce_with_logits = Tensor._lifted(nn.binary_cross_entropy_with_logits)
leaky_relu = Tensor._lifted(nn.leaky_relu)


class Module:
    """A function with parameters: the tensors and modules among its attributes."""

    training = True

    def forward(self, *args: Any, **keywords: Any) -> Any:
        """Compute the result. The subclass defines it."""
        raise NotImplementedError("define forward() in the subclass")

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.forward(*args, **keywords)

    def parameters(self) -> list[Tensor]:
        """The tensors that require gradients, of this module and of those in it."""
        found: dict[int, Tensor] = {}
        for part in parts(vars(self)):
            several = part.parameters() if isinstance(part, Module) else [part]
            found |= {id(value): value for value in several if value.requires_grad}
        return list(found.values())

    def train(self, mode: bool = True) -> Any:
        """Say that the module is being trained, to this module and those in it."""
        self.training = mode
        for value in parts(vars(self)):
            if isinstance(value, Module):
                value.train(mode)
        return self

    def eval(self) -> Any:
        """Say that the module is being used."""
        return self.train(False)


def parts(value: Any) -> Iterator[Any]:
    """The tensors and modules in an attribute, which may be a list, tuple or dict of them."""
    if isinstance(value, Tensor | Module):
        yield value
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from parts(item)


class Linear(Module):
    """`x @ W + b`, with random weights: `init` is "he" or "xavier"."""

    def __init__(
        self, features: int, neurons: int, bias: bool = True, init: str = "he", device: str = "cpu"
    ) -> None:
        super().__init__()
        if init not in ("he", "xavier"):
            raise ValueError(f'init must be "he" or "xavier", not {init!r}')
        self.bias = bias
        self.std_dev = np.sqrt(2.0 / (features if init == "he" else features + neurons))
        weights = randn(features, neurons).data * self.std_dev
        self.W = Tensor(weights, device, requires_grad=True, dtype=float32)
        self.b = Tensor(np.zeros((1, neurons)), device, True, float32) if bias else None

    def forward(self, x: Any) -> Any:
        out = x @ self.W
        return out if self.b is None else out + self.b


class LeakyReLU(Module):
    """Elements below zero are multiplied by a slope."""

    def __init__(self, negative_slope: float = 0.01) -> None:
        super().__init__()
        self.negative_slope = negative_slope

    def forward(self, x: Any) -> Any:
        return leaky_relu(x, self.negative_slope)


_APPLIED = {
    "ReLU": (relu, "Elements below zero become zero."),
    "Sigmoid": (sigmoid, "The logistic function."),
    "Tanh": (tanh, "The hyperbolic tangent."),
    "MSELoss": (mse_loss, "The mean of the squared differences."),
    "BCEWithLogitsLoss": (bce_with_logits, "The mean cross entropy of logits and zeros or ones."),
}
ReLU, Sigmoid, Tanh, MSELoss, BCEWithLogitsLoss = (
    modules.applied(Module, name, function, doc) for name, (function, doc) in _APPLIED.items()
)


class Sequential(Module):
    """Modules, one after the other."""

    def __init__(self, *layers: Module) -> None:
        super().__init__()
        self.layers = list(layers)

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


class CrossEntropyLoss(Module):
    """The mean cross entropy of rows of logits and the right classes.

    Parameters
    ----------
    weight : Tensor, optional
        A factor for each class. The sum of the losses is divided by the sum of their factors.
    one_hot : bool
        Whether the targets are rows of shares, with a one for the right class, or its place.
    """

    def __init__(self, weight: Any = None, one_hot: bool = False) -> None:
        super().__init__()
        self.weight, self.one_hot = weight, one_hot

    def forward(self, x: Any, target: Any) -> Any:
        if not self.one_hot:
            return cross_entropy(x, class_places(target, x.shape), self.weight)
        losses = cross_entropy(x, target, self.weight, reduction="none")
        if self.weight is None:
            return losses.mean()
        return losses.sum() / (np.asarray(target.data) @ np.asarray(self.weight.data)).sum()
