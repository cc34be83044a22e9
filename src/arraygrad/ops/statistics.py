"""Medians and quantiles, and reductions that leave NaN out, under NumPy's names."""

from __future__ import annotations

import math
from typing import Any

from ..backends import backend_of
from . import reductions
from .axes import kept, many_axes
from .elementwise import (
    conj,
    equal,
    floor,
    greater,
    is_complex,
    isinf,
    isnan,
    less,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    multiply,
    real,
    sqrt,
    where,
)
from .indexing import sort, take, take_along_axis
from .op import plain
from .reductions import any, sum
from .shape import _permute_dims, _reshape, astype, expand_dims, moveaxis
from .writing import choose


def _is_float(x: Any) -> bool:
    return backend_of(x).kind(x.dtype) in "fc"


# --- quantiles -----------------------------------------------------------------------------------


def quantile(
    x: Any,
    q: Any,
    /,
    axis: Any = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
) -> Any:
    """The values below which given parts of the elements lie, interpolated linearly.

    The gradient goes to the one or two elements that the value comes from, and to `q`.

    Parameters
    ----------
    x : array
    q : number or array
        Between 0 and 1. The axes of an array come first in the result.
    axis : int or tuple of int, optional
        By default all axes.
    method : "linear"
        Other methods are not supported.
    keepdims : bool

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([4.0, 1.0, 3.0], requires_grad=True)
    >>> ag.grad(ag.quantile(x, 0.25), x)
    tensor([0. , 0.5, 0.5])
    """
    if method != "linear":
        raise ValueError(f"method must be 'linear', not {method!r}")
    if is_complex(x):
        raise TypeError("quantiles are for real numbers, not complex ones")
    if not _is_float(x):
        x = astype(x, backend_of(x).xp.float64)
    axes = many_axes(axis, x.ndim)
    if not hasattr(q, "dtype") or backend_of(q).has_values(plain(q)):
        q_values = backend_of(q).to_numpy(plain(q)) if hasattr(q, "dtype") else q
        _check_parts(q_values)
        if not hasattr(q, "dtype") or backend_of(q) is not backend_of(x):
            q = backend_of(x).xp.asarray(q_values, dtype=x.dtype)
    lines, shape = _lines(x, axes)
    n = lines.shape[0]
    if not n:
        raise ValueError(f"quantile of no elements: x has shape {x.shape}, axis is {axis}")
    ordered = sort(lines, axis=0)
    place = q * (n - 1)
    below = minimum(floor(place), max(n - 2, 0))
    share = _reshape(place - below, shape=tuple(q.shape) + (1,) * (lines.ndim - 1))
    index = astype(below, backend_of(x).xp.int64)
    low = take(ordered, index, axis=0)
    out = low if n == 1 else _between(low, take(ordered, index + 1, axis=0), share)
    out = where(_in_front(any(isnan(lines), axis=0), q.ndim), math.nan, out)
    out = astype(out, x.dtype, copy=False)
    return _reshape(out, shape=tuple(q.shape) + kept(shape, axes)) if keepdims else out


def _between(low: Any, high: Any, share: Any) -> Any:
    """The value so far on the way from one to another, either of which may be infinite."""
    infinite = logical_or(isinf(low), isinf(high))
    start = where(infinite, 0, low)
    on_the_way = start + multiply(share, where(infinite, 0, high) - start)
    # Zero times infinity is no number: at the ends, only one of the two counts.
    first = where(logical_and(infinite, less(share, 1)), low, 0)
    second = where(logical_and(infinite, greater(share, 0)), high, 0)
    return on_the_way + (first + second)


def _in_front(mask: Any, ndim: int) -> Any:
    """A mask with axes of length one in front."""
    return _reshape(mask, shape=(1,) * ndim + tuple(mask.shape))


def _check_parts(q: Any) -> None:
    import numpy as np

    values = np.asarray(q)
    if values.size and not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"q must be between 0 and 1 (for percentile, 0 and 100), got {q}")


def _lines(x: Any, axes: tuple[int, ...] | None) -> tuple[Any, tuple[int, ...]]:
    """The array with the reduced axes as one, in front; and its old shape."""
    shape = tuple(x.shape)
    axes = tuple(range(x.ndim)) if axes is None else axes
    rest = tuple(i for i in range(x.ndim) if i not in axes)
    moved = _permute_dims(x, axes=axes + rest)
    n = math.prod(shape[a] for a in axes)
    return _reshape(moved, shape=(n, *(shape[a] for a in rest))), shape


def percentile(
    x: Any, q: Any, /, axis: Any = None, *, method: str = "linear", keepdims: bool = False
) -> Any:
    """`quantile`, with `q` between 0 and 100."""
    import numpy as np

    parts = q / 100 if hasattr(q, "dtype") else np.asarray(q, dtype=float) / 100
    return quantile(x, parts, axis, method=method, keepdims=keepdims)


def median(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The middle element, or the mean of the middle two.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([2.0, 2.0, 1.0, 3.0], requires_grad=True)
    >>> ag.grad(ag.median(x), x)
    tensor([0.5, 0.5, 0. , 0. ])
    """
    axes = many_axes(axis, x.ndim)
    if not math.prod(x.shape if axes is None else [x.shape[a] for a in axes]):
        raise ValueError(f"median of no elements: x has shape {x.shape}, axis is {axis}")
    return quantile(x, 0.5, axis, keepdims=keepdims)


# --- without NaN ---------------------------------------------------------------------------------


def _without_nan(x: Any, value: Any) -> Any:
    return choose(isnan(x), value, x) if _is_float(x) else x


def nansum(x: Any, /, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Any:
    """The sum of what is not NaN.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, float("nan"), 3.0], requires_grad=True)
    >>> ag.grad(ag.nansum(x), x)
    tensor([1., 0., 1.])
    """
    return sum(_without_nan(x, 0), axis=axis, dtype=dtype, keepdims=keepdims)


def nanprod(x: Any, /, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Any:
    """The product of what is not NaN."""
    return reductions.prod(_without_nan(x, 1), axis=axis, dtype=dtype, keepdims=keepdims)


def _count(x: Any, axis: Any, keepdims: bool, dtype: Any) -> Any:
    """How many elements are not NaN."""
    present = astype(logical_not(isnan(x)), backend_of(x).xp.int64)
    return astype(sum(present, axis=axis, keepdims=keepdims), dtype)


def nanmean(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The mean of what is not NaN; NaN where there is nothing else."""
    if not _is_float(x):
        return reductions.mean(x, axis=axis, keepdims=keepdims)
    return nansum(x, axis, keepdims=keepdims) / _count(x, axis, keepdims, x.dtype)


def nanvar(x: Any, /, axis: Any = None, *, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The variance of what is not NaN, with ``n - correction`` in the denominator."""
    if not _is_float(x):
        return reductions.var(x, axis=axis, correction=correction, keepdims=keepdims)
    centred = _without_nan(x - nanmean(x, axis, keepdims=True), 0)
    squares = real(centred * conj(centred)) if is_complex(x) else centred * centred
    total = sum(squares, axis=axis, keepdims=keepdims)
    freedom = _count(x, axis, keepdims, total.dtype) - correction
    return total / where(freedom > 0, freedom, math.nan)


def nanstd(x: Any, /, axis: Any = None, *, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The standard deviation of what is not NaN. Its gradient is zero where it is zero."""
    if not _is_float(x):
        return reductions.std(x, axis=axis, correction=correction, keepdims=keepdims)
    variance = nanvar(x, axis, correction=correction, keepdims=keepdims)
    none = equal(variance, 0)
    return where(none, 0, sqrt(where(none, 1, variance)))


def _nan_extreme(x: Any, axis: Any, keepdims: bool, extreme: Any, worst: float) -> Any:
    if not _is_float(x):
        return extreme(x, axis=axis, keepdims=keepdims)
    missing = reductions.all(isnan(x), axis=axis, keepdims=keepdims)
    found = extreme(_without_nan(x, worst), axis=axis, keepdims=keepdims)
    return where(missing, math.nan, found)


def nanmax(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The largest of what is not NaN; NaN where there is nothing else."""
    return _nan_extreme(x, axis, keepdims, reductions.max, -math.inf)


def nanmin(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The smallest of what is not NaN; NaN where there is nothing else."""
    return _nan_extreme(x, axis, keepdims, reductions.min, math.inf)


def nanmedian(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The middle of what is not NaN, or the mean of the middle two; NaN where there is nothing.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([5.0, float("nan"), 1.0, 3.0], requires_grad=True)
    >>> ag.grad(ag.nanmedian(x), x)
    tensor([0., 0., 0., 1.])
    """
    if not _is_float(x):
        return median(x, axis, keepdims=keepdims)
    axes = many_axes(axis, x.ndim)
    lines, shape = _lines(x, axes)
    if not lines.shape[0]:
        raise ValueError(f"nanmedian of no elements: x has shape {x.shape}, axis is {axis}")
    ordered = sort(lines, axis=0)  # NaN comes last
    counts = _count(lines, 0, True, backend_of(x).xp.int64)
    low = take_along_axis(ordered, maximum(counts - 1, 0) // 2, axis=0)
    high = take_along_axis(ordered, minimum(counts // 2, lines.shape[0] - 1), axis=0)
    out = (low + high) / 2
    return _reshape(out, shape=kept(shape, axes) if keepdims else tuple(out.shape[1:]))


# --- weighted and joint --------------------------------------------------------------------------


def average(x: Any, /, axis: Any = None, weights: Any = None, *, keepdims: bool = False) -> Any:
    """The mean, each element counting as much as its weight says.

    Examples
    --------
    >>> import arraygrad as ag
    >>> w = ag.tensor([1.0, 3.0], requires_grad=True)
    >>> ag.grad(ag.average(ag.tensor([0.0, 4.0]), weights=w), w)
    tensor([-0.75,  0.25])
    """
    if weights is None:
        return reductions.mean(x, axis=axis, keepdims=keepdims)
    if not hasattr(weights, "dtype"):
        weights = backend_of(x).xp.asarray(weights)
    if weights.ndim == 1 and x.ndim > 1 and isinstance(axis, int):
        weights = moveaxis(
            _reshape(weights, shape=(1,) * (x.ndim - 1) + tuple(weights.shape)), -1, axis
        )
    elif tuple(weights.shape) != tuple(x.shape):
        raise ValueError(f"weights has shape {weights.shape}, x has {x.shape}")
    total = sum(x * weights, axis=axis, keepdims=keepdims)
    return total / sum(weights + 0 * x, axis=axis, keepdims=keepdims)


def cov(x: Any, /, *, rowvar: bool = True, correction: float = 1) -> Any:
    """The covariance matrix of variables, whose observations are the rows (or columns) of `x`.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.cov(ag.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 6.0]]))
    tensor([[1. , 2.5],
            [2.5, 7. ]])
    """
    if x.ndim > 2:
        raise ValueError(f"cov is for vectors and matrices, got shape {tuple(x.shape)}")
    rows = expand_dims(x, axis=0) if x.ndim < 2 else x
    if not rowvar and x.ndim == 2:
        rows = _permute_dims(rows, axes=(1, 0))
    freedom = rows.shape[1] - correction
    centred = rows - reductions.mean(rows, axis=1, keepdims=True)
    out = (
        centred @ conj(_permute_dims(centred, axes=(1, 0))) / (freedom if freedom > 0 else math.nan)
    )
    return _reshape(out, shape=()) if rows.shape[0] == 1 else out
