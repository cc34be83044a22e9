"""Plain arrays filled with a number, like another array of any type."""

from __future__ import annotations

from typing import Any

from ..core.array import plain
from .registry import backend_of


def zeros_like(x: Any, shape: tuple[int, ...] | None = None, dtype: Any = None) -> Any:
    """Plain zeros with the library of `x`, and with its shape and dtype unless given others."""
    shape = x.shape if shape is None else shape
    return backend_of(x).full(plain(x), shape, 0, x.dtype if dtype is None else dtype)


def ones_like(x: Any) -> Any:
    """Plain ones with the shape, dtype and library of `x`."""
    return backend_of(x).full(plain(x), x.shape, 1, x.dtype)
