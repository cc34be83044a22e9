"""Reductions (sums, products, extremes, moments), and running sums and products.

Reductions that skip NaN are in `statistics`, norms in `norms`, `logsumexp` in `special.softmax`.
"""

from __future__ import annotations

import builtins
import functools
import math
from typing import Any

import numpy as np

from ..backends import backend_of
from ..backends.filled import ones_like, zeros_like
from ..core.array import AnyFunction, plain
from ..core.axes import count, is_all_of_a_number, kept, many_axes, one_axis
from ..core.kinds import AlongAxis, Moves, Reduces
from .define import op as general
from .define.check import check_function
from .define.library import constant, declare
from .define.rules import Rule, parameters
from .define.signatures import Axis, one_array
from .elementwise import equal, isnan, logical_or, multiply, where
from .shape import _broadcast_to, _permute_dims, _reshape, astype, concat, flip, ravel

__all__ = [
    "all", "any", "argmax", "argmin", "count_nonzero", "cumulative_prod", "cumulative_sum",
    "max", "mean", "min", "prod", "std", "sum", "var",
]  # fmt: skip

Axes = tuple[int, ...] | None


def _spread(g: Any, shape: tuple[int, ...], axis: Axes, keepdims: bool) -> Any:
    """A reduction's cotangent (or result), repeated along the reduced axes."""
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
    # Some lengths of a lazy array are unknown: its shape has a method that counts elements lazily.
    g = _keep(g, x_shape, axis, keepdims) / x_shape.count(axis)
    return _spread(g, x_shape, axis, keepdims=True)


def _shared(g: Any, n: int) -> Any:
    """`g / n`, also if `n` is too large for float16; NaN if `n` is zero."""
    return g / (n or math.nan) if n < 2**15 else g * (1 / n)


def reduction(
    name: str,
    d: AnyFunction,
    *,
    kind: Reduces | None = None,
    compute: AnyFunction | None = None,
    **others: Any,
) -> AnyFunction:
    """Declare a reduction by the derivative of its result with respect to each element.

    `d` may take the input `x`, the result `out`, `axis`, `keepdims` and other keywords. The op is
    called with `axis`, a tuple or None for all axes, and `keepdims`. The rest is as in `declare`.

    Examples
    --------
    >>> import arraygrad as ag
    >>> from arraygrad.ops.reductions import reduction
    >>> sum_of_cubes = reduction(
    ...     "sum_of_cubes",
    ...     d=lambda x: 3 * x**2,
    ...     compute=lambda xp, x, axis, keepdims: xp.sum(x**3, axis=axis, keepdims=keepdims),
    ... )
    >>> x = ag.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> ag.grad(sum_of_cubes(x, axis=(1,), keepdims=False)[0], x)
    tensor([[ 3., 12.],
            [ 0.,  0.]])
    """
    check_function(f"{name}: the derivative by x", d)
    # Without `compute`, nothing else says which keywords the library's function takes.
    more = parameters(d) if compute is None else ()
    return general.declare(
        name,
        "x",
        vjp=_times_kept(d),
        kind=kind or Reduces(),
        keywords=tuple(n for n in more if n not in ("g", "x", "out")),
        compute=compute,
        slopes={"x": d},
        **others,
    )


library_reduction = functools.partial(reduction, is_library=True)


def _times_kept(d: AnyFunction) -> Rule:
    """The reverse rule of a reduction: the cotangent of each line times the line's slopes."""
    taken = parameters(d)
    names = tuple(dict.fromkeys(("g", "x", "axis", "keepdims", *taken)))
    places = [names.index(n) for n in taken]

    def rule(*values: Any) -> Any:
        g, x, axis, keepdims, *_ = values
        return _keep(g, x.shape, axis, keepdims) * d(*[values[i] for i in places])

    return Rule(names, rule)


def _var_slope(x: Any, axis: Axes, correction: float) -> Any:
    return 2 / _freedom(x, axis, True, correction) * _centred(x, axis)


def _centred(x: Any, axis: Axes) -> Any:
    return x - _mean(x, axis=axis, keepdims=True)


def _freedom(x: Any, axis: Axes, keepdims: bool, correction: float) -> Any:
    """The degrees of freedom; NaN if the number is not positive."""
    n: Any = count(x.shape, axis)
    if n != n:  # a length of a lazy array is unknown
        n = _sum(ones_like(x), axis=axis, keepdims=keepdims) - correction
        return where(n > 0, n, math.nan)
    n = n - correction
    return n if n > 0 else math.nan


_var = library_reduction("var", d=_var_slope, kind=Reduces(real=True), holomorphic=False)


def _std_slope(x: Any, out: Any, axis: Axes, keepdims: bool, correction: float) -> Any:
    # Zero where the result is zero: the same convention as in PyTorch for a constant input.
    out = _keep(out, x.shape, axis, keepdims)
    flat = equal(out, 0)
    return where(flat, 0, _var_slope(x, axis, correction) / (2 * where(flat, 1, out)))


_std = library_reduction("std", d=_std_slope, kind=Reduces(real=True), holomorphic=False)


def _shares(x: Any, out: Any, axis: Axes, keepdims: bool) -> Any:
    """For an extreme: each element's share in it, equal among ties. If there is NaN, it is one."""
    hits = logical_or(equal(x, _keep(out, x.shape, axis, keepdims)), isnan(x))
    hits = astype(hits, x.dtype)
    return hits / _sum(hits, axis=axis, keepdims=True)


_max = library_reduction("max", d=_shares)
_min = library_reduction("min", d=_shares)

_all = constant("all", "x", kind=Reduces())
_any = constant("any", "x", kind=Reduces())
_argmax = constant("argmax", "x", kind=Reduces())
_argmin = constant("argmin", "x", kind=Reduces())
_count_nonzero = constant("count_nonzero", "x", kind=Reduces())

# --- products: without division, so that zeros are not a special case ----------------------------


def _shifted(x: Any, by: int, axis: int, fill: Any) -> Any:
    """`x` shifted along an axis, towards the end (or start, if `by` is negative).

    `fill` makes the new elements, given an array of their shape.
    """
    n = x.shape[axis]
    by = builtins.max(builtins.min(by, n), -n)
    keep = slice(0, n - by) if by > 0 else slice(-by, n)
    part = x[(slice(None),) * axis + (keep, ...)]
    pad = fill(x[(slice(None),) * axis + (slice(0, abs(by)), ...)])
    joined = concat((pad, part) if by > 0 else (part, pad), axis=axis)
    # Repeated shifts of an array in chunks would cut the chunks into ever smaller pieces.
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
    if type(a) is np.ndarray is type(b) and b.size > 32 * n:  # many short lines
        return _step_by_step(a, b, axis)
    while step < n:
        b = b + multiply(a, _shifted(b, step, axis, zeros_like))
        a = multiply(a, _shifted(a, step, axis, ones_like))
        step *= 2
    return b


def _step_by_step(a: Any, b: Any, axis: int) -> Any:
    """The sequence of `_recurrence` for NumPy arrays, element by element for all lines at once."""
    out = np.empty(b.shape, np.result_type(a, b))
    lines, a, b = np.moveaxis(out, axis, 0), np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)
    lines[0] = b[0]
    for k in range(1, len(b)):
        np.multiply(a[k], lines[k - 1], out=lines[k])
        lines[k] += b[k]
    return out


def _before(x: Any, axis: int) -> Any:
    """For each element, the product of all elements before it."""
    return _shifted(_cumulative_prod(x, axis=axis), 1, axis, ones_like)


def _cumulative_prod_vjp(g: Any, x: Any, axis: int) -> Any:
    # The sum over k >= i of g[k] times the product of x[i+1..k] is a recurrence from the end.
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
    """For each element, the product of all other elements along the reduced axes."""
    axes = tuple(range(x.ndim)) if axis is None else axis
    rest = tuple(i for i in range(x.ndim) if i not in axes)
    order = rest + axes
    moved = _permute_dims(x, axes=order)
    lines = _reshape(moved, shape=(*moved.shape[: len(rest)], count(x.shape, axes)))
    last = len(rest)
    backwards = flip(_before(flip(lines, axis=last), last), axis=last)
    products = _reshape(_before(lines, last) * backwards, shape=moved.shape)
    return _permute_dims(products, axes=tuple(sorted(range(x.ndim), key=order.__getitem__)))


_prod = library_reduction("prod", d=lambda x, axis: _others(x, axis))

# --- the public functions ------------------------------------------------------------------------


@one_array
def sum(x: Any, /, axis: Axis = None, *, dtype: Any = None, keepdims: bool = False) -> Any:
    """The sum of the elements, over all axes or some.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> ag.grad(ag.sum(x, axis=0) @ ag.tensor([1.0, 10.0]), x)
    tensor([[ 1., 10.],
            [ 1., 10.]])
    """
    out = _sum(_cast(x, dtype), axis=many_axes(axis, x.ndim, numbers=True), keepdims=keepdims)
    return _cast(out, dtype)  # a sum of short integers has a wider dtype


@one_array
def prod(x: Any, /, axis: Axis = None, *, dtype: Any = None, keepdims: bool = False) -> Any:
    """The product of the elements. The gradient is correct even if some elements are zero.

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
    """The arithmetic mean.

    >>> x = ag.tensor([1.0, 3.0], requires_grad=True)
    >>> ag.grad(ag.mean(x), x)
    tensor([0.5, 0.5])
    """
    return _mean(x, axis=many_axes(axis, x.ndim), keepdims=keepdims)


@one_array
def var(x: Any, /, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The variance, with ``n - correction`` in the denominator.

    >>> x = ag.tensor([1.0, 3.0], requires_grad=True)
    >>> ag.grad(ag.var(x, correction=1), x)
    tensor([-2.,  2.])
    """
    return _var(x, axis=many_axes(axis, x.ndim), correction=correction, keepdims=keepdims)


@one_array
def std(x: Any, /, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The standard deviation. Where it is zero, its gradient is zero, too.

    >>> x = ag.tensor([2.0, 2.0], requires_grad=True)
    >>> ag.grad(ag.std(x), x)
    tensor([0., 0.])
    """
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
    """The smallest element. Ties share the gradient evenly.

    >>> x = ag.tensor([1.0, 1.0, 3.0], requires_grad=True)
    >>> ag.grad(ag.min(x), x)
    tensor([0.5, 0.5, 0. ])
    """
    axes = many_axes(axis, x.ndim, numbers=True)
    return _min(x, axis=_some(axes, x, "min"), keepdims=keepdims)


def _some(axis: Axes, x: Any, name: str) -> Axes:
    """`axis`; raises if the axes have no elements."""
    if 0 in x.shape and 0 not in kept(x.shape, axis):
        raise ValueError(f"{name} of no elements: x has shape {x.shape}, axis is {axis}")
    return axis


@one_array
def all(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """Whether all elements are true (not zero).

    >>> ag.all(ag.tensor([[True, False], [True, True]]), axis=1)
    tensor([False,  True])
    """
    return _all(x, axis=many_axes(axis, x.ndim, numbers=True), keepdims=keepdims)


@one_array
def any(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """Whether any element is true (not zero).

    >>> ag.any(ag.tensor([[True, False], [False, False]]), axis=1)
    tensor([ True, False])
    """
    return _any(x, axis=many_axes(axis, x.ndim, numbers=True), keepdims=keepdims)


@one_array
def count_nonzero(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """How many elements are not zero.

    >>> ag.count_nonzero(ag.tensor([0.0, 1.0, 2.0]))
    tensor(2)
    """
    return _count_nonzero(x, axis=many_axes(axis, x.ndim, numbers=True), keepdims=keepdims)


@one_array
def argmax(x: Any, /, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """The index of the largest element; of the first one, if there are several.

    >>> ag.argmax(ag.tensor([1.0, 3.0, 3.0]))
    tensor(1)
    """
    return _along(_argmax, x, axis, keepdims)


@one_array
def argmin(x: Any, /, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """The index of the smallest element; of the first one, if there are several.

    >>> ag.argmin(ag.tensor([[2.0, 1.0], [0.0, 4.0]]), axis=1)
    tensor([1, 0])
    """
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
    """The running sum along an axis.

    >>> ag.cumulative_sum(ag.tensor([1.0, 2.0, 3.0]))
    tensor([1., 3., 6.])
    """
    return _cumulative(_cumulative_sum, zeros_like, x, axis, dtype, include_initial)


@one_array
def cumulative_prod(
    x: Any, /, axis: int | None = None, *, dtype: Any = None, include_initial: bool = False
) -> Any:
    """The running product along an axis. The gradient is correct even if elements are zero.

    >>> x = ag.tensor([2.0, 0.0, 3.0], requires_grad=True)
    >>> ag.grad(ag.cumulative_prod(x)[2], x)
    tensor([0., 6., 0.])
    """
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
