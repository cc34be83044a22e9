"""Carlson's symmetric elliptic integrals, by all their arguments.

SciPy computes the values. The derivatives, of every order, are those of the integrals over t from
zero to infinity, summed at points t whose logarithms are almost equally spaced from the smallest
argument to the largest, and far apart beyond.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.array import plain
from ...func import stop_gradient
from ...ops import (
    abs,
    expand_dims,
    is_complex,
    less,
    logical_or,
    max,
    min,
    real,
    sqrt,
    stack,
    where,
)
from ...ops import sum as _sum
from ..twins import array_like
from .declaring import by_formula

__all__ = ["elliprc", "elliprd", "elliprf", "elliprg", "elliprj"]

_STEP, _FLAT = 0.4, 35.0
_u = np.arange(-170, 171) * _STEP
_POINTS = np.exp(_FLAT * np.sinh(_u / _FLAT))
_WEIGHTS = _STEP * np.cosh(_u / _FLAT) * _POINTS
_MOST = 1e30  # how many times the smallest argument the largest may be


def _refuse_left(arguments: Iterable[Any]) -> None:
    """Complex numbers left of zero bring poles close to the way of t: then sums are not exact."""
    for x in arguments:
        if is_complex(x) and (np.real(np.asarray(plain(x))) < 0).any():
            raise NotImplementedError(
                "Carlson's integrals have no derivative here for complex numbers with a negative "
                "real part: detach() the arguments if they are meant as constants"
            )


def _integral(integrand: Any, *arguments: Any, has_pole: bool = False) -> Any:
    """The integral of a function of t plus each argument, and of t.

    `has_pole` says that it is infinite where the last argument is zero.
    """
    _refuse_left(arguments)
    zeros = np.zeros(np.broadcast_shapes(*map(np.shape, arguments)))
    sizes = stop_gradient(stack([abs(x) + zeros for x in arguments]))
    largest = max(sizes, axis=0)
    smallest = min(where(sizes == 0, largest, sizes), axis=0)
    middle = expand_dims(sqrt(smallest) * sqrt(largest), axis=-1)
    middle = where(middle > 0, middle, 1.0)
    t = middle * _POINTS
    found = _sum(
        integrand(*(expand_dims(x + zeros, axis=-1) + t for x in arguments), t)
        * (middle * _WEIGHTS),
        axis=-1,
    )
    is_lost = smallest * _MOST < largest
    if has_pole:
        is_lost = logical_or(is_lost, sizes[-1] == 0)
    return found * where(is_lost, math.nan, 1.0)


@by_formula("elliprf")
def elliprf(x: Any, y: Any, z: Any) -> Any:
    """The integral of the first kind."""
    return _integral(lambda p, q, r, t: 0.5 / sqrt(p) / sqrt(q) / sqrt(r), x, y, z)


@by_formula("elliprd")
def elliprd(x: Any, y: Any, z: Any) -> Any:
    """The integral of the second kind."""
    return _integral(
        lambda p, q, r, t: 1.5 / sqrt(p) / sqrt(q) / (sqrt(r) * r), x, y, z, has_pole=True
    )


@by_formula("elliprg")
def elliprg(x: Any, y: Any, z: Any) -> Any:
    """The completely symmetric integral of the second kind."""

    def integrand(p: Any, q: Any, r: Any, t: Any) -> Any:
        own = (expand_dims(array_like(argument), axis=-1) for argument in (x, y, z))
        shares = sum(a / b for a, b in zip(own, (p, q, r), strict=True))
        return 0.25 * shares * t / sqrt(p) / sqrt(q) / sqrt(r)

    return _integral(integrand, x, y, z)


@by_formula("elliprc")
def elliprc(x: Any, y: Any) -> Any:
    """The degenerate integral; of negative `y`, the principal value."""
    _refuse_left((x, y))
    negative = less(real(y), 0)
    y = where(negative, -y, y)
    moved = where(negative, x + y, x)
    factor = sqrt(where(negative, x, 1.0)) / sqrt(where(negative, x + y, 1.0))
    return factor * _integral(lambda p, q, t: 0.5 / sqrt(p) / q, moved, y, has_pole=True)


@by_formula("elliprj")
def elliprj(x: Any, y: Any, z: Any, p: Any) -> Any:
    """The integral of the third kind."""
    if (np.real(np.asarray(plain(p))) < 0).any():
        raise NotImplementedError(
            "elliprj has no derivative here where p is negative and the integral a principal "
            "value: detach() the arguments if they are meant as constants"
        )
    return _integral(
        lambda a, b, c, d, t: 1.5 / sqrt(a) / sqrt(b) / sqrt(c) / d, x, y, z, p, has_pole=True
    )
