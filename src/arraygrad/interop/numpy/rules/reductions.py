"""NumPy's sums, products, extremes, moments and quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops
from ....arrays import creation
from ....core.array import AnyFunction
from ....ops.elementwise import choose
from .common import RULES, array_of, flag, rule_for, with_arguments_of


def _total(function: AnyFunction, join: AnyFunction, neutral: int) -> AnyFunction:
    def own(
        x: Any, /, axis: Any = None, dtype: Any = None, keepdims: Any = False, initial: Any = None,
        where: Any = None,
    ) -> Any:  # fmt: skip
        x = x if where is None else choose(array_of(where), x, neutral)
        result = function(x, axis=axis, dtype=dtype, keepdims=flag(keepdims))
        return result if initial is None else join(result, initial)

    return own


def _mean(x: Any, /, axis: Any = None, keepdims: Any = False, where: Any = None) -> Any:
    if where is None:
        return ops.mean(x, axis=axis, keepdims=flag(keepdims))
    total = ops.sum(choose(array_of(where), x, 0), axis=axis, keepdims=flag(keepdims))
    wide = ops.broadcast_to(array_of(where), x.shape)
    return total / ops.count_nonzero(wide, axis=axis, keepdims=flag(keepdims))


def _deviation(function: AnyFunction) -> AnyFunction:
    def own(
        x: Any, /, axis: Any = None, ddof: Any = 0, keepdims: Any = False, correction: Any = None
    ) -> Any:
        n = ddof if correction is None else correction
        return function(x, axis=axis, correction=n, keepdims=flag(keepdims))

    return own


def _extreme(function: AnyFunction, join: AnyFunction) -> AnyFunction:
    def own(
        x: Any, /, axis: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None
    ) -> Any:
        if where is not None:
            if initial is None:
                raise ValueError(f"numpy.{function.__name__}: where= needs initial=")
            x = choose(array_of(where), x, initial)
        result = function(x, axis=axis, keepdims=flag(keepdims))
        return result if initial is None else join(result, initial)

    return own


def _running(function: AnyFunction, instead_of_nan: int | None = None) -> AnyFunction:
    def own(x: Any, /, axis: Any = None, dtype: Any = None) -> Any:
        x = x if instead_of_nan is None else choose(ops.isnan(x), instead_of_nan, x)
        return function(ops.ravel(x) if axis is None else x, axis=axis, dtype=dtype)

    return own


_functions: dict[AnyFunction, AnyFunction] = {
    np.sum: _total(ops.sum, ops.add, 0),
    np.prod: _total(ops.prod, ops.multiply, 1),
    np.nansum: _total(ops.nansum, ops.add, 0),
    np.nanprod: _total(ops.nanprod, ops.multiply, 1),
    np.mean: _mean,
    np.var: _deviation(ops.var),
    np.std: _deviation(ops.std),
    np.nanvar: _deviation(ops.nanvar),
    np.nanstd: _deviation(ops.nanstd),
    np.max: _extreme(ops.max, ops.maximum),
    np.amax: _extreme(ops.max, ops.maximum),
    np.min: _extreme(ops.min, ops.minimum),
    np.amin: _extreme(ops.min, ops.minimum),
    np.nanmax: _extreme(ops.nanmax, ops.fmax),
    np.nanmin: _extreme(ops.nanmin, ops.fmin),
    np.ptp: lambda x, /, axis=None, keepdims=False: creation.asarray(x).ptp(
        axis, keepdims=flag(keepdims)
    ),
    np.cumsum: _running(ops.cumulative_sum),
    np.cumprod: _running(ops.cumulative_prod),
    np.nancumsum: _running(ops.cumulative_sum, 0),
    np.nancumprod: _running(ops.cumulative_prod, 1),
}
RULES |= {function: with_arguments_of(function, own, 1) for function, own in _functions.items()}


@rule_for(np.average)
def _average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False
) -> Any:
    a = array_of(a)
    result = ops.average(a, axis, weights, keepdims=flag(keepdims))
    if not returned:
        return result
    counts = ops.sum(
        creation.ones_like(a) if weights is None else weights + 0 * a,
        axis=axis,
        keepdims=flag(keepdims),
    )
    return result, counts
