"""Functions that Lucid has in a form of its own. They take and give tensors of arraygrad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ops
from ...ops import norms
from ..torchlike import clamp, reduction


def gather(x: Any, indices: Any, dim: int = 0) -> Any:
    """Along an axis, the elements at the places that `indices` has."""
    return ops.take_along_axis(x, np.asarray(indices), axis=dim)


def fliplr(x: Any) -> Any:
    """With the columns in reverse order."""
    return ops.flip(x, axis=1)


def index_fill(x: Any, dim: int, index: Any, value: Any) -> Any:
    """A value at some places of an axis, and the elements elsewhere."""
    n, places = x.shape[dim], np.asarray(index)
    if ((places < -n) | (places >= n)).any():
        raise IndexError(f"index has places outside of an axis of length {n}: {places.tolist()}")
    chosen = np.isin(np.arange(n), places % n)
    shape = [1] * x.ndim
    shape[dim] = -1
    return ops.where(chosen.reshape(shape), np.asarray(value, x.dtype), x)


def clamp_min(x: Any, min: Any) -> Any:
    """Elements below `min` become this."""
    return clamp(x, min=min)


def clamp_max(x: Any, max: Any) -> Any:
    """Elements above `max` become this."""
    return clamp(x, max=max)


def type_as(x: Any, other: Any) -> Any:
    """The tensor in the dtype of another."""
    return ops.astype(x, other.dtype)


def view_as(x: Any, other: Any) -> Any:
    """The tensor in the shape of another."""
    return ops.reshape(x, tuple(other.shape))


def expand_as(x: Any, other: Any) -> Any:
    """The tensor repeated to the shape of another."""
    return ops.broadcast_to(x, tuple(other.shape))


def complex(real: Any, imag: Any) -> Any:
    """Complex numbers with these real and imaginary parts."""
    return real + 1j * imag


def cdist(x1: Any, x2: Any, p: float = 2.0) -> Any:
    """The distances between the rows of two matrices."""
    between = ops.expand_dims(x1, -2) - ops.expand_dims(x2, -3)
    return norms.vector_norm(between, axis=-1, ord=p)


OWN: dict[str, Callable[..., Any]] = {
    "angle": ops.angle,
    "broadcast_to": ops.broadcast_to,
    "cdist": cdist,
    "clamp_max": clamp_max,
    "clamp_min": clamp_min,
    "complex": complex,
    "concatenate": ops.concat,
    "einsum": ops.einsum,
    "expand_as": expand_as,
    "fliplr": fliplr,
    "gather": gather,
    "index_fill": index_fill,
    "max": reduction(ops.max),
    "min": reduction(ops.min),
    "nan_to_num": ops.nan_to_num,
    "nextafter": ops.nextafter,
    "type_as": type_as,
    "view_as": view_as,
}
