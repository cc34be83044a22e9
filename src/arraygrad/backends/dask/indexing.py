"""Reading Dask arrays at an index, and adding into zeros at an index, block by block.

With slices, each block of the result comes from one block of the array. With a boolean mask, too,
but the lengths become unknown; see `masks`. Positions, in arrays of integers, may point anywhere.
If the axes they index fit in one chunk (of `array.chunk-size` in Dask's configuration), there is
one task for each block of positions. Otherwise there is one task for each pair of a block of
positions and a block of the array, and the results of the pairs are added. So a task never needs
more than one block of each, and one of the result. The number of tasks is the product of the
numbers of blocks.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.indices import HOLE, Template
from ...errors import LazyError
from ..numpy import indexing as numpy_indexing
from .blocks import (
    blockwise,
    chunks_for,
    constant_values,
    da,
    fits_one_chunk,
    in_one_chunk,
    total,
    with_length,
)
from .masks import lone_truth, masked, only_mask, recut, unmasked
from .plans import (
    Axes,
    Plan,
    basic,
    labelled_places,
    labelled_ranges,
    local_places,
    plan_of,
)

# --- reading -------------------------------------------------------------------------------------


def getitem(x: Any, *indices: Any, template: Template) -> Any:
    """The elements of an array at an index."""
    if not indices:
        return x[basic(template, x.shape)]
    lone = lone_truth(template, indices, x.ndim)
    if lone is not None:  # a 0-d mask takes all or nothing of a new axis
        axis, truth = lone
        return getitem(da.expand_dims(x, axis), truth, template=template)
    mask = only_mask(template, indices)
    if mask is not None:
        return masked(x, mask, template)
    plan = plan_of(template, indices, x.shape)
    part = x[plan.slices] if any(s != slice(None) for s in plan.slices) else x
    return _arranged(_gather(part, plan), plan, part.ndim)


def take(x: Any, indices: Any, axis: int) -> Any:
    """The elements at positions along an axis."""
    return getitem(x, indices, template=(*(slice(None),) * axis, HOLE))


def _arranged(found: Any, plan: Plan, ndim: int) -> Any:
    """The elements found, with their axes in the order of the result."""
    n = plan.ndim
    axes: list[int] = []
    for part in plan.order:
        if part is Ellipsis:
            axes += range(n)
        elif part is not None:
            axes.append(n + plan.rest.index(part))
    out = found if axes == sorted(axes) else da.transpose(found, axes)
    return out[_new_axes(plan, n)] if None in plan.order else out


def _new_axes(plan: Plan, n: int) -> tuple[Any, ...]:
    index: list[Any] = []
    for part in plan.order:
        index += [slice(None)] * n if part is Ellipsis else [None if part is None else slice(None)]
    return tuple(index)


def _gather_block(
    lengths: tuple[int, ...], axes: Axes, joined: bool, block: Any, *others: Any
) -> Any:
    """The elements of one block at the positions that point into it; -0.0 or 0 at the others.

    The sum over all blocks is the result.
    """
    n = len(lengths)
    local, inside = local_places(others[:n], others[n:], lengths, axes)
    if inside is None:
        out = block[local]
    else:
        # -0.0 + x is x for every x, also for 0.0 and -0.0.
        empty = -0.0 if block.dtype.kind in "fc" else 0
        out = np.full_like(block, empty, shape=inside.shape + block.shape[n:])
        out[inside] = block[tuple(place[inside] for place in local)]
    return out if joined else out[(None,) * n]


def _gather(x: Any, plan: Plan) -> Any:
    """The elements at the positions. The axes of the positions come first."""
    known = [p if isinstance(p, int) else constant_values(p) for p in plan.places]
    if all(values is not None for values in known):  # Dask reads only the blocks it needs
        if len(known) == 1 and np.ndim(known[0]) == 1:
            (axis,) = plan.axes
            out = x[(*(slice(None),) * axis, known[0])]
            return da.moveaxis(out, axis, 0) if axis else out
        if not any(np.isnan(x.shape)) and plan.ndim:
            key: list[Any] = [slice(None)] * x.ndim
            for axis, values in zip(plan.axes, np.broadcast_arrays(*known), strict=True):
                key[axis] = values
            return x.vindex[tuple(key)]
    n = plan.ndim
    labels = tuple(range(n))
    own = tuple(range(n, n + x.ndim))
    along = tuple(own[a] for a in plan.axes)
    rest = tuple(own[a] for a in plan.rest)
    x = da.transpose(x, plan.axes + plan.rest)
    lengths = x.shape[: len(along)]
    if fits_one_chunk(lengths + x.chunksize[len(along) :], x.dtype):
        x = in_one_chunk(x, tuple(range(len(along))), "getitem")
    joined = all(k == 1 for k in x.numblocks[: len(along)])
    gather = functools.partial(_gather_block, lengths, plan.axes, joined)
    pairs = [x, along + rest, *labelled_places(plan, labels), *labelled_ranges(x, along)]
    if joined:
        return blockwise(
            gather, labels + rest, *pairs, name="getitem", dtype=x.dtype, concatenate=True
        )
    parts = blockwise(
        gather,
        along + labels + rest,
        *pairs,
        name="getitem",
        dtype=x.dtype,
        adjust_chunks=dict.fromkeys(along, 1),
    )
    return total(parts, len(along))


# --- adding --------------------------------------------------------------------------------------


def index_add(x: Any, *indices: Any, template: Template, shape: tuple[int, ...]) -> Any:
    """Zeros with an array added at an index; repeated places get the sum."""
    chunks = getattr(shape, "chunks", None)
    lone = lone_truth(template, indices, len(shape))
    if lone is not None:
        axis, truth = lone
        wide = (*shape[:axis], 1, *shape[axis:])
        return da.squeeze(index_add(x, truth, template=template, shape=wide), axis)
    if not indices:
        plan = plan_of(template, (), shape)
        return _placed(x, plan, shape, chunks or _chunks_for(x, plan, shape))
    mask = only_mask(template, indices)
    if mask is not None:
        return unmasked(x, mask, template, shape)
    plan = plan_of(template, indices, shape)
    whole = chunks or _chunks_for(x, plan, shape)
    if all(map(_is_all, plan.slices, shape)):
        return _scatter(_collected(x, plan), plan, shape, whole)
    part = tuple(len(range(n)[s]) for s, n in zip(plan.slices, shape, strict=True))
    out = _scatter(_collected(x, plan), plan, part, _sliced_chunks(whole, plan.slices))
    axes = tuple(range(len(shape)))
    return _placed(out, Plan(plan.slices, (), (), axes, axes), shape, whole)


def _is_all(part: slice, length: int) -> bool:
    """Whether a slice takes all elements of an axis in their order."""
    if part == slice(None):
        return True
    if length != length:
        raise LazyError(
            "a slice along an axis whose length is not known before it is computed: call "
            "compute_chunk_sizes() on the Dask array first"
        )
    return part.indices(length) == (0, length, 1)


def _chunks_for(x: Any, plan: Plan, shape: tuple[int, ...]) -> Any:
    """Chunks for the result of `index_add`, if its shape holds none: those of `x` if they fit."""
    chunks: list[Any] = ["auto"] * len(shape)
    place = 0
    for part in plan.order:
        if part is Ellipsis:
            place += plan.ndim
            continue
        if part is not None and x.shape[place] == shape[part]:
            chunks[part] = x.chunks[place]
        place += 1
    return chunks_for(chunks, shape, x.dtype)


def _sliced_chunks(chunks: Any, slices: tuple[slice, ...]) -> Any:
    """The chunks of a sliced array."""
    return tuple(
        tuple(n for n in (len(span) for span in _spans(c, s)) if n) or (0,)
        for c, s in zip(chunks, slices, strict=True)
    )


def _spans(chunks: tuple[int, ...], part: slice) -> list[range]:
    """For each chunk along an axis, the range of positions in the chunk that a slice takes."""
    places = range(sum(chunks))[part]
    spans, start = [], 0
    for n in chunks:
        low, high = start, start + n
        if places.step > 0:
            first = max(-(-(low - places.start) // places.step), 0)
            last = max(-(-(high - places.start) // places.step), 0)
        else:
            first = max((places.start - high) // -places.step + 1, 0)
            last = max((places.start - low) // -places.step + 1, 0)
        taken = places[first:last]
        spans.append(range(taken.start - start, taken.stop - start, taken.step))
        start = high
    return spans


def _placed(x: Any, plan: Plan, shape: tuple[int, ...], chunks: Any) -> Any:
    """Zeros of a shape, with an array at an index of slices and integers."""
    x = _collected(x, plan)
    # An integer becomes a slice with one element; its axis starts in front and moves to its place.
    slices = list(plan.slices)
    for axis, place in zip(plan.axes, plan.places, strict=True):
        place += shape[axis] if place < 0 else 0
        slices[axis] = slice(place, place + 1)
    x = x[(None,) * len(plan.axes)]
    x = da.transpose(x, _inverse(plan.axes + plan.rest)) if plan.axes else x
    for axis, part in enumerate(slices):
        x = _line(x, axis, chunks[axis], part)
    return x


def _line(x: Any, axis: int, chunks: tuple[int, ...], part: slice) -> Any:
    """Zeros with the given chunks along an axis, and with an array at a slice of this axis."""
    length = sum(chunks)
    if _is_all(part, length):
        return x.rechunk({axis: chunks}) if x.chunks[axis] != chunks and length == length else x
    spans = _spans(chunks, part)
    used = [k for k, span in enumerate(spans) if span]
    if part.step is not None and part.step < 0:
        x = da.flip(x, axis)
        spans = [span[::-1] for span in spans]
    if not used:
        return _zeros(x, axis, chunks)
    lengths = tuple(len(spans[k]) for k in used)
    x = x.rechunk({axis: lengths}) if x.chunks[axis] != lengths else x
    labels = tuple(range(x.ndim))
    # One row for each chunk that gets values: its length, and the slice that gets the values.
    rows = [(chunks[k], spans[k].start, spans[k].stop, spans[k].step) for k in used]
    lines = da.from_array(np.array(rows), chunks=(1, 4))
    wide = blockwise(
        functools.partial(_widen, axis),
        labels,
        x,
        labels,
        lines,
        (axis, x.ndim),
        name="index_add",
        dtype=x.dtype,
        aligned=True,
        concatenate=True,
        adjust_chunks={axis: tuple(chunks[k] for k in used)},
    )
    pieces: list[Any] = []
    for taken, group in itertools.groupby(range(len(chunks)), key=used.__contains__):
        places = list(group)
        if taken:
            start = used.index(places[0])
            lead = (slice(None),) * axis
            pieces.append(wide.blocks[(*lead, slice(start, start + len(places)))])
        else:
            pieces.append(_zeros(wide, axis, tuple(chunks[k] for k in places)))
    return pieces[0] if len(pieces) == 1 else concat(*pieces, axis=axis)


def _zeros(like: Any, axis: int, chunks: tuple[int, ...]) -> Any:
    """Zeros in the chunks of `like`, with other chunks along one axis."""
    if not any(np.isnan(like.shape)):
        cut = (*like.chunks[:axis], chunks, *like.chunks[axis + 1 :])
        return da.zeros([sum(c) for c in cut], chunks=cut, dtype=like.dtype)
    lead = (slice(None),) * axis
    line = like.blocks[(*lead, slice(0, 1))]
    labels = tuple(range(like.ndim))
    lines = [
        blockwise(
            functools.partial(_zeros_block, axis, n),
            labels,
            line,
            labels,
            name="zeros",
            dtype=like.dtype,
            adjust_chunks={axis: n},
        )
        for n in chunks
    ]
    return concat(*lines, axis=axis)


def _zeros_block(axis: int, length: int, block: Any) -> Any:
    return np.zeros_like(block, shape=with_length(block.shape, axis, length))


def concat(*arrays: Any, axis: int) -> Any:
    """The op `concat`; unknown lengths are assumed to be equal."""
    dtype = np.result_type(*(a.dtype for a in arrays))
    # Dask does not handle chunks of length zero well, so leave them out.
    arrays = tuple(a for a in arrays if a.shape[axis] != 0) or arrays[:1]
    if len(arrays) == 1:
        return arrays[0].astype(dtype)
    unknown = any(np.isnan(n) for a in arrays for n in a.shape)
    if len({a.numblocks[:axis] + a.numblocks[axis + 1 :] for a in arrays}) > 1:
        unknown = False  # Dask raises an error, or cuts the arrays alike
    return da.concatenate(arrays, axis=axis, allow_unknown_chunksizes=unknown)


def _widen(axis: int, block: Any, line: Any) -> Any:
    """A longer block along an axis: zeros, with `block` at a slice. `line` is a row of `_line`."""
    ((length, start, stop, step),) = line
    out = np.zeros_like(block, shape=with_length(block.shape, axis, length))
    out[(*(slice(None),) * axis, slice(start, stop, step))] = block
    return out


def _inverse(order: Axes) -> Axes:
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def _collected(x: Any, plan: Plan) -> Any:
    """The array to add, with the axes of the positions in front and without new axes."""
    n = plan.ndim
    drop = tuple(
        0 if part is None else slice(None)
        for part in plan.order
        for _ in range(n if part is Ellipsis else 1)
    )
    x = x[drop] if 0 in drop else x
    order = [part for part in plan.order if part is not None]
    if ... not in order:
        return x
    first = order.index(...)
    own = tuple(range(first, first + n))
    others = tuple(a for a in range(x.ndim) if a not in own)
    return da.transpose(x, own + others) if first else x


def _scatter_block(
    lengths: tuple[int, ...], axes: Axes, ndim: int, joined: bool, block: Any, *others: Any
) -> Any:
    """One block of the result: the sum of the values whose positions point into this block."""
    n = len(lengths)
    ranges = others[n:]
    local, inside = local_places(others[:n], ranges, lengths, axes)
    shape = tuple(span.size for span in ranges) + block.shape[ndim:]
    if inside is not None:
        inside = np.broadcast_to(inside, block.shape[:ndim])
        block = block[inside]
        local = tuple(np.broadcast_to(p, inside.shape)[inside] for p in local)
    out = _added_at(block, local, shape)
    return out if joined else out[(None,) * ndim]


def _added_at(block: Any, places: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """Zeros of a shape, with a block added at positions along the first axes."""
    return numpy_indexing.index_add(block, *places, template=(HOLE,) * len(places), shape=shape)


def _scatter(x: Any, plan: Plan, shape: tuple[int, ...], chunks: Any) -> Any:
    """Zeros of a shape, with `x` added at the positions. Its first axes are the positions' axes."""
    n = plan.ndim
    labels = tuple(range(n))
    own = tuple(range(n, n + len(shape)))
    along = tuple(own[a] for a in plan.axes)
    rest = tuple(own[a] for a in plan.rest)
    lengths = tuple(shape[a] for a in plan.axes)
    joined = all(k == 1 for k in x.numblocks[:n])
    pairs = [x, labels + rest, *labelled_places(plan, labels)]
    fits = fits_one_chunk(lengths + x.chunksize[n:], x.dtype)
    for axis, label in zip(plan.axes, along, strict=True):
        cut = -1 if fits else (chunks[axis],)
        pairs += [da.arange(shape[axis], chunks=cut, dtype=np.intp), (label,)]
    scatter = functools.partial(_scatter_block, lengths, plan.axes, n, joined)
    if joined:
        out = blockwise(
            scatter, along + rest, *pairs, name="index_add", dtype=x.dtype, concatenate=True
        )
    else:
        parts = blockwise(
            scatter,
            labels + along + rest,
            *pairs,
            name="index_add",
            dtype=x.dtype,
            adjust_chunks=dict.fromkeys(labels, 1),
        )
        out = total(parts, n)
    order = plan.axes + plan.rest
    if order != tuple(range(len(order))):
        out = da.transpose(out, _inverse(order))
    return out.rechunk({axis: chunks[axis] for axis in plan.axes}) if fits else out


# --- one position for each element ---------------------------------------------------------------


def _take_block(axis: int, block: Any, places: Any) -> Any:
    return np.take_along_axis(block, places, axis=axis)


def _add_block(axis: int, length: int, block: Any, places: Any) -> Any:
    grid = list(np.ogrid[tuple(slice(n) for n in block.shape)])
    grid[axis] = np.broadcast_to(places, block.shape)
    return _added_at(block, tuple(grid), with_length(block.shape, axis, length))


def _pairwise(
    function: Callable[..., Any], x: Any, indices: Any, axis: int, length: Any, name: str
) -> Any:
    """A function of blocks of an array and of positions, both in one chunk along an axis."""
    x, indices = in_one_chunk(x, (axis,), name), in_one_chunk(indices, (axis,), name)
    labels = tuple(range(x.ndim))
    own = (*labels[:axis], x.ndim, *labels[axis + 1 :])
    return blockwise(
        function,
        labels,
        x,
        own,
        indices,
        (*labels[:axis], x.ndim + 1, *labels[axis + 1 :]),
        name=name,
        dtype=x.dtype,
        concatenate=True,
        new_axes={axis: length},
    )


def take_along_axis(x: Any, indices: Any, axis: int) -> Any:
    """For each of `indices`, the element at this index along an axis, put in one chunk."""
    length = indices.shape[axis]
    out = _pairwise(
        functools.partial(_take_block, axis), x, indices, axis, length, "take_along_axis"
    )
    return out.rechunk({axis: indices.chunks[axis]}) if indices.numblocks[axis] > 1 else out


def add_along_axis(x: Any, indices: Any, axis: int, shape: tuple[int, ...]) -> Any:
    """The transpose of `take_along_axis`."""
    function = functools.partial(_add_block, axis, shape[axis])
    out = _pairwise(function, x, indices, axis, shape[axis], "add_along_axis")
    chunks = getattr(shape, "chunks", None)
    return out if chunks is None else recut(out, chunks)
