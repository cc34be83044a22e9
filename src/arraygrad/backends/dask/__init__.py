"""Dask: lazy arrays in blocks, and what has to be done for them to stay in these blocks.

Nothing here looks at values. Where Dask's own functions would cut arrays anew, or put tasks
between blocks that belong together, there is a kernel made of `blockwise`, which Dask fuses.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import dask.array
import dask.array.utils
import dask.layers
import numpy as np
from array_api_compat.dask import array as xp

from ...core.axes import same_shape
from ...errors import LazyError
from ..base import Backend, Kernel
from .blocks import blockwise, constant_values, elementwise, filled, repeated, spread
from .kernels import KERNELS

Chunks = tuple[tuple[int, ...], ...]

# Dask's functions have no types.
da: Any = dask.array
meta_from_array: Any = dask.array.utils.meta_from_array
chunk_shapes: Any = dask.layers.ArrayChunkShapeDep


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


class DaskBackend(Backend):
    """Dask arrays."""

    merges_axes = False

    def device(self, array: Any) -> Any:
        return "cpu"

    def shape(self, array: Any) -> tuple[int, ...]:
        return ChunkedShape.of(array)

    def kernel(self, op: Any) -> Kernel:
        if op.name not in self.kernels and op.batch == "elementwise":
            return elementwise(op.name)
        return super().kernel(op)

    def full(self, like: Any, shape: tuple[int, ...], value: Any, dtype: Any) -> Any:
        return filled(like, shape, value, dtype)

    def integers(self, like: Any, values: list[int]) -> Any:
        return da.from_array(np.array(values, np.intp), chunks=-1)

    def from_numpy(self, array: Any, device: Any) -> Any:
        return da.from_array(np.array(array), chunks=-1)

    def arranged(self, array: Any, like: Any) -> Any:
        lead = array.ndim - like.ndim
        if lead < 0 or array.shape[lead:] != like.shape or array.chunks[lead:] == like.chunks:
            return array
        if any(n != n for n in array.shape):
            return array
        return array.rechunk((*array.chunks[:lead], *like.chunks))

    def has_values(self, array: Any) -> bool:
        return False

    def known_values(self, array: Any) -> Any:
        return constant_values(array)

    def to_numpy(self, array: Any) -> Any:
        return np.asarray(array.compute())  # only where the user asks for it, as by `numpy()`

    def copy(self, array: Any) -> Any:
        return array.copy()  # the same blocks: Dask replaces them, and never writes to them

    def own(self, held: list[Any]) -> Any:
        return self.copy(held.pop())

    def without_nan(self, array: Any, error: Exception) -> Any:
        return da.blockwise(
            _checked, range(array.ndim), array, range(array.ndim), error=error, meta=array._meta
        )


def _checked(block: Any, error: Exception) -> Any:
    if np.isnan(block).any():
        raise error
    return block


# --- moving axes of length one -------------------------------------------------------------------


def _reshape(x: Any, shape: tuple[int, ...], copy: bool | None = None) -> Any:
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
    block = _only(block)
    return block.reshape(tuple(1 if s is None else block.shape[s] for s in sources))


def _broadcast_to(x: Any, shape: tuple[int, ...]) -> Any:
    chunks: Any = getattr(shape, "chunks", None)
    if getattr(shape, "like", None) is not None:
        return spread(x, shape)
    if chunks is None or x.shape == shape:
        return da.broadcast_to(x, shape)
    axes = tuple(range(len(shape) - x.ndim, len(shape)))
    if any(n != 1 and c != chunks[i] for i, n, c in zip(axes, x.shape, x.chunks, strict=True)):
        return da.broadcast_to(x, shape)  # it is in other blocks
    return da.blockwise(
        _spread,
        tuple(range(len(shape))),
        chunk_shapes(chunks),  # first, as the lengths are taken from here
        tuple(range(len(shape))),
        x,
        axes,
        align_arrays=False,
        meta=meta_from_array(x, len(shape)),
        dtype=x.dtype,
    )


def _spread(shape: tuple[int, ...], block: Any) -> Any:
    return np.broadcast_to(block, shape)


# --- products ------------------------------------------------------------------------------------


def _matmul(x: Any, y: Any) -> Any:
    # Dask's own makes matrices of vectors first, and sums also where there is nothing to sum.
    if x.ndim == 0 or y.ndim == 0:
        return da.matmul(x, y)  # which says what is wrong
    batch = tuple(range(max(x.ndim, y.ndim, 2) - 2))
    row, inner, column = (len(batch) + i for i in range(3))
    rows, columns = (row,) * (x.ndim > 1), (column,) * (y.ndim > 1)
    labels_x = (*batch[len(batch) + 2 - x.ndim :], *rows, inner) if rows else (inner,)
    labels_y = (*batch[len(batch) + 2 - y.ndim :], inner, *columns) if columns else (inner,)
    labels = batch + rows + columns
    whole = x.numblocks[-1] == 1 == y.numblocks[-1 - len(columns)]
    dtype = np.result_type(x.dtype, y.dtype)
    product = da.blockwise(
        _product if whole else _partial_product,
        labels if whole else (inner, *labels),
        x,
        labels_x,
        y,
        labels_y,
        adjust_chunks=None if whole else {inner: 1},
        token="matmul",
        meta=meta_from_array(x, len(labels) + (not whole), dtype=dtype),
        dtype=dtype,
    )
    if whole:
        return product
    return da.reduction(
        product,
        _unchanged,
        _added,
        axis=0,
        dtype=dtype,
        concatenate=False,
        meta=meta_from_array(x, len(labels), dtype=dtype),
    )


def _product(x: Any, y: Any) -> Any:
    return np.matmul(_only(x), _only(y))


def _only(block: Any) -> Any:
    """The one block along axes that are summed or dropped, which Dask gives as a list of one.

    Asking Dask to join such lists would copy the block.
    """
    while isinstance(block, list):
        (block,) = block
    return block


def _partial_product(x: Any, y: Any) -> Any:
    """What one pair of blocks adds to a product, with an axis in front to add up along."""
    return np.matmul(x, y)[None]


def _unchanged(block: Any, axis: Any, keepdims: bool) -> Any:
    return block


def _added(blocks: Any, axis: Any, keepdims: bool) -> Any:
    """The sum of blocks along their first axis, which each has one element of."""
    total = functools.reduce(operator.add, blocks) if isinstance(blocks, list) else blocks
    return total if keepdims else total[0]


backend = DaskBackend(
    "dask",
    xp,
    {
        "reshape": _reshape,
        "broadcast_to": _broadcast_to,
        "matmul": _matmul,
        **KERNELS,
    },
)
