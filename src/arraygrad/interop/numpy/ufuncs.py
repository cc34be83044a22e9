"""NumPy's universal functions on arrays of arraygrad: `__array_ufunc__`.

NumPy's other functions are in `functions`.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ... import ops
from ...arrays.creation import from_sequence
from ...arrays.numbers import check_not_in_scipy
from ...backends.arraylikes import ARRAY_LIKE, operand_values
from ...backends.dtypes import finfo
from ...core import upward
from ...core.array import AnyFunction, plain
from ...ops.define.adoption import in_library_of
from ...ops.define.dispatch import UnsupportedOperand
from ...ops.elementwise import choose
from ...ops.indexing import _index_add, split_index
from ...ops.shape import as_inexact
from .values import as_tensors, holds_gradients, no_rule, plain_values, written


def _vecmat(x: Any, y: Any) -> Any:
    row = ops.matmul(ops.expand_dims(ops.conj(x), axis=-2), y)
    return ops.squeeze(row, axis=-2)


def _matvec(x: Any, y: Any) -> Any:
    return ops.squeeze(ops.matmul(x, ops.expand_dims(y, axis=-1)), axis=-1)


def _isnan(x: Any) -> Any:
    # SciPy's solvers look for NaN before C code asks for a float, and loses the error of that.
    if holds_gradients(x):
        check_not_in_scipy()
    return ops.isnan(x)


def _modf(x: Any) -> tuple[Any, Any]:
    x = as_inexact(x)
    whole = ops.trunc(x)
    return ops.where(ops.isinf(x), ops.copysign(0.0, x), x - whole), whole


def _ldexp(x: Any, n: Any) -> Any:
    """``x * 2**n`` in three steps: the power alone may be too large or too small for the dtype."""
    x = from_sequence(x) * 1.0
    n = n if hasattr(n, "dtype") else in_library_of(plain(x), np.asarray(n))
    most = int(2.25 * math.log2(finfo(x.dtype).max))  # more gives zero or infinity, too
    n = ops.astype(ops.clip(n, -most, most), x.dtype)
    third = ops.floor_divide(n, 3)
    return x * ops.pow(2.0, third) * ops.pow(2.0, third) * ops.pow(2.0, n - 2 * third)


def _real_abs(x: Any) -> Any:
    if ops.is_complex(x):
        raise TypeError("numpy.fabs is for real numbers: use numpy.abs")
    return ops.abs(x)


# NumPy's ufuncs that are functions of arraygrad with the same name.
_same = """
    abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift
    bitwise_or bitwise_right_shift bitwise_xor cbrt ceil conj copysign cos cosh deg2rad divide
    equal exp exp2 expm1 floor floor_divide fmax fmin fmod greater greater_equal heaviside hypot
    isfinite isinf less less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and
    logical_not logical_or logical_xor matmul maximum minimum multiply negative nextafter
    not_equal positive pow rad2deg reciprocal remainder sign signbit sin sinh sqrt square
    subtract tan tanh trunc vecdot
"""
# By identity, as a ufunc of another library may have the name of a NumPy ufunc.
CALLS: dict[np.ufunc, AnyFunction] = {
    **{getattr(np, name): getattr(ops, name) for name in _same.split()},
    np.degrees: ops.rad2deg,
    np.divmod: lambda x, y: (ops.floor_divide(x, y), ops.remainder(x, y)),
    np.fabs: _real_abs,
    np.float_power: lambda x, y: ops.pow(x * 1.0, y),
    np.isnan: _isnan,
    np.ldexp: _ldexp,
    np.modf: _modf,
    np.radians: ops.deg2rad,
    np.rint: ops.round,
}
for _newer, _function in (("matvec", _matvec), ("vecmat", _vecmat)):
    if hasattr(np, _newer):
        CALLS[getattr(np, _newer)] = _function

REDUCTIONS: dict[np.ufunc, AnyFunction] = {
    np.add: ops.sum,
    np.multiply: ops.prod,
    np.maximum: ops.max,
    np.minimum: ops.min,
    np.logical_and: ops.all,
    np.logical_or: ops.any,
}
_NEUTRAL: dict[np.ufunc, Any] = {
    np.add: 0,
    np.multiply: 1,
    np.logical_and: True,
    np.logical_or: False,
}
RUNNING: dict[np.ufunc, AnyFunction] = {
    np.add: ops.cumulative_sum,
    np.multiply: ops.cumulative_prod,
}
_DEFAULTS: dict[str, Any] = {
    "casting": "same_kind",
    "order": "K",
    "subok": True,
    "signature": None,
    "where": True,
    "dtype": None,
    "out": None,
}


def array_ufunc(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
    """The method `__array_ufunc__`, which NumPy calls if an argument is one of our arrays."""
    likes = any(map(ARRAY_LIKE.__getitem__, map(type, inputs)))
    if method == "__call__" and not keywords and not likes:
        function = CALLS.get(ufunc)
        if function is not None:
            try:
                return function(*inputs)
            except UnsupportedOperand:
                pass
    if method not in _METHODS:
        raise no_rule(_name(ufunc, method))
    given = {k: v for k, v in keywords.items() if k not in _DEFAULTS or v is not _DEFAULTS[k]}
    out = given.pop("out", None)
    if method != "at":  # whose index may be a tuple, which is more than an array of its items
        inputs = tuple(
            from_sequence(x) if isinstance(x, list | tuple) else operand_values(x, self)
            for x in inputs
        )
        if any(ARRAY_LIKE[type(x)] for x in inputs):
            return NotImplemented  # they compute themselves
    try:
        return _METHODS[method](ufunc, inputs, out, given)
    except UnsupportedOperand:
        return NotImplemented


def _name(ufunc: np.ufunc, method: str = "") -> str:
    own = getattr(np, ufunc.__name__, None) is ufunc
    module = "numpy" if own else getattr(ufunc, "__module__", None) or "scipy.special"
    return f"{module}.{ufunc.__name__}" + (f".{method}" if method else "")


def _refuse(given: dict[str, Any], name: str) -> None:
    for keyword in given:
        raise TypeError(f"{name}: {keyword}= is not supported for arrays of arraygrad")


def _special(ufunc: np.ufunc) -> AnyFunction | None:
    """Our function for a ufunc of SciPy, which has the same name."""
    from ... import special

    name = ufunc.__name__
    if name in special.__all__:
        return getattr(special, name)  # type: ignore[no-any-return]
    # SciPy has its own versions of some elementary functions.
    if name in ("cbrt", "exp2", "expm1", "log1p"):
        return getattr(ops, name)  # type: ignore[no-any-return]
    return upward.special_twin(ufunc)  # type: ignore[no-any-return]


def _call(ufunc: np.ufunc, inputs: tuple[Any, ...], out: Any, given: dict[str, Any]) -> Any:
    name = _name(ufunc)
    function = CALLS.get(ufunc) or _special(ufunc)
    mask = given.pop("where", None)
    dtype = given.pop("dtype", None)
    if function is None:
        if out is not None or mask is not None or holds_gradients(inputs):
            raise no_rule(name)
        extra = given if dtype is None else given | {"dtype": dtype}
        return as_tensors(ufunc(*plain_values(inputs), **extra))
    axis = {"axis": given.pop("axis")} if ufunc is np.vecdot and "axis" in given else {}
    _refuse(given, name)
    if dtype is not None:
        inputs = tuple(
            ops.astype(x, dtype, copy=False) if hasattr(x, "dtype") else x for x in inputs
        )
    result = function(*inputs, **axis)
    if ufunc.nout > 1:
        if mask is not None:
            raise TypeError(f"{name}: where= is not supported for arrays of arraygrad")
        if out is None:
            return result
        return tuple(
            r if o is None else written(o, r, name) for o, r in zip(out, result, strict=True)
        )
    if mask is not None:
        if out is None:
            raise TypeError(
                f"{name}: where= without out= leaves elements undefined; use numpy.where, or pass "
                "out="
            )
        result = choose(
            from_sequence(mask) if isinstance(mask, list | tuple) else mask, result, out[0]
        )
    return written(out, result, name)


def _reduce(ufunc: np.ufunc, inputs: tuple[Any, ...], out: Any, given: dict[str, Any]) -> Any:
    name = _name(ufunc, "reduce")
    function = REDUCTIONS.get(ufunc)
    if function is None:
        raise no_rule(name)
    (x,) = inputs
    keywords: dict[str, Any] = {
        "axis": given.pop("axis", 0),
        "keepdims": bool(given.pop("keepdims", False)),
    }
    initial = given.pop("initial", None)
    mask = given.pop("where", None)
    dtype = given.pop("dtype", None)
    _refuse(given, name)
    if dtype is not None:
        x = ops.astype(x, dtype, copy=False)
    if mask is not None:
        neutral = _NEUTRAL.get(ufunc, initial)
        if neutral is None:
            raise ValueError(f"{name}: where= needs initial= here, as there is no neutral element")
        x = choose(from_sequence(mask) if isinstance(mask, list | tuple) else mask, x, neutral)
    result = function(x, **keywords)
    if initial is not None and initial is not np._NoValue:
        result = CALLS[ufunc](result, initial)
    return written(out, result, name)


def _accumulate(ufunc: np.ufunc, inputs: tuple[Any, ...], out: Any, given: dict[str, Any]) -> Any:
    name = _name(ufunc, "accumulate")
    function = RUNNING.get(ufunc)
    if function is None:
        raise no_rule(name)
    (x,) = inputs
    result = function(x, axis=given.pop("axis", 0), dtype=given.pop("dtype", None))
    _refuse(given, name)
    return written(out, result, name)


def _outer(ufunc: np.ufunc, inputs: tuple[Any, ...], out: Any, given: dict[str, Any]) -> Any:
    x, y = (i if hasattr(i, "dtype") else np.asarray(i) for i in inputs)
    x = ops.reshape(x, tuple(x.shape) + (1,) * y.ndim)
    return _call(ufunc, (x, y), out, given)


def _at(ufunc: np.ufunc, inputs: tuple[Any, ...], out: Any, given: dict[str, Any]) -> None:
    name = _name(ufunc, "at")
    signs: dict[np.ufunc, AnyFunction] = {np.add: operator.pos, np.subtract: operator.neg}
    sign = signs.get(ufunc)
    if sign is None or len(inputs) != 3:
        raise no_rule(name)
    x, index, values = inputs
    _refuse(given, name)
    if not hasattr(x, "copy_"):
        if holds_gradients(inputs):
            raise TypeError(
                f"{name}: the values take part in differentiation, and would lose that in the "
                "NumPy array they are to be added to: make it a tensor first"
            )
        ufunc.at(x, plain_values(index), plain_values(values))
        return
    template, indices = split_index(x, index)
    shape = x[index].shape
    values = values if hasattr(values, "dtype") else from_sequence(values)
    added = ops.astype(ops.broadcast_to(values, shape), x.dtype, copy=False)
    spread = _index_add(added, *indices, template=template, shape=x.shape)
    x.copy_(x + sign(spread))


_METHODS: dict[str, AnyFunction] = {
    "__call__": _call,
    "reduce": _reduce,
    "accumulate": _accumulate,
    "outer": _outer,
    "at": _at,
}
