"""Layers and losses that are a few functions each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....ops.special.softmax import logsumexp
from ..functions import abs, exp, log, randn, relu, sigmoid, tanh  # type: ignore[attr-defined]
from ..tensor import Tensor, float32

__all__ = [
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "Linear",
    "MSELoss",
    "Module",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "Tanh",
]


def __dir__() -> list[str]:
    return __all__


class Module:
    """A function with parameters: the tensors and modules among its attributes."""

    def __init__(self) -> None:
        self.training = True

    def forward(self, *args: Any, **keywords: Any) -> Any:
        """Compute the result. The subclass defines it."""
        raise NotImplementedError("define forward() in the subclass")

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.forward(*args, **keywords)

    def parameters(self) -> list[Tensor]:
        """The tensors that require gradients, of this module and of those in it."""
        found: dict[int, Tensor] = {}
        for value in _leaves(vars(self)):
            held = [value] if isinstance(value, Tensor) else value.parameters()
            found.update((id(p), p) for p in held if p.requires_grad)
        return list(found.values())

    def train(self, mode: bool = True) -> None:
        """Say that the module is being trained, to this module and those in it."""
        self.training = mode
        for value in _leaves(vars(self)):
            if isinstance(value, Module):
                value.train(mode)

    def eval(self) -> None:
        """Say that the module is being used."""
        self.train(False)


def _leaves(value: Any) -> Iterator[Any]:
    """The tensors and modules in an attribute, which may be a list, tuple or dict of them."""
    if isinstance(value, Tensor | Module):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)


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


class ReLU(Module):
    """Elements below zero become zero."""

    def forward(self, x: Any) -> Any:
        return relu(x)


class Sigmoid(Module):
    """The logistic function."""

    def forward(self, x: Any) -> Any:
        return sigmoid(x)


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, x: Any) -> Any:
        return tanh(x)


class Sequential(Module):
    """Modules, one after the other."""

    def __init__(self, *layers: Module) -> None:
        super().__init__()
        self.layers = list(layers)

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


class MSELoss(Module):
    """The mean of the squared differences."""

    def forward(self, x: Any, target: Any) -> Any:
        return ((x - target) ** 2).mean()


class BCEWithLogitsLoss(Module):
    """The mean cross entropy of logits and targets that are 0 or 1."""

    def forward(self, x: Any, target: Any) -> Any:
        return (relu(x) - x * target + log(1 + exp(-abs(x)))).mean()


class CrossEntropyLoss(Module):
    """The mean cross entropy of rows of logits and the places of the right classes."""

    def forward(self, x: Any, target: Any) -> Any:
        rows = np.arange(x.shape[0])
        columns = np.asarray(target).astype(np.int64).reshape(-1)
        normal = Tensor._lifted(logsumexp)(x, axis=1)
        return (normal - x[rows, columns]).mean()
