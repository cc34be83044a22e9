"""The parameter `dim`, as arraygrad's functions take it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....arrays.batched import Batched
from ....core.array import Array, plain
from ..handles import checked as checked


def axes_of(dim: Any, ndim: int) -> Any:
    """An axis, several, or None for all of them; none of a 0-d array."""
    if dim is None or (isinstance(dim, tuple | list) and not len(dim)):
        return None
    if isinstance(dim, tuple | list):
        found = tuple(checked(d, ndim) for d in dim)
        if len(set(found)) < len(found):
            raise RuntimeError(f"dim appears twice in {tuple(dim)}")
        return found if ndim else None
    found_one = checked(dim, ndim)
    return found_one if ndim else None


def check_not_empty(name: str, x: Any, axis: Any) -> None:
    """Raise if there is nothing to choose an element of along given axes."""
    for a in (axis,) if isinstance(axis, int) else axis or ():
        if not x.shape[a]:
            raise IndexError(f"{name}(): Expected reduction dim {a} to have non-zero size.")


def check_axes(name: str, x: Any, least: int) -> None:
    """Raise unless a tensor has a number of axes."""
    if x.ndim < least:
        raise RuntimeError(
            f"{name}() requires a tensor with at least {least} dimension(s), but it has {x.ndim}"
        )


def values_of(x: Any, name: str) -> Any:
    """The plain values of a tensor. Those of a batch would get mixed up: `vmap` is refused."""
    if _differs_over_batch(x):
        raise RuntimeError(
            f"Batching rule not implemented for {name}(): call it outside vmap, or in a loop"
        )
    return np.asarray(plain(x))


def _differs_over_batch(x: Any) -> bool:
    while isinstance(x, Array) and not isinstance(x, Batched):
        x = x._array
    return isinstance(x, Batched)


def check_static(x: Any, name: str) -> None:
    """Raise if the shape of a result would differ over a batch."""
    if _differs_over_batch(x):
        raise RuntimeError(
            "vmap: We do not support batching operators that can output dynamic shape. Attempted "
            f"to vmap over aten::{name}: call it outside vmap, or use torch.where with a mask"
        )


def check_mask(mask: Any, name: str, argument: str = "mask") -> None:
    """Raise if a mask is not of booleans."""
    if mask.dtype.kind != "b":
        raise RuntimeError(
            f"{name} expected {argument} to be a boolean tensor, but got a tensor with dtype "
            f"{mask.dtype}"
        )


def check_floating(x: Any, name: str) -> None:
    """Raise for integers and booleans."""
    if x.dtype.kind not in "fc":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {x.dtype}"
        )
