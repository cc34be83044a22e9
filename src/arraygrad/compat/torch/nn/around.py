"""Hooks on the gradients of a module's inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd import Function
from ..handles import Tensor


class _Same(Function):
    """Passes tensors on, and their gradients through a function."""

    @staticmethod
    def forward(ctx: Any, change: Callable[..., Any], *tensors: Tensor) -> Any:
        ctx.change = change
        ctx.set_materialize_grads(False)
        return tuple(t.view_as(t) for t in tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return None, *ctx.change(gradients)


class Around:
    """One call of a module, and the gradients that go through it."""

    def __init__(
        self, module: Any, hooks: list[Callable[..., Any]], before: list[Callable[..., Any]]
    ) -> None:
        self.module, self.hooks, self.before = module, hooks, before
        self.outputs: Any = None
        self.has_inputs = False

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, with the gradients that come back to them seen by the hooks."""
        places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        if not any(args[i].requires_grad for i in places):
            return args
        self.has_inputs = True
        passed = _Same.apply(self._at_inputs, *(args[i] for i in places))
        found = list(args)
        for i, value in zip(places, passed, strict=True):
            found[i] = value
        return tuple(found)

    def leave(self, result: Any) -> Any:
        """The result, with its gradients seen on their way in."""
        many = isinstance(result, tuple)
        parts = result if many else (result,)
        places = [i for i, part in enumerate(parts) if isinstance(part, Tensor)]
        passed = _Same.apply(self._at_outputs, *(parts[i] for i in places))
        found = list(parts)
        for i, value in zip(places, passed, strict=True):
            found[i] = value
        return tuple(found) if many else found[0]

    def _at_outputs(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        for hook in self.before:
            changed = hook(self.module, gradients)
            if changed is not None:
                gradients = changed if isinstance(changed, tuple) else (changed,)
        self.outputs = gradients
        if not self.has_inputs:
            for hook in self.hooks:
                hook(self.module, (), gradients)
        return gradients

    def _at_inputs(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        outputs, self.outputs = self.outputs, None
        if outputs is None:  # they came here another way, as in a second derivative
            return gradients
        for hook in self.hooks:
            changed = hook(self.module, gradients, outputs)
            if changed is not None:
                gradients = changed if isinstance(changed, tuple) else (changed,)
        return gradients
