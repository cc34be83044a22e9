"""`lucid.nn.utils`: gradients of parameters, kept within bounds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .... import ops
from ....autograd import no_grad
from ....ops.norms import vector_norm
from ..tensors import Tensor

__all__ = ["clip_grad_norm_", "clip_grad_value_"]


def _gradients(parameters: Any) -> list[Tensor]:
    given: Iterable[Any] = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p.grad for p in given if p.grad is not None]


def clip_grad_norm_(parameters: Any, max_norm: float, norm_type: float = 2.0) -> Tensor:
    """Scale all gradients down to a common norm; return the norm that they had."""
    found = _gradients(parameters)
    if not found:
        return Tensor(0.0)
    with no_grad():
        norms = [vector_norm(g.detach()._inner, ord=norm_type) for g in found]
        total = Tensor._of(vector_norm(ops.stack(norms), ord=norm_type))
        factor = min(1.0, max_norm / (total.item() + 1e-6))
        for g in found:
            g.mul_(factor)
    return total


def clip_grad_value_(parameters: Any, clip_value: float) -> None:
    """Keep all elements of gradients between two bounds."""
    with no_grad():
        for g in _gradients(parameters):
            g.clamp_(-clip_value, clip_value)
