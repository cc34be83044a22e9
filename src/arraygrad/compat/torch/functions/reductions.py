"""Functions along axes. `dim` and `keepdim` become `axis` and `keepdims` in one place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import ops, special
from ....arrays.creation import asarray
from ....core.array import Array
from ....core.kinds import Opaque
from ....func import associative_scan
from ....ops.define.library import constant
from ..dtypes import default_for
from ..publish import Published, floating, function
from .axes import axes_of, check_not_empty, checked, values_of
from .elementwise import check_ordered, in_single, log_of_sum
from .results import named

# The names of `torch` that are made here.
__all__ = [
    "all", "amax", "amin", "aminmax", "any", "argmax", "argmin", "argsort", "count_nonzero",
    "cummax", "cummin", "cumprod", "cumsum", "diff", "isin", "kthvalue", "log_softmax",
    "logcumsumexp", "logsumexp", "max", "mean", "median", "min", "mode", "msort", "nanmean",
    "nanmedian", "nanquantile", "nansum", "prod", "quantile", "softmax", "sort", "std", "std_mean",
    "sum", "topk", "unique", "unique_consecutive", "var", "var_mean",
]  # fmt: skip


def _reduction(
    native: Any, name: str | None = None, *, integers: bool = True, chooses: bool = False
) -> Published:
    """PyTorch's reduction for one of arraygrad's; one that `chooses` needs elements."""

    def reduced(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
        if dtype is not None and input.dtype != dtype:
            input = ops.astype(input, dtype)
        if not integers and input.dtype.kind in "biu":
            raise RuntimeError(
                f"{own}(): input dtype should be either floating point or complex dtypes, got "
                f"{input.dtype}"
            )
        if dim is None and not keepdim:
            return native(input)
        axis = axes_of(dim, input.ndim)
        if chooses:
            check_ordered(own, input)
            check_not_empty(own, input, axis)
        return native(input, axis=axis, keepdims=keepdim)

    own = name or native.__name__
    return function(reduced, name=own, doc=native.__doc__)


sum = _reduction(ops.sum)
mean = _reduction(ops.mean, integers=False)
nansum = _reduction(ops.nansum)
nanmean = _reduction(ops.nanmean, integers=False)
logsumexp = _reduction(lambda x, **how: special.logsumexp(floating(x), **how), "logsumexp")
amax = _reduction(ops.max, "amax", chooses=True)
amin = _reduction(ops.min, "amin", chooses=True)
count_nonzero = _reduction(ops.count_nonzero)


def _truths(native: Any) -> Published:
    def reduced(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        found = native(ops.not_equal(input, 0), axis=axes_of(dim, input.ndim), keepdims=keepdim)
        return ops.astype(found, np.uint8) if input.dtype == np.uint8 else found

    return function(reduced, name=native.__name__, doc=native.__doc__)


all = _truths(ops.all)
any = _truths(ops.any)


@function
def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The product."""
    x = input if dtype is None else ops.astype(input, dtype)
    if x.dtype.kind == "b":
        if dtype is not None:
            return ops.all(x, axis=axes_of(dim, x.ndim), keepdims=keepdim)
        x = ops.astype(x, np.int64)
    return ops.prod(x, axis=axes_of(dim, x.ndim), keepdims=keepdim)


def _spread(native: Any) -> Published:
    def reduced(
        input: Any,
        dim: Any = None,
        unbiased: bool = True,
        keepdim: bool = False,
        *,
        correction: Any = None,
    ) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        correction = int(unbiased) if correction is None else correction
        axis = axes_of(dim, input.ndim)
        if input.dtype.kind in "biu":
            raise RuntimeError(
                f"std and var only support floating point and complex dtypes, not {input.dtype}"
            )
        return in_single(native, input, axis=axis, correction=correction, keepdims=keepdim)

    return function(reduced, name=native.__name__, doc=native.__doc__)


std = _spread(ops.std)
var = _spread(ops.var)


def _with_mean(spread: Published) -> Published:
    def both(input: Any, *args: Any, **kwargs: Any) -> Any:
        return spread.__wrapped__(input, *args, **kwargs), _mean_like(input, *args, **kwargs)

    return function(
        both,
        name=f"{spread.__name__}_mean",
        method=False,
        doc=f"`{spread.__name__}`, and the mean.",
    )


var_mean, std_mean = _with_mean(var), _with_mean(std)


def _mean_like(
    input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, **_: Any
) -> Any:
    dim = None if isinstance(dim, bool) else dim
    return ops.mean(input, axis=axes_of(dim, input.ndim), keepdims=keepdim)


# --- the extreme elements, and where they are ---


def _pair(name: str) -> Any:
    return named(name, "values", "indices")


def _chosen(input: Any, index: Any, dim: int, keepdim: bool) -> Any:
    """The elements that an index with an axis of length one names."""
    if not input.ndim:
        return input, ops.reshape(index, ())
    values = ops.take_along_axis(input, index, axis=dim)
    if keepdim:
        return values, index
    return ops.squeeze(values, axis=dim), ops.squeeze(index, axis=dim)


def _extreme(native: Any, position: Any, pick: Any, name: str) -> Published:
    pair = _pair(name)

    def reduced(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        check_ordered(name, input)
        other = dim if isinstance(dim, Array) else other
        if other is not None:
            return pick(input, other)
        if dim is None:
            if not input.size:
                raise RuntimeError(f"{name}(): the tensor is empty: say which dim to reduce")
            return native(input)
        axis = checked(dim, input.ndim)
        if not input.ndim:
            return pair(input, ops.astype(ops.zeros_like(input), np.int64))
        index = position(input, axis=axis, keepdims=True)
        return pair(*_chosen(input, index, axis, keepdim))

    return function(reduced, name=name, dtypes="promoted", doc=native.__doc__)


max = _extreme(ops.max, ops.argmax, ops.maximum, "max")
min = _extreme(ops.min, ops.argmin, ops.minimum, "min")


def _position(native: Any) -> Published:
    def reduced(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        check_ordered(native.__name__, input)
        if not input.size and dim is None:
            raise IndexError(f"{native.__name__}(): the tensor is empty: say which dim to reduce")
        return native(input, axis=axes_of(dim, input.ndim), keepdims=keepdim)

    return function(reduced, name=native.__name__, doc=native.__doc__)


argmax = _position(ops.argmax)
argmin = _position(ops.argmin)
_Aminmax = named("aminmax", "min", "max")


@function
def aminmax(input: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    """The smallest and the largest elements."""
    axis = axes_of(dim, input.ndim)
    check_not_empty("aminmax", input, axis)
    return _Aminmax(
        ops.min(input, axis=axis, keepdims=keepdim), ops.max(input, axis=axis, keepdims=keepdim)
    )


_Sort, _Topk, _Kth = _pair("sort"), _pair("topk"), _pair("kthvalue")
_Mode = _pair("mode")


def _sorted(input: Any, dim: int, descending: bool) -> tuple[Any, Any]:
    check_ordered("sort", input)
    if not input.ndim:
        return input, ops.astype(ops.zeros_like(input), np.int64)
    index = ops.argsort(input, axis=dim, descending=descending, stable=True)
    return ops.take_along_axis(input, index, axis=dim), index


@function
def sort(input: Any, dim: Any = -1, descending: bool = False, stable: bool = False) -> Any:
    """The elements in order along an axis, and where they were."""
    return _Sort(*_sorted(input, checked(dim, input.ndim), descending))


msort = function(lambda input: _sorted(input, 0, False)[0], name="msort")


@function
def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """Where the elements in order are."""
    return _sorted(input, checked(dim, input.ndim), descending)[1]


@function
def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The `k` largest elements along an axis, and where they are."""
    axis = checked(dim, input.ndim)
    if not 0 <= k <= (input.shape[axis] if input.ndim else 1):
        raise RuntimeError(f"selected index k out of range: {k}")
    values, index = _sorted(input, axis, largest)
    first = (slice(None),) * axis + (slice(0, k),) if input.ndim else ...
    return _Topk(values[first], index[first])


@function
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The `k`-th smallest element along an axis, and where it is."""
    axis = checked(dim, input.ndim)
    length = input.shape[axis] if input.ndim else 1
    if not 1 <= k <= length:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis}: {k}")
    return _Kth(*_at_rank(input, k - 1, axis, keepdim))


def _at_rank(input: Any, rank: int, axis: int, keepdim: bool) -> Any:
    if not input.ndim:
        return input, ops.astype(ops.zeros_like(input), np.int64)
    index = ops.argsort(input, axis=axis, stable=True)
    index = index[(slice(None),) * axis + (slice(rank, rank + 1),)]
    return _chosen(input, index, axis, keepdim)


def _middle(name: str, skips: bool) -> Published:
    """The element in the middle; of an even number, the lower one. NaN is the largest element.

    A line with NaN has it as its median, unless the median `skips` it.
    """
    pair = _pair(name)

    def reduced(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        axis = 0 if dim is None else checked(dim, input.ndim)
        if dim is not None and not input.ndim:
            return pair(input, ops.astype(ops.zeros_like(input), np.int64))
        x = ops.reshape(input, (-1,)) if dim is None else input
        unknown = ops.astype(ops.isnan(x), np.int64)
        rest = x.shape[axis] - ops.sum(unknown, axis=axis, keepdims=True)
        if skips:
            rank = ops.where(rest > 0, (rest - 1) // 2, 0)
        else:
            last = x.shape[axis] - 1
            rank = ops.where(rest <= last, last, last // 2)
        if dim is None:
            value = ops.take_along_axis(ops.sort(x.detach()), rank, axis=0)
            return _mean_of_equal(x, ops.reshape(value, ()))
        order = ops.argsort(x, axis=axis, stable=True)
        return pair(*_chosen(x, ops.take_along_axis(order, rank, axis=axis), axis, keepdim))

    return function(reduced, name=name, doc="The element in the middle.")


median, nanmedian = _middle("median", False), _middle("nanmedian", True)


def _mean_of_equal(flat: Any, value: Any) -> Any:
    """A value of some elements, as the mean of these: they share the gradient."""
    if flat.dtype.kind in "biu":
        return value
    same = ops.where(ops.isnan(value), ops.isnan(flat), ops.equal(flat, value))
    return ops.sum(ops.where(same, flat, 0)) / ops.sum(ops.astype(same, flat.dtype))


def _find_mode(xp: Any, x: Any) -> Any:
    index = np.zeros(x.shape[:-1], np.int64)
    for place in np.ndindex(*index.shape):
        values, counts = np.unique(x[place], return_counts=True)
        index[place] = np.flatnonzero(x[place] == values[counts.argmax()])[-1]
    return index


# Where the most frequent element of the last axis is last.
_last_of_most = constant("torch.mode", "x", compute=_find_mode, kind=Opaque(leading=True))


@function
def mode(input: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element along an axis, and where it is last."""
    axis = checked(dim, input.ndim)
    if not input.ndim:
        return _Mode(input, ops.astype(ops.zeros_like(input), np.int64))
    index = ops.expand_dims(_last_of_most(ops.moveaxis(input.detach(), axis, -1)), -1)
    return _Mode(*_chosen(input, ops.moveaxis(index, -1, axis), axis, keepdim))


def _quantile(native: Any) -> Published:
    def reduced(
        input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear"
    ) -> Any:
        axis = axes_of(dim, input.ndim)
        return native(input, q, axis=axis, keepdims=keepdim, method=interpolation)

    return function(reduced, name=native.__name__, doc=native.__doc__)


quantile, nanquantile = _quantile(ops.quantile), _quantile(ops.nanquantile)


# --- lines to lines ---


def _running(native: Any, name: str) -> Published:
    def along(input: Any, dim: int, *, dtype: Any = None) -> Any:
        x = input if dtype is None else ops.astype(input, dtype)
        axis = checked(dim, x.ndim)
        return in_single(native, x, axis=axis) if x.ndim else ops.copy(x)

    return function(along, name=name, in_place=True, doc=native.__doc__)


cumsum = _running(ops.cumulative_sum, "cumsum")
cumprod = _running(ops.cumulative_prod, "cumprod")


@function
def logcumsumexp(input: Any, dim: int) -> Any:
    """The logarithm of the running sum of exponentials."""
    axis = checked(dim, input.ndim)
    if not input.ndim:
        return ops.copy(input)
    return associative_scan(_log_of_both, input, axis=axis)


def _log_of_both(x: Any, y: Any) -> Any:
    """`log_of_sum`, with a derivative of zero where both numbers are the logarithm of zero."""
    if x.dtype.kind == "c":
        return log_of_sum(x, y)
    none = ops.equal(x, -math.inf) & ops.equal(y, -math.inf)
    both = ops.logaddexp(ops.where(none, 0, x), ops.where(none, 0, y))
    return ops.where(none, -math.inf, both)


def _running_extreme(name: str, ufunc: Any) -> Published:
    pair = _pair(name)

    def compute(xp: Any, x: Any) -> Any:
        new = (x == ufunc.accumulate(x, axis=-1)) | np.isnan(x)
        return np.maximum.accumulate(np.where(new, np.arange(x.shape[-1]), 0), axis=-1)

    # Where the extreme of the elements up to each one of the last axis is.
    where = constant(f"torch.{name}", "x", compute=compute, kind=Opaque(leading=True))

    def along(input: Any, dim: int) -> Any:
        axis = checked(dim, input.ndim)
        if not input.ndim or not input.size:
            return pair(ops.copy(input), ops.astype(ops.zeros_like(input), np.int64))
        index = ops.moveaxis(where(ops.moveaxis(input.detach(), axis, -1)), -1, axis)
        return pair(ops.take_along_axis(input, index, axis=axis), index)

    return function(
        along, name=name, doc=f"The {name[3:]}imum up to each element, and where it is."
    )


cummax = _running_extreme("cummax", np.maximum)
cummin = _running_extreme("cummin", np.minimum)


def _softened(native: Any) -> Published:
    def along(input: Any, dim: int, dtype: Any = None) -> Any:
        x = input if dtype is None else ops.astype(input, dtype)
        if x.dtype.kind in "biu":
            x = ops.astype(x, default_for("f"))
        return native(x, axis=checked(dim, x.ndim) if x.ndim else None)

    return function(along, name=native.__name__, doc=native.__doc__)


softmax = _softened(special.softmax)
log_softmax = _softened(special.log_softmax)


@function
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours."""
    out = ops.diff(input, axis=dim, n=n, prepend=prepend, append=append)
    return ops.copy(out) if out is input else out


@function(method=False)
def isin(elements: Any, test_elements: Any, *, invert: bool = False) -> Any:
    """Whether elements are among others."""
    return ops.isin(elements, test_elements, invert=invert)


@function
def unique(
    input: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Any = None,
) -> Any:
    """The different elements, or slices along an axis, in order."""
    values = _lines_of(input, dim)
    _, first, inverse, counts = np.unique(
        values,
        return_index=True,
        return_inverse=True,
        return_counts=True,
        axis=None if dim is None else 0,
        equal_nan=False,
    )
    found = _at(input, first, dim)
    places = np.reshape(inverse, input.shape if dim is None else (-1,))
    return _with_counts(found, places, counts, return_inverse, return_counts)


def _lines_of(input: Any, dim: Any) -> Any:
    """The elements, or the slices along an axis as rows."""
    values = values_of(input, "unique")
    if dim is None:
        return np.reshape(values, (-1,))
    axis = checked(dim, values.ndim)
    return np.reshape(np.moveaxis(values, axis, 0), (values.shape[axis], -1))


def _at(input: Any, first: Any, dim: Any) -> Any:
    """The elements, or slices, at places: so that gradients go back to them."""
    if dim is None:
        return ops.take(ops.reshape(input, (-1,)), first, axis=0)
    return ops.take(input, first, axis=checked(dim, input.ndim))


def _with_counts(
    found: Any, places: Any, counts: Any, return_inverse: bool, return_counts: bool
) -> Any:
    parts = [found]
    parts += [asarray(places)] if return_inverse else []
    parts += [asarray(counts)] if return_counts else []
    return tuple(parts) if len(parts) > 1 else parts[0]


@function
def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The elements, or slices along an axis, without those that equal the one before."""
    values = _lines_of(input, dim)
    rows = values if values.ndim > 1 else values[:, None]
    new = np.ones(len(rows), np.bool_)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    first = np.flatnonzero(new)
    places = np.reshape(np.cumsum(new) - 1, input.shape if dim is None else (-1,))
    counts = np.diff(np.append(first, len(rows)))
    return _with_counts(_at(input, first, dim), places, counts, return_inverse, return_counts)
