"""`lucid.nn`: modules that are a few functions each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ....autograd import Function, no_grad
from ....core.nodes import RemovableHandle
from ... import modules
from ...facade import Facade, unwrapped
from .._C.engine import check_alike
from ..draws import uniform
from ..tensors import Tensor, rand
from ..tensors import device as check_device
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


class Module(modules.Module):
    """A function with parameters: the parameters and modules among its attributes."""

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        before, after = self._hooks()
        if not before and not after:
            return self.forward(*args, **keywords)
        around = _Around(self, before.values(), after.values())
        return around.leave(self.forward(*around.enter(args), **keywords))

    def register_full_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)`; what it returns replaces `grad_input`."""
        return RemovableHandle(self._hooks()[1], hook)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, grad_output)`; what it returns replaces `grad_output`."""
        return RemovableHandle(self._hooks()[0], hook)

    def _hooks(self) -> tuple[dict[int, Any], dict[int, Any]]:
        """The hooks before and after; a subclass need not call `__init__`."""
        found: Any = self.__dict__.setdefault("_backward_hooks", ({}, {}))
        return found  # type: ignore[no-any-return]

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
