"""Kernels for Dask by the op's kind: they run the kernel of the blocks' own library on each block.

The code here only builds Dask's graph: it looks at shapes, dtypes and chunks, never at values. For
each kind of op (see `core.kinds`) there is a function that makes the op's kernel:

- `elementwise`: one task for each block of the result;
- `along`: puts each axis of the op in one chunk, and cuts the result again;
- `matrices`: does the same for the last two axes, with any number of inputs and outputs;
- `contract`: one task for each pair of blocks that are multiplied, and a sum of the products.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Container, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import dask
import dask.array
import dask.layers
import numpy as np
from array_api_compat.dask import array as standard
from dask.tokenize import normalize_token, tokenize

from ...core.axes import same_shape
from ...core.kinds import AlongAxis, Contracts, Elementwise, Matrices
from ...errors import LazyError
from ..numpy.threads import alone

if TYPE_CHECKING:
    from ...ops.define import Op

# Dask's functions have no types.
da: Any = dask.array
xp: Any = standard
chunk_shapes: Any = dask.layers.ArrayChunkShapeDep

Kernel = Callable[..., Any]
Axes = tuple[int, ...]
Shape = tuple[int, ...]


class Block:
    """An op's kernel for one block. It is pickled as the op and its keywords."""

    __slots__ = ("op", "params", "quiet")

    def __init__(self, op: Op, params: dict[str, Any], quiet: bool | None = None) -> None:
        self.op = op
        self.params = params
        # A sweep ignores floating-point errors: infinities and NaN in a gradient are results like
        # any other. The later computation must ignore them, too.
        self.quiet = set(np.geterr().values()) == {"ignore"} if quiet is None else quiet

    def __call__(self, *blocks: Any) -> Any:
        kernel = self.op.kernel(tuple(map(type, blocks)))
        with alone(), np.errstate(all="ignore") if self.quiet else nullcontext():
            return kernel(*blocks, **self.params)

    def __reduce__(self) -> Any:
        return Block, (self.op.without_rules(), self.params, self.quiet)

    def __dask_tokenize__(self) -> Any:
        op = self.op
        # The name identifies an op of arraygrad. A user's op also needs its function.
        compute = None if op.is_library else op.compute
        return normalize_token((op.module, op.name, compute, self.params, self.quiet))


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
    """`da.blockwise`, given the dtype and meta that it would find by calling the function.

    Parameters
    ----------
    aligned : bool
        Whether blocks with the same number belong together, even if the chunks differ.
    new_axes, adjust_chunks, concatenate
        As in `da.blockwise`.
    """
    adjust = dict(adjust_chunks or {})
    if not aligned:
        chunks, arrays = da.core.unify_chunks(*pairs, warn=False)
        pairs = tuple(itertools.chain(*zip(arrays, pairs[1::2], strict=True)))
        adjust = {label: chunks[label] for label in labels if label in chunks} | adjust
    if new_axes:
        # Do not use Dask's `new_axes`: if another layer broadcasts such an axis, Dask fuses the two
        # layers wrongly.
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


_dtypes: WeakKeyDictionary[Op, dict[Any, Any]] = WeakKeyDictionary()


def dtype_of(op: Op, arrays: Sequence[Any], params: dict[str, Any]) -> Any:
    """The dtype of an op's result, or a tuple of dtypes if the op has several results.

    To find it, the op runs on arrays with a single element.
    """
    known = _dtypes.setdefault(op, {})
    types = tuple([a.dtype if hasattr(a, "dtype") else type(a) for a in arrays])
    key = (types, tuple([(n, type(v), v) for n, v in sorted(params.items())]))
    try:
        found = known.get(key)
    except TypeError:  # a keyword cannot be hashed
        return _find_dtype(op, arrays, params)
    if found is None:
        found = known[key] = _find_dtype(op, arrays, params)
    return found


def _find_dtype(op: Op, arrays: Sequence[Any], params: dict[str, Any]) -> Any:
    lead: Shape = ()
    kind = op.kind
    if isinstance(kind, AlongAxis) and kind.lengths is not None:
        # A keyword may ask for a very long result. An empty batch keeps the result empty.
        lead, axis = (0,), params[kind.axis]
        up = tuple([a + 1 for a in axes_of(axis, max(map(_rank, arrays)))])
        params = params | {kind.axis: up[0] if isinstance(axis, int) else up}
    ones = [np.ones(lead + (1,) * a.ndim, a.dtype) if _is_lazy(a) else a for a in arrays]
    with np.errstate(all="ignore"):
        out = op.kernel(tuple(map(type, ones)))(*ones, **params)
    return tuple([np.asarray(o).dtype for o in out]) if op.multiple else np.asarray(out).dtype


def _is_lazy(array: Any) -> bool:
    return isinstance(array, da.Array)


def _rank(array: Any) -> int:
    return getattr(array, "ndim", 0)


# --- element by element --------------------------------------------------------------------------


def elementwise(op: Op) -> Kernel:
    """The kernel of an elementwise op: it runs block by block.

    If each element needs all of an array, this array is put in one chunk.
    """
    kind = op.kind
    assert isinstance(kind, Elementwise)

    def kernel(*arrays: Any, **params: Any) -> Any:
        whole = {i for i in range(len(arrays)) if op.input_name(i) in kind.whole}
        dtype = dtype_of(op, arrays, params)
        return broadcast(Block(op, params), arrays, op.name, dtype, whole)

    return kernel


def broadcast(
    function: Kernel,
    arrays: Sequence[Any],
    name: str,
    dtype: Any,
    whole: Container[int] = (),
    **keywords: Any,
) -> Any:
    """Run a function on the blocks of arrays that broadcast.

    Parameters
    ----------
    function : callable
    arrays : sequence of arrays and numbers
    name : str
    dtype : dtype, or a tuple of them for several results
    whole : container of int
        The numbers of the arrays that do not broadcast: each block needs the whole array.
    **keywords
        As in `blockwise`.
    """
    cut = [_is_lazy(a) and i not in whole for i, a in enumerate(arrays)]
    ndim = len(da.core.broadcast_shapes(*(a.shape for a in itertools.compress(arrays, cut))))
    others = itertools.count(ndim)
    pairs: list[Any] = []
    for array, is_cut in zip(arrays, cut, strict=True):
        if is_cut:
            pairs += [array, tuple(range(ndim - array.ndim, ndim))]
        elif _is_lazy(array):
            array = in_one_chunk(array, tuple(range(array.ndim)), name)
            pairs += [array, tuple(itertools.islice(others, array.ndim))]
            keywords["concatenate"] = True
        else:
            pairs += [array, None]
    labels = tuple(range(ndim))
    if not isinstance(dtype, tuple):
        return blockwise(function, labels, *pairs, name=name, dtype=dtype, **keywords)
    together = blockwise(function, labels, *pairs, name=name, dtype=object, **keywords)
    return tuple(
        blockwise(operator.itemgetter(i), labels, together, labels, name=name, dtype=each)
        for i, each in enumerate(dtype)
    )


def filled(like: Any, shape: Shape, value: Any, dtype: Any) -> Any:
    """An array filled with one value, in the chunks of `like` along last axes of equal length."""
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
    """An array filled with one value, with unknown lengths. Another array provides the lengths."""
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
    """An array broadcast to a shape with unknown lengths; `shape.like` provides the lengths."""
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
    """An array repeated `n` times along a new first axis."""
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
    """Chunks for an array of a shape, given the chunks for each axis; "auto" lets Dask choose."""
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
    """The array `out` in the chunks of `x` along some axes, if both have the same length there."""
    chunks = {
        axis: x.chunks[axis]
        for axis in axes
        if x.numblocks[axis] > 1 and out.shape[axis] == x.shape[axis]
    }
    return out.rechunk(chunks) if chunks else out


def along(op: Op, by_steps: Kernel | None = None) -> Kernel:
    """The kernel of an op along axes: it puts each axis in one chunk, and cuts the result again.

    Parameters
    ----------
    op : Op
    by_steps : callable, optional
        The kernel to use instead if one of the axes has several chunks.
    """
    kind = op.kind
    assert isinstance(kind, AlongAxis)

    def lengths_of(axes: Axes, params: dict[str, Any]) -> dict[int, int]:
        if kind.lengths is None:
            return {}
        return kind.lengths(axes, **{n: v for n, v in params.items() if n != kind.axis})

    def kernel(*arrays: Any, **params: Any) -> Any:
        ranks = [_rank(a) for a in arrays]
        ndim = max(ranks)
        axes = axes_of(params[kind.axis], ndim)
        own = [tuple([i - ndim + n for i in axes if i >= ndim - n]) for n in ranks]
        is_empty = any(getattr(a, "size", 1) == 0 for a in arrays)
        if by_steps is not None and any(map(_is_cut, arrays, own)) and not is_empty:
            return by_steps(*arrays, **params)
        out = broadcast(
            Block(op, params),
            [in_one_chunk(a, o, op.name) for a, o in zip(arrays, own, strict=True)],
            op.name,
            dtype_of(op, arrays, params),
            adjust_chunks=lengths_of(axes, params),
        )
        longest = arrays[ranks.index(ndim)]
        if op.multiple:
            return tuple([cut_like(o, longest, axes) for o in out])
        return cut_like(out, longest, axes)

    return kernel


def _is_cut(x: Any, axes: Axes) -> bool:
    return any(x.numblocks[axis] > 1 for axis in axes)


def axes_of(axis: Any, ndim: int) -> Axes:
    """The keyword `axis` of an op as a tuple of non-negative integers."""
    if axis is None:
        return tuple(range(ndim))
    return tuple([a % ndim for a in (axis if isinstance(axis, tuple) else (axis,))])


# --- matrices ------------------------------------------------------------------------------------


def matrices(op: Op, tiled: Kernel | None = None) -> Kernel:
    """The kernel of an op on the last two axes of arrays whose leading axes broadcast.

    Parameters
    ----------
    op : Op
    tiled : callable, optional
        The kernel to use instead for a single matrix that has several chunks and is too large for
        one chunk. It returns None if it does not apply.
    """
    kind = op.kind
    assert isinstance(kind, Matrices)

    def kernel(*arrays: Any, **params: Any) -> Any:
        if tiled is not None and arrays[0].ndim == 2 and _too_large(arrays[0]):
            found = tiled(*arrays, **params)
            if found is not None:
                return found
        arrays = tuple(in_one_chunk(a, (a.ndim - 2, a.ndim - 1), op.name) for a in arrays)
        lead = da.core.broadcast_shapes(*(a.shape[:-2] for a in arrays))
        labels = tuple(range(len(lead)))
        pairs: list[Any] = []
        for i, a in enumerate(arrays):
            core = (len(lead) + 2 * i, len(lead) + 2 * i + 1)
            pairs += [a, (*labels[len(lead) + 2 - a.ndim :], *core)]
        shapes = kind.shapes(*(a.shape[-2:] for a in arrays), **params)
        dtypes = dtype_of(op, arrays, params)
        first = len(lead) + 2 * len(arrays)

        def result(function: Kernel, shape: Shape, dtype: Any, *pairs: Any) -> Any:
            core = tuple(range(first, first + len(shape)))
            new_axes = dict(zip(core, shape, strict=True))
            return blockwise(
                function, labels + core, *pairs, name=op.name, dtype=dtype, new_axes=new_axes
            )

        function = functools.partial(on_only_blocks, Block(op, params))
        if not op.multiple:
            return result(function, shapes[0], dtypes, *pairs)
        together = result(function, (), object, *pairs)
        return tuple(
            result(operator.itemgetter(i), shape, dtype, together, labels)
            for i, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True))
        )

    return kernel


def on_only_blocks(function: Kernel, *blocks: Any) -> Any:
    """Call a function with blocks that Dask passes as nested lists with one element.

    Dask does so if there is only one block along an axis that the result does not have. Dask can
    also concatenate the lists, but then it copies the block.
    """
    return function(*map(only_block, blocks))


def only_block(block: Any) -> Any:
    """The block in nested lists with one element each."""
    while isinstance(block, list):
        (block,) = block
    return block


def _too_large(x: Any) -> bool:
    """Whether an array has several chunks and should not be put in one."""
    return max(x.numblocks) > 1 and not fits_one_chunk(x.shape, x.dtype)


def fits_one_chunk(shape: Shape, dtype: Any) -> bool:
    """Whether a block of a shape is not larger than the chunk size in Dask's configuration."""
    limit = dask.utils.parse_bytes(dask.config.get("array.chunk-size"))
    return bool(math.prod(shape) * np.dtype(dtype).itemsize <= limit)


# --- adding up ----------------------------------------------------------------------------------


def total(parts: Any, n: int) -> Any:
    """The sum of blocks along the first `n` axes; each block has length one along these axes."""
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
    # Add the blocks one by one. To concatenate and sum them would take more memory, and would lose
    # the sign of -0.0.
    while isinstance(blocks, list) and isinstance(blocks[0], list):
        blocks = list(itertools.chain(*blocks))
    total = functools.reduce(operator.add, blocks) if isinstance(blocks, list) else blocks
    return total if keepdims else total.reshape(total.shape[len(axis) :])


def contract(op: Op) -> Kernel:
    """The kernel of an op that sums products of two arrays over some of their axes.

    Each pair of blocks is contracted on its own, and the results of the pairs are added.
    """
    kind = op.kind
    assert isinstance(kind, Contracts)

    def kernel(x: Any, y: Any, **params: Any) -> Any:
        if callable(kind.labels):
            left, right, to = kind.labels(x.ndim, y.ndim)
        else:
            left, right, to = (params[n] for n in kind.labels or ())
        if (len(left), len(right)) != (x.ndim, y.ndim):
            raise ValueError(f"{op.name} takes no arrays of shapes {x.shape} and {y.shape}")
        inner = "".join(dict.fromkeys(c for c in left + right if c not in to))
        numblocks = zip(left + right, x.numblocks + y.numblocks, strict=True)
        pairs = (x, _numbers(left), y, _numbers(right))
        block, dtype = Block(op, params), dtype_of(op, (x, y), params)
        if all(n == 1 or label in to for label, n in numblocks):
            function: Kernel = functools.partial(on_only_blocks, block)
            return blockwise(function, _numbers(to), *pairs, name=op.name, dtype=dtype)
        function = functools.partial(_led_by_axes, len(inner), block)
        parts = blockwise(
            function,
            _numbers(inner + to),
            *pairs,
            name=op.name,
            dtype=dtype,
            adjust_chunks=dict.fromkeys(_numbers(inner), 1),
        )
        return total(parts, len(inner))

    return kernel


def _numbers(labels: str) -> Axes:
    """Labels of axes, as `blockwise` takes them."""
    return tuple(map(ord, labels))


def _led_by_axes(n: int, function: Kernel, *blocks: Any) -> Any:
    """The result of a function of blocks, with `n` axes of length one in front."""
    return function(*blocks)[(None,) * n]


# --- shapes and values ---------------------------------------------------------------------------


def with_length(shape: Shape, axis: int, length: int) -> Shape:
    """A shape with another length along one axis."""
    return (*shape[:axis], length, *shape[axis + 1 :])


def constant_values(x: Any) -> Any:
    """The values of a Dask array made from a NumPy array in one chunk; None for other arrays."""
    if type(x) is not da.Array:
        return None
    layer = x.dask.layers.get(x.name)
    if layer is None or x.npartitions != 1 or len(x.dask.layers) != 1:
        return None
    value = next(iter(dict(layer).values()), None)
    value = getattr(value, "value", value)
    return value if isinstance(value, np.ndarray) and value.shape == x.shape else None
