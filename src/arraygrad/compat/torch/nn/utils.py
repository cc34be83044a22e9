"""`torch.nn.utils`: gradients clipped, parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..autograd import no_grad
from ..creation import tensor
from ..functions.products import norm
from ..functions.shapes import cat, stack
from ..handles import Tensor

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "parameters_to_vector",
    "vector_to_parameters",
]


def __dir__() -> list[str]:
    return __all__


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Any]:
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in given if p.grad is not None]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0
) -> Tensor:
    """Scale all gradients down to a common norm; return the norm they had."""
    found = _gradients(parameters)
    if not found:
        return tensor(0.0)
    total: Tensor = norm(stack([norm(g.detach(), norm_type) for g in found]), norm_type)
    factor = min(1.0, max_norm / (total.item() + 1e-6))
    with no_grad():
        for g in found:
            g.mul_(factor)
    return total


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Keep all gradients between two bounds."""
    with no_grad():
        for g in _gradients(parameters):
            g.clamp_(-clip_value, clip_value)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters as one vector."""
    return cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Take over parameters from one vector."""
    start = 0
    for p in parameters:
        p.data = vec[start : start + p.numel()].view_as(p).data
        start += p.numel()
