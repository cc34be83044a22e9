"""Array-likes: objects of no array library that NumPy can make an array of.

A column of a pandas table is one. Together with tensors, an array-like counts as the NumPy array of
its values. It is a constant: what it does with its values, nobody can differentiate.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.array import Array
from .registry import backend_of_type


class _Table(dict[type, bool]):
    """Whether objects of a type are array-likes. It finds out when it first meets the type."""

    def __missing__(self, kind: type) -> bool:
        found = self[kind] = _is_array_like(kind)
        return found


ARRAY_LIKE = _Table()


def _is_array_like(kind: type) -> bool:
    # A subclass of NumPy's arrays that has no backend means something else by its values.
    if not hasattr(kind, "__array__") or issubclass(kind, Array | np.ndarray):
        return False
    try:
        backend_of_type(kind)
    except TypeError:
        return True
    return False


def values_of(x: Any) -> Any:
    """An array-like as a NumPy array; anything else as it is."""
    if not ARRAY_LIKE[type(x)]:
        return x
    values = np.asarray(x)
    if values.dtype.kind not in "biufc":
        raise TypeError(
            f"expected an array of numbers, got {type(x).__name__} of dtype {values.dtype}"
        )
    return values


def operand_values(x: Any, other: Any) -> Any:
    """The array-like `x` for an operator with an array `other`, where that one computes it.

    By NumPy's rules: one with ``__array_ufunc__`` computes itself, and so does one of higher
    priority. pandas has a priority of its own. Anything else is returned as it is.
    """
    if not ARRAY_LIKE[type(x)]:
        return x
    if hasattr(x, "__pandas_priority__"):
        is_first = x.__pandas_priority__ > getattr(other, "__pandas_priority__", 0)
    else:
        mine, others = (getattr(a, "__array_priority__", 0) for a in (x, other))
        is_first = hasattr(x, "__array_ufunc__") or mine > others
    return x if is_first else values_of(x)
