"""`torch._C`: the few names of PyTorch's compiled part that programs use."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ...core.modes import current_modes
from .autograd.function import Function
from .autograd.nodes import Node, SavedTensor, kind_of_node


@Node.register
class DelayedError:
    """A function that returns its arguments, and raises when it is differentiated."""

    def __init__(self, message: str, num_inputs: int) -> None:
        self._message = message

    def __call__(self, *inputs: Any) -> Any:
        found = _Delayed.apply(self._message, *inputs)
        return found[0] if len(inputs) == 1 else found


class _Delayed(Function):
    @staticmethod
    def forward(ctx: Any, message: str, *inputs: Any) -> Any:
        ctx.message = message
        return tuple(x.clone() for x in inputs)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError(ctx.message)


def _saved_tensors_hooks_is_enabled() -> bool:
    return current_modes().hooks_forbidden is None


_functions = SimpleNamespace(
    AccumulateGrad=kind_of_node("AccumulateGrad"), DelayedError=DelayedError
)
_autograd = SimpleNamespace(
    SavedTensor=SavedTensor, _saved_tensors_hooks_is_enabled=_saved_tensors_hooks_is_enabled
)
