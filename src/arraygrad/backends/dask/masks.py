"""Reading Dask arrays at a lazy boolean mask, and adding into zeros at such a mask.

Each block of the array, and the block of the mask at the same place, give one block of the result.
Its length is unknown until it is computed. Adding works block by block, too, if the array to add
has these blocks. If it has other blocks, each block of the result needs the whole array.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...errors import LazyError
from .blocks import blockwise, chunks_for, constant_values, da, with_length, xp

Template = tuple[Any, ...]


def only_mask(template: Template, indices: tuple[Any, ...]) -> Any:
    """The mask, if an index consists of one mask with unknown values and of whole axes; or None."""
    if len(indices) != 1 or indices[0].dtype.kind != "b" or indices[0].ndim == 0:
        return None
    if constant_values(indices[0]) is not None:
        return None
    for part in template:
        if part is None or isinstance(part, int):
            return None
        if isinstance(part, slice) and part != slice(None):
            return None
    return indices[0]


def lone_truth(template: Template, indices: tuple[Any, ...], ndim: int) -> Any:
    """For an index with a 0-d mask: the new axis, and the mask as a 1-d array; else None."""
    if not any(i.ndim == 0 and i.dtype.kind == "b" for i in indices):
        return None
    if len(indices) > 1 or any(part is None or isinstance(part, int) for part in template):
        raise LazyError(
            "a 0-d mask among other arrays, integers or None in an index of a Dask array: index in "
            "two steps"
        )
    values = constant_values(indices[0])
    if values is not None:
        return _axis_of(template, ndim, 0), da.from_array(values.reshape(1), chunks=-1)
    return _axis_of(template, ndim, 0), indices[0].reshape(1)


def _axis_of(template: Template, ndim: int, taken: int) -> int:
    """The first axis of the only array in an index; the array is for `taken` axes."""
    axis = 0
    for part in template:
        if part is Ellipsis:
            axis += ndim - taken - sum(isinstance(p, slice) for p in template)
        elif isinstance(part, slice):
            axis += 1
        else:
            break
    return axis


def masked(x: Any, mask: Any, template: Template) -> Any:
    """The elements of an array where the mask is True."""
    axis = _axis_of(template, x.ndim, mask.ndim)
    along = x.shape[axis : axis + mask.ndim]
    if any(n != m and n == n and m == m for n, m in zip(along, mask.shape, strict=True)):
        raise IndexError(
            f"a mask of shape {mask.shape} does not fit axis {axis} and those after it of an "
            f"array of shape {x.shape}"
        )
    if mask.ndim > 1:
        mask = mask.rechunk(x.chunks[axis : axis + mask.ndim])
        x = xp.reshape(x, (*x.shape[:axis], mask.size, *x.shape[axis + mask.ndim :]))
        mask = xp.reshape(mask, (mask.size,))
    labels = tuple(range(x.ndim))
    return blockwise(
        functools.partial(_compress, axis),
        labels,
        x,
        labels,
        mask,
        (axis,),
        name="getitem",
        dtype=x.dtype,
        adjust_chunks={axis: np.nan},
    )


def _compress(axis: int, block: Any, mask: Any) -> Any:
    """The part of a block where the mask along an axis is True."""
    return block[(*(slice(None),) * axis, mask)]


def unmasked(x: Any, mask: Any, template: Template, shape: tuple[int, ...]) -> Any:
    """Zeros of a shape, with the elements of an array where the mask is True."""
    axis = _axis_of(template, len(shape), mask.ndim)
    chunks = getattr(shape, "chunks", None) or chunks_for(["auto"] * len(shape), shape, x.dtype)
    if mask.ndim > 1:
        if any(n != n for n in shape):
            raise LazyError(
                "the gradient of a mask of several axes needs the lengths of the array's chunks: "
                "call compute_chunk_sizes() on the Dask array first"
            )
        # The same order and blocks as in `masked`.
        mask = mask.rechunk(chunks[axis : axis + mask.ndim])
        mask = xp.reshape(mask, (mask.size,))
    labels = tuple(range(x.ndim))
    if x.numblocks[axis] == mask.numblocks[0] and np.isnan(x.shape[axis]):
        function = functools.partial(_expand, axis)
        pairs: tuple[Any, ...] = (mask, (axis,), x, labels)
        out = blockwise(function, labels, *pairs, name="index_add", dtype=x.dtype, aligned=True)
    else:
        function = functools.partial(_pick, axis)
        own = (*labels[:axis], x.ndim, *labels[axis + 1 :])
        pairs = (mask, (axis,), da.cumsum(mask, axis=0), (axis,), da.sum(mask), (), x, own)
        out = blockwise(
            function,
            labels,
            *pairs,
            name="index_add",
            dtype=x.dtype,
            aligned=True,
            concatenate=True,
        )
    if out.ndim != len(shape):
        out = xp.reshape(out, tuple(shape))
    return recut(out, chunks)


def _expand(axis: int, mask: Any, block: Any) -> Any:
    """Zeros with a block where the mask along an axis is True."""
    _check_count(block.shape[axis], int(np.count_nonzero(mask)))
    out = np.zeros_like(block, shape=with_length(block.shape, axis, mask.size))
    out[(*(slice(None),) * axis, mask)] = block
    return out


def _pick(axis: int, mask: Any, count: Any, total: Any, block: Any) -> Any:
    """Zeros with elements of `block` where the mask is True.

    `block` is the whole array to add. `count` is the running number of True elements in the whole
    mask: it says which element of the array belongs to which place.
    """
    _check_count(block.shape[axis], int(total))
    return _expand(axis, mask, block[(*(slice(None),) * axis, count[mask] - 1)])


def _check_count(found: int, wanted: int) -> None:
    if found != wanted:
        raise ValueError(
            f"a gradient has {found} elements along an axis where a mask takes {wanted}: lengths "
            "that were not known before do not match"
        )


def recut(x: Any, chunks: Any) -> Any:
    """The array in the given chunks, if all their lengths are known; else the array itself."""
    known = not any(n != n for c in (*x.chunks, *chunks) for n in c)
    return x.rechunk(chunks) if known and x.chunks != chunks else x
