"""NumPy's sums, products, extremes, moments and quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops
from ....arrays import creation
from ....core.array import AnyFunction
from ....ops.elementwise import choose
from ..values import written
from .common import NONE, RULES, array_of, flag, in_dtype, is_given, refuse, rule_for

# --- reductions ----------------------------------------------------------------------------------


def _total_rule(name: str, function: AnyFunction, join: AnyFunction, neutral: int) -> AnyFunction:
    def rule(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        a = array_of(a) if not is_given(where) else choose(array_of(where), a, neutral)
        result = function(a, axis=axis, dtype=dtype, keepdims=flag(keepdims))
        if is_given(initial):
            result = join(result, initial)
        return written(out, result, f"numpy.{name}")

    return rule


RULES[np.sum] = _total_rule("sum", ops.sum, ops.add, 0)
RULES[np.prod] = _total_rule("prod", ops.prod, ops.multiply, 1)
RULES[np.nansum] = _total_rule("nansum", ops.nansum, ops.add, 0)
RULES[np.nanprod] = _total_rule("nanprod", ops.nanprod, ops.multiply, 1)


@rule_for(np.mean)
def _mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = None,
) -> Any:
    a = in_dtype(array_of(a), dtype)
    if not is_given(where):
        return written(out, ops.mean(a, axis=axis, keepdims=flag(keepdims)), "numpy.mean")
    total = ops.sum(choose(array_of(where), a, 0), axis=axis, keepdims=flag(keepdims))
    wide = ops.broadcast_to(array_of(where), a.shape)
    counts = ops.count_nonzero(wide, axis=axis, keepdims=flag(keepdims))
    return written(out, total / counts, "numpy.mean")


def _spread_rule(name: str, function: AnyFunction) -> AnyFunction:
    def rule(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: Any = False,
        *,
        where: Any = None,
        mean: Any = None,
        correction: Any = NONE,
    ) -> Any:
        refuse(name, where=where, mean=mean)
        a = in_dtype(array_of(a), dtype)
        n = ddof if correction is NONE else correction
        result = function(a, axis=axis, correction=n, keepdims=flag(keepdims))
        return written(out, result, f"numpy.{name}")

    return rule


RULES[np.var] = _spread_rule("var", ops.var)
RULES[np.std] = _spread_rule("std", ops.std)
RULES[np.nanvar] = _spread_rule("nanvar", ops.nanvar)
RULES[np.nanstd] = _spread_rule("nanstd", ops.nanstd)


def _extreme_rule(name: str, function: AnyFunction, join: AnyFunction) -> AnyFunction:
    def rule(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        if is_given(where):
            if not is_given(initial):
                raise ValueError(f"numpy.{name}: where= needs initial=")
            a = choose(array_of(where), a, initial)
        result = function(array_of(a), axis=axis, keepdims=flag(keepdims))
        if is_given(initial):
            result = join(result, initial)
        return written(out, result, f"numpy.{name}")

    return rule


RULES[np.max] = RULES[np.amax] = _extreme_rule("max", ops.max, ops.maximum)
RULES[np.min] = RULES[np.amin] = _extreme_rule("min", ops.min, ops.minimum)
RULES[np.nanmax] = _extreme_rule("nanmax", ops.nanmax, ops.fmax)
RULES[np.nanmin] = _extreme_rule("nanmin", ops.nanmin, ops.fmin)


@rule_for(np.ptp)
def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    result = creation.asarray(array_of(a)).ptp(axis, keepdims=flag(keepdims))
    return written(out, result, "numpy.ptp")


def _running_rule(name: str, function: AnyFunction) -> AnyFunction:
    def rule(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        a = array_of(a)
        result = function(ops.ravel(a) if axis is None else a, axis=axis, dtype=dtype)
        return written(out, result, f"numpy.{name}")

    return rule


RULES[np.cumsum] = _running_rule("cumsum", ops.cumulative_sum)
RULES[np.cumprod] = _running_rule("cumprod", ops.cumulative_prod)
RULES[np.nancumsum] = _running_rule(
    "nancumsum", lambda x, **keywords: ops.cumulative_sum(choose(ops.isnan(x), 0, x), **keywords)
)
RULES[np.nancumprod] = _running_rule(
    "nancumprod", lambda x, **keywords: ops.cumulative_prod(choose(ops.isnan(x), 1, x), **keywords)
)


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
