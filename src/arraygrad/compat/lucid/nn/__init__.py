"""`lucid.nn`: modules that are a few functions each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ....autograd import no_grad
from ... import modules
from ..draws import uniform
from ..tensors import Tensor, rand
from ..tensors import device as check_device
from . import functional, utils
from .hooks import Handle, Hooks

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


class Module(modules.Module):
    """A function with parameters: the parameters and modules among its attributes."""

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        hooks = self.__dict__.get("_hooks")
        return hooks.call(self, args, keywords) if hooks else self.forward(*args, **keywords)

    def register_full_backward_hook(self, hook: Callable[..., Any]) -> Handle:
        """Call `hook(module, grad_input, grad_output)`; what it returns replaces `grad_input`."""
        return Handle(self._own_hooks().after, hook)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any]) -> Handle:
        """Call `hook(module, grad_output)`; what it returns replaces `grad_output`."""
        return Handle(self._own_hooks().before, hook)

    def _own_hooks(self) -> Hooks:
        found: Hooks = self.__dict__.setdefault("_hooks", Hooks())
        return found

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """The parameters of this module and of those in it, with their names."""
        return (
            (name, value) for name, value in self._named(prefix) if isinstance(value, Parameter)
        )

    def parameters(self) -> Iterator[Any]:
        """The parameters of this module and of those in it."""
        return (value for _, value in self.named_parameters())

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for p in self.parameters():
            p.grad = None

    def state_dict(self) -> dict[str, Any]:
        """The values of the parameters, by their names."""
        return {name: p.detach().clone() for name, p in self.named_parameters()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Write values to the parameters, by their names."""
        own = dict(self.named_parameters())
        if own.keys() != state_dict.keys():
            raise KeyError(f"the state has {sorted(state_dict)}, but the module has {sorted(own)}")
        with no_grad():
            for name, value in state_dict.items():
                own[name].copy_(value)

    def to(self, device: Any) -> Module:
        """The module itself, if the device is the processor."""
        check_device(device)
        return self


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
        for module in vars(self).values():
            if isinstance(module, Module):
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
