"""`Parameter`: a tensor that a module counts among its own."""

from __future__ import annotations

from typing import Any

from ..creation import empty, parameter
from ..handles import Tensor

__all__ = [
    "Buffer", "Parameter",
]  # fmt: skip


class Parameter(Tensor):
    """A leaf that requires gradients, and that a `Module` finds among its attributes."""

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        """Make one on the memory of `data`."""
        made: Parameter = parameter(cls, empty(0) if data is None else data, requires_grad)
        return made

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


class Buffer(Tensor):
    """A tensor that a `Module` finds among its attributes, and that is no parameter."""

    persistent: bool

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Buffer:
        """Make one on the memory of `data`."""
        made: Buffer = parameter(cls, empty(0) if data is None else data, False)
        made.persistent = persistent
        return made
