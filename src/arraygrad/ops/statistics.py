"""Reductions that skip NaN, weighted means and covariances, with NumPy's names.

Medians and quantiles are in `quantiles`.
"""

from __future__ import annotations

import math
from typing import Any

from ..backends import backend_of
from ..core.axes import many_axes
from . import reductions
from .define.adoption import as_arrays
from .define.signatures import Axis, one_array
from .elementwise import (
    choose,
    conj,
    equal,
    is_complex,
    is_inexact,
    isnan,
    logical_not,
    real,
    sqrt,
    where,
)
from .reductions import sum
from .shape import _permute_dims, _reshape, astype, broadcast_to, expand_dims, moveaxis

__all__ = ["average", "cov", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar"]


# --- without NaN ---------------------------------------------------------------------------------


def _without_nan(x: Any, value: Any) -> Any:
    return choose(isnan(x), value, x) if is_inexact(x) else x


@one_array
def nansum(x: Any, /, axis: Axis = None, *, dtype: Any = None, keepdims: bool = False) -> Any:
    """The sum of the elements that are not NaN.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, float("nan"), 3.0], requires_grad=True)
    >>> ag.grad(ag.nansum(x), x)
    tensor([1., 0., 1.])
    """
    return sum(_without_nan(x, 0), axis=axis, dtype=dtype, keepdims=keepdims)


@one_array
def nanprod(x: Any, /, axis: Axis = None, *, dtype: Any = None, keepdims: bool = False) -> Any:
    """The product of the elements that are not NaN.

    >>> ag.nanprod(ag.tensor([2.0, ag.nan, 3.0]))
    tensor(6.)
    """
    return reductions.prod(_without_nan(x, 1), axis=axis, dtype=dtype, keepdims=keepdims)


def _count(x: Any, axis: Any, keepdims: bool, dtype: Any) -> Any:
    """How many elements are not NaN."""
    present = astype(logical_not(isnan(x)), backend_of(x).dtype(int))
    return astype(sum(present, axis=axis, keepdims=keepdims), dtype)


@one_array
def nanmean(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The mean of the elements that are not NaN; NaN if all are.

    >>> x = ag.tensor([1.0, ag.nan, 3.0], requires_grad=True)
    >>> ag.grad(ag.nanmean(x), x)
    tensor([0.5, 0. , 0.5])
    """
    if not is_inexact(x):
        return reductions.mean(x, axis=axis, keepdims=keepdims)
    count = _count(x, axis, keepdims, x.dtype)
    return nansum(x, axis, keepdims=keepdims) / where(equal(count, 0), math.nan, count)


@one_array
def nanvar(x: Any, /, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The variance of the elements that are not NaN, with ``n - correction`` in the denominator.

    >>> ag.nanvar(ag.tensor([1.0, ag.nan, 3.0]))
    tensor(1.)
    """
    if not is_inexact(x):
        return reductions.var(x, axis=axis, correction=correction, keepdims=keepdims)
    # NaN that comes from infinity stays.
    centred = choose(isnan(x), 0, x - nanmean(x, axis, keepdims=True))
    squares = real(centred * conj(centred)) if is_complex(x) else centred * centred
    total = sum(squares, axis=axis, keepdims=keepdims)
    freedom = _count(x, axis, keepdims, total.dtype) - correction
    return total / where(freedom > 0, freedom, math.nan)


@one_array
def nanstd(x: Any, /, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The standard deviation of the elements that are not NaN. Its gradient is as for `std`.

    >>> ag.nanstd(ag.tensor([1.0, ag.nan, 3.0]))
    tensor(1.)
    """
    if not is_inexact(x):
        return reductions.std(x, axis=axis, correction=correction, keepdims=keepdims)
    variance = nanvar(x, axis, correction=correction, keepdims=keepdims)
    none = equal(variance, 0)
    return where(none, 0, sqrt(where(none, 1, variance)))


def _nan_extreme(x: Any, axis: Any, keepdims: bool, extreme: Any, worst: float) -> Any:
    if not is_inexact(x):
        return extreme(x, axis=axis, keepdims=keepdims)
    missing = reductions.all(isnan(x), axis=axis, keepdims=keepdims)
    found = extreme(_without_nan(x, worst), axis=axis, keepdims=keepdims)
    return where(missing, math.nan, found)


@one_array
def nanmax(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The largest element that is not NaN; NaN if all are. Ties share the gradient evenly.

    >>> ag.nanmax(ag.tensor([1.0, ag.nan, 3.0]))
    tensor(3.)
    """
    return _nan_extreme(x, axis, keepdims, reductions.max, -math.inf)


@one_array
def nanmin(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The smallest element that is not NaN; NaN if all are. Ties share the gradient evenly.

    >>> ag.nanmin(ag.tensor([1.0, ag.nan, 3.0]))
    tensor(1.)
    """
    return _nan_extreme(x, axis, keepdims, reductions.min, math.inf)


# --- weighted and joint --------------------------------------------------------------------------


@one_array
def average(x: Any, /, axis: Axis = None, weights: Any = None, *, keepdims: bool = False) -> Any:
    """The weighted mean.

    Examples
    --------
    >>> import arraygrad as ag
    >>> w = ag.tensor([1.0, 3.0], requires_grad=True)
    >>> ag.grad(ag.average(ag.tensor([0.0, 4.0]), weights=w), w)
    tensor([-0.75,  0.25])
    """
    if weights is None:
        return reductions.mean(x, axis=axis, keepdims=keepdims)
    x, weights = as_arrays(x, weights)
    axes = many_axes(axis, x.ndim)
    if tuple(weights.shape) != tuple(x.shape):
        along = tuple(range(x.ndim)) if axes is None else axes
        if tuple(weights.shape) != tuple(x.shape[a] for a in along):
            raise ValueError(
                f"weights has shape {tuple(weights.shape)}: it must be that of x, "
                f"{tuple(x.shape)}, or of its axes {along}"
            )
        rest = x.ndim - len(along)
        weights = _reshape(weights, shape=tuple(weights.shape) + (1,) * rest)
        weights = moveaxis(weights, tuple(range(len(along))), along)
    total = sum(x * weights, axis=axes, keepdims=keepdims)
    return total / sum(broadcast_to(weights, x.shape), axis=axes, keepdims=keepdims)


@one_array
def cov(x: Any, /, *, rowvar: bool = True, correction: float = 1) -> Any:
    """The covariance matrix. Each row of `x` (or column, if not `rowvar`) is one variable.

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
