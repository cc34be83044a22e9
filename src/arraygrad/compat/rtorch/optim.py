"""Optimisers for the parameters of R's modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import optim
from ...arrays.tensor import Tensor
from .. import optimisers

__all__ = ["optimizer", "schedule"]


def optimizer(name: str, params: Sequence[Tensor], options: dict[str, Any]) -> Any:
    """The optimiser of a name, such as "SGD"."""
    rule = getattr(optim, name.lower())
    return optimisers.optimizer(name, rule, optimisers.Optimizer)(params, **options)


def schedule(name: str, optimizer: Any, *options: Any) -> Any:
    """The schedule of learning rates that PyTorch has under a name, such as "StepLR"."""
    from ..torch.optim import lr_scheduler  # which takes time to import

    return getattr(lr_scheduler, name)(optimizer, *options)
