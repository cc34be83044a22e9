"""Carlson's symmetric elliptic integrals, by all their arguments.

SciPy computes the values. The derivatives, of every order, are those of the integrals over t from
zero to infinity, summed at fixed points t = exp(π/2 sinh u).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.array import plain
from ...ops import expand_dims, is_complex, less, real, sqrt, where
from ...ops import sum as _sum
from .declaring import by_formula

__all__ = ["elliprc", "elliprd", "elliprf", "elliprg", "elliprj"]

_STEP = 1 / 16
_u = np.arange(-74, 75) * _STEP
_POINTS = np.exp(np.pi / 2 * np.sinh(_u))
_WEIGHTS = _STEP * np.pi / 2 * np.cosh(_u) * _POINTS


def _refuse_left(arguments: Iterable[Any]) -> None:
    """Complex numbers left of zero bring poles close to the way of t: then sums are not exact."""
    for x in arguments:
        if is_complex(x) and (np.real(np.asarray(plain(x))) < 0).any():
            raise NotImplementedError(
                "Carlson's integrals have no derivative here for complex numbers with a negative "
                "real part: detach() the arguments if they are meant as constants"
            )


def _integral(integrand: Any, *arguments: Any) -> Any:
    """The integral of a function of t and of t plus each argument."""
    _refuse_left(arguments)
    zeros = np.zeros(np.broadcast_shapes(*map(np.shape, arguments)))
    sums = [expand_dims(x + zeros, axis=-1) + _POINTS for x in arguments]
    return _sum(integrand(*sums) * _WEIGHTS, axis=-1)


@by_formula("elliprf")
def elliprf(x: Any, y: Any, z: Any) -> Any:
    """The integral of the first kind."""
    return _integral(lambda p, q, r: 0.5 / sqrt(p) / sqrt(q) / sqrt(r), x, y, z)


@by_formula("elliprd")
def elliprd(x: Any, y: Any, z: Any) -> Any:
    """The integral of the second kind."""
    return _integral(lambda p, q, r: 1.5 / sqrt(p) / sqrt(q) / (sqrt(r) * r), x, y, z)


@by_formula("elliprg")
def elliprg(x: Any, y: Any, z: Any) -> Any:
    """The completely symmetric integral of the second kind."""

    def integrand(p: Any, q: Any, r: Any) -> Any:
        shares = (p - _POINTS) / p + (q - _POINTS) / q + (r - _POINTS) / r
        return 0.25 * shares * _POINTS / sqrt(p) / sqrt(q) / sqrt(r)

    return _integral(integrand, x, y, z)


@by_formula("elliprc")
def elliprc(x: Any, y: Any) -> Any:
    """The degenerate integral; of negative `y`, the principal value."""
    _refuse_left((x, y))
    negative = less(real(y), 0)
    y = where(negative, -y, y)
    moved = where(negative, x + y, x)
    factor = sqrt(where(negative, x, 1.0)) / sqrt(where(negative, x + y, 1.0))
    return factor * _integral(lambda p, q: 0.5 / sqrt(p) / q, moved, y)


@by_formula("elliprj")
def elliprj(x: Any, y: Any, z: Any, p: Any) -> Any:
    """The integral of the third kind."""
    if (np.real(np.asarray(plain(p))) < 0).any():
        raise NotImplementedError(
            "elliprj has no derivative here where p is negative and the integral a principal "
            "value: detach() the arguments if they are meant as constants"
        )
    return _integral(lambda a, b, c, d: 1.5 / sqrt(a) / sqrt(b) / sqrt(c) / d, x, y, z, p)
