"""NumPy's elementwise functions that are not ufuncs, and functions that have no derivative."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .... import ops
from ....arrays import creation
from ....arrays.tensor import Tensor, tensor_type_at
from ....backends import dtypes
from ....core.array import AnyFunction, Array, plain
from ..values import as_tensors, on_values, written
from .common import NONE, RULES, array_of, is_given, of_numpy, rule_for

# --- elementwise ---------------------------------------------------------------------------------


@rule_for(np.where)
def _where(condition: Any, x: Any = NONE, y: Any = NONE, /) -> Any:
    if x is NONE:
        return ops.nonzero(condition)
    x, y = (array_of(v) if isinstance(v, list | tuple) else v for v in (x, y))
    return ops.where(array_of(condition), x, y)


@rule_for(np.clip)
def _clip(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
    **given: Any,
) -> Any:
    for argument in given:
        raise TypeError(f"numpy.clip: {argument}= is not supported for arrays of arraygrad")
    low = a_min if is_given(a_min) else min
    high = a_max if is_given(a_max) else max
    return written(out, ops.clip(array_of(a), low, high), "numpy.clip")


@rule_for(np.round, np.around)
def _round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    return written(out, array_of(a).round(decimals), "numpy.round")


@rule_for(*of_numpy("fix"))  # which NumPy has said since 2.5 that it will give up
def _fix(x: Any, out: Any = None) -> Any:
    return written(out, ops.trunc(x), "numpy.fix")


@rule_for(np.angle)
def _angle(z: Any, deg: bool = False) -> Any:
    return ops.rad2deg(ops.angle(z)) if deg else ops.angle(z)


@rule_for(np.real_if_close)
def _real_if_close(a: Any, tol: float = 100) -> Any:
    if not ops.is_complex(a):
        return a
    limit = tol * dtypes.finfo(a.dtype).eps if tol > 1 else tol
    return ops.real(a) if bool(np.all(np.abs(np.asarray(plain(a)).imag) < limit)) else a


@rule_for(np.select)
def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    result = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = ops.where(array_of(condition), choice, result)
    return result


@rule_for(np.unwrap)
def _unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2 * math.pi) -> Any:
    p = array_of(p)
    unwrapped = on_values(np.unwrap, p, discont, axis, period=period)
    jumps = unwrapped - (p.detach() if isinstance(p, Array) else p)
    return p + jumps  # which are constants


@rule_for(np.piecewise)
def _piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    conditions = [array_of(c) for c in condlist]
    if len(funclist) == len(conditions) + 1:
        conditions.append(ops.logical_not(functools.reduce(ops.logical_or, conditions)))
    zeros = creation.zeros_like(x)
    # A tensor can be written, whatever type `x` has.
    result = zeros if isinstance(zeros, Tensor) else tensor_type_at(x.level)(zeros)
    for condition, function in zip(conditions, funclist, strict=True):
        if callable(function):
            function = function(x[condition], *args, **kw)
        result[condition] = function
    return result


@rule_for(np.isclose)
def _isclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    a, b = array_of(a), array_of(b)
    near = ops.less_equal(ops.abs(a - b), atol + rtol * ops.abs(b))
    close = ops.logical_or(ops.equal(a, b), ops.logical_and(near, ops.isfinite(b)))
    return ops.logical_or(close, ops.isnan(a) & ops.isnan(b)) if equal_nan else close


RULES[np.isneginf] = lambda x, out=None: written(out, ops.equal(x, -math.inf), "numpy.isneginf")
RULES[np.isposinf] = lambda x, out=None: written(out, ops.equal(x, math.inf), "numpy.isposinf")
RULES[np.iscomplex] = lambda x: ops.not_equal(ops.imag(x), 0)
RULES[np.isreal] = lambda x: ops.equal(ops.imag(x), 0)


# --- functions that have no derivative -----------------------------------------------------------


def _on_values(function: AnyFunction) -> AnyFunction:
    """NumPy's own function on the values, for results that have no derivative."""

    @functools.wraps(function)
    def rule(*args: Any, **kwargs: Any) -> Any:
        return as_tensors(on_values(function, *args, **kwargs))

    return rule


_on_plain_values: tuple[AnyFunction, ...] = (
    np.allclose, np.array_equal, np.array_equiv, np.common_type, np.iscomplexobj, np.lexsort,
    np.nanargmax, np.nanargmin, np.ravel_multi_index, np.unravel_index, np.einsum_path,
    np.histogram_bin_edges, np.min_scalar_type, np.isrealobj, np.shares_memory, np.may_share_memory,
)  # fmt: skip
RULES |= {function: _on_values(function) for function in _on_plain_values}

RULES[np.array_repr] = lambda arr, *args, **kwargs: repr(arr)
RULES[np.array_str] = lambda a, *args, **kwargs: str(a)
RULES[np.array2string] = lambda a, *args, **kwargs: str(a)
RULES[np.result_type] = dtypes.result_type


@rule_for(np.can_cast)
def _can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    return bool(np.can_cast(getattr(from_, "dtype", from_), to, casting))  # type: ignore[arg-type]
