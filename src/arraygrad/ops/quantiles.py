"""Medians and quantiles, with NumPy's names, also those that skip NaN."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, ParamSpec, cast

import numpy as np

from ..backends import backend_of, default
from ..backends.filled import zeros_like
from ..core.array import plain
from ..core.axes import kept, many_axes
from .define.adoption import in_library_of
from .define.arguments import named
from .define.signatures import Axis, OneArray, one_array
from .elementwise import (
    ceil,
    clip,
    equal,
    floor,
    greater,
    greater_equal,
    is_complex,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    multiply,
    remainder,
    round,
    where,
)
from .indexing import _argsort, sort, take, take_along_axis
from .reductions import all, any, cumulative_sum, sum
from .shape import _permute_dims, _reshape, as_inexact, astype, broadcast_to

__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]

P = ParamSpec("P")

# --- the place of a quantile ---------------------------------------------------------------------
# Each method maps `q` and the number `n` of elements to a place among the sorted elements, counted
# from zero. Methods that take one element, or the mean of two, return places with zero derivative
# by `q`.


def _continuous(a: float, b: float) -> Callable[[Any, Any], Any]:
    return lambda q, n: n * q + (a - 1) + q * (1 - a - b)


def _averaged(q: Any, n: Any) -> Any:
    place = n * q - 1
    return where(equal(place, floor(place)), floor(place) + 0.5, ceil(place))


def _closest(q: Any, n: Any) -> Any:
    # In the middle between two elements, take the one whose number, counted from one, is even.
    place = n * q - 1.5
    below = floor(place)
    even = logical_and(equal(place, below), equal(remainder(below, 2), 1))
    return where(even, below, below + 1)


METHODS: dict[str, Callable[[Any, Any], Any]] = {
    "inverted_cdf": lambda q, n: ceil(n * q - 1),
    "averaged_inverted_cdf": _averaged,
    "closest_observation": _closest,
    "interpolated_inverted_cdf": _continuous(0, 1),
    "hazen": _continuous(0.5, 0.5),
    "weibull": _continuous(0, 0),
    "linear": lambda q, n: (n - 1) * q,
    "median_unbiased": _continuous(1 / 3, 1 / 3),
    "normal_unbiased": _continuous(3 / 8, 3 / 8),
    "lower": lambda q, n: floor((n - 1) * q),
    "higher": lambda q, n: ceil((n - 1) * q),
    "midpoint": lambda q, n: (floor((n - 1) * q) + ceil((n - 1) * q)) * 0.5,
    "nearest": lambda q, n: round((n - 1) * q),
}


@one_array
def quantile(
    x: Any,
    q: Any,
    /,
    axis: Axis = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    weights: Any = None,
) -> Any:
    """The quantiles: values below which the parts `q` of the elements lie.

    The gradient goes to the one or two elements that determine the value, and also to `q` if the
    method interpolates.

    Parameters
    ----------
    x : array
    q : number or array
        Between 0 and 1. The axes of an array come first in the result.
    axis : int or tuple of int, optional
        By default all axes.
    method : str
        One of NumPy's methods: "linear", "lower", "higher", "nearest", "midpoint", "inverted_cdf",
        "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen",
        "weibull", "median_unbiased", "normal_unbiased".
    keepdims : bool
    weights : array, optional
        The weights of the elements, for the method "inverted_cdf" only. They have the shape of `x`,
        or of its axis `axis`. The derivative by the weights is zero.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([4.0, 1.0, 3.0], requires_grad=True)
    >>> ag.grad(ag.quantile(x, 0.25), x)
    tensor([0. , 0.5, 0.5])
    >>> ag.grad(ag.quantile(x, 0.25, method="higher"), x)
    tensor([0., 0., 1.])
    """
    return _quantile(x, q, axis, method, keepdims, weights, skip=False)


@one_array
def nanquantile(
    x: Any,
    q: Any,
    /,
    axis: Axis = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    weights: Any = None,
) -> Any:
    """`quantile` of the elements that are not NaN; NaN if all are.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([4.0, float("nan"), 3.0], requires_grad=True)
    >>> ag.grad(ag.nanquantile(x, 0.25), x)
    tensor([0.25, 0.  , 0.75])
    """
    return _quantile(x, q, axis, method, keepdims, weights, skip=True)


def _in_percent(typed: OneArray[P], name: str) -> OneArray[P]:
    """A function of `q` between 0 and 1 as a function of percentages."""
    function: Any = typed

    def run(x: Any, q: Any, /, *arguments: Any, **keywords: Any) -> Any:
        parts = q / 100 if hasattr(q, "dtype") else np.asarray(q, dtype=float) / 100
        return function(x, parts, *arguments, **keywords)

    functools.update_wrapper(run, function)  # for its signature
    run.__name__ = run.__qualname__ = name
    run.__doc__ = f"""`{function.__name__}`, with `q` between 0 and 100.

    >>> ag.{name}(ag.tensor([1.0, 2.0, 4.0]), 75)
    tensor(3.)
    """
    return cast("OneArray[P]", named(run, 1))


percentile = _in_percent(quantile, "percentile")
nanpercentile = _in_percent(nanquantile, "nanpercentile")


@one_array
def median(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The middle element, or the mean of the middle two. These have the gradient.

    Among equal elements, a stable sort decides which are in the middle.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([2.0, 2.0, 1.0, 3.0], requires_grad=True)
    >>> ag.grad(ag.median(x), x)
    tensor([0.5, 0.5, 0. , 0. ])
    """
    return _quantile(x, 0.5, axis, "linear", keepdims, None, skip=False, name="median")


@one_array
def nanmedian(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The `median` of the elements that are not NaN; NaN if all are.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([5.0, float("nan"), 1.0, 3.0], requires_grad=True)
    >>> ag.grad(ag.nanmedian(x), x)
    tensor([0., 0., 0., 1.])
    """
    return _quantile(x, 0.5, axis, "linear", keepdims, None, skip=True, name="nanmedian")


# --- the value of a quantile ---------------------------------------------------------------------


def _quantile(
    x: Any,
    q: Any,
    axis: Any,
    method: str,
    keepdims: bool,
    weights: Any,
    *,
    skip: bool,
    name: str = "quantile",
) -> Any:
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    if is_complex(x):
        raise TypeError("quantiles are for real numbers, not complex ones")
    if backend_of(x).kind(x.dtype) != "f":
        x, skip = as_inexact(x), False
    q = _checked_parts(q, x)
    axes = many_axes(axis, x.ndim)
    lines, shape = _lines(x, axes)
    if not lines.shape[0]:
        raise ValueError(f"{name} of no elements: x has shape {x.shape}, axis is {axis}")
    missing = isnan(lines)
    if weights is not None:
        if method != "inverted_cdf":
            raise ValueError(f"weights are for method='inverted_cdf' only, not {method!r}")
        out = _weighted(lines, q, _weight_lines(weights, x, axes), missing, skip)
    else:
        out = _at_places(lines, q, METHODS[method], missing, skip)
    if not skip:
        nan = any(missing, axis=0)
        out = where(_reshape(nan, shape=(1,) * q.ndim + tuple(nan.shape)), math.nan, out)
    out = astype(out, x.dtype, copy=False)
    return _reshape(out, shape=tuple(q.shape) + kept(shape, axes)) if keepdims else out


def _checked_parts(q: Any, x: Any) -> Any:
    """`q` as an array in the library of `x`; raises if it is not between 0 and 1."""
    if not hasattr(q, "dtype") or (backend_of(q) is default and backend_of(x) is not default):
        values = np.asarray(plain(q))
        if values.dtype.kind not in "biuf":
            raise TypeError(f"q must be numbers, not {type(q).__name__}")
        _check_parts(values)
        return astype(in_library_of(plain(x), values), x.dtype, copy=False)
    if backend_of(q).has_values(plain(q)):
        _check_parts(plain(q))
    return q


def _check_parts(q: Any) -> None:
    if not bool(all(logical_and(greater_equal(q, 0), less_equal(q, 1)))):
        raise ValueError(f"q must be between 0 and 1 (for percentile, 0 and 100), got {q}")


def _lines(x: Any, axes: tuple[int, ...] | None) -> tuple[Any, tuple[int, ...]]:
    """The array with the reduced axes merged into the first axis; and its old shape."""
    shape = tuple(x.shape)
    axes = tuple(range(x.ndim)) if axes is None else axes
    rest = tuple(i for i in range(x.ndim) if i not in axes)
    moved = _permute_dims(x, axes=axes + rest)
    n = math.prod(shape[a] for a in axes)
    return _reshape(moved, shape=(n, *(shape[a] for a in rest))), shape


def _at_places(lines: Any, q: Any, place_of: Any, missing: Any, skip: bool) -> Any:
    """The values at the places from a method: elements, or interpolations between two."""
    ordered = sort(lines, axis=0)  # NaN comes last
    size, rest = lines.shape[0], tuple(lines.shape[1:])
    integers = backend_of(lines).dtype(int)
    wide = _reshape(q, shape=(*q.shape, *(1,) * len(rest)))
    count: Any = size
    if skip:
        count = astype(sum(astype(logical_not(missing), integers), axis=0), lines.dtype)
    place = place_of(wide, count)
    place = minimum(maximum(place, 0), maximum(count - 1, 0) if skip else size - 1)
    below = minimum(floor(place), max(size - 2, 0))
    share = place - below
    if not skip:
        index = _reshape(astype(below, integers), shape=tuple(q.shape))
        low = take(ordered, index, axis=0)
        return low if size == 1 else _between(low, take(ordered, index + 1, axis=0), share)
    index = _flat(astype(below, integers), q, rest)
    low = take_along_axis(ordered, index, axis=0)
    if size == 1:
        return _reshape(low, shape=(*q.shape, *rest))
    # Elements after the last one that is not NaN have no share: stay at the last one.
    after = minimum(index + 1, astype(maximum(count - 1, 0), integers))
    high = take_along_axis(ordered, after, axis=0)
    shape = (*q.shape, *rest)
    return _between(_reshape(low, shape=shape), _reshape(high, shape=shape), share)


def _flat(index: Any, q: Any, rest: tuple[int, ...]) -> Any:
    """An index for each element of `q` and each line, with the axes of `q` merged into one."""
    wide = broadcast_to(index, (*q.shape, *rest))
    return _reshape(wide, shape=(math.prod(q.shape), *rest))


def _between(low: Any, high: Any, share: Any) -> Any:
    """The value ``low + share * (high - low)``; either end may be infinite."""
    infinite = logical_or(isinf(low), isinf(high))
    start = where(infinite, 0, low)
    on_the_way = start + multiply(share, where(infinite, 0, high) - start)
    # Zero times infinity would be NaN: if the share is 0 or 1, only one of the two counts.
    first = where(logical_and(infinite, less(share, 1)), low, 0)
    second = where(logical_and(infinite, greater(share, 0)), high, 0)
    return on_the_way + (first + second)


def _weight_lines(weights: Any, x: Any, axes: tuple[int, ...] | None) -> Any:
    """The weights of the elements, in the shape of the lines."""
    if not hasattr(weights, "dtype"):
        weights = in_library_of(plain(x), np.asarray(weights))
    along = tuple(range(x.ndim)) if axes is None else axes
    if tuple(weights.shape) == tuple(x.shape):
        return _lines(weights, axes)[0]
    if tuple(weights.shape) != tuple(x.shape[a] for a in along):
        raise ValueError(
            f"weights has shape {tuple(weights.shape)}: it must be that of x, {tuple(x.shape)}, or "
            f"of its axes {along}"
        )
    flat = _reshape(weights, shape=(math.prod(weights.shape), *(1,) * (x.ndim - len(along))))
    return broadcast_to(flat, _lines(x, axes)[0].shape)


def _weighted(lines: Any, q: Any, weights: Any, missing: Any, skip: bool) -> Any:
    """For each `q`, the first element at which the cumulated weights reach `q`."""
    rest = tuple(lines.shape[1:])
    weights = weights.detach() if hasattr(weights, "detach") else weights
    if backend_of(weights).has_values(plain(weights)):
        values = plain(weights)
        right = logical_and(greater_equal(values, 0), isfinite(values))
        if not bool(all(right)) or not bool(all(any(values, axis=0))):
            raise ValueError("weights must be finite and not negative, and not all of them zero")
    if skip:
        weights = where(missing, zeros_like(weights), weights)
    order = _argsort(lines, axis=0, descending=False, stable=True)
    so_far = cumulative_sum(take_along_axis(weights, order, axis=0), axis=0)
    parts = so_far / so_far[-1:]
    wide = _reshape(q, shape=(math.prod(q.shape), *(1,) * lines.ndim))
    short = logical_or(less(parts, wide), less_equal(parts, 0))
    count = sum(astype(short, backend_of(lines).dtype(int)), axis=1)
    index = clip(count, 0, lines.shape[0] - 1)
    found = take_along_axis(take_along_axis(lines, order, axis=0), index, axis=0)
    return _reshape(found, shape=(*q.shape, *rest))
