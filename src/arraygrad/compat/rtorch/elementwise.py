"""Functions of one or two tensors, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ops
from ...arrays.tensor import Tensor
from ...nn import relu
from ...ops.special import entropies, gamma, normal, sigmoids
from .numbers import floating, promoted, whole


def _unary(op: Callable[[Any], Any], floats: bool) -> Callable[[Tensor], Tensor]:
    def function(self: Tensor) -> Tensor:
        result: Tensor = op(floating(self) if floats else self)
        return result

    return function


_REAL_RESULTS: dict[str, Callable[[Any], Any]] = {
    "acos": ops.acos,
    "acosh": ops.acosh,
    "asin": ops.asin,
    "asinh": ops.asinh,
    "atan": ops.atan,
    "atanh": ops.atanh,
    "cos": ops.cos,
    "cosh": ops.cosh,
    "digamma": gamma.digamma,
    "erf": normal.erf,
    "erfc": normal.erfc,
    "erfinv": normal.erfinv,
    "exp": ops.exp,
    "exp2": ops.exp2,
    "expm1": ops.expm1,
    "lgamma": gamma.gammaln,
    "log": ops.log,
    "log10": ops.log10,
    "log1p": ops.log1p,
    "log2": ops.log2,
    "logit": sigmoids.logit,
    "reciprocal": ops.reciprocal,
    "rsqrt": lambda x: 1 / ops.sqrt(x),
    "sigmoid": sigmoids.expit,
    "sin": ops.sin,
    "sinh": ops.sinh,
    "sqrt": ops.sqrt,
    "tan": ops.tan,
    "tanh": ops.tanh,
}
_SAME_TYPE: dict[str, Callable[[Any], Any]] = {
    "abs": ops.abs,
    "bitwise_not": ops.bitwise_invert,
    "ceil": ops.ceil,
    "conj": ops.conj,
    "floor": ops.floor,
    "frac": lambda x: x - ops.trunc(x),
    "imag": ops.imag,
    "isfinite": ops.isfinite,
    "isinf": ops.isinf,
    "isnan": ops.isnan,
    "logical_not": lambda x: ops.logical_not(x if x.dtype.kind == "b" else x != 0),
    "neg": ops.negative,
    "real": ops.real,
    "relu": relu,
    "sign": ops.sign,
    "square": ops.square,
    "trunc": ops.trunc,
}
UNARY: dict[str, Callable[[Tensor], Tensor]] = {
    **{name: _unary(op, True) for name, op in _REAL_RESULTS.items()},
    **{name: _unary(op, False) for name, op in _SAME_TYPE.items()},
}


def round(self: Tensor, decimals: Any = 0) -> Tensor:
    """To the nearest number with some decimals; halves go to the even neighbour."""
    factor = 10.0 ** whole(decimals, "decimals")
    return ops.round(self) if factor == 1 else ops.round(self * factor) / factor


# --- two operands ---


def _binary(op: Callable[[Any, Any], Any], floats: bool = False) -> Callable[[Any, Any], Tensor]:
    def function(self: Any, other: Any) -> Tensor:
        x, y = promoted(self, other)
        if floats:
            x, y = (floating(v) if isinstance(v, Tensor) else v for v in (x, y))
        result: Tensor = op(x, y)
        return result

    return function


def _logical(op: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Tensor]:
    return _binary(lambda x, y: op(*(v if v.dtype.kind == "b" else v != 0 for v in _both(x, y))))


def _both(x: Any, y: Any) -> tuple[Any, Any]:
    return tuple(v if isinstance(v, Tensor) else np.asarray(v) for v in (x, y))  # type: ignore[return-value]


BINARY: dict[str, Callable[[Any, Any], Tensor]] = {
    "atan2": _binary(ops.atan2, floats=True),
    "bitwise_and": _binary(ops.bitwise_and),
    "bitwise_or": _binary(ops.bitwise_or),
    "bitwise_xor": _binary(ops.bitwise_xor),
    "copysign": _binary(ops.copysign, floats=True),
    "div": _binary(ops.divide, floats=True),
    "eq": _binary(ops.equal),
    "floor_divide": _binary(ops.floor_divide),
    "fmax": _binary(ops.fmax),
    "fmin": _binary(ops.fmin),
    "fmod": _binary(ops.fmod),
    "ge": _binary(ops.greater_equal),
    "gt": _binary(ops.greater),
    "heaviside": _binary(lambda x, y: ops.where(x == 0, y, ops.astype(x > 0, x.dtype))),
    "hypot": _binary(ops.hypot, floats=True),
    "le": _binary(ops.less_equal),
    "logaddexp": _binary(ops.logaddexp, floats=True),
    "logaddexp2": _binary(ops.logaddexp2, floats=True),
    "logical_and": _logical(ops.logical_and),
    "logical_or": _logical(ops.logical_or),
    "logical_xor": _logical(ops.logical_xor),
    "lt": _binary(ops.less),
    "maximum": _binary(ops.maximum),
    "minimum": _binary(ops.minimum),
    "mul": _binary(ops.multiply),
    "ne": _binary(ops.not_equal),
    "pow": _binary(ops.pow),
    "remainder": _binary(ops.remainder),
    "xlogy": _binary(entropies.xlogy, floats=True),
}
_added, _subtracted = _binary(ops.add), _binary(ops.subtract)


def add(self: Any, other: Any, alpha: Any = 1) -> Tensor:
    """The sum, with `other` taken `alpha` times."""
    return _added(self, other if alpha == 1 else BINARY["mul"](other, alpha))


def sub(self: Any, other: Any, alpha: Any = 1) -> Tensor:
    """The difference, with `other` taken `alpha` times."""
    return _subtracted(self, other if alpha == 1 else BINARY["mul"](other, alpha))


def where(condition: Tensor, self: Any, other: Any) -> Tensor:
    """Elements of `self` where the condition holds, of `other` elsewhere."""
    result: Tensor = ops.where(condition, *promoted(self, other))
    return result


def clamp(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Elements below `min` or above `max` become these."""
    return ops.clip(self, min, max)


def lerp(self: Tensor, end: Any, weight: Any) -> Tensor:
    """The point between `self` and `end` that a weight says."""
    return add(self, BINARY["mul"](sub(end, self), weight))
