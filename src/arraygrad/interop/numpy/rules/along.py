"""NumPy's functions that apply a function along axes, choose elements, or treat arrays as sets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import ops
from ....core.array import AnyFunction
from ..values import plain_values
from .common import RULES, array_of, rule_for


@rule_for(np.apply_along_axis)
def _apply_along_axis(func1d: AnyFunction, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    arr = array_of(arr)
    lines = ops.moveaxis(arr, axis, -1)
    around = tuple(lines.shape[:-1])
    if not math.prod(around):
        raise ValueError(f"numpy.apply_along_axis: no lines along axis {axis} of {arr.shape}")
    results = [
        array_of(func1d(line, *args, **kwargs))
        for line in ops.reshape(lines, (math.prod(around), lines.shape[-1]))
    ]
    out = ops.stack(results)
    shape = tuple(out.shape[1:])
    out = ops.reshape(out, around + shape)
    place = axis % arr.ndim
    ends = tuple(range(len(around), out.ndim))
    return ops.moveaxis(out, ends, tuple(range(place, place + len(ends)))) if ends else out


@rule_for(np.apply_over_axes)
def _apply_over_axes(func: AnyFunction, a: Any, axes: Any) -> Any:
    value = array_of(a)
    for axis in np.atleast_1d(axes).tolist():
        result = func(value, axis)
        value = result if result.ndim == value.ndim else ops.expand_dims(result, axis=axis)
    return value


@rule_for(np.choose)
def _choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    if out is not None:
        raise TypeError("numpy.choose: out= is not supported for arrays of arraygrad")
    which = np.asarray(plain_values(a))
    if which.dtype.kind not in "biu":
        raise TypeError(f"numpy.choose: a must be integers, not {which.dtype}")
    arrays = [array_of(c) for c in choices]
    count = len(arrays)
    if mode != "raise":
        which = which % count if mode == "wrap" else np.clip(which, 0, count - 1)
    elif which.size and not ((which >= 0) & (which < count)).all():
        raise ValueError(f"numpy.choose: a must name one of the {count} choices")
    result = arrays[0]
    for number, array in enumerate(arrays[1:], 1):
        result = ops.where(which == number, array, result)
    # A copy: a single choice may still be the user's own array, and a broadcast cannot be written.
    return ops.copy(ops.broadcast_to(result, np.broadcast_shapes(which.shape, tuple(result.shape))))


RULES[np.diagflat] = lambda v, k=0: ops.diag(ops.ravel(array_of(v)), k)
RULES[np.ix_] = lambda *args: np.ix_(*(np.asarray(plain_values(a)) for a in args))


@rule_for(np.resize)
def _resize(a: Any, new_shape: Any) -> Any:
    flat = ops.ravel(array_of(a))
    shape = (new_shape,) if isinstance(new_shape, int) else tuple(new_shape)
    size = math.prod(shape)
    if not flat.shape[0]:
        raise ValueError("numpy.resize: there is nothing to repeat in an empty array")
    return ops.reshape(ops.take(flat, np.arange(size) % flat.shape[0]), shape)


# --- arrays as sets ------------------------------------------------------------------------------


def _joined(ar1: Any, ar2: Any) -> Any:
    return ops.concat([ops.ravel(array_of(ar1)), ops.ravel(array_of(ar2))])


def _chosen(values: Any, *, apart: bool) -> Any:
    """The sorted values that come alone; without `apart`, the first of each equal pair."""
    numbers = np.asarray(plain_values(values))
    same = numbers[1:] == numbers[:-1]
    if not apart:
        return ops.take(values, np.flatnonzero(same))
    alone = np.ones(len(numbers), np.bool_)
    alone[1:] &= ~same
    alone[:-1] &= ~same
    return ops.take(values, np.flatnonzero(alone))


RULES[np.union1d] = lambda ar1, ar2: RULES[np.unique](_joined(ar1, ar2))


@rule_for(np.intersect1d)
def _intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    if return_indices:
        raise TypeError("numpy.intersect1d: return_indices= is not supported for tensors")
    both = [ops.unique_values(ops.ravel(array_of(a))) for a in (ar1, ar2)]
    return _chosen(ops.sort(ops.concat(both)), apart=False)


@rule_for(np.setxor1d)
def _setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    both = [RULES[np.unique](ops.ravel(array_of(a))) for a in (ar1, ar2)]
    return _chosen(ops.sort(ops.concat(both)), apart=True)


@rule_for(np.setdiff1d)
def _setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    first = ops.ravel(array_of(ar1))
    first = first if assume_unique else RULES[np.unique](first)
    others = np.asarray(plain_values(ar2))
    return ops.take(first, np.flatnonzero(~np.isin(np.asarray(plain_values(first)), others)))
