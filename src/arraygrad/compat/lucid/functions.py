"""Functions that Lucid has in a form of its own. They take and give tensors of arraygrad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ops
from ..torchlike import of_torch, reduction


def gather(x: Any, indices: Any, dim: int = 0) -> Any:
    """Along an axis, the elements at the places that `indices` has."""
    return ops.take_along_axis(x, np.asarray(indices), axis=dim)


def index_fill(x: Any, dim: int, index: Any, value: Any) -> Any:
    """A value at some places of an axis, and the elements elsewhere."""
    n, places = x.shape[dim], np.asarray(index)
    if ((places < -n) | (places >= n)).any():
        raise IndexError(f"index has places outside of an axis of length {n}: {places.tolist()}")
    chosen = np.isin(np.arange(n), places % n)
    shape = [1] * x.ndim
    shape[dim] = -1
    return ops.where(chosen.reshape(shape), np.asarray(value, x.dtype), x)


_OF_TORCH = "broadcast_to cdist einsum expand_as fliplr view_as"
OWN: dict[str, Callable[..., Any]] = {
    **{name: of_torch(name) for name in _OF_TORCH.split()},
    "angle": ops.angle,
    "clamp_max": lambda x, max: ops.clip(x, None, max),
    "clamp_min": lambda x, min: ops.clip(x, min, None),
    "complex": lambda real, imag: real + 1j * imag,
    "concatenate": ops.concat,
    "gather": gather,
    "index_fill": index_fill,
    "max": reduction(ops.max),
    "min": reduction(ops.min),
    "nan_to_num": ops.nan_to_num,
    "nextafter": ops.nextafter,
    "type_as": lambda x, other: ops.astype(x, other.dtype),
}
