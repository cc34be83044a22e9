"""Shapes that know how arrays of theirs are cut into blocks, and arrays brought into them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...core.axes import same_shape
from ...errors import LazyError
from .blocks import blockwise, chunk_shapes, da, filled, only_block, repeated, spread

Chunks = tuple[tuple[int, ...], ...]


class ChunkedShape(tuple[int, ...]):
    """The shape of an array, which also knows how the array is cut into blocks.

    Derivative rules that keep a shape to make an array of it make one with the same blocks.
    """

    chunks: Chunks
    like: Any = None  # the array itself, if some lengths are not known before they are computed

    @classmethod
    def of(cls, array: Any) -> ChunkedShape:
        """The shape of an array."""
        shape = cls(array.shape)
        shape.chunks = array.chunks
        if any(n != n for n in shape):
            shape.like = array
        return shape

    def last(self, ndim: int) -> ChunkedShape:
        """The shape of the last axes alone."""
        if ndim == len(self):
            return self
        shape = type(self)(self[len(self) - ndim :])
        shape.chunks = self.chunks[len(self) - ndim :]
        if self.like is not None:
            shape.like = self.like[(0,) * (len(self) - ndim)]
        return shape

    def led_by(self, n: int) -> ChunkedShape:
        """The shape with one more axis in front."""
        shape = type(self)((n, *self))
        shape.chunks = ((n,), *self.chunks)
        if self.like is not None:
            shape.like = repeated(self.like, n)
        return shape

    def count(self, axis: tuple[int, ...] | None) -> Any:
        """How many elements there are along some axes, in an array that is as lazy as this one."""
        return da.sum(filled(self.like, self, 1, np.int64), axis=axis, keepdims=True)


def reshape(x: Any, shape: tuple[int, ...], copy: bool | None = None) -> Any:
    """The op `reshape`: into the blocks that the shape remembers, if it does."""
    longer = [i for i, n in enumerate(x.shape) if n != 1]
    if not same_shape([x.shape[i] for i in longer], [n for n in shape if n != 1]):
        return _recut(_rearranged(x, tuple(shape)), shape)
    if same_shape(x.shape, shape):
        return _recut(x, shape)
    # Only axes of length one come or go, so each block becomes one block.
    rest = iter(longer)
    sources = tuple(next(rest) if n != 1 else None for n in shape)
    labels = tuple(x.ndim + i if source is None else source for i, source in enumerate(sources))
    return blockwise(
        functools.partial(_with_axes, sources=sources),
        labels,
        x,
        tuple(range(x.ndim)),
        name="reshape",
        dtype=x.dtype,
        new_axes={label: 1 for label in labels if label >= x.ndim},
    )


def _rearranged(x: Any, shape: tuple[int, ...]) -> Any:
    """Any change of shape; never written to, so copies make no difference."""
    if 0 in shape:
        return filled(x, shape, 0, x.dtype)
    if any(n != n for n in (*shape, *x.shape)):
        raise LazyError(
            f"a Dask array of shape {x.shape} cannot become one of {shape} before the lengths that "
            "are not known are computed: call compute_chunk_sizes() on the Dask array first"
        )
    try:
        return da.reshape(x, shape)
    except NotImplementedError:  # axes are neither merged nor split, but cut anew
        return da.reshape(da.reshape(x, (x.size,)), shape)


def _recut(x: Any, shape: tuple[int, ...]) -> Any:
    """The array in the blocks that a shape remembers."""
    chunks = getattr(shape, "chunks", None)
    unknown = any(n != n for n in (*shape, *x.shape))
    return x if unknown or chunks is None or chunks == x.chunks else x.rechunk(chunks)


def _with_axes(block: Any, sources: tuple[int | None, ...]) -> Any:
    """A block with the axes that `sources` names, and with axes of length one where it is None."""
    block = only_block(block)
    return block.reshape(tuple(1 if s is None else block.shape[s] for s in sources))


def broadcast_to(x: Any, shape: tuple[int, ...]) -> Any:
    """The op `broadcast_to`: into the blocks that the shape remembers, if it does."""
    chunks: Any = getattr(shape, "chunks", None)
    if getattr(shape, "like", None) is not None:
        return spread(x, shape)
    if chunks is None or x.shape == shape:
        return da.broadcast_to(x, shape)
    axes = tuple(range(len(shape) - x.ndim, len(shape)))
    if any(n != 1 and c != chunks[i] for i, n, c in zip(axes, x.shape, x.chunks, strict=True)):
        return da.broadcast_to(x, shape)  # it is in other blocks
    labels = tuple(range(len(shape)))
    pairs = (chunk_shapes(chunks), labels, x, axes)  # lengths are taken from what is first
    return blockwise(_spread, labels, *pairs, name="broadcast_to", dtype=x.dtype, aligned=True)


def _spread(shape: tuple[int, ...], block: Any) -> Any:
    return np.broadcast_to(block, shape)
