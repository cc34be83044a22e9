"""Plain arrays filled with zeros or ones, of the same library as a given array."""

from __future__ import annotations

from typing import Any

from ..core.array import plain
from .registry import backend_of


def zeros_like(x: Any, shape: tuple[int, ...] | None = None, dtype: Any = None) -> Any:
    """Plain zeros from the library of `x`; by default with the shape and dtype of `x`."""
    shape = x.shape if shape is None else shape
    return backend_of(x).full(plain(x), shape, 0, x.dtype if dtype is None else dtype)


def ones_like(x: Any) -> Any:
    """Plain ones from the library of `x`, with its shape and dtype."""
    return backend_of(x).full(plain(x), x.shape, 1, x.dtype)
