"""Optimisers: those of `compat.torch`, for the parameters of R's modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...arrays.tensor import Tensor

__all__ = ["optimizer"]


def __dir__() -> list[str]:
    return __all__


def optimizer(name: str, params: Sequence[Tensor], options: dict[str, Any]) -> Any:
    """The optimiser of a name, such as "SGD", of `compat.torch.optim`."""
    from ..torch import optim  # which takes time to import
    from ..torch.handles import wrap

    return getattr(optim, name)([wrap(p) for p in params], **options)
