"""Elementwise functions of NumPy that are not in the standard.

Elementwise functions of the standard are in `elementwise`.
"""

from __future__ import annotations

import math
from typing import Any

from ..backends import backend_of
from ..core.kinds import Elementwise
from .define.library import binary, unary
from .define.signatures import one_array, two_arrays
from .elementwise import (
    equal,
    greater,
    is_complex,
    isinf,
    isnan,
    logaddexp,
    logical_and,
    multiply,
    trunc,
    where,
)

__all__ = [
    "cbrt", "deg2rad", "fmax", "fmin", "fmod", "heaviside", "logaddexp2", "nan_to_num",
    "rad2deg",
]  # fmt: skip

cbrt = unary(
    "cbrt",
    vjp=lambda g, out: g / (3 * out * out),
    compute=lambda xp, x: xp.cbrt(x) if hasattr(xp, "cbrt") else xp.sign(x) * xp.abs(x) ** (1 / 3),
    doc="The cube root. The derivative at zero is infinite.",
)


def _fmod(xp: Any, x: Any, y: Any) -> Any:
    if hasattr(xp, "fmod"):
        return xp.fmod(x, y)
    rest = xp.remainder(abs(x), abs(y))  # exact, also where the quotient is large
    return xp.where(x < 0, -rest, rest)


fmod = binary(
    "fmod",
    vjp_x=lambda g: g,
    vjp_y=lambda g, x, y: -g * trunc(x / y),
    kind=Elementwise(wraps=True),
    compute=_fmod,
    doc="The remainder of `x` divided by `y`, with the sign of `x`. The slope by `x` is one "
    "everywhere, also where the remainder jumps.",
)


@one_array
def deg2rad(x: Any, /) -> Any:
    """Degrees as radians.

    >>> ag.deg2rad(ag.tensor([0.0, 180.0]))
    tensor([0.        , 3.14159265])
    """
    return multiply(x, math.pi / 180)


@one_array
def rad2deg(x: Any, /) -> Any:
    """Radians as degrees.

    >>> ag.rad2deg(ag.tensor([0.0, ag.pi]))
    tensor([  0., 180.])
    """
    return multiply(x, 180 / math.pi)


@two_arrays
def fmax(x: Any, y: Any, /) -> Any:
    """The larger of two elements, or the one that is not NaN.

    If both are equal, the first gets the gradient.

    >>> x, y = ag.tensor(1.0, requires_grad=True), ag.tensor(1.0, requires_grad=True)
    >>> ag.grad(ag.fmax(x, y), [x, y])
    (tensor(1.), tensor(0.))
    """
    return where(_first(greater(x, y), x, y), x, y)


@two_arrays
def fmin(x: Any, y: Any, /) -> Any:
    """The smaller of two elements, or the one that is not NaN.

    If both are equal, the first gets the gradient.

    >>> ag.fmin(ag.tensor([1.0, ag.nan]), ag.tensor([2.0, 3.0]))
    tensor([1., 3.])
    """
    return where(_first(greater(y, x), x, y), x, y)


def _first(better: Any, x: Any, y: Any) -> Any:
    missing = isnan(y) if hasattr(y, "dtype") else math.isnan(y)
    return better | equal(x, y) | missing


@two_arrays
def heaviside(x: Any, h: Any, /) -> Any:
    """The step function: 0 below zero, `h` at zero, 1 above. The derivative by `x` is zero.

    >>> ag.heaviside(ag.tensor([-1.0, 0.0, 2.0]), 0.5)
    tensor([0. , 0.5, 1. ])
    """
    step = where(greater(x, 0), 1.0, where(isnan(x), x, 0.0))
    return where(equal(x, 0), h, step)


@two_arrays
def logaddexp2(x: Any, y: Any, /) -> Any:
    """The logarithm to base 2 of ``2**x + 2**y``.

    >>> ag.logaddexp2(ag.tensor([3.0]), ag.tensor([3.0]))
    tensor([4.])
    """
    return logaddexp(x * math.log(2), y * math.log(2)) / math.log(2)


@one_array
def nan_to_num(x: Any, /, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Replace NaN and infinities by numbers: by default, NaN by zero, infinities by the limits.

    The gradient is zero at the replaced elements.

    >>> x = ag.tensor([1.0, ag.nan], requires_grad=True)
    >>> ag.grad(ag.nan_to_num(x).sum(), x)
    tensor([1., 0.])
    """
    if is_complex(x):
        raise TypeError("nan_to_num is for real numbers: take real() and imag() apart")
    if backend_of(x).kind(x.dtype) != "f":
        return x
    limits = backend_of(x).xp.finfo(x.dtype)
    x = where(isnan(x), nan, x)
    infinite = isinf(x)
    x = where(logical_and(infinite, greater(x, 0)), _or(posinf, float(limits.max)), x)
    return where(logical_and(infinite, greater(0, x)), _or(neginf, float(limits.min)), x)


def _or(value: Any, default: float) -> Any:
    return default if value is None else value
