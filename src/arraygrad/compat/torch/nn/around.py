"""Hooks on the gradients of a module's inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import modules
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


class Around(modules.Around):
    """One call of a module, and the gradients that go through it."""

    kind = Tensor
    pass_on = staticmethod(_Same.apply)

    def _replaced(self, result: Any, given: tuple[Any, ...], name: str) -> tuple[Any, ...]:
        one = (result,) if isinstance(result, Tensor) else result
        return super()._replaced(one, given, name)
