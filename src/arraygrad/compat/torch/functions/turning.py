"""Elements repeated, turned around, and put on diagonals; and copies."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from .... import ops
from ..publish import function
from .axes import check_axes, checked
from .shapes import in_memory, sizes

# The names of `torch` that are made here.
__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "clone", "contiguous", "diag", "diag_embed",
    "diagflat", "flip", "fliplr", "flipud", "repeat", "repeat_interleave", "roll", "rot90", "tile",
    "tril", "triu",
]  # fmt: skip


@function
def repeat(input: Any, *repeats: Any) -> Any:
    """The tensor side by side with itself."""
    counts = sizes(repeats)
    if len(counts) < input.ndim:
        raise RuntimeError(f"repeat() needs a number for each of {input.ndim} axes")
    return ops.tile(input, counts)


tile = function(lambda input, *dims: ops.tile(input, sizes(dims)), name="tile")


@function
def repeat_interleave(
    input: Any, repeats: Any, dim: Any = None, *, output_size: int | None = None
) -> Any:
    """Each element several times."""
    return ops.repeat(input, repeats, axis=dim)


@function
def flip(input: Any, *axes: Any, dims: Any = None) -> Any:
    """Axes in the opposite direction."""
    chosen = sizes(axes if dims is None else (dims,))
    axis = tuple(checked(a, input.ndim) for a in chosen) if input.ndim else ()
    return in_order(ops.flip(input, axis=axis))


def in_order(x: Any) -> Any:
    """A copy whose elements are in order in memory: where NumPy gives a view, and PyTorch not."""
    return ops.reshape(x, x.shape, copy=True)  # copy() would keep the order


def _flip(name: str, axis: int) -> Any:
    def made(input: Any) -> Any:
        check_axes(name, input, axis + 1)
        return in_order(ops.flip(input, axis=axis))

    return function(made, name=name, doc=f"The axis {axis} in the opposite direction.")


flipud, fliplr = _flip("flipud", 0), _flip("fliplr", 1)


@function
def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """Elements moved along axes, and in again at the other end."""
    dims = tuple(dims) if isinstance(dims, list) else dims
    shifts = tuple(shifts) if isinstance(shifts, list) else shifts
    if shifts == () or (isinstance(shifts, tuple) and len(shifts) > 1 and dims in (None, ())):
        raise ValueError(f"shifts and dims must be of one length, not {shifts} and {dims}")
    return ops.roll(input, shifts, axis=dims if dims != () else None)


@function
def rot90(input: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    """A plane turned by quarters."""
    check_axes("rot90", input, 2)
    return in_order(ops.rot90(input, k, tuple(dims)))


tril = function(lambda input, diagonal=0: ops.tril(input, k=diagonal), name="tril", in_place=True)
triu = function(lambda input, diagonal=0: ops.triu(input, k=diagonal), name="triu", in_place=True)
diag = function(lambda input, diagonal=0: in_order(ops.diag(input, diagonal)), name="diag")
diagflat = function(
    lambda input, offset=0: ops.diag(ops.reshape(input, (-1,)), offset), name="diagflat"
)


@function
def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices that have the last axis on a diagonal."""
    size = input.shape[-1] + builtins.abs(offset)
    ndim = input.ndim + 1
    place = np.arange(input.shape[-1])
    row, column = place + builtins.max(-offset, 0), place + builtins.max(offset, 0)
    last = np.zeros((size, size), np.int64)  # the place of each element, or that of a zero
    last[row, column] = place + 1
    padded = ops.pad(input, ((0, 0),) * (input.ndim - 1) + ((1, 0),))
    found = padded[..., last]
    return ops.moveaxis(found, (-2, -1), (checked(dim1, ndim), checked(dim2, ndim)))


def _each(native: Any, tensors: tuple[Any, ...]) -> Any:
    """A function of one tensor, or of each of several."""
    if len(tensors) == 1 and isinstance(tensors[0], tuple | list):
        return tuple(native(t) for t in tensors[0])
    return native(tensors[0]) if len(tensors) == 1 else tuple(native(t) for t in tensors)


atleast_1d = function(lambda *tensors: _each(ops.atleast_1d, tensors), name="atleast_1d")
atleast_2d = function(lambda *tensors: _each(ops.atleast_2d, tensors), name="atleast_2d")
atleast_3d = function(lambda *tensors: _each(ops.atleast_3d, tensors), name="atleast_3d")
clone = function(lambda input, *, memory_format=None: ops.copy(input), name="clone")


@function
def contiguous(input: Any, *, memory_format: Any = None) -> Any:
    """The tensor with its elements in order in memory."""
    array = in_memory(input)
    if array is None or array.flags.c_contiguous:
        return input
    return in_order(input)
