"""`ChunkedShape`, a shape that also holds the chunks, and the ops `reshape` and `broadcast_to`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...core.axes import same_shape
from ...errors import LazyError
from .blocks import blockwise, chunk_shapes, da, filled, only_block, repeated, spread

Chunks = tuple[tuple[int, ...], ...]


class ChunkedShape(tuple[int, ...]):
    """The shape of an array, together with the array's chunks.

    A derivative rule that keeps this shape, and makes an array of it, makes one with these chunks.
    """

    chunks: Chunks
    like: Any = None  # the array itself, if some of its lengths are unknown

    @classmethod
    def of(cls, array: Any) -> ChunkedShape:
        """The shape of an array."""
        shape = cls(array.shape)
        shape.chunks = array.chunks
        if any(n != n for n in shape):
            shape.like = array
        return shape

    def last(self, ndim: int) -> ChunkedShape:
        """The shape of the last `ndim` axes."""
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
        """The number of elements along some axes, as a lazy array."""
        return da.sum(filled(self.like, self, 1, np.int64), axis=axis, keepdims=True)


def reshape(x: Any, shape: tuple[int, ...], copy: bool | None = None) -> Any:
    """The op `reshape`; a `ChunkedShape` also sets the chunks of the result."""
    longer = [i for i, n in enumerate(x.shape) if n != 1]
    if not same_shape([x.shape[i] for i in longer], [n for n in shape if n != 1]):
        return _recut(_rearranged(x, tuple(shape)), shape)
    if same_shape(x.shape, shape):
        return _recut(x, shape)
    # Only axes of length one are added or removed, so each block becomes one block.
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
    """Any change of shape. A Dask array is never written, so a copy does the same as a view."""
    if 0 in shape:
        return filled(x, shape, 0, x.dtype)
    if any(n != n for n in (*shape, *x.shape)):
        raise LazyError(
            f"a Dask array of shape {x.shape} cannot become one of {shape} before the lengths that "
            "are not known are computed: call compute_chunk_sizes() on the Dask array first"
        )
    try:
        return da.reshape(x, shape)
    except NotImplementedError:  # Dask can only merge or split axes
        return da.reshape(da.reshape(x, (x.size,)), shape)


def _recut(x: Any, shape: tuple[int, ...]) -> Any:
    """The array in the chunks of a `ChunkedShape`."""
    chunks = getattr(shape, "chunks", None)
    unknown = any(n != n for n in (*shape, *x.shape))
    return x if unknown or chunks is None or chunks == x.chunks else x.rechunk(chunks)


def _with_axes(block: Any, sources: tuple[int | None, ...]) -> Any:
    """A block with the axes in `sources`, and with an axis of length one for each None in it."""
    block = only_block(block)
    return block.reshape(tuple(1 if s is None else block.shape[s] for s in sources))


def broadcast_to(x: Any, shape: tuple[int, ...]) -> Any:
    """The op `broadcast_to`; a `ChunkedShape` also sets the chunks of the result."""
    chunks: Any = getattr(shape, "chunks", None)
    if getattr(shape, "like", None) is not None:
        return spread(x, shape)
    if chunks is None or x.shape == shape:
        return da.broadcast_to(x, shape)
    axes = tuple(range(len(shape) - x.ndim, len(shape)))
    if any(n != 1 and c != chunks[i] for i, n, c in zip(axes, x.shape, x.chunks, strict=True)):
        return da.broadcast_to(x, shape)  # x has other chunks
    labels = tuple(range(len(shape)))
    pairs = (chunk_shapes(chunks), labels, x, axes)  # the first pair determines the lengths
    return blockwise(_spread, labels, *pairs, name="broadcast_to", dtype=x.dtype, aligned=True)


def _spread(shape: tuple[int, ...], block: Any) -> Any:
    return np.broadcast_to(block, shape)
