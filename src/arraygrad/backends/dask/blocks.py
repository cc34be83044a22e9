"""Ops on Dask arrays, run block by block by the kernels that the blocks' own library has.

Everything here only writes down what to do: it looks at shapes, dtypes and chunks, never at values.
Four kinds of op are enough:

- `elementwise`: one task for each block of the result;
- `along`: some axes are needed at once, so they are put in one chunk first, and cut again after;
- `matrices`: the same for the last two axes, for any number of inputs and outputs;
- `beside`: one array is cut as it is, and all of the others is needed for each of its blocks.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any

import dask
import dask.array
import dask.layers
import numpy as np
from array_api_compat.dask import array as standard
from dask.tokenize import tokenize

from ...core.axes import same_shape
from ...errors import LazyError
from ..numpy.threads import alone

# Dask's functions have no types.
da: Any = dask.array
xp: Any = standard
chunk_shapes: Any = dask.layers.ArrayChunkShapeDep

Kernel = Callable[..., Any]
Axes = tuple[int, ...]
Shape = tuple[int, ...]


class Block:
    """An op's kernel for one block, which travels to workers as the op's name and keywords."""

    __slots__ = ("name", "params", "quiet")

    def __init__(self, name: str, params: dict[str, Any]) -> None:
        self.name = name
        self.params = params
        # As in the sweep that writes this down, so in the computation later: infinities and NaN
        # in a gradient are results like any other.
        self.quiet = set(np.geterr().values()) == {"ignore"}

    def __call__(self, *blocks: Any) -> Any:
        kernel = op_named(self.name).kernel(tuple(map(type, blocks)))
        with alone(), np.errstate(all="ignore") if self.quiet else nullcontext():
            return kernel(*blocks, **self.params)

    def __dask_tokenize__(self) -> Any:
        return self.name, self.quiet, *sorted(self.params.items())


def op_named(name: str) -> Any:
    """The op of a name, also on a worker that has not used it before."""
    from ... import fft, linalg, special  # noqa: F401  (which declare what is left)
    from ...ops.define.op import library_op

    return library_op("", name)


def blockwise(
    function: Kernel,
    labels: Axes,
    *pairs: Any,
    name: str,
    dtype: Any,
    aligned: bool = False,
    new_axes: dict[int, int] | None = None,
    adjust_chunks: dict[int, Any] | None = None,
    concatenate: bool | None = None,
) -> Any:
    """`da.blockwise` with everything said that it would find out by calling the function.

    Parameters
    ----------
    aligned : bool
        Whether blocks that belong together are numbered alike already, whatever the chunks say.
    new_axes, adjust_chunks, concatenate
        As in `da.blockwise`.
    """
    adjust = dict(adjust_chunks or {})
    if not aligned:
        chunks, arrays = da.core.unify_chunks(*pairs, warn=False)
        pairs = tuple(itertools.chain(*zip(arrays, pairs[1::2], strict=True)))
        adjust = {label: chunks[label] for label in labels if label in chunks} | adjust
    if new_axes:
        # Not as `new_axes`: a layer that another one broadcasts such an axis of is fused wrongly.
        lengths = chunk_shapes(tuple((n,) for n in new_axes.values()))
        pairs = (*pairs, lengths, tuple(new_axes))
        function = functools.partial(_but_last, function)
    like = next(a for a in pairs[::2] if isinstance(a, da.Array))
    keywords = {"adjust_chunks": adjust, "concatenate": concatenate}
    return da.blockwise(
        function,
        labels,
        *pairs,
        name=f"{name}-{tokenize(function, labels, pairs, new_axes, keywords)}",
        dtype=dtype,
        meta=np.empty_like(like._meta, shape=(0,) * len(labels), dtype=dtype),
        align_arrays=False,
        **keywords,
    )


def _but_last(function: Kernel, *blocks: Any) -> Any:
    return function(*blocks[:-1])


_dtypes: dict[Any, Any] = {}


def dtype_of(name: str, arrays: Iterable[Any], shape: Shape, params: dict[str, Any]) -> Any:
    """The dtype of an op's result, or a tuple of those of its results.

    Found by computing with ones, in arrays of the given shape, in the place of the arrays.
    """
    key = (
        name,
        tuple([a.dtype if hasattr(a, "dtype") else type(a) for a in arrays]),
        tuple(sorted(params.items())),
    )
    found = _dtypes.get(key)
    if found is None:
        ones = [np.ones(shape, a.dtype) if isinstance(a, da.Array) else a for a in arrays]
        with np.errstate(all="ignore"):
            out = op_named(name).kernel(tuple(map(type, ones)))(*ones, **params)
        found = tuple(o.dtype for o in out) if isinstance(out, tuple) else out.dtype
        _dtypes[key] = found
    return found


# --- element by element --------------------------------------------------------------------------


def elementwise(name: str) -> Kernel:
    """A kernel that runs an op of arrays that broadcast, block by block."""

    def kernel(*arrays: Any, **params: Any) -> Any:
        shape = da.core.broadcast_shapes(*(a.shape for a in arrays if isinstance(a, da.Array)))
        labels = tuple(range(len(shape)))
        pairs: list[Any] = []
        for array in arrays:
            whole = isinstance(array, da.Array)
            pairs += [array, labels[len(labels) - array.ndim :] if whole else None]
        dtype = dtype_of(name, arrays, (1,) * max(len(shape), 1), params)
        return blockwise(Block(name, params), labels, *pairs, name=name, dtype=dtype)

    return kernel


def filled(like: Any, shape: Shape, value: Any, dtype: Any) -> Any:
    """An array with one value everywhere, cut as `like` is along those last axes that agree."""
    chunks = getattr(shape, "chunks", None)
    if any(n != n for n in shape):
        return _filled_unknown(like, shape, value, dtype)
    if chunks is None:
        chunks = ["auto"] * len(shape)
        for i in range(1, min(len(shape), getattr(like, "ndim", 0)) + 1):
            if like.shape[-i] == shape[-i]:
                chunks[-i] = like.chunks[-i]
        chunks = chunks_for(chunks, shape, dtype)
    return da.full(shape, value, dtype=dtype, chunks=chunks)


def _filled_unknown(like: Any, shape: Shape, value: Any, dtype: Any) -> Any:
    """The same for a shape with lengths that are not known, which some array has to provide."""
    like = getattr(shape, "like", like)
    if not same_shape(like.shape, tuple(shape)):
        raise LazyError(
            f"an array of shape {tuple(shape)} cannot be made before its lengths are known: call "
            "compute_chunk_sizes() on the Dask array first"
        )
    labels = tuple(range(like.ndim))
    function = functools.partial(_full_like, value, np.dtype(dtype))
    return blockwise(function, labels, like, labels, name="full", dtype=dtype)


def _full_like(value: Any, dtype: Any, block: Any) -> Any:
    return np.full_like(block, value, dtype=dtype)


def spread(x: Any, shape: Any) -> Any:
    """An array broadcast to a shape with unknown lengths, which `shape.like` provides."""
    labels = tuple(range(len(shape)))
    like = shape.like
    return blockwise(
        _spread_like,
        labels,
        like,
        labels,
        x,
        labels[like.ndim - x.ndim :],
        name="broadcast_to",
        dtype=x.dtype,
    )


def repeated(x: Any, n: int) -> Any:
    """An array `n` times, along a new axis in front."""
    labels = tuple(range(x.ndim))
    function = functools.partial(_repeat, n)
    return blockwise(
        function, (x.ndim, *labels), x, labels, name="stack", dtype=x.dtype, new_axes={x.ndim: n}
    )


def _repeat(n: int, block: Any) -> Any:
    return np.broadcast_to(block, (n, *block.shape))


def _spread_like(like: Any, block: Any) -> Any:
    return np.broadcast_to(block, like.shape)


def chunks_for(wanted: Any, shape: Shape, dtype: Any) -> Any:
    """Chunks for an array of a shape, as wanted for each axis; "auto" leaves it to Dask."""
    if 0 in shape:
        return tuple((n,) if c == "auto" else c for c, n in zip(wanted, shape, strict=True))
    return da.core.normalize_chunks(tuple(wanted), tuple(shape), dtype=dtype)


# --- some axes at once ---------------------------------------------------------------------------


def in_one_chunk(x: Any, axes: Axes, name: str) -> Any:
    """The array with each of some axes in one chunk."""
    several = [axis for axis in axes if x.numblocks[axis] > 1]
    for axis in several:
        if np.isnan(x.shape[axis]):
            raise LazyError(
                f"{name} needs all of axis {axis} in one chunk, but how long its chunks are is not "
                "known: call compute_chunk_sizes() on the Dask array first"
            )
    return x.rechunk(dict.fromkeys(several, -1)) if several else x


def cut_like(out: Any, x: Any, axes: Axes) -> Any:
    """The array cut as another is along some axes, where both are equally long."""
    chunks = {
        axis: x.chunks[axis]
        for axis in axes
        if x.numblocks[axis] > 1 and out.shape[axis] == x.shape[axis]
    }
    return out.rechunk(chunks) if chunks else out


def along(
    name: str,
    lengths: Callable[..., dict[int, int]] = lambda x, axes, params: {},
    dtype: Callable[[Any], Any] = lambda dtype: dtype,
) -> Kernel:
    """A kernel for an op along the axes in its keyword `axis`.

    Parameters
    ----------
    name : str
        The op's.
    lengths : callable
        `lengths(x, axes, params)` gives the lengths of axes that become longer or shorter.
    dtype : callable
        Of the result, from that of the array.
    """

    def kernel(x: Any, **params: Any) -> Any:
        axes = axes_of(x, params["axis"])
        labels = tuple(range(x.ndim))
        out = blockwise(
            Block(name, params),
            labels,
            in_one_chunk(x, axes, name),
            labels,
            name=name,
            dtype=dtype(x.dtype),
            adjust_chunks=lengths(x, axes, params),
        )
        return cut_like(out, x, axes)

    return kernel


def axes_of(x: Any, axis: Any) -> Axes:
    """The keyword `axis` of an op as a tuple."""
    if axis is None:
        return tuple(range(x.ndim))
    return axis if isinstance(axis, tuple) else (axis,)


def within(name: str) -> Kernel:
    """A kernel for an op that keeps shapes: in one task per block if no axis in `axis` is cut.

    If one is, the op is computed by the steps that it is made of.
    """

    def kernel(*arrays: Any, **params: Any) -> Any:
        shape = da.core.broadcast_shapes(*(a.shape for a in arrays))
        if 0 in shape:
            return filled(arrays[0], shape, 0, arrays[0].dtype)
        ndim = len(shape)
        backwards = [axis - ndim for axis in params["axis"]]
        if all(a.numblocks[i] == 1 for a in arrays for i in backwards if a.ndim >= -i):
            return elementwise(name)(*arrays, **params)
        return op_named(name).compute(xp, *arrays, **params)

    return kernel


# --- matrices ------------------------------------------------------------------------------------


def matrices(
    name: str,
    shapes: Callable[..., tuple[Shape, ...]],
    tiled: Kernel | None = None,
) -> Kernel:
    """A kernel for an op on the last two axes of arrays whose leading axes broadcast.

    Parameters
    ----------
    name : str
        The op's.
    shapes : callable
        `shapes(*cores, **params)` gives the shape of each result for one matrix of each input,
        from theirs.
    tiled : callable, optional
        What to do instead for a single matrix that is in several chunks, and too large for one.
    """

    def kernel(*arrays: Any, **params: Any) -> Any:
        if tiled is not None and arrays[0].ndim == 2 and _too_large(arrays[0]):
            return tiled(*arrays, **params)
        arrays = tuple(in_one_chunk(a, (a.ndim - 2, a.ndim - 1), name) for a in arrays)
        lead = da.core.broadcast_shapes(*(a.shape[:-2] for a in arrays))
        labels = tuple(range(len(lead)))
        pairs: list[Any] = []
        for i, a in enumerate(arrays):
            core = (len(lead) + 2 * i, len(lead) + 2 * i + 1)
            pairs += [a, (*labels[len(lead) + 2 - a.ndim :], *core)]
        outs = shapes(*(a.shape[-2:] for a in arrays), **params)
        dtypes = dtype_of(name, arrays, (1, 1), params)
        first = len(lead) + 2 * len(arrays)

        def result(function: Kernel, shape: Shape, dtype: Any, *pairs: Any, **more: Any) -> Any:
            core = tuple(range(first, first + len(shape)))
            new_axes = dict(zip(core, shape, strict=True))
            return blockwise(
                function, labels + core, *pairs, name=name, dtype=dtype, new_axes=new_axes, **more
            )

        block = Block(name, params)
        function = functools.partial(on_only_blocks, block)
        if not isinstance(dtypes, tuple):
            return result(function, outs[0], dtypes, *pairs)
        together = result(function, (), object, *pairs)
        return tuple(
            result(operator.itemgetter(i), shape, dtype, together, labels)
            for i, (shape, dtype) in enumerate(zip(outs, dtypes, strict=True))
        )

    return kernel


def on_only_blocks(function: Kernel, *blocks: Any) -> Any:
    """A function of blocks, of each of which there is one along axes that are summed or dropped.

    Dask gives such blocks as lists of one. Asking it to join these would copy the block.
    """
    return function(*map(only_block, blocks))


def only_block(block: Any) -> Any:
    """The block in nested lists of one."""
    while isinstance(block, list):
        (block,) = block
    return block


def _too_large(x: Any) -> bool:
    """Whether an array should not be put in one chunk."""
    return max(x.numblocks) > 1 and not fits_one_chunk(x.shape, x.dtype)


def fits_one_chunk(shape: Shape, dtype: Any) -> bool:
    """Whether blocks of a shape are not larger than Dask would make them."""
    limit = dask.utils.parse_bytes(dask.config.get("array.chunk-size"))
    return bool(math.prod(shape) * np.dtype(dtype).itemsize <= limit)


# --- one array beside all of another -------------------------------------------------------------


def beside(name: str, cut: int, dtype: Any) -> Kernel:
    """A kernel for an op of two arrays of which one is cut, and the other needed as a whole.

    Parameters
    ----------
    name : str
        The op's.
    cut : {0, 1}
        Which of the arrays the result has the shape, and the chunks, of.
    dtype : dtype
        Of the result.
    """

    def kernel(*arrays: Any, **params: Any) -> Any:
        arrays = tuple(a if isinstance(a, da.Array) else da.asarray(a) for a in arrays)
        labels = tuple(range(arrays[cut].ndim))
        pairs: list[Any] = []
        for i, a in enumerate(arrays):
            if i == cut:
                pairs += [a, labels]
            else:
                whole = in_one_chunk(a, tuple(range(a.ndim)), name)
                pairs += [whole, tuple(range(len(labels), len(labels) + a.ndim))]
        return blockwise(
            Block(name, params), labels, *pairs, name=name, dtype=dtype, concatenate=True
        )

    return kernel


# --- adding up ----------------------------------------------------------------------------------


def total(parts: Any, n: int) -> Any:
    """The sum of blocks along the first `n` axes, of which each block has one element."""
    return da.reduction(
        parts,
        _as_it_is,
        _added,
        axis=tuple(range(n)),
        dtype=parts.dtype,
        concatenate=False,
        meta=np.empty_like(parts._meta, shape=(0,) * (parts.ndim - n)),
        name="add_up",
    )


def _as_it_is(block: Any, axis: Axes, keepdims: bool) -> Any:
    return block


def _added(blocks: Any, axis: Axes, keepdims: bool) -> Any:
    # Not joined and summed, which would take more memory, and lose the sign of minus zero.
    while isinstance(blocks, list) and isinstance(blocks[0], list):
        blocks = list(itertools.chain(*blocks))
    total = functools.reduce(operator.add, blocks) if isinstance(blocks, list) else blocks
    return total if keepdims else total.reshape(total.shape[len(axis) :])


def contract(x: Any, y: Any, left: str, right: str, to: str) -> Any:
    """The sum of products over the labels of axes that are not in `to`.

    Each pair of blocks is multiplied by itself, and what the pairs give is added up.
    """
    inner = "".join(c for c in left if c in right and c not in to)
    function: Kernel = functools.partial(_contract_blocks, f"{left},{right}->{to}", len(inner))
    pairs = (x, tuple(map(ord, left)), y, tuple(map(ord, right)))
    labels = tuple(map(ord, to))
    dtype = np.result_type(x.dtype, y.dtype)
    if all(a.numblocks[s.index(c)] == 1 for a, s in ((x, left), (y, right)) for c in inner):
        function = functools.partial(_contract_blocks, f"{left},{right}->{to}", 0)
        function = functools.partial(on_only_blocks, function)
        return blockwise(function, labels, *pairs, name="contract", dtype=dtype)
    summed = tuple(map(ord, inner))
    adjust = dict.fromkeys(summed, 1)
    parts = blockwise(
        function, summed + labels, *pairs, name="contract", dtype=dtype, adjust_chunks=adjust
    )
    return total(parts, len(inner))


def _contract_blocks(subscripts: str, n: int, x: Any, y: Any) -> Any:
    from ...ops.contractions import einsum

    return einsum(subscripts, x, y)[(None,) * n]


# --- shapes and values ---------------------------------------------------------------------------


def with_length(shape: Shape, axis: int, length: int) -> Shape:
    """A shape with another length of one axis."""
    return (*shape[:axis], length, *shape[axis + 1 :])


def constant_values(x: Any) -> Any:
    """The values of a Dask array that was made of a NumPy array in one chunk; None of any other."""
    if type(x) is not da.Array:
        return None
    layer = x.dask.layers.get(x.name)
    if layer is None or x.npartitions != 1 or len(x.dask.layers) != 1:
        return None
    value = next(iter(dict(layer).values()), None)
    value = getattr(value, "value", value)
    return value if isinstance(value, np.ndarray) and value.shape == x.shape else None
