"""The native code of arraygrad's ops, as a backend has kernels for them: by op, never by name.

What is not here is computed by the op's NumPy kernel, or from its `compute` (see `lowering`).
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.axes import count
from ...ops import beyond, elementwise, reductions, searching, shape
from ...ops.define.op import Op
from ...ops.special import activations, normal, sigmoids, softmax
from ..llvm import functions as native
from ..llvm import hyperbolic, powers, quotients, trigonometry
from ..llvm import normal as native_normal
from ..llvm.vectors import BYTES, Value, Writer
from . import compositions
from .core import Fold, Scalar


def _op(function: Any) -> Op:
    return function.op  # type: ignore[no-any-return]


def _method(name: str) -> Any:
    return lambda w, *values: getattr(w, name)(*values)


def _compare(how: str) -> Any:
    return lambda w, x, y: w.compare(how, x, y)


def _extreme(how: str) -> Any:
    return lambda w, x, y: w.extreme(how, x, y)


def _logic(how: str) -> Any:
    return lambda w, x, y: w.logic(how, x, y)


def _math(name: str) -> Any:
    return lambda w, *values: w.math(name, *values)


def _same(w: Writer, x: Value) -> Value:
    return x


def _square(w: Writer, x: Value) -> Value:
    return w.multiply(x, x)


def _reciprocal(w: Writer, x: Value) -> Value:
    return w.divide(w.like(x, 1), x)


def _clip(w: Writer, x: Value, low: Value, high: Value) -> Value:
    return w.extreme("lt", w.extreme("gt", x, low), high)


def is_finite(w: Writer, x: Value) -> Value:
    """Whether a float is neither infinite nor NaN."""
    return w.compare("lt", w.math("fabs", x), w.like(x, math.inf))


def _is_infinite(w: Writer, x: Value) -> Value:
    return w.compare("eq", w.math("fabs", x), w.like(x, math.inf))


# On real numbers: floats, and integers of 32 and 64 bits.
NUMBERS: dict[Op, Scalar] = {
    _op(function): Scalar(_op(function).name, emit, cost)
    for function, emit, cost in [
        (elementwise.add, _method("add"), 1),
        (elementwise.subtract, _method("subtract"), 1),
        (elementwise.multiply, _method("multiply"), 1),
        (elementwise.negative, _method("negate"), 1),
        (elementwise.square, _square, 1),
        (elementwise.maximum, _extreme("gt"), 2),
        (elementwise.minimum, _extreme("lt"), 2),
        (elementwise.abs, native.absolute, 1),
        (elementwise.sign, native.sign, 3),
        (elementwise._clip, _clip, 4),
        (elementwise.positive, _same, 0),
        (elementwise.conj, _same, 0),
        (elementwise.real, _same, 0),
        (shape.copy, _same, 0),
        (shape._astype, _same, 0),
        (shape._to_integers, _same, 0),
    ]
}

# On floats. Integers are converted first.
FLOATS: dict[Op, Scalar] = {
    _op(function): Scalar(_op(function).name, emit, cost)
    for function, emit, cost in [
        (elementwise.divide, _method("divide"), 6),
        (elementwise.reciprocal, _reciprocal, 6),
        (elementwise.sqrt, _math("sqrt"), 6),
        (elementwise.exp, native.exp, 14),
        (elementwise.expm1, native.expm1, 18),
        (elementwise.log, native.log, 20),
        (elementwise.log1p, native.log1p, 26),
        (elementwise.sin, native.sin, 25),
        (elementwise.cos, native.cos, 25),
        (elementwise.tanh, native.tanh, 24),
        (normal.erf, native_normal.erf, 40),
        (normal.erfc, native_normal.erfc, 50),
        (normal.ndtr, native_normal.ndtr, 50),
        (sigmoids.expit, native.expit, 22),
        (elementwise.floor, _math("floor"), 2),
        (elementwise.ceil, _math("ceil"), 2),
        (elementwise.trunc, _math("trunc"), 2),
        (elementwise.copysign, _math("copysign"), 2),
        (elementwise.tan, trigonometry.tan, 40),
        (elementwise.asin, trigonometry.asin, 35),
        (elementwise.acos, trigonometry.acos, 35),
        (elementwise.atan, trigonometry.atan, 35),
        (elementwise.sinh, hyperbolic.sinh, 35),
        (elementwise.cosh, hyperbolic.cosh, 25),
        (elementwise.asinh, hyperbolic.asinh, 80),
        (elementwise.acosh, hyperbolic.acosh, 80),
        (elementwise.atanh, hyperbolic.atanh, 45),
        (elementwise.atan2, trigonometry.atan2, 55),
        (elementwise.hypot, powers.hypot, 20),
        (elementwise.log2, powers.log2, 24),
        (elementwise.pow, powers.power, 100),
        (elementwise.log10, powers.log10, 26),
        (elementwise.round, _math("roundeven"), 2),
        (beyond.fmod, quotients.fmod, 20),
    ]
}

# On floats, and on integers if the second is a constant, neither 0 (of which NumPy warns) nor -1.
QUOTIENTS: dict[Op, Scalar] = {
    _op(elementwise.remainder): Scalar("remainder", quotients.remainder, 25),
    _op(elementwise.floor_divide): Scalar("floor_divide", quotients.floor_divide, 30),
}


def _shift(how: str) -> Any:
    def emit(w: Writer, x: Value, y: Value) -> Value:
        """A shift by more than all bits moves all of them out."""
        bits = 8 * BYTES[x.kind]
        last = w.like(x, bits - 1)
        is_inside = w.logic("and", w.compare("le", y, last), w.compare("ge", y, w.like(x, 0)))
        out = w.like(x, 0) if how == "shl" else w.logic("ashr", x, last)
        by = w.choose(is_inside, y, w.like(x, 0))
        return w.choose(is_inside, w.logic(how, x, by), out)

    return emit


# On integers; all but the shifts on bools, too.
BITS: dict[Op, Scalar] = {
    _op(elementwise.bitwise_and): Scalar("bitwise_and", _logic("and")),
    _op(elementwise.bitwise_or): Scalar("bitwise_or", _logic("or")),
    _op(elementwise.bitwise_xor): Scalar("bitwise_xor", _logic("xor")),
    _op(elementwise.bitwise_invert): Scalar(
        "bitwise_invert", lambda w, x: w.logic("xor", x, w.like(x, True if x.kind == "i1" else -1))
    ),
}
SHIFTS: dict[Op, Scalar] = {
    _op(elementwise.bitwise_left_shift): Scalar("bitwise_left_shift", _shift("shl"), 4),
    _op(elementwise.bitwise_right_shift): Scalar("bitwise_right_shift", _shift("ashr"), 4),
}

# From two numbers of one type to a bool.
COMPARISONS: dict[Op, Scalar] = {
    _op(function): Scalar(_op(function).name, _compare(how))
    for function, how in [
        (elementwise.equal, "eq"),
        (elementwise.not_equal, "ne"),
        (elementwise.less, "lt"),
        (elementwise.less_equal, "le"),
        (elementwise.greater, "gt"),
        (elementwise.greater_equal, "ge"),
    ]
}

# From floats to a bool.
TESTS: dict[Op, Scalar] = {
    _op(elementwise.isnan): Scalar("isnan", lambda w, x: w.compare("uno", x, x)),
    _op(elementwise.isfinite): Scalar("isfinite", is_finite),
    _op(elementwise.isinf): Scalar("isinf", _is_infinite),
}

# On bools.
LOGIC: dict[Op, Scalar] = {
    _op(elementwise.logical_and): Scalar("logical_and", _logic("and")),
    _op(elementwise.logical_or): Scalar("logical_or", _logic("or")),
    _op(elementwise.logical_xor): Scalar("logical_xor", _logic("xor")),
    _op(elementwise.logical_not): Scalar(
        "logical_not", lambda w, x: w.logic("xor", x, w.like(x, True))
    ),
}


def _joined(w: Writer, x: Value, y: Value) -> Value:
    """Two numbers, of which one is zero: their bits together are the other, also if it is -0."""
    if x.kind not in ("float", "double"):
        return w.logic("or", x, y)
    integers = w.integer_kind(x)
    return w.bits(w.logic("or", w.bits(x, integers), w.bits(y, integers)), x.kind)


JOINED = Scalar("join", _joined)

# From a bool and two numbers of one type to one of these.
CHOOSE = Scalar("where", lambda w, condition, x, y: w.choose(condition, x, y))
CHOICES: dict[Op, Scalar] = {
    _op(function): CHOOSE for function in (elementwise.where, elementwise.choose)
}
# Ops of which NumPy never warns.
QUIET = {
    *CHOICES,
    *map(_op, (elementwise._clip, elementwise.copysign, activations.relu)),
}


@functools.cache
def conversion(kind: str) -> Scalar:
    """The conversion to another type of elements."""
    return Scalar(f"to {kind}", lambda w, x: w.cast(x, kind))


# Of a sorted array and values.
SEARCHES: set[Op] = {_op(searching._searchsorted)}

SUM = Fold("sum", _method("add"), 0.0, np.add)
FOLDS: dict[Op, Fold] = {
    _op(reductions._sum): SUM,
    _op(reductions._max): Fold("max", _extreme("gt"), -math.inf, np.maximum),
    _op(reductions._min): Fold("min", _extreme("lt"), math.inf, np.minimum),
    _op(reductions._prod): Fold("prod", _method("multiply"), 1.0, np.multiply),
}


# Of bools, to which all other elements are converted.
ANY = Fold("any", _logic("or"), False, np.logical_or)
_TRUTHS: dict[Op, Fold] = {
    _op(reductions._any): ANY,
    _op(reductions._all): Fold("all", _logic("and"), True, np.logical_and),
}


@functools.cache
def fold_of(op: Op, dtype: Any) -> Fold | None:
    """The fold that an op is, for results of a dtype; None if it has none."""
    if dtype == np.bool_:
        return _TRUTHS.get(op)
    fold = FOLDS.get(op)
    if fold is None or dtype.kind == "f" or math.isfinite(fold.start):
        return fold
    limits = np.iinfo(dtype)  # of integers, which have no infinity
    return dataclasses.replace(fold, start=limits.min if fold.start < 0 else limits.max)


# --- ops that are made of others -----------------------------------------------------------------


def _mean(x: Any, axis: Any, keepdims: bool) -> Any:
    n = count(x.shape, axis)
    if x.dtype.kind in "biu":  # a sum of integers may be out of their range
        x = shape._astype(x, dtype=np.dtype(np.float64), copy=False)
    return reductions._sum(x, axis=axis, keepdims=keepdims) / n


def _var(x: Any, axis: Any, keepdims: bool, correction: float) -> Any:
    centred = x - _mean(x, axis, True)
    n = count(x.shape, axis) - correction
    return reductions._sum(centred * centred, axis=axis, keepdims=keepdims) / (n or math.nan)


def _count_nonzero(x: Any, axis: Any, keepdims: bool) -> Any:
    ones = shape._astype(x != 0, dtype=np.dtype(np.intp), copy=False)
    return reductions._sum(ones, axis=axis, keepdims=keepdims)


def _std(x: Any, axis: Any, keepdims: bool, correction: float) -> Any:
    return elementwise.sqrt(_var(x, axis, keepdims, correction))


SMALL_POWERS = (1, 2, 3, 4, 5, 6, 7, 8, -1, -2)


def _power(x: Any, y: Any) -> Any:
    """A power with an exponent of `SMALL_POWERS`: a few products."""
    found: Any = None
    # The square of 1e160 is too large, and that of its reciprocal is not too small.
    square, n = x if y > 0 else 1 / x, int(abs(y))
    while n:
        if n & 1:
            found = square if found is None else found * square
        n >>= 1
        square = square * square if n else square
    return found


def _logaddexp(x: Any, y: Any) -> Any:
    top = elementwise.maximum(x, y)
    apart = elementwise.log1p(elementwise.exp(-elementwise.abs(x - y)))
    # Infinities of one sign have no difference.
    return top + elementwise.where(elementwise.equal(x, y), math.log(2), apart)


def _roll(x: Any, shift: tuple[int, ...], axis: tuple[int, ...]) -> Any:
    for by, a in zip(shift, axis, strict=True):
        n = x.shape[a]
        lead, start = (slice(None),) * a, n - by % n
        if start != n:
            x = shape._concat(x[(*lead, slice(start, n))], x[(*lead, slice(0, start))], axis=a)
    return x


def _log_softmax(x: Any, axis: Any) -> Any:
    """As NumPy's kernel, which does not ask whether the largest element is finite."""
    x = x - reductions._max(x, axis=axis, keepdims=True)
    return x - elementwise.log(reductions._sum(elementwise.exp(x), axis=axis, keepdims=True))


COMPOSED: dict[Op, Any] = {
    **compositions.MADE,
    _op(softmax._log_softmax): _log_softmax,
    _op(activations.relu): lambda x: elementwise.where(elementwise.less_equal(x, 0), 0, x),
    _op(activations.gelu): lambda x: x * normal.ndtr(x),
    _op(activations.silu): lambda x: x * sigmoids.expit(x),
    _op(shape._roll): _roll,
    _op(elementwise.logaddexp): _logaddexp,
    _op(reductions._mean): _mean,
    _op(reductions._var): _var,
    _op(reductions._std): _std,
    _op(reductions._count_nonzero): _count_nonzero,
    _op(elementwise.pow): _power,
}


def is_composed(op: Op, args: Sequence[Any]) -> bool:
    """Whether an op on these arguments is made of others."""
    if op is _op(elementwise.pow):
        return isinstance(args[1], int | float) and args[1] in SMALL_POWERS
    condition = compositions.ONLY_IF.get(op)
    return op in COMPOSED and (condition is None or condition(*args))


def scalar_cost(op: Op) -> int | None:
    """The cost of an op for each element, if it has code of its own."""
    for table in (NUMBERS, FLOATS, QUOTIENTS, COMPARISONS, TESTS, LOGIC, CHOICES):
        if op in table:
            return table[op].cost
    return None
