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


@function
def tile(input: Any, *dims: Any) -> Any:
    """The tensor side by side with itself."""
    return ops.tile(input, sizes(dims))


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
    return ops.flip(input, axis=tuple(checked(a, input.ndim) for a in chosen) if input.ndim else ())


@function
def fliplr(input: Any) -> Any:
    """The second axis in the opposite direction."""
    check_axes("fliplr", input, 2)
    return ops.flip(input, axis=1)


@function
def flipud(input: Any) -> Any:
    """The first axis in the opposite direction."""
    check_axes("flipud", input, 1)
    return ops.flip(input, axis=0)


@function
def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """Elements moved along axes, and in again at the other end."""
    dims = tuple(dims) if isinstance(dims, list) else dims
    shifts = tuple(shifts) if isinstance(shifts, list) else shifts
    return ops.roll(input, shifts, axis=dims if dims != () else None)


@function
def rot90(input: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    """A plane turned by quarters."""
    check_axes("rot90", input, 2)
    return ops.rot90(input, k, tuple(dims))


@function(in_place=True)
def tril(input: Any, diagonal: int = 0) -> Any:
    """The lower triangle."""
    return ops.tril(input, k=diagonal)


@function(in_place=True)
def triu(input: Any, diagonal: int = 0) -> Any:
    """The upper triangle."""
    return ops.triu(input, k=diagonal)


@function
def diag(input: Any, diagonal: int = 0) -> Any:
    """The diagonal of a matrix, or the matrix with a diagonal."""
    return ops.diag(input, diagonal)


@function
def diagflat(input: Any, offset: int = 0) -> Any:
    """The matrix that has all elements on a diagonal."""
    return ops.diag(ops.reshape(input, (-1,)), offset)


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


@function
def atleast_1d(*tensors: Any) -> Any:
    """At least one axis."""
    return _each(ops.atleast_1d, tensors)


@function
def atleast_2d(*tensors: Any) -> Any:
    """At least two axes."""
    return _each(ops.atleast_2d, tensors)


@function
def atleast_3d(*tensors: Any) -> Any:
    """At least three axes."""
    return _each(ops.atleast_3d, tensors)


@function
def clone(input: Any, *, memory_format: Any = None) -> Any:
    """A copy, which the gradient passes through."""
    return ops.copy(input)


@function
def contiguous(input: Any, *, memory_format: Any = None) -> Any:
    """The tensor with its elements in order in memory."""
    array = in_memory(input)
    return input if array is None or array.flags.c_contiguous else ops.copy(input)
