"""For each function of NumPy that has a rule, the function of arraygrad that it is.

Each has NumPy's signature; what arraygrad cannot do, it refuses by name.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import creation, dtypes, fft, linalg, ops, special
from ..creation import from_sequence
from ..ops.op import Array, plain
from .values import is_plain, plain_values, written

Function = Callable[..., Any]

RULES: dict[Function, Function] = {}

# What NumPy takes for "not given".
_NONE: Any = np._NoValue


def rule_for(*functions: Function) -> Callable[[Function], Function]:
    """Make a function the rule for NumPy's functions given."""

    def register(rule: Function) -> Function:
        RULES.update(dict.fromkeys(functions, rule))
        return rule

    return register


def _refuse(name: str, **given: Any) -> None:
    """Raise for an argument that has a value."""
    for argument, value in given.items():
        if _given(value):
            raise TypeError(f"numpy.{name}: {argument}= is not supported for arrays of arraygrad")


def _array(x: Any) -> Any:
    """An argument as an array: numbers, lists, and lists of tensors, too."""
    return x if hasattr(x, "dtype") else from_sequence(x)


def _arrays(sequence: Any) -> list[Any]:
    return [_array(x) for x in sequence]


def _given(value: Any) -> bool:
    return value is not None and value is not _NONE


def _flag(value: Any) -> bool:
    return value is not _NONE and bool(value)


# --- the same function, apart from `out` ---------------------------------------------------------

RULES |= {
    np.atleast_1d: ops.atleast_1d,
    np.atleast_2d: ops.atleast_2d,
    np.atleast_3d: ops.atleast_3d,
    np.array_split: ops.array_split,
    np.convolve: ops.convolve,
    np.correlate: ops.correlate,
    np.cumulative_prod: ops.cumulative_prod,
    np.cumulative_sum: ops.cumulative_sum,
    np.diag: ops.diag,
    np.gradient: ops.gradient,
    np.i0: special.i0,
    np.imag: ops.imag,
    np.inner: ops.inner,
    np.interp: ops.interp,
    np.kron: ops.kron,
    np.matrix_transpose: ops.matrix_transpose,
    np.moveaxis: ops.moveaxis,
    np.pad: ops.pad,
    np.real: ops.real,
    np.rot90: ops.rot90,
    np.sinc: special.sinc,
    np.split: ops.split,
    np.swapaxes: ops.swapaxes,
    np.trapezoid: ops.trapezoid,
    np.unique_all: ops.unique_all,
    np.unique_counts: ops.unique_counts,
    np.unique_inverse: ops.unique_inverse,
    np.unique_values: ops.unique_values,
    np.unstack: ops.unstack,
    np.vdot: ops.vdot,
    np.astype: ops.astype,
    np.linalg.cross: linalg.cross,
    np.linalg.det: linalg.det,
    np.linalg.diagonal: linalg.diagonal,
    np.linalg.inv: linalg.inv,
    np.linalg.matmul: linalg.matmul,
    np.linalg.matrix_norm: linalg.matrix_norm,
    np.linalg.matrix_power: linalg.matrix_power,
    np.linalg.matrix_transpose: ops.matrix_transpose,
    np.linalg.outer: linalg.outer,
    np.linalg.slogdet: linalg.slogdet,
    np.linalg.solve: linalg.solve,
    np.linalg.svdvals: linalg.svdvals,
    np.linalg.tensordot: linalg.tensordot,
    np.linalg.trace: linalg.trace,
    np.linalg.vecdot: linalg.vecdot,
    np.linalg.vector_norm: linalg.vector_norm,
    np.linalg.eig: linalg.eig,
    np.linalg.eigvals: linalg.eigvals,
}


# --- reductions ----------------------------------------------------------------------------------


@rule_for(np.sum)
def _sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    a = _array(a) if not _given(where) else ops.where(where, a, 0)
    result = ops.sum(a, axis=axis, dtype=dtype, keepdims=_flag(keepdims))
    return written(out, result if not _given(initial) else result + initial, "numpy.sum")


@rule_for(np.prod)
def _prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    a = _array(a) if not _given(where) else ops.where(where, a, 1)
    result = ops.prod(a, axis=axis, dtype=dtype, keepdims=_flag(keepdims))
    return written(out, result if not _given(initial) else result * initial, "numpy.prod")


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
    a = _array(a) if dtype is None else ops.astype(_array(a), dtype, copy=False)
    if not _given(where):
        return written(out, ops.mean(a, axis=axis, keepdims=_flag(keepdims)), "numpy.mean")
    total = ops.sum(ops.where(where, a, 0), axis=axis, keepdims=_flag(keepdims))
    wide = np.broadcast_to(plain_values(where), a.shape)
    counts = np.sum(wide, axis=axis, keepdims=_flag(keepdims))
    return written(out, total / counts, "numpy.mean")


def _spread_rule(name: str, function: Function) -> Function:
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
        correction: Any = _NONE,
    ) -> Any:
        _refuse(name, where=where, mean=mean)
        a = _array(a) if dtype is None else ops.astype(_array(a), dtype, copy=False)
        n = ddof if correction is _NONE else correction
        result = function(a, axis=axis, correction=n, keepdims=_flag(keepdims))
        return written(out, result, f"numpy.{name}")

    return rule


RULES[np.var] = _spread_rule("var", ops.var)
RULES[np.std] = _spread_rule("std", ops.std)
RULES[np.nanvar] = _spread_rule("nanvar", ops.nanvar)
RULES[np.nanstd] = _spread_rule("nanstd", ops.nanstd)


def _extreme_rule(name: str, function: Function, join: Function) -> Function:
    def rule(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        if _given(where):
            if not _given(initial):
                raise ValueError(f"numpy.{name}: where= needs initial=")
            a = ops.where(where, a, initial)
        result = function(_array(a), axis=axis, keepdims=_flag(keepdims))
        if _given(initial):
            result = join(result, initial)
        return written(out, result, f"numpy.{name}")

    return rule


RULES[np.max] = RULES[np.amax] = _extreme_rule("max", ops.max, ops.maximum)
RULES[np.min] = RULES[np.amin] = _extreme_rule("min", ops.min, ops.minimum)
RULES[np.nanmax] = _extreme_rule("nanmax", ops.nanmax, ops.fmax)
RULES[np.nanmin] = _extreme_rule("nanmin", ops.nanmin, ops.fmin)


@rule_for(np.ptp)
def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    keep = _flag(keepdims)
    result = ops.max(a, axis=axis, keepdims=keep) - ops.min(a, axis=axis, keepdims=keep)
    return written(out, result, "numpy.ptp")


def _truth_rule(name: str, function: Function) -> Function:
    def rule(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = None
    ) -> Any:
        _refuse(name, where=where)
        result = function(_array(a), axis=axis, keepdims=_flag(keepdims))
        return written(out, result, f"numpy.{name}")

    return rule


for _name in ("all", "any", "argmax", "argmin"):
    RULES[getattr(np, _name)] = _truth_rule(_name, getattr(ops, _name))


@rule_for(np.count_nonzero)
def _count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return ops.count_nonzero(a, axis=axis, keepdims=keepdims)


def _running_rule(name: str, function: Function) -> Function:
    def rule(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        a = _array(a)
        result = function(ops.ravel(a) if axis is None else a, axis=axis, dtype=dtype)
        return written(out, result, f"numpy.{name}")

    return rule


RULES[np.cumsum] = _running_rule("cumsum", ops.cumulative_sum)
RULES[np.cumprod] = _running_rule("cumprod", ops.cumulative_prod)
RULES[np.nancumsum] = _running_rule(
    "nancumsum", lambda x, **keywords: ops.cumulative_sum(ops.where(ops.isnan(x), 0, x), **keywords)
)


def _without_nan_rule(name: str, function: Function) -> Function:
    def rule(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        _refuse(name, where=where, initial=initial)
        a = a if dtype is None else ops.astype(a, dtype, copy=False)
        return written(out, function(a, axis=axis, keepdims=_flag(keepdims)), f"numpy.{name}")

    return rule


for _name in ("nansum", "nanprod", "nanmean"):
    RULES[getattr(np, _name)] = _without_nan_rule(_name, getattr(ops, _name))


@rule_for(np.median)
def _median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False
) -> Any:
    return written(out, ops.median(a, axis=axis, keepdims=_flag(keepdims)), "numpy.median")


def _quantile_rule(name: str, function: Function) -> Function:
    def rule(
        a: Any,
        q: Any,
        axis: Any = None,
        out: Any = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: Any = False,
        *,
        weights: Any = None,
    ) -> Any:
        _refuse(name, weights=weights)
        result = function(_array(a), q, axis=axis, method=method, keepdims=_flag(keepdims))
        return written(out, result, f"numpy.{name}")

    return rule


RULES[np.quantile] = _quantile_rule("quantile", ops.quantile)
RULES[np.percentile] = _quantile_rule("percentile", ops.percentile)


@rule_for(np.average)
def _average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False
) -> Any:
    a = _array(a)
    result = ops.average(a, axis, weights, keepdims=_flag(keepdims))
    if not returned:
        return result
    counts = ops.sum(
        creation.ones_like(a) if weights is None else weights + 0 * a,
        axis=axis,
        keepdims=_flag(keepdims),
    )
    return result, counts


@rule_for(np.cov)
def _cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    _refuse("cov", y=y, fweights=fweights, aweights=aweights, dtype=dtype)
    correction = ddof if ddof is not None else 0 if bias else 1
    return ops.cov(_array(m), rowvar=rowvar, correction=correction)


@rule_for(np.corrcoef)
def _corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    _refuse("corrcoef", y=y, dtype=dtype)
    c = ops.cov(_array(x), rowvar=rowvar)
    if c.ndim == 0:
        return c / c
    deviation = ops.sqrt(ops.real(ops.diag(c)))
    return c / deviation[:, None] / deviation[None, :]


# --- shapes --------------------------------------------------------------------------------------


def _check_order(name: str, order: str) -> None:
    if order not in ("C", "K", "A"):
        raise TypeError(f"numpy.{name}: order={order!r} is not supported for arrays of arraygrad")


@rule_for(np.reshape)
def _reshape(a: Any, /, shape: Any = None, order: str = "C", *, copy: bool | None = None) -> Any:
    _check_order("reshape", order)
    return ops.reshape(a, shape, copy=copy)


@rule_for(np.ravel)
def _ravel(a: Any, order: str = "C") -> Any:
    _check_order("ravel", order)
    return ops.ravel(a)


@rule_for(np.transpose, np.permute_dims)
def _transpose(a: Any, axes: Any = None) -> Any:
    a = _array(a)
    return ops.permute_dims(a, tuple(range(a.ndim))[::-1] if axes is None else axes)


@rule_for(np.rollaxis)
def _rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    axis, start = axis % a.ndim, start + a.ndim if start < 0 else start
    return ops.moveaxis(a, axis, start - 1 if axis < start else start)


@rule_for(np.expand_dims)
def _expand_dims(a: Any, axis: Any) -> Any:
    return ops.expand_dims(a, axis=axis)


@rule_for(np.squeeze)
def _squeeze(a: Any, axis: Any = None) -> Any:
    return ops.squeeze(a, axis=axis)


@rule_for(np.broadcast_to)
def _broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    return ops.broadcast_to(array, shape)


@rule_for(np.broadcast_arrays)
def _broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    return ops.broadcast_arrays(*_arrays(args))


@rule_for(np.flip)
def _flip(m: Any, axis: Any = None) -> Any:
    return ops.flip(m, axis=axis)


RULES[np.flipud] = lambda m: ops.flip(m, axis=0)
RULES[np.fliplr] = lambda m: ops.flip(m, axis=1)


@rule_for(np.roll)
def _roll(a: Any, shift: Any, axis: Any = None) -> Any:
    return ops.roll(a, shift, axis=axis)


def _joining_rule(name: str, function: Function) -> Function:
    def rule(
        arrays: Any, out: Any = None, dtype: Any = None, casting: str = "", **axis: Any
    ) -> Any:
        result = function(_arrays(arrays), **axis)
        result = result if dtype is None else ops.astype(result, dtype, copy=False)
        return written(out, result, f"numpy.{name}")

    return rule


_concatenate = _joining_rule("concatenate", ops.concat)
_stack = _joining_rule("stack", ops.stack)


@rule_for(np.concatenate, np.concat)
def _concatenate_rule(arrays: Any, /, axis: Any = 0, out: Any = None, **keywords: Any) -> Any:
    return _concatenate(arrays, out, axis=axis, **keywords)


@rule_for(np.stack)
def _stack_rule(arrays: Any, axis: int = 0, out: Any = None, **keywords: Any) -> Any:
    return _stack(arrays, out, axis=axis, **keywords)


def _stacking_rule(name: str) -> Function:
    rule = _joining_rule(name, getattr(ops, name))
    return lambda tup, *, dtype=None, casting="": rule(tup, dtype=dtype)


for _name in ("hstack", "vstack"):
    RULES[getattr(np, _name)] = _stacking_rule(_name)
RULES[np.dstack] = lambda tup: ops.dstack(_arrays(tup))
RULES[np.column_stack] = lambda tup: ops.column_stack(_arrays(tup))


@rule_for(np.append)
def _append(arr: Any, values: Any, axis: Any = None) -> Any:
    return ops.concat([_array(arr), _array(values)], axis=axis)


@rule_for(np.block)
def _block(arrays: Any) -> Any:
    def joined(part: Any, depth: int) -> tuple[Any, int]:
        if not isinstance(part, list):
            return _array(part), depth
        found = [joined(item, depth + 1) for item in part]
        deepest = max(d for _, d in found)
        ndim = max(deepest, *(x.ndim for x, _ in found))
        wide = [ops.reshape(x, (1,) * (ndim - x.ndim) + tuple(x.shape)) for x, _ in found]
        return ops.concat(wide, axis=ndim - 1 - (deepest - depth - 1)), deepest

    return joined(arrays, 0)[0]


RULES[np.hsplit] = lambda ary, sections: ops.split(ary, sections, axis=min(ary.ndim - 1, 1))
RULES[np.vsplit] = lambda ary, sections: ops.split(ary, sections, axis=0)


@rule_for(np.tile)
def _tile(A: Any, reps: Any) -> Any:  # noqa: N803  (NumPy's name)
    return ops.tile(A, reps)


@rule_for(np.repeat)
def _repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    return ops.repeat(a, repeats, axis=axis)


@rule_for(np.tril)
def _tril(m: Any, k: int = 0) -> Any:
    return ops.tril(m, k=k)


@rule_for(np.triu)
def _triu(m: Any, k: int = 0) -> Any:
    return ops.triu(m, k=k)


@rule_for(np.diagonal)
def _diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return ops.diagonal(a, offset, axis1, axis2)


@rule_for(np.trace)
def _trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Any:
    a = a if dtype is None else ops.astype(a, dtype, copy=False)
    return written(out, ops.trace(a, offset, axis1, axis2), "numpy.trace")


@rule_for(np.copy)
def _copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    return ops.copy(a)


@rule_for(np.meshgrid)
def _meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    if sparse:
        raise TypeError("numpy.meshgrid: sparse= is not supported for arrays of arraygrad")
    return ops.meshgrid(*_arrays(xi), indexing=indexing)


RULES[np.shape] = lambda a: _array(a).shape
RULES[np.ndim] = lambda a: _array(a).ndim


@rule_for(np.size)
def _size(a: Any, axis: Any = None) -> int:
    shape = _array(a).shape
    if axis is None:
        return math.prod(shape)
    return math.prod(shape[i] for i in (axis if isinstance(axis, tuple) else (axis,)))


# --- elementwise ---------------------------------------------------------------------------------


@rule_for(np.where)
def _where(condition: Any, x: Any = _NONE, y: Any = _NONE, /) -> Any:
    if x is _NONE:
        return ops.nonzero(condition)
    x, y = (_array(v) if isinstance(v, list | tuple) else v for v in (x, y))
    return ops.where(_array(condition), x, y)


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
    low = a_min if _given(a_min) else min
    high = a_max if _given(a_max) else max
    return written(out, ops.clip(_array(a), low, high), "numpy.clip")


@rule_for(np.round, np.around)
def _round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    scale = 10.0**decimals
    result = ops.round(a) if decimals == 0 else ops.round(a * scale) / scale
    return written(out, result, "numpy.round")


@rule_for(np.fix)
def _fix(x: Any, out: Any = None) -> Any:
    return written(out, ops.trunc(x), "numpy.fix")


@rule_for(np.angle)
def _angle(z: Any, deg: bool = False) -> Any:
    return ops.rad2deg(ops.angle(z)) if deg else ops.angle(z)


@rule_for(np.nan_to_num)
def _nan_to_num(
    x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    if not copy:
        raise TypeError("numpy.nan_to_num: copy=False is not supported for arrays of arraygrad")
    return ops.nan_to_num(x, nan, posinf, neginf)


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
        result = ops.where(_array(condition), choice, result)
    return result


@rule_for(np.isclose)
def _isclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    a, b = _array(a), _array(b)
    near = ops.less_equal(ops.abs(a - b), atol + rtol * ops.abs(b))
    close = ops.logical_or(ops.equal(a, b), ops.logical_and(near, ops.isfinite(b)))
    return ops.logical_or(close, ops.isnan(a) & ops.isnan(b)) if equal_nan else close


RULES[np.isneginf] = lambda x: ops.logical_and(ops.isinf(x), ops.less(x, 0))
RULES[np.isposinf] = lambda x: ops.logical_and(ops.isinf(x), ops.greater(x, 0))
RULES[np.iscomplex] = lambda x: ops.not_equal(ops.imag(x), 0)
RULES[np.isreal] = lambda x: ops.equal(ops.imag(x), 0)


@rule_for(np.polyval)
def _polyval(p: Any, x: Any) -> Any:
    x = _array(x)
    value = 0 * x
    for coefficient in _array(p):
        value = value * x + coefficient
    return value


# --- on values only: the results carry no derivatives anyway -------------------------------------


def _on_values(function: Function) -> Function:
    """NumPy's own function, on the values: for what returns no numbers to differentiate."""

    @functools.wraps(function)
    def rule(*args: Any, **kwargs: Any) -> Any:
        return function(*_detached(args), **_detached(kwargs))

    return rule


def _detached(tree: Any) -> Any:
    if isinstance(tree, Array):
        tree = tree.detach()
        if isinstance(tree, Array) and not is_plain(tree):
            raise TypeError(f"a {type(tree).__name__} array has no plain values inside a transform")
        return plain_values(tree)
    if isinstance(tree, list | tuple):
        return type(tree)(map(_detached, tree))
    if isinstance(tree, dict):
        return {key: _detached(item) for key, item in tree.items()}
    return tree


_on_plain_values: tuple[Function, ...] = (
    np.allclose,
    np.array_equal,
    np.array_equiv,
    np.iscomplexobj,
    np.isrealobj,
    np.shares_memory,
    np.may_share_memory,
)
RULES |= {function: _on_values(function) for function in _on_plain_values}

RULES[np.array_repr] = lambda arr, *args, **kwargs: repr(arr)
RULES[np.array_str] = lambda a, *args, **kwargs: str(a)
RULES[np.array2string] = lambda a, *args, **kwargs: str(a)
RULES[np.result_type] = dtypes.result_type


@rule_for(np.can_cast)
def _can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    return bool(np.can_cast(getattr(from_, "dtype", from_), to, casting))  # type: ignore[arg-type]


# --- products ------------------------------------------------------------------------------------


@rule_for(np.dot)
def _dot(a: Any, b: Any, out: Any = None) -> Any:
    return written(out, ops.dot(_array(a), _array(b)), "numpy.dot")


@rule_for(np.outer)
def _outer(a: Any, b: Any, out: Any = None) -> Any:
    return written(out, ops.outer(_array(a), _array(b)), "numpy.outer")


@rule_for(np.tensordot)
def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    return ops.tensordot(_array(a), _array(b), axes=axes)


@rule_for(np.einsum)
def _einsum(
    *operands: Any, out: Any = None, optimize: Any = False, dtype: Any = None, **given: Any
) -> Any:
    for argument in given:
        raise TypeError(f"numpy.einsum: {argument}= is not supported for arrays of arraygrad")
    if not isinstance(operands[0], str):
        raise TypeError("numpy.einsum: give the subscripts as a string for arrays of arraygrad")
    result = ops.einsum(operands[0], *_arrays(operands[1:]))
    result = result if dtype is None else ops.astype(result, dtype, copy=False)
    return written(out, result, "numpy.einsum")


@rule_for(np.cross)
def _cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    first, second, third = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    a, b = ops.moveaxis(_array(a), first, -1), ops.moveaxis(_array(b), second, -1)
    return ops.moveaxis(linalg.cross(a, b), -1, third)


# --- differences, searching, ordering ------------------------------------------------------------


@rule_for(np.diff)
def _diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    prepend, append = (None if v is _NONE else v for v in (prepend, append))
    return ops.diff(a, n=n, axis=axis, prepend=prepend, append=append)


@rule_for(np.ediff1d)
def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    _refuse("ediff1d", to_end=to_end, to_begin=to_begin)
    return ops.diff(ops.ravel(ary))


def _order_rule(name: str, function: Function) -> Function:
    def rule(
        a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
    ) -> Any:
        _refuse(name, order=order)
        return function(ops.ravel(a), axis=0) if axis is None else function(a, axis=axis)

    return rule


RULES[np.sort] = _order_rule("sort", ops.sort)
RULES[np.argsort] = _order_rule("argsort", ops.argsort)
# What is in order is partitioned at every place.
RULES[np.partition] = lambda a, kth, axis=-1, **_: RULES[np.sort](a, axis)
RULES[np.argpartition] = lambda a, kth, axis=-1, **_: RULES[np.argsort](a, axis)


@rule_for(np.searchsorted)
def _searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    return ops.searchsorted(_array(a), _array(v), side=side, sorter=sorter)


@rule_for(np.digitize)
def _digitize(x: Any, bins: Any, right: bool = False) -> Any:
    return ops.digitize(_array(x), _array(bins), right)


@rule_for(np.bincount)
def _bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    return ops.bincount(_array(x), None if weights is None else _array(weights), minlength)


@rule_for(np.histogram)
def _histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    return ops.histogram(_array(a), bins, range, bool(density), weights)


RULES[np.nonzero] = ops.nonzero
RULES[np.flatnonzero] = lambda a: ops.nonzero(ops.ravel(a))[0]
RULES[np.argwhere] = lambda a: ops.stack(ops.nonzero(a), axis=1)


@rule_for(np.unique)
def _unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    **given: Any,
) -> Any:
    _refuse("unique", axis=axis)
    found = ops.unique_all(ar)
    chosen = [True, return_index, return_inverse, return_counts]
    results = tuple(part for part, wanted in zip(found, chosen, strict=True) if wanted)
    return results[0] if len(results) == 1 else results


@rule_for(np.isin)
def _isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: Any = None,
) -> Any:
    return ops.isin(_array(element), _array(test_elements), invert=invert)


@rule_for(np.take)
def _take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    if mode != "raise":
        raise TypeError(f"numpy.take: mode={mode!r} is not supported for arrays of arraygrad")
    return written(out, ops.take(a, indices, axis=axis), "numpy.take")


@rule_for(np.take_along_axis)
def _take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    if axis is None:
        arr, indices, axis = ops.ravel(arr), ops.ravel(indices), 0
    return ops.take_along_axis(arr, indices, axis=axis)


@rule_for(np.compress)
def _compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    places = np.nonzero(plain_values(_array(condition)))[0]
    return written(out, ops.take(a, places, axis=axis), "numpy.compress")


RULES[np.extract] = lambda condition, arr: ops.take(
    arr, np.nonzero(np.ravel(plain_values(condition)))[0]
)


@rule_for(np.copyto)
def _copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    value = src if where is True else ops.where(where, src, dst)
    written(dst, value, "numpy.copyto")


# --- making arrays -------------------------------------------------------------------------------


def _like_rule(name: str) -> Function:
    function = getattr(creation, name)

    def rule(
        a: Any,
        *value: Any,
        dtype: Any = None,
        order: str = "K",
        subok: bool = True,
        shape: Any = None,
        device: Any = None,
        **keywords: Any,
    ) -> Any:
        if value and name != "full_like":  # it is the dtype, by position
            dtype, value = value[0], value[1:]
        if shape is not None:
            a = ops.broadcast_to(ops.reshape(ops.ravel(a)[:1], (1,)), shape)
        return function(a, *value, dtype=dtype, device=device, **keywords)

    return rule


for _name in ("zeros_like", "ones_like", "empty_like", "full_like"):
    RULES[getattr(np, _name)] = _like_rule(_name)


@rule_for(np.linspace)
def _linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    values = creation.linspace(start, stop, num, endpoint=endpoint, dtype=dtype, device=device)
    values = ops.moveaxis(values, 0, axis) if axis else values
    return (values, (stop - start) / (num - 1 if endpoint else num)) if retstep else values


def _made_like(name: str) -> Function:
    """With `like=`, NumPy asks for an array of the same type, in the shape given."""
    function = getattr(creation, name)

    def rule(*args: Any, order: str = "C", **keywords: Any) -> Any:
        return function(*args, **keywords)

    return rule


for _name in ("zeros", "ones", "empty", "full", "arange", "eye"):
    RULES[getattr(np, _name)] = _made_like(_name)


@rule_for(np.array, np.asarray, np.asanyarray)
def _asarray(a: Any, dtype: Any = None, *, copy: bool | None = None, **given: Any) -> Any:
    return creation.asarray(a, dtype=dtype, copy=copy)


# --- linear algebra ------------------------------------------------------------------------------


@rule_for(np.linalg.norm)
def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = _array(x)
    if axis is None and (ord is None or x.ndim == 1):
        flat = linalg.vector_norm(ops.ravel(x), ord=2 if ord is None else ord)
        return ops.reshape(flat, (1,) * x.ndim) if keepdims else flat
    axes = tuple(range(x.ndim)) if axis is None else axis
    axes = axes if isinstance(axes, tuple | list) else (axes,)
    if len(axes) == 1:
        return linalg.vector_norm(x, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise ValueError(f"numpy.linalg.norm: axis must be one or two axes, got {axis}")
    moved = ops.moveaxis(x, tuple(axes), (-2, -1))
    out = linalg.matrix_norm(moved, ord="fro" if ord is None else ord)
    return ops.expand_dims(out, axis=tuple(sorted(a % x.ndim for a in axes))) if keepdims else out


@rule_for(np.linalg.cholesky)
def _cholesky(a: Any, /, *, upper: bool = False) -> Any:
    return linalg.cholesky(a, upper=upper)


def _hermitian(a: Any, uplo: str) -> Any:
    """The matrix whose lower triangle is the part that NumPy was told to read."""
    return a if uplo.upper() == "L" else ops.conj(ops.matrix_transpose(a))


RULES[np.linalg.eigh] = lambda a, UPLO="L": linalg.eigh(_hermitian(a, UPLO))  # noqa: N803
RULES[np.linalg.eigvalsh] = lambda a, UPLO="L": linalg.eigvalsh(_hermitian(a, UPLO))  # noqa: N803


@rule_for(np.linalg.svd)
def _svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    if not compute_uv:
        return linalg.svdvals(a)
    return linalg.svd(a, full_matrices=full_matrices)


@rule_for(np.linalg.qr)
def _qr(a: Any, mode: str = "reduced") -> Any:
    return linalg.qr(a, mode="reduced").R if mode == "r" else linalg.qr(a, mode=mode)


@rule_for(np.linalg.pinv)
def _pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = _NONE) -> Any:
    return linalg.pinv(a, rtol=rcond if rtol is _NONE else rtol)


@rule_for(np.linalg.matrix_rank)
def _matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:  # noqa: N803
    _refuse("linalg.matrix_rank", tol=tol)
    return linalg.matrix_rank(A, rtol=rtol)


@rule_for(np.linalg.multi_dot)
def _multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Any:
    return written(out, functools.reduce(ops.matmul, arrays), "numpy.linalg.multi_dot")


@rule_for(np.linalg.lstsq)
def _lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    a, b = _array(a), _array(b)
    x = ops.matmul(linalg.pinv(a, rtol=rcond), b)
    rank = int(plain(linalg.matrix_rank(a, rtol=rcond)))
    m, n = a.shape
    residual = b - ops.matmul(a, x)
    square = ops.sum(ops.real(residual * ops.conj(residual)), axis=0)
    square = ops.reshape(square, (1,)) if b.ndim == 1 else square
    return x, square if rank == n < m else square[:0], rank, linalg.svdvals(a)


@rule_for(np.linalg.cond)
def _cond(x: Any, p: Any = None) -> Any:
    if p in (None, 2, -2):
        s = linalg.svdvals(x)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    return linalg.matrix_norm(x, ord=p) * linalg.matrix_norm(linalg.inv(x), ord=p)


# --- Fourier transforms --------------------------------------------------------------------------


def _transform_rule(name: str) -> Function:
    function = getattr(fft, name)

    def rule(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        result = function(_array(a), n=n, axis=axis, norm=norm or "backward")
        return written(out, result, f"numpy.fft.{name}")

    return rule


def _transforms_rule(name: str, function: Function, plane: bool) -> Function:
    def rule(
        a: Any,
        s: Any = None,
        axes: Any = (-2, -1) if plane else None,
        norm: Any = None,
        out: Any = None,
    ) -> Any:
        result = function(_array(a), s=s, axes=axes, norm=norm or "backward")
        return written(out, result, f"numpy.fft.{name}")

    return rule


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    RULES[getattr(np.fft, _name)] = _transform_rule(_name)
for _name in ("fft", "ifft", "rfft", "irfft"):
    _many = getattr(fft, f"{_name}n")
    RULES[getattr(np.fft, f"{_name}n")] = _transforms_rule(f"{_name}n", _many, False)
    RULES[getattr(np.fft, f"{_name}2")] = _transforms_rule(f"{_name}2", _many, True)
RULES[np.fft.fftshift] = lambda x, axes=None: fft.fftshift(x, axes=axes)
RULES[np.fft.ifftshift] = lambda x, axes=None: fft.ifftshift(x, axes=axes)
