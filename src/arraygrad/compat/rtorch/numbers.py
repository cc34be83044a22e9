"""From R's numbers to Python's: dimensions and sizes count from one, and may arrive as floats."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...arrays.tensor import Tensor

FLOAT, LONG, COMPLEX = map(np.dtype, (np.float32, np.int64, np.complex64))


def whole(value: Any, name: str) -> int:
    """A whole number: R's numbers are floats unless written `1L`."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if value != int(value):
        raise ValueError(f"{name} must be a whole number, not {value}")
    return int(value)


def sizes(given: Iterable[Any]) -> tuple[int, ...]:
    """The lengths of axes, given as `3, 4` or as `c(3, 4)`."""
    flat: list[Any] = []
    for size in given:
        if isinstance(size, Iterable):
            flat.extend(size)
        else:
            flat.append(size)
    return tuple(whole(size, "size") for size in flat)


def axis(dim: Any, ndim: int, name: str = "dim") -> int:
    """The axis, counted from zero, of a dimension that counts from one, or back from -1."""
    found = whole(dim, name)
    if found == 0 or not -ndim <= found <= ndim:
        raise IndexError(
            f"{name} must be from 1 to {ndim} or from -{ndim} to -1 for a tensor with {ndim} "
            f"dimensions, not {found}"
        )
    return found - 1 if found > 0 else found + ndim


def axes(dim: Any, ndim: int) -> int | tuple[int, ...] | None:
    """The axes of one dimension, of several, or None for all."""
    if dim is None:
        return None
    if isinstance(dim, Iterable):
        return tuple(axis(d, ndim) for d in dim)
    return axis(dim, ndim)


def dtype_of(dtype: Any) -> Any:
    """The dtype that R names by a string."""
    return np.dtype(dtype) if isinstance(dtype, str) else dtype


def from_one(index: Any) -> Any:
    """Places that count from one, or back from -1, as places that count from zero or back."""
    places = np.asarray(index.detach().numpy() if isinstance(index, Tensor) else index)
    if places.dtype.kind == "f" and (places == np.floor(places)).all():
        places = places.astype(LONG)
    if places.dtype.kind not in "iu":
        raise TypeError(f"places must be whole numbers, not {places.dtype}")
    if (places == 0).any():
        raise IndexError("places count from one, so there is no place 0")
    return np.where(places > 0, places - 1, places)
