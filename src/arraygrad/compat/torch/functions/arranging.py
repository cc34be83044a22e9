"""Choices of elements, padding, places in memory, and segments."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .... import nn, ops
from ....arrays.creation import asarray
from ....core.array import Array
from ..publish import function
from .axes import check_static, checked
from .indexing import nonzero, put, scatter_reduce
from .shapes import memory_of, places_in_memory

# The names of `torch` that are made here.
__all__ = [
    "as_strided_scatter", "cartesian_prod", "combinations", "constant_pad_nd", "fill",
    "nonzero_static", "segment_reduce", "unravel_index",
]  # fmt: skip


@function(method=False)
def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """All choices of `r` elements of a vector, one in each row."""
    if input.ndim != 1:
        raise RuntimeError(f"combinations(): input must be a vector, not {tuple(input.shape)}")
    if r < 0:
        raise RuntimeError(f"combinations(): r must not be negative, but is {r}")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = np.array(list(choose(range(input.shape[0]), r)), np.int64)
    return input[:0] if not r else input[np.reshape(rows, (-1, r))]


@function(method=False)
def cartesian_prod(*tensors: Any) -> Any:
    """All choices of one element of each vector, one in each row."""
    for part in tensors:
        if part.ndim != 1:
            raise RuntimeError(f"cartesian_prod(): takes vectors, not {tuple(part.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    grid = ops.meshgrid(*tensors, indexing="ij")
    return ops.stack([ops.reshape(part, (-1,)) for part in grid], axis=1)


constant_pad_nd = function(
    lambda input, pad, value=0: nn.pad(input, pad, "constant", value),
    name="constant_pad_nd",
    method=False,
)
unravel_index = function(
    lambda indices, shape: np.unravel_index(indices, shape), name="unravel_index", method=False
)


@function
def nonzero_static(input: Any, *, size: int, fill_value: int = -1) -> Any:
    """Where the first `size` elements that are not zero are; the rest of the rows is filled."""
    check_static(input, "nonzero_static")
    found = np.asarray(nonzero.__wrapped__(input).array)[:size]
    out = np.full((size, found.shape[1]), fill_value, np.int64)
    out[: len(found)] = found
    return asarray(out)


@function(method=False)
def fill(input: Any, value: Any) -> Any:
    """One value in the shape and dtype of a tensor."""
    if isinstance(value, Array):
        if value.ndim:
            raise RuntimeError(f"fill() takes a number or a 0-d tensor, not one of {value.ndim}-d")
        return ops.copy(ops.broadcast_to(ops.astype(value, input.dtype), input.shape))
    return ops.where(True, asarray(np.asarray(value).astype(input.dtype)), input)


@function
def as_strided_scatter(
    input: Any, src: Any, size: Any, stride: Any, storage_offset: int | None = None
) -> Any:
    """The tensor with other elements at given steps in memory."""
    place = places_in_memory(
        size, stride, memory_of(input)[1] if storage_offset is None else storage_offset
    )
    if tuple(src.shape) != tuple(size):
        raise RuntimeError(f"src has shape {tuple(src.shape)}, but the part has {tuple(size)}")
    return put.__wrapped__(input, asarray(place), src)


_EMPTY = {"sum": 0, "mean": 0, "prod": 1, "max": -np.inf, "min": np.inf}


@function(method=False)
def segment_reduce(
    data: Any,
    reduce: str,
    *,
    lengths: Any = None,
    indices: Any = None,
    offsets: Any = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Any:
    """The sum, mean, product, maximum or minimum of segments along an axis."""
    if reduce not in _EMPTY:
        raise RuntimeError(f"segment_reduce(): reduce must be one of {', '.join(_EMPTY)}")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices is not implemented: pass lengths or offsets")
    if (lengths is None) == (offsets is None):
        raise RuntimeError("segment_reduce(): pass either lengths or offsets")
    axis = checked(axis, data.ndim)
    ends = ops.cumulative_sum(lengths, axis=-1) if offsets is None else offsets[..., 1:]
    # The number of the segment of each element.
    place = np.reshape(np.arange(data.shape[axis]), (-1, 1))
    number = ops.sum(ops.astype(place >= ops.expand_dims(ends, -2), np.int64), axis=-1)
    number = ops.reshape(number, (*number.shape, *(1,) * (data.ndim - axis - 1)))
    number = ops.broadcast_to(number, data.shape)
    shape = (*data.shape[:axis], ends.shape[-1], *data.shape[axis + 1 :])

    def joined(values: Any, how: str, start: Any) -> Any:
        return scatter_reduce.__wrapped__(
            asarray(np.full(shape, start, data.dtype)), axis, number, values, how
        )

    how = {"mean": "sum", "max": "amax", "min": "amin"}.get(reduce, reduce)
    found = joined(data, how, _EMPTY[reduce] if initial is None else initial)
    if reduce != "mean":
        return found
    count = joined(ops.ones_like(data), "sum", 0)
    empty = np.nan if initial is None else initial
    return ops.where(count > 0, found / ops.where(count > 0, count, 1), empty)
