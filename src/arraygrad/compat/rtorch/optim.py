"""Optimisers for the parameters of R's modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import optim
from ...arrays.tensor import Tensor
from .. import optimisers

__all__ = ["optimizer"]


def __dir__() -> list[str]:
    return __all__


def optimizer(name: str, params: Sequence[Tensor], options: dict[str, Any]) -> Any:
    """The optimiser of a name, such as "SGD"."""
    rule = getattr(optim, name.lower())
    return optimisers.optimizer(name, rule, optimisers.Optimizer)(params, **options)
