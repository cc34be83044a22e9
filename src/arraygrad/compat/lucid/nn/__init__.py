"""`lucid.nn`: modules that are a few functions each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....autograd import Function
from ... import modules
from ...facade import Facade, unwrapped
from ...torch.nn import module as torch_module
from .._C.engine import check_alike
from ..draws import uniform
from ..tensors import Tensor, rand
from . import functional, utils

__all__ = [
    "Dropout", "Linear", "Module", "Parameter", "ReLU", "Sequential", "Sigmoid", "Tanh",
    "functional", "utils",
]  # fmt: skip


class Parameter(Tensor):
    """A tensor that is to be trained."""

    def __init__(self, data: Any, requires_grad: bool = True) -> None:
        super().__init__(data, requires_grad)

    @classmethod
    def _wrapped(cls, value: Any) -> Any:
        return Tensor._wrapped(value)  # what is computed with a parameter is not one


class _Around(modules.Around):
    """One call of a module, and the gradients that go through it."""

    kind = Facade

    @staticmethod
    def pass_on(change: Callable[..., Any], *tensors: Any) -> Any:
        return Tensor._wrapped(_Same.apply(change, *unwrapped(tensors)))

    def check(self, new: Any, old: Any, name: str) -> None:
        check_alike(new, old, name)


class _Same(Function):
    """Passes tensors on, and their gradients through a function."""

    @staticmethod
    def forward(ctx: Any, change: Callable[..., Any], *tensors: Any) -> Any:
        ctx.change = change
        return tuple(t.clone() for t in tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return (None, *unwrapped(ctx.change(tuple(Tensor._wrapped(gradients)))))


class Module(torch_module.Module):
    """A function with parameters: the parameters and modules among its attributes."""

    _parameter, _buffer, _around_call, _misfit = Parameter, Tensor, _Around, KeyError

    def __new__(cls, *args: Any, **keywords: Any) -> Any:
        """Make a module; a subclass need not call `Module.__init__`."""
        made = super().__new__(cls)
        torch_module.Module.__init__(made)
        return made


class Linear(Module):
    """`x @ weight.T + bias`, with random weights."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        bound = in_features**-0.5
        self.weight = Parameter((2 * rand(out_features, in_features) - 1) * bound)
        self.bias = Parameter((2 * rand(out_features) - 1) * bound) if bias else None

    def forward(self, x: Any) -> Any:
        return functional.linear(x, self.weight, self.bias)


class Sequential(Module):
    """Modules, one after the other."""

    def __init__(self, *modules: Module) -> None:
        for i, module in enumerate(modules):
            setattr(self, str(i), module)

    def forward(self, x: Any) -> Any:
        for module in self.children():
            x = module(x)
        return x


class Dropout(Module):
    """In training, zero for a part `p` of the elements, and more for the others."""

    def __init__(self, p: float = 0.5) -> None:
        if not 0 <= p <= 1:
            raise ValueError(f"p is a probability, from 0 to 1, not {p}")
        self.p = p

    def forward(self, x: Any) -> Any:
        if not self.training or not self.p:
            return x
        kept = uniform(x.shape) >= self.p  # none if p is 1
        return x * Tensor(kept / (1 - self.p or 1), dtype=x.dtype)


ReLU = modules.applied(Module, "ReLU", functional.relu, "Elements below zero become zero.")
Sigmoid = modules.applied(Module, "Sigmoid", functional.sigmoid, "The logistic function.")
Tanh = modules.applied(Module, "Tanh", functional.tanh, "The hyperbolic tangent.")
