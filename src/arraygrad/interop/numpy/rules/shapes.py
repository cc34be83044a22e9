"""NumPy's functions that rearrange, join and create arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .... import ops
from ....arrays import creation, orders
from ....core.array import AnyFunction
from ....core.axes import many_axes, shape_tuple
from ....ops.arrangement import grid_views
from ..values import plain_values, written
from .common import RULES, array_of, arrays_of, in_dtype, rule_for

# --- shapes --------------------------------------------------------------------------------------


@rule_for(np.reshape)
def _reshape(a: Any, /, shape: Any = None, order: str = "C", *, copy: bool | None = None) -> Any:
    return orders.reshaped(array_of(a), shape, order, copy)


@rule_for(np.ravel)
def _ravel(a: Any, order: str = "C") -> Any:
    return orders.ravelled(array_of(a), order)


@rule_for(np.transpose, np.permute_dims)
def _transpose(a: Any, axes: Any = None) -> Any:
    a = array_of(a)
    return ops.permute_dims(a, tuple(range(a.ndim))[::-1] if axes is None else axes)


@rule_for(np.rollaxis)
def _rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    axis, start = axis % a.ndim, start + a.ndim if start < 0 else start
    return ops.moveaxis(a, axis, start - 1 if axis < start else start)


@rule_for(np.broadcast_arrays)
def _broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    found = ops.broadcast_arrays(*arrays_of(a for a in args if a is not None))
    if len(found) < len(args):  # matplotlib passes None for a default, and gets it back
        rest = iter(found)
        return [np.full(found[0].shape, None) if a is None else next(rest) for a in args]
    return found


RULES[np.flipud] = lambda m: ops.flip(m, axis=0)
RULES[np.fliplr] = lambda m: ops.flip(m, axis=1)


def _joining_rule(name: str, function: AnyFunction) -> AnyFunction:
    def rule(
        arrays: Any, out: Any = None, dtype: Any = None, casting: str = "", **axis: Any
    ) -> Any:
        result = in_dtype(function(arrays_of(arrays), **axis), dtype)
        return written(out, result, f"numpy.{name}")

    return rule


_concatenate = _joining_rule("concatenate", ops.concat)
_stack = _joining_rule("stack", ops.stack)


@rule_for(np.concatenate, np.concat)
def _concatenate_rule(arrays: Any, /, axis: Any = 0, out: Any = None, **keywords: Any) -> Any:
    return _concatenate(arrays, out, axis=axis, **keywords)


@rule_for(np.stack)
def _stack_rule(arrays: Any, axis: int = 0, out: Any = None, **keywords: Any) -> Any:
    return _stack(arrays, out, axis=axis, **keywords)


def _stacking_rule(name: str) -> AnyFunction:
    rule = _joining_rule(name, getattr(ops, name))
    return lambda tup, *, dtype=None, casting="": rule(tup, dtype=dtype)


for _name in ("hstack", "vstack"):
    RULES[getattr(np, _name)] = _stacking_rule(_name)
RULES[np.dstack] = lambda tup: ops.dstack(arrays_of(tup))
RULES[np.column_stack] = lambda tup: ops.column_stack(arrays_of(tup))


@rule_for(np.append)
def _append(arr: Any, values: Any, axis: Any = None) -> Any:
    return ops.concat([array_of(arr), array_of(values)], axis=axis)


@rule_for(np.block)
def _block(arrays: Any) -> Any:
    def joined(part: Any, depth: int) -> tuple[Any, int]:
        if not isinstance(part, list):
            return array_of(part), depth
        found = [joined(item, depth + 1) for item in part]
        deepest = max(d for _, d in found)
        ndim = max(deepest, *(x.ndim for x, _ in found))
        wide = [ops.reshape(x, (1,) * (ndim - x.ndim) + tuple(x.shape)) for x, _ in found]
        return ops.concat(wide, axis=ndim - 1 - (deepest - depth - 1)), deepest

    return joined(arrays, 0)[0] if isinstance(arrays, list) else ops.copy(array_of(arrays))


def _split_rule(axis: int) -> AnyFunction:
    def rule(ary: Any, indices_or_sections: Any) -> Any:
        return ops.split(ary, indices_or_sections, axis=min(ary.ndim - 1, axis))

    return rule


for _name, _axis in (("vsplit", 0), ("hsplit", 1), ("dsplit", 2)):
    RULES[getattr(np, _name)] = _split_rule(_axis)


@rule_for(sliding_window_view)
def _sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    """The windows are a copy: an element has one place in memory for each window."""
    if x.dtype == object:  # as xarray makes of truth values and NaN
        return sliding_window_view(plain_values(x), window_shape, axis)
    lengths = shape_tuple(window_shape)
    axes = many_axes(axis, x.ndim) or tuple(range(x.ndim))
    if len(lengths) != len(axes):
        raise ValueError(f"window_shape has {len(lengths)} lengths for {len(axes)} axes")
    for length, along in zip(lengths, axes, strict=True):
        count = x.shape[along] - length + 1
        if not 0 < count <= x.shape[along] + 1:
            raise ValueError(f"window_shape {length} does not fit into axis {along} of {x.shape}")
        places = np.arange(count)[:, None] + np.arange(length)
        x = ops.moveaxis(ops.moveaxis(x, along, -1)[..., places], -2, along)
    return x


@rule_for(np.copy)
def _copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    return ops.copy(a)


@rule_for(np.meshgrid)
def _meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    if sparse:
        raise TypeError("numpy.meshgrid: sparse= is not supported for arrays of arraygrad")
    join = ops.meshgrid if copy else grid_views
    return join(*arrays_of(xi), indexing=indexing)


RULES[np.shape] = lambda a: array_of(a).shape
RULES[np.ndim] = lambda a: array_of(a).ndim


@rule_for(np.size)
def _size(a: Any, axis: Any = None) -> int:
    shape = array_of(a).shape
    if axis is None:
        return math.prod(shape)
    return math.prod(shape[i] for i in (axis if isinstance(axis, tuple) else (axis,)))


# --- creating arrays -----------------------------------------------------------------------------


def _like_rule(name: str) -> AnyFunction:
    function = getattr(creation, name)

    def rule(
        a: Any,
        *value: Any,
        dtype: Any = None,
        order: str = "K",
        subok: bool = True,
        shape: Any = None,
        device: Any = None,
        **keywords: Any,
    ) -> Any:
        if value and name != "full_like":  # the dtype was passed by position
            dtype, value = value[0], value[1:]
        if shape is not None:
            a = ops.broadcast_to(ops.reshape(ops.ravel(a)[:1], (1,)), shape)
        return function(a, *value, dtype=dtype, device=device, **keywords)

    return rule


for _name in ("zeros_like", "ones_like", "empty_like", "full_like"):
    RULES[getattr(np, _name)] = _like_rule(_name)


@rule_for(np.linspace)
def _linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    values = creation.linspace(start, stop, num, endpoint=endpoint, dtype=dtype, device=device)
    values = ops.moveaxis(values, 0, axis) if axis else values
    return (values, (stop - start) / (num - 1 if endpoint else num)) if retstep else values


def _made_like(name: str) -> AnyFunction:
    """The rule for a function with `like=`: it creates a tensor instead of a NumPy array."""
    function = getattr(creation, name)

    def rule(*args: Any, order: str = "C", **keywords: Any) -> Any:
        return function(*args, **keywords)

    return rule


for _name in ("zeros", "ones", "empty", "full", "arange"):
    RULES[getattr(np, _name)] = _made_like(_name)


@rule_for(np.eye)
def _eye(N: int, M: int | None = None, k: int = 0, dtype: Any = None, **given: Any) -> Any:  # noqa: N803
    return creation.eye(N, M, k=k, dtype=dtype)


@rule_for(np.asarray, np.asanyarray)
def _asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: bool | None = None
) -> Any:
    return creation.asarray(a, dtype=dtype, device=device, copy=copy)


@rule_for(np.array)
def _array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
) -> Any:
    made = creation.asarray(object, dtype=dtype, copy=copy)
    return ops.reshape(made, (1,) * (ndmin - made.ndim) + made.shape)


@rule_for(np.logspace)
def _logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    return in_dtype(ops.pow(base, _linspace(start, stop, num, endpoint, axis=axis)), dtype)


@rule_for(np.geomspace)
def _geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    start, stop = array_of(start), array_of(stop)
    sign = ops.sign(start)
    ends = ops.log(start / sign), ops.log(stop / sign)
    return in_dtype(sign * ops.exp(_linspace(*ends, num, endpoint, axis=axis)), dtype)


@rule_for(np.vander)
def _vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:  # noqa: N803
    x = array_of(x)
    x = x if ops.is_inexact(x) else ops.astype(x, np.promote_types(x.dtype, int))
    n = x.shape[0] if N is None else N
    powers = ops.stack([x**k for k in range(n)], axis=1)
    return powers if increasing else ops.flip(powers, axis=1)


# --- removing and inserting elements -------------------------------------------------------------


@rule_for(np.delete)
def _delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    arr, axis = (ops.ravel(arr), 0) if axis is None else (arr, axis % arr.ndim)
    keep = np.delete(np.arange(arr.shape[axis]), plain_values(obj))
    return ops.take(arr, keep, axis=axis)


@rule_for(np.trim_zeros)
def _trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    values, parts = plain_values(filt), [slice(None)] * filt.ndim
    for along in many_axes(axis, filt.ndim) or range(filt.ndim):
        lines = np.any(values, axis=tuple(i for i in range(filt.ndim) if i != along))
        start = lines.size - np.trim_zeros(lines, "f").size if "f" in trim.lower() else None
        stop = np.trim_zeros(lines, "b").size if "b" in trim.lower() else None
        parts[along] = slice(start, stop)
    return filt[tuple(parts)]


@rule_for(np.insert)
def _insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """Join the elements and the values, and take them in the order that NumPy gives."""
    arr, axis = (ops.ravel(array_of(arr)), 0) if axis is None else (arr, axis % arr.ndim)
    n = arr.shape[axis]
    places = plain_values(obj)
    values = ops.astype(array_of(values), arr.dtype, copy=False)
    if isinstance(places, slice):
        count = len(np.arange(n + 1)[places])
    elif np.ndim(places):
        count = np.size(places)
    else:  # one place: the first axis of the values goes there
        wide = (1,) * (arr.ndim - values.ndim) + tuple(values.shape)
        values = ops.moveaxis(ops.reshape(values, wide), 0, axis)
        count = values.shape[axis]
    shape = (*arr.shape[:axis], count, *arr.shape[axis + 1 :])
    joined = ops.concat([arr, ops.broadcast_to(values, shape)], axis=axis)
    order = np.insert(np.arange(n), places, n + np.arange(count))
    return ops.take(joined, order, axis=axis)


@rule_for(np.fill_diagonal)
def _fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    if wrap or a.ndim != 2:
        raise TypeError("numpy.fill_diagonal: only for matrices, without wrap=, in arraygrad")
    places = np.arange(min(a.shape))
    a[places, places] = val


RULES[np.diag_indices_from] = lambda arr: np.diag_indices(arr.shape[0], arr.ndim)
RULES[np.tril_indices_from] = lambda arr, k=0: np.tril_indices(arr.shape[0], k, arr.shape[1])
RULES[np.triu_indices_from] = lambda arr, k=0: np.triu_indices(arr.shape[0], k, arr.shape[1])
