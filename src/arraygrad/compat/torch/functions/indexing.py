"""Functions that read or write elements at the places that an index tensor names."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .... import ops
from ....arrays.creation import asarray
from ....core.array import Array, plain
from ....core.indices import HOLE
from ....core.kinds import Opaque
from ....ops.define.library import constant
from ....ops.indexing import _index_add, getitem
from ..dtypes import check_device
from ..publish import function
from .axes import check_mask, check_static, checked

# The names of `torch` that are made here.
__all__ = [
    "argwhere", "diagonal_scatter", "fill_diagonal", "gather", "index_add", "index_copy",
    "index_fill", "index_put", "index_reduce", "index_select", "masked_fill", "masked_scatter",
    "masked_select", "nonzero", "put", "scatter", "scatter_add", "scatter_reduce", "select_scatter",
    "slice_scatter", "take", "take_along_dim", "tril_indices", "triu_indices",
]  # fmt: skip


def _known(index: Any) -> bool:
    """Whether the values of an index are plain: not those of a batch."""
    while isinstance(index, Array):
        if index.ndim != index._array.ndim:
            return False
        index = index._array
    return True


def _values(index: Any) -> Any:
    if not _known(index):
        raise RuntimeError(
            "Batching rule not implemented for an index or mask that differs over the batch here: "
            "use scatter() or where() inside vmap"
        )
    return np.asarray(plain(index))


def _integers(index: Any) -> Any:
    if index.dtype.kind not in "iu":
        raise RuntimeError(f"an index must be int64 or int32, not {index.dtype}")
    return index


def _like(source: Any, input: Any) -> Any:
    """A value to be written, in the dtype of what it is written to."""
    if isinstance(source, Array):
        return source if source.dtype == input.dtype else ops.astype(source, input.dtype)
    return asarray(np.asarray(source).astype(input.dtype))


def _along(native: Any) -> Any:
    """A function along an axis that takes a 0-d tensor for a vector of one element."""

    @functools.wraps(native)
    def made(input: Any, *args: Any, **kwargs: Any) -> Any:
        if input.ndim:
            return native(input, *args, **kwargs)
        line = [ops.reshape(v, (1,)) if isinstance(v, Array) and not v.ndim else v for v in args]
        named = {
            key: ops.reshape(v, (1,)) if isinstance(v, Array) and not v.ndim else v
            for key, v in kwargs.items()
        }
        return ops.reshape(native(ops.reshape(input, (1,)), *line, **named), ())

    return made


@function
def index_select(input: Any, dim: int, index: Any) -> Any:
    """The slices along an axis that an index names."""
    if index.ndim > 1:
        raise IndexError(f"index_select(): Index is supposed to be a vector, not {index.ndim}-d")
    if not input.ndim:
        return ops.reshape(input, (1,))[_integers(index)][0] if index.ndim else input
    return ops.take(input, ops.reshape(_integers(index), (-1,)), axis=checked(dim, input.ndim))


@function
def gather(input: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    """Elements along an axis, one for each element of the index. Its gradient is always dense."""
    axis = checked(dim, input.ndim)
    if not input.ndim:
        return ops.reshape(ops.reshape(input, (1,))[ops.reshape(index, (-1,))], index.shape)
    if not index.ndim:
        return ops.reshape(ops.take(input, ops.reshape(index, (1,)), axis=axis), ())
    if not index.size and index.ndim != input.ndim:
        return ops.reshape(ops.reshape(input, (-1,))[:0], index.shape)
    _check_places(input, axis, index, "gather")
    cut = tuple(slice(None) if a == axis else slice(0, n) for a, n in enumerate(index.shape))
    return ops.take_along_axis(input[cut], _integers(index), axis=axis)


@function
def take(input: Any, index: Any) -> Any:
    """Elements of the flattened tensor."""
    flat = ops.reshape(input, (-1,))
    return ops.reshape(ops.take(flat, ops.reshape(index, (-1,))), index.shape)


@function
def take_along_dim(input: Any, indices: Any, dim: Any = None) -> Any:
    """Elements along an axis, one for each element of the index."""
    if dim is None:
        return take.__wrapped__(input, ops.reshape(indices, (-1,)))
    axis = checked(dim, input.ndim)
    rest = [tuple(1 if a == axis else n for a, n in enumerate(x.shape)) for x in (input, indices)]
    shape = list(ops.broadcast_shapes(*rest))
    full = []
    for x in (input, indices):
        shape[axis] = x.shape[axis]
        full.append(ops.broadcast_to(x, tuple(shape)))
    return ops.take_along_axis(*full, axis=axis)


@function
def masked_select(input: Any, mask: Any) -> Any:
    """The elements where a mask is true."""
    check_mask(mask, "masked_select")
    check_static(mask, "masked_select")
    x, chosen = ops.broadcast_arrays(input, mask)
    return x[chosen]


@function
def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """Where the elements are not zero."""
    check_static(input, "nonzero")
    if as_tuple:
        return tuple(ops.nonzero(ops.reshape(input, (-1,)) if not input.ndim else input))
    found = ops.nonzero(input) if input.ndim else ()
    if not input.ndim:
        return asarray(np.zeros((int(bool(input)), 0), np.int64))
    return ops.stack(list(found), axis=1)


argwhere = function(lambda input: nonzero.__wrapped__(input), name="argwhere")


@function(in_place=True)
def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """One value where a mask is true."""
    check_mask(mask, "masked_fill")
    if isinstance(value, Array) and value.ndim:
        raise RuntimeError(f"masked_fill() takes a number, not a tensor of {value.ndim} axes")
    complex_value = isinstance(value, complex) or (
        isinstance(value, Array) and value.dtype.kind == "c"
    )
    if complex_value and input.dtype.kind != "c":
        raise RuntimeError(
            f"masked_fill(): value cannot be converted to {input.dtype} without overflow"
        )
    return ops.where(mask, _like(value, input), input)


@function(in_place=True)
def masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    """The elements of `source`, one after the other, where a mask is true."""
    check_mask(mask, "masked_scatter")
    _check_same_dtype(input, source, "masked_scatter")
    shape = ops.broadcast_shapes(tuple(input.shape), tuple(mask.shape))
    input = ops.broadcast_to(input, shape)
    chosen = np.broadcast_to(_values(mask), shape)
    flat = ops.reshape(source, (-1,))
    order = np.where(chosen, np.reshape(np.cumsum(chosen) - 1, input.shape), 0)
    return ops.where(asarray(chosen), flat[order], input)


# --- writing at places ---


def _check_places(input: Any, dim: int, index: Any, name: str) -> None:
    """Raise unless an index fits a tensor: in shape, and with its values along an axis."""
    if index.ndim != input.ndim:
        raise RuntimeError(
            f"{name}(): Index tensor must have the same number of dimensions as the tensor, which "
            f"has {input.ndim}, not {index.ndim}"
        )
    for axis, (wanted, length) in enumerate(zip(index.shape, input.shape, strict=True)):
        if axis != dim and wanted > length:
            raise RuntimeError(
                f"{name}(): Size does not match at dimension {axis}: the index has {wanted}, the "
                f"tensor {length}"
            )
    _check_range(index, input.shape[dim], dim)


def _places(input: Any, dim: int, index: Any, shape: tuple[int, ...]) -> Any:
    """The place in the flattened tensor of each element along an axis."""
    strides = [1] * input.ndim
    for axis in range(input.ndim - 2, -1, -1):
        strides[axis] = strides[axis + 1] * input.shape[axis + 1]
    rest = np.zeros(shape, np.int64)
    for axis, length in enumerate(shape):
        if axis != dim:
            rest = rest + np.reshape(
                np.arange(length) * strides[axis],
                [-1 if a == axis else 1 for a in range(len(shape))],
            )
    _check_range(index, input.shape[dim], dim)
    return ops.add(ops.multiply(index, strides[dim]), rest)


def _batched_places(input: Any, indices: Any) -> Any:
    """The places in the flattened tensor that integers along the first axes name."""
    if any(i is None or i.dtype.kind not in "iu" for i in indices):
        raise RuntimeError(
            "an index that differs over a batch must be of integers, along the first axes"
        )
    rest = tuple(input.shape[len(indices) :])
    step = int(np.prod(rest))
    place: Any = 0
    for index, length in reversed(list(zip(indices, input.shape, strict=False))):
        place = place + ops.where(index < 0, index + length, index) * step
        step *= length
    inner = np.reshape(np.arange(int(np.prod(rest))), rest)
    return ops.reshape(place, (*place.shape, *(1,) * len(rest))) + inner


def _check_range(index: Any, length: int, dim: int, error: type[Exception] = RuntimeError) -> None:
    """Raise if an index names elements that an axis does not have."""
    if not _known(index):
        return
    values = _values(index)
    if values.size and (values.min() < 0 or values.max() >= length):
        wrong = int(values.min()) if values.min() < 0 else int(values.max())
        raise error(f"index {wrong} is out of bounds for dimension {dim} with size {length}")


def _added(input: Any, place: Any, source: Any) -> Any:
    """The tensor with elements added at places of the flattened one."""
    flat = ops.reshape(input, (-1,))
    values = ops.reshape(ops.broadcast_to(source, place.shape), (-1,))
    sums = _sums(values, ops.reshape(place, (-1,)), flat)
    return ops.astype(ops.reshape(ops.add(flat, sums), input.shape), input.dtype)


def _put(input: Any, place: Any, source: Any) -> Any:
    """The tensor with elements written at places of the flattened one."""
    flat = ops.copy(ops.reshape(input, (-1,)))
    values = source
    if isinstance(source, Array):
        values = ops.reshape(ops.broadcast_to(source, place.shape), (-1,))
    if _known(place):
        where = np.reshape(_values(place), (-1,))
        if isinstance(values, Array) and values.level > flat.level:
            return ops.reshape(_chosen(flat, place, values), input.shape)
        flat[where] = values
        return ops.reshape(flat, input.shape)
    return ops.reshape(_chosen(flat, place, values), input.shape)


def _chosen(flat: Any, place: Any, values: Any) -> Any:
    """The same where places differ over a batch: each element looks for what is written to it."""
    hits = ops.equal(ops.reshape(place, (-1, 1)), np.arange(flat.shape[0]))
    last = ops.max(ops.where(hits, np.arange(hits.shape[0])[:, None], -1), axis=0)
    if isinstance(values, Array) and values.ndim:
        values = ops.take(values, ops.where(last < 0, 0, last))
    return ops.where(last >= 0, values, flat)


def _cut(source: Any, shape: tuple[int, ...]) -> Any:
    """The part of a source that an index of a shape refers to."""
    if not isinstance(source, Array) or tuple(source.shape) == tuple(shape) or not source.ndim:
        return source
    return getitem(source, tuple(slice(0, n) for n in shape))


def _check_same_dtype(input: Any, src: Any, name: str = "scatter") -> None:
    if isinstance(src, Array) and src.dtype != input.dtype:
        raise RuntimeError(
            f"{name}(): Expected self.dtype {input.dtype} to be equal to src.dtype {src.dtype}"
        )


@function(in_place=True)
@_along
def scatter(
    input: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: Any = None
) -> Any:
    """Elements written along an axis at the places of an index."""
    if reduce is not None:
        how = {"add": "sum", "multiply": "prod"}[reduce]
        given = src if src is not None else value
        filled = given if isinstance(given, Array) else ops.zeros_like(index) + given
        return scatter_reduce.__wrapped__(input, dim, index, filled, how)
    _check_same_dtype(input, src)
    source = _like(src if src is not None else value, input)
    axis = checked(dim, input.ndim)
    _check_places(input, axis, index, "scatter")
    return _put(input, _places(input, axis, index, index.shape), _cut(source, index.shape))


@function(in_place=True)
@_along
def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    """Elements added along an axis at the places of an index."""
    _check_same_dtype(input, src)
    axis = checked(dim, input.ndim)
    _check_places(input, axis, index, "scatter_add")
    place = _places(input, axis, index, index.shape)
    return _added(input, place, _like(_cut(src, index.shape), input))


@function(in_place=True)
@_along
def scatter_reduce(
    input: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """Elements joined along an axis at the places of an index: sum, prod, mean, amax or amin."""
    axis = checked(dim, input.ndim)
    _check_places(input, axis, index, "scatter_reduce")
    place = ops.reshape(_places(input, axis, index, index.shape), (-1,))
    values = ops.reshape(ops.astype(_cut(src, index.shape), input.dtype), (-1,))
    return _joined(input, place, values, reduce, include_self)


def _joined(input: Any, place: Any, values: Any, reduce: str, include_self: bool) -> Any:
    if input.dtype.kind == "b":
        numbers = (ops.astype(x, np.int64) for x in (input, values))
        return ops.astype(_joined(next(numbers), place, next(numbers), reduce, include_self), bool)
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(
            f'reduce must be "sum", "prod", "mean", "amax" or "amin", not {reduce!r}'
        )
    flat = ops.reshape(input, (-1,))
    count = _sums(ops.ones_like(place), place, flat)
    covered = ops.logical_and(count > 0, not include_self)
    if reduce in ("sum", "mean"):
        out = ops.where(covered, 0, flat) + _sums(values, place, flat)
        if reduce == "mean":
            count = ops.astype(ops.where(count > 0, count + int(include_self), 1), out.dtype)
            whole = out.dtype.kind in "iu"
            out = ops.floor_divide(out, count) if whole else ops.divide(out, count)
    elif reduce == "prod":
        hits = ops.equal(ops.reshape(place, (-1, 1)), np.arange(flat.shape[0]))
        factors = ops.where(hits, ops.reshape(values, (-1, 1)), 1)
        out = ops.where(covered, 1, flat) * ops.prod(factors, axis=0)
    else:
        start = ops.where(covered, _beyond(input.dtype, reduce == "amin"), flat)
        out = _extremes(start, place, values, _LARGEST if reduce == "amax" else _SMALLEST)
    return ops.reshape(ops.astype(out, input.dtype), input.shape)


def _sums(values: Any, place: Any, flat: Any) -> Any:
    """For each element of a vector, the sum of the values that have its place."""
    return _index_add(values, place, template=(HOLE,), shape=tuple(flat.shape))


def _extremes(start: Any, place: Any, values: Any, find: Any) -> Any:
    """The extreme of each element and the values that have its place: equal ones share it."""
    found = find(start.detach(), place, values.detach())
    if found.dtype.kind in "iu":
        return found
    own = ops.equal(start, found) & ops.isfinite(start)
    hits = ops.equal(values, ops.take_along_axis(found, place, axis=0)) & ops.isfinite(values)
    sharing = ops.astype(own, found.dtype) + _sums(ops.astype(hits, found.dtype), place, start)
    kept = ops.where(own, start, 0) + _sums(ops.where(hits, values, 0), place, start)
    # Zeros, with the derivatives of what is found.
    return found + (kept - kept.detach()) / ops.where(sharing > 0, sharing, 1)


def _written_at(ufunc: Any) -> Any:
    def compute(xp: Any, start: Any, place: Any, values: Any) -> Any:
        lead = np.broadcast_shapes(*(x.shape[:-1] for x in (start, place, values)))
        out, at, given = (
            np.array(np.broadcast_to(x, (*lead, x.shape[-1]))) for x in (start, place, values)
        )
        ufunc.at(out, (*np.indices(at.shape, sparse=True)[:-1], at), given)
        return out

    name = f"torch.{ufunc.__name__}_at"
    return constant(name, "start", "place", "values", compute=compute, kind=Opaque(leading=True))


_LARGEST, _SMALLEST = _written_at(np.maximum), _written_at(np.minimum)


def _beyond(dtype: Any, high: bool) -> Any:
    """A number that no element is above, or below."""
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).max if high else np.iinfo(dtype).min)
    return np.inf if high else -np.inf


def _lines(input: Any, dim: int, index: Any) -> Any:
    """An index of slices, as one index for each element of the slices."""
    axis = checked(dim, input.ndim)
    index = ops.reshape(_integers(index), (-1,))
    _check_range(index, input.shape[axis], axis, IndexError)
    shape = [1] * input.ndim
    shape[axis] = index.shape[0]
    full = tuple(index.shape[0] if a == axis else n for a, n in enumerate(input.shape))
    return axis, ops.broadcast_to(ops.reshape(index, tuple(shape)), full)


@function(in_place=True)
@_along
def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """Slices added along an axis at the places of an index."""
    _check_same_dtype(input, source, "index_add")
    source = source if alpha == 1 else source * alpha
    axis, full = _lines(input, dim, index)
    if source.ndim and source.ndim != input.ndim:
        raise RuntimeError(
            "index_add(): source tensor shape must match self tensor shape, excluding the "
            f"specified dimension. Got {tuple(source.shape)} and {tuple(input.shape)}"
        )
    return _added(input, _places(input, axis, full, full.shape), _like(source, input))


@function(in_place=True)
@_along
def index_copy(input: Any, dim: int, index: Any, source: Any) -> Any:
    """Slices written along an axis at the places of an index."""
    axis, full = _lines(input, dim, index)
    return _put(input, _places(input, axis, full, full.shape), _like(source, input))


@function(in_place=True)
def index_fill(input: Any, dim: int, index: Any, value: Any) -> Any:
    """One value in the slices that an index names."""
    return index_copy.__wrapped__(input, dim, index, value)


@function(in_place=True)
@_along
def index_reduce(
    input: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """Slices joined along an axis at the places of an index: prod, mean, amax or amin."""
    axis, full = _lines(input, dim, index)
    place = ops.reshape(_places(input, axis, full, full.shape), (-1,))
    return _joined(input, place, ops.reshape(source, (-1,)), reduce, include_self)


@function(in_place=True)
def index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """Elements written, or added, at the places that `x[indices]` reads."""
    _check_same_dtype(input, values, "index_put")
    values = _like(values, input)
    if not all(i is None or _known(i) for i in indices):
        place = _batched_places(input, indices)
        if isinstance(values, Array):
            values = ops.broadcast_to(values, place.shape)
        elif accumulate:
            values = ops.zeros_like(ops.astype(place, input.dtype)) + values
        return (_added if accumulate else _put)(input, place, values)
    numbers = np.reshape(np.arange(input.size), input.shape)
    key = tuple(slice(None) if i is None else _values(i) for i in indices)
    place = asarray(numbers[key])
    if not isinstance(values, Array):
        values = ops.zeros_like(input[key]) + values
    return (_added if accumulate else _put)(input, place, values)


@function(in_place=True)
def put(input: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """Elements written, or added, at places of the flattened tensor."""
    index = ops.where(index < 0, index + input.size, index)
    return (_added if accumulate else _put)(input, index, ops.reshape(source, index.shape))


@function(in_place=True)
def fill_diagonal(input: Any, fill_value: Any, wrap: bool = False) -> Any:
    """One value on the diagonal; with `wrap`, it starts again below, after an empty row."""
    if input.ndim < 2 or (input.ndim > 2 and len(set(input.shape)) > 1):
        raise RuntimeError("fill_diagonal_() needs a matrix, or axes of one length")
    place = np.zeros(input.shape, np.bool_)
    np.fill_diagonal(place, True, wrap=wrap)
    return ops.where(asarray(place), fill_value, input)


def _with_part(input: Any, src: Any, key: Any) -> Any:
    if tuple(input[key].shape) != tuple(src.shape):
        raise RuntimeError(
            f"src has shape {tuple(src.shape)}, but the part has {tuple(input[key].shape)}"
        )
    numbers = np.reshape(np.arange(input.size), input.shape)
    return _put(input, asarray(numbers[key]), _like(src, input))


@function
def select_scatter(input: Any, src: Any, dim: int, index: int) -> Any:
    """The tensor with another slice."""
    return _with_part(input, src, (slice(None),) * checked(dim, input.ndim) + (index,))


@function
def slice_scatter(
    input: Any, src: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Any:
    """The tensor with other slices."""
    axis = checked(dim, input.ndim)
    return _with_part(input, src, (slice(None),) * axis + (slice(start, end, step),))


@function
def diagonal_scatter(input: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The tensor with another diagonal."""
    numbers = np.reshape(np.arange(input.size), input.shape)
    place = np.diagonal(numbers, offset, dim1, dim2)
    return _put(input, asarray(np.array(place)), _like(src, input))


def _triangle(name: str, native: Any, doc: str) -> Any:
    def made(row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None) -> Any:
        check_device(device)
        return asarray(np.stack(native(row, offset, col)).astype(dtype or np.int64))

    return function(made, name=name, method=False, doc=doc)


tril_indices = _triangle("tril_indices", np.tril_indices, "The places of a lower triangle.")
triu_indices = _triangle("triu_indices", np.triu_indices, "The places of an upper triangle.")
