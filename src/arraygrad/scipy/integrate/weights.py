"""Integrals with the weights of QUADPACK whose points are not those of an ordinary integral.

Powers of the distances from both ends may be infinite there. Cauchy's weight 1 / (x - c) has a
pole in the range. Waves on an infinite range are summed half period by half period; the means of
the last partial sums, taken again and again, are the limit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import ops
from ...core.array import AnyFunction
from ..field import Field
from ..formula import const
from .rules import Rule, distances

_POINTS = 60  # of Gauss's rule on each side of a pole
_WAVES = 30, 60  # how many half periods are summed, and then how many more are averaged


def with_powers(function: AnyFunction, a: Any, b: Any, weight: str, powers: Any) -> tuple[Any, Any]:
    """The integral of a function with the weight ``(x - a)**powers[0] * (b - x)**powers[1]``.

    `weight` may add logarithms of the distances. The points are fixed parts of the range: they move
    with its ends, and their distances from these keep all digits. The sum is returned, and that of
    the absolute values of its terms.
    """
    near, w = distances()
    width = b - a
    points = ops.concat([a + width * near, b - width * near])
    close, far = width * near, width * (1 - near)
    from_a, from_b = ops.concat([close, far]), ops.concat([far, close])
    weights = width * np.append(w, w) * from_a ** powers[0] * from_b ** powers[1]
    if weight in ("alg-loga", "alg-log"):
        weights = weights * ops.log(from_a)
    if weight in ("alg-logb", "alg-log"):
        weights = weights * ops.log(from_b)
    return _summed(Field(function, const(points))((points,)) * weights)


def _summed(terms: Any) -> tuple[Any, Any]:
    """A sum, and the sum of absolute values."""
    return ops.sum(terms), ops.sum(ops.abs(const(terms)))


def principal_value(function: AnyFunction, a: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """Cauchy's principal value of the integral of ``function(x) / (x - c)`` from a to b.

    The value at the pole is subtracted from the function; what is left is smooth. The sum is
    returned, and that of the absolute values of its terms.
    """
    x, w = np.polynomial.legendre.leggauss(_POINTS)
    part, share = (x + 1) / 2, w / 2
    steps = ops.concat([(end - c) * part for end in (a, b)])
    weights = ops.concat([-(a - c) * share, (b - c) * share])
    points = c + steps
    values = Field(function, const(points))((points,))
    pole = c + 0 * steps[:1]
    at_pole = Field(function, const(pole))((pole,))
    rest = at_pole * ops.log(ops.abs((b - c) / (a - c)))
    return _summed(ops.concat([(values - at_pole) / steps * weights, rest]))


def waves(start: float, end: float, frequency: float) -> Rule:
    """Points and weights for waves from `start` to infinity, or from minus infinity to `end`."""
    x, w = np.polynomial.legendre.leggauss(16)
    half = math.pi / abs(frequency)
    first, more = _WAVES
    left = [math.comb(more, j) / 2.0**more for j in range(more + 1)]
    shares = np.append(np.ones(first), 1 - np.cumsum(left)[:-1])
    edges = half * np.arange(first + more)
    away = edges[:, None] + half * (x + 1) / 2
    weights = shares[:, None] * (half * w / 2)
    points = start + away if np.isinf(end) else end - away
    return points.ravel(), weights.ravel()
