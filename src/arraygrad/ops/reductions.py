"""Sums, products, extremes and moments over axes, and the running ones."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from ..backends import backend_of
from ..backends.filled import ones_like, zeros_like
from ..core.array import Function, plain
from ..core.axes import count, is_all_of_a_number, kept, many_axes, one_axis
from ..core.kinds import AlongAxis, Moves, Reduces
from .define.library import constant, declare
from .define.rules import Rule, parameters
from .define.signatures import Axis, one_array
from .elementwise import equal, isnan, logical_or, multiply, where
from .shape import _broadcast_to, _permute_dims, _reshape, astype, concat, flip, ravel

Axes = tuple[int, ...] | None


def _spread(g: Any, shape: tuple[int, ...], axis: Axes, keepdims: bool) -> Any:
    """A reduction's cotangent (or result), repeated over what was reduced."""
    return _broadcast_to(_keep(g, shape, axis, keepdims), shape=shape)


def _keep(g: Any, shape: tuple[int, ...], axis: Axes, keepdims: bool) -> Any:
    """A reduction's cotangent (or result) with the reduced axes at length one."""
    return g if keepdims or g.shape == () else _reshape(g, shape=kept(shape, axis))


_sum = declare(
    "sum",
    "x",
    vjp=lambda g, x_shape, axis, keepdims: _spread(g, x_shape, axis, keepdims),
    kind=Reduces(linear=True),
    holomorphic=False,
)
_mean = declare(
    "mean",
    "x",
    vjp=lambda g, x_shape, axis, keepdims: _mean_vjp(g, x_shape, axis, keepdims),
    kind=Reduces(linear=True),
    holomorphic=False,
)


def _mean_vjp(g: Any, x_shape: tuple[int, ...], axis: Axes, keepdims: bool) -> Any:
    n = count(x_shape, axis)
    if n == n:
        return _spread(_shared(g, n), x_shape, axis, keepdims)
    # A length that is not known before it is computed: then the shape knows how to count.
    g = _keep(g, x_shape, axis, keepdims) / x_shape.count(axis)
    return _spread(g, x_shape, axis, keepdims=True)


def _shared(g: Any, n: int) -> Any:
    """`g / n`, also where a float16 cannot hold `n`; NaN for a mean of nothing."""
    return g / (n or math.nan) if n < 2**15 else g * (1 / n)


def reduction(
    name: str,
    d: Rule,
    *,
    kind: Reduces | None = None,
    compute: Function | None = None,
    holomorphic: bool = True,
) -> Function:
    """Declare a reduction by the derivative of its result with respect to each element.

    `d` may take the element's array `x`, the result `out`, `axis`, `keepdims` and other keywords.
    """
    return declare(
        name,
        "x",
        vjp=_times_kept(d),
        kind=kind or Reduces(),
        keywords=tuple(n for n in parameters(d) if n not in ("x", "out")),
        compute=compute,
        holomorphic=holomorphic,
        slopes={"x": d},
    )


def _times_kept(d: Rule) -> Rule:
    """The reverse rule of a reduction: the cotangent of each line times the slopes in it."""
    names = list(dict.fromkeys(("x", "axis", "keepdims", *parameters(d))))
    source = (
        f"lambda g, {', '.join(names)}: "
        f"keep(g, x.shape, axis, keepdims) * d({', '.join(parameters(d))})"
    )
    return eval(source, {"keep": _keep, "d": d, "__name__": d.__module__})  # type: ignore[no-any-return]


def _var_slope(x: Any, axis: Axes, correction: float) -> Any:
    return 2 / _freedom(x, axis, True, correction) * _centred(x, axis)


def _centred(x: Any, axis: Axes) -> Any:
    return x - _mean(x, axis=axis, keepdims=True)


def _freedom(x: Any, axis: Axes, keepdims: bool, correction: float) -> Any:
    """Degrees of freedom; NaN where there are none left."""
    n: Any = count(x.shape, axis)
    if n != n:  # not known before it is computed
        n = _sum(ones_like(x), axis=axis, keepdims=keepdims) - correction
        return where(n > 0, n, math.nan)
    n = n - correction
    return n if n > 0 else math.nan


_var = reduction("var", d=_var_slope, kind=Reduces(real=True), holomorphic=False)


def _std_slope(x: Any, out: Any, axis: Axes, keepdims: bool, correction: float) -> Any:
    # Zero where the result is: the flat convention of torch at a constant input.
    out = _keep(out, x.shape, axis, keepdims)
    flat = equal(out, 0)
    return where(flat, 0, _var_slope(x, axis, correction) / (2 * where(flat, 1, out)))


_std = reduction("std", d=_std_slope, kind=Reduces(real=True), holomorphic=False)


def _shares(x: Any, out: Any, axis: Axes, keepdims: bool) -> Any:
    """For an extreme: each element's share in it, equal among ties. If there is NaN, it is one."""
    hits = logical_or(equal(x, _keep(out, x.shape, axis, keepdims)), isnan(x))
    hits = astype(hits, x.dtype)
    return hits / _sum(hits, axis=axis, keepdims=True)


_max = reduction("max", d=_shares)
_min = reduction("min", d=_shares)

_all = constant("all", "x", kind=Reduces())
_any = constant("any", "x", kind=Reduces())
_argmax = constant("argmax", "x", kind=Reduces())
_argmin = constant("argmin", "x", kind=Reduces())
_count_nonzero = constant("count_nonzero", "x", kind=Reduces())

# --- products: no division, so that zeros are no special case ------------------------------------


def _shifted(x: Any, by: int, axis: int, fill: Any) -> Any:
    """`x` moved along an axis towards its end (or start, if `by` is negative), filled up."""
    n = x.shape[axis]
    by = builtins.max(builtins.min(by, n), -n)
    keep = slice(0, n - by) if by > 0 else slice(-by, n)
    part = x[(slice(None),) * axis + (keep, ...)]
    pad = fill(x[(slice(None),) * axis + (slice(0, abs(by)), ...)])
    joined = concat((pad, part) if by > 0 else (part, pad), axis=axis)
    # Chunks that are moved against each other again and again would be cut to pieces.
    return joined if backend_of(x).merges_axes else _in_one_chunk(joined, axis=axis)


_in_one_chunk = declare(
    "in_one_chunk",
    "x",
    compute=lambda xp, x, axis: x,
    vjp=lambda g: g,
    kind=Moves(axis="axis"),
)


def _recurrence(a: Any, b: Any, axis: int) -> Any:
    """The sequence ``s[k] = b[k] + a[k] * s[k - 1]``, by doubling: log n steps, no division."""
    step, n = 1, b.shape[axis]
    if type(a) is np.ndarray is type(b) and b.size > 32 * n:  # many short lines side by side
        return _step_by_step(a, b, axis)
    while step < n:
        b = b + multiply(a, _shifted(b, step, axis, zeros_like))
        a = multiply(a, _shifted(a, step, axis, ones_like))
        step *= 2
    return b


def _step_by_step(a: Any, b: Any, axis: int) -> Any:
    """The same for NumPy arrays, all lines at once."""
    out = np.empty(b.shape, np.result_type(a, b))
    lines, a, b = np.moveaxis(out, axis, 0), np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)
    lines[0] = b[0]
    for k in range(1, len(b)):
        np.multiply(a[k], lines[k - 1], out=lines[k])
        lines[k] += b[k]
    return out


def _before(x: Any, axis: int) -> Any:
    """The product of all elements before each."""
    return _shifted(_cumulative_prod(x, axis=axis), 1, axis, ones_like)


def _cumulative_prod_vjp(g: Any, x: Any, axis: int) -> Any:
    # The sum over k >= i of g[k] times the product of x[i+1..k], as a recurrence from the end.
    after = _shifted(x, -1, axis, ones_like)
    sums = flip(_recurrence(flip(after, axis=axis), flip(g, axis=axis), axis), axis=axis)
    return sums * _before(x, axis)


_cumulative_sum = declare(
    "cumulative_sum",
    "x",
    vjp=lambda g, axis: flip(_cumulative_sum(flip(g, axis=axis), axis=axis), axis=axis),
    kind=AlongAxis(running=True, linear=True),
    holomorphic=False,
)
_cumulative_prod = declare(
    "cumulative_prod",
    "x",
    vjp=_cumulative_prod_vjp,
    jvp=lambda t, x, axis: _recurrence(x, t * _before(x, axis), axis),
    kind=AlongAxis(running=True),
)


def _others(x: Any, axis: Axes) -> Any:
    """The product of all other elements along the reduced axes, for each."""
    axes = tuple(range(x.ndim)) if axis is None else axis
    rest = tuple(i for i in range(x.ndim) if i not in axes)
    order = rest + axes
    moved = _permute_dims(x, axes=order)
    lines = _reshape(moved, shape=(*moved.shape[: len(rest)], count(x.shape, axes)))
    last = len(rest)
    backwards = flip(_before(flip(lines, axis=last), last), axis=last)
    products = _reshape(_before(lines, last) * backwards, shape=moved.shape)
    return _permute_dims(products, axes=tuple(sorted(range(x.ndim), key=order.__getitem__)))


_prod = reduction("prod", d=lambda x, axis: _others(x, axis))

# --- the public functions ------------------------------------------------------------------------


@one_array
def sum(x: Any, /, axis: Axis = None, *, dtype: Any = None, keepdims: bool = False) -> Any:
    """Add up the elements, over all axes or some.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> ag.grad(ag.sum(x, axis=0) @ ag.tensor([1.0, 10.0]), x)
    tensor([[ 1., 10.],
            [ 1., 10.]])
    """
    out = _sum(_cast(x, dtype), axis=many_axes(axis, x.ndim, numbers=True), keepdims=keepdims)
    return _cast(out, dtype)  # a sum of small integers is wider


@one_array
def prod(x: Any, /, axis: Axis = None, *, dtype: Any = None, keepdims: bool = False) -> Any:
    """Multiply the elements together. The gradient is exact also where some are zero.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([0.0, 2.0, 3.0], requires_grad=True)
    >>> ag.grad(ag.prod(x), x)
    tensor([6., 0., 0.])
    """
    out = _prod(_cast(x, dtype), axis=many_axes(axis, x.ndim, numbers=True), keepdims=keepdims)
    return _cast(out, dtype)


@one_array
def mean(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The arithmetic mean."""
    return _mean(x, axis=many_axes(axis, x.ndim), keepdims=keepdims)


@one_array
def var(x: Any, /, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The variance, with ``n - correction`` in the denominator."""
    return _var(x, axis=many_axes(axis, x.ndim), correction=correction, keepdims=keepdims)


@one_array
def std(x: Any, /, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The standard deviation: the root of the variance. Its gradient is zero where it is zero."""
    return _std(x, axis=many_axes(axis, x.ndim), correction=correction, keepdims=keepdims)


@one_array
def max(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The largest element. Ties share the gradient evenly.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 3.0, 3.0], requires_grad=True)
    >>> ag.grad(ag.max(x), x)
    tensor([0. , 0.5, 0.5])
    """
    axes = many_axes(axis, x.ndim, numbers=True)
    return _max(x, axis=_some(axes, x, "max"), keepdims=keepdims)


@one_array
def min(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The smallest element. Ties share the gradient evenly."""
    axes = many_axes(axis, x.ndim, numbers=True)
    return _min(x, axis=_some(axes, x, "min"), keepdims=keepdims)


def _some(axis: Axes, x: Any, name: str) -> Axes:
    """`axis`, if it has any elements to choose from."""
    if 0 in x.shape and 0 not in kept(x.shape, axis):
        raise ValueError(f"{name} of no elements: x has shape {x.shape}, axis is {axis}")
    return axis


@one_array
def all(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """Whether all elements are true (not zero)."""
    return _all(x, axis=many_axes(axis, x.ndim, numbers=True), keepdims=keepdims)


@one_array
def any(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """Whether any element is true (not zero)."""
    return _any(x, axis=many_axes(axis, x.ndim, numbers=True), keepdims=keepdims)


@one_array
def count_nonzero(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """How many elements are not zero."""
    return _count_nonzero(x, axis=many_axes(axis, x.ndim, numbers=True), keepdims=keepdims)


@one_array
def argmax(x: Any, /, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Where the largest element is: the first place, if there are several."""
    return _along(_argmax, x, axis, keepdims)


@one_array
def argmin(x: Any, /, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Where the smallest element is: the first place, if there are several."""
    return _along(_argmin, x, axis, keepdims)


def _along(op: Any, x: Any, axis: int | None, keepdims: bool) -> Any:
    if axis is None or (not x.ndim and is_all_of_a_number(axis)):
        found = _along(op, ravel(x), 0, False)
        return _reshape(found, shape=(1,) * x.ndim) if keepdims else found
    axis = one_axis(axis, x.ndim)
    _some((axis,), x, op.__name__)
    return op(x, axis=axis, keepdims=keepdims)


@one_array
def cumulative_sum(
    x: Any, /, axis: int | None = None, *, dtype: Any = None, include_initial: bool = False
) -> Any:
    """The running sum along an axis."""
    return _cumulative(_cumulative_sum, zeros_like, x, axis, dtype, include_initial)


@one_array
def cumulative_prod(
    x: Any, /, axis: int | None = None, *, dtype: Any = None, include_initial: bool = False
) -> Any:
    """The running product along an axis. The gradient is exact also where there are zeros."""
    return _cumulative(_cumulative_prod, ones_like, x, axis, dtype, include_initial)


def _cumulative(
    op: Any, initial: Any, x: Any, axis: int | None, dtype: Any, include_initial: bool
) -> Any:
    x, axis = _one_line(_cast(x, dtype), axis)
    out = _cast(op(x, axis=axis), dtype)
    if not include_initial:
        return out
    shape = list(out.shape)
    shape[axis] = 1
    first = backend_of(out).full(plain(out), tuple(shape), 0, out.dtype)
    return concat((initial(first), out), axis=axis)


def _one_line(x: Any, axis: int | None) -> tuple[Any, int]:
    if axis is None:
        if x.ndim > 1:
            raise ValueError("axis must be given for an array of more than one dimension")
        return (ravel(x), 0) if x.ndim == 0 else (x, 0)
    return x, one_axis(axis, x.ndim)


def _cast(x: Any, dtype: Any) -> Any:
    return x if dtype is None else astype(x, dtype, copy=False)
