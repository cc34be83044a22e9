"""Integrals with the weights of QUADPACK whose points are not those of an ordinary integral.

Cauchy's weight 1 / (x - c) has a pole in the range. Waves on an infinite range are summed half
period by half period; the means of the last partial sums, taken again and again, are the limit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import ops
from ...core.array import AnyFunction
from ..field import Field
from ..formula import const
from .rules import Rule

_POINTS = 60  # of Gauss's rule on each side of a pole
_WAVES = 30, 60  # how many half periods are summed, and then how many more are averaged


def principal_value(function: AnyFunction, a: Any, b: Any, c: Any) -> Any:
    """Cauchy's principal value of the integral of ``function(x) / (x - c)`` from a to b.

    The value at the pole is subtracted from the function; what is left is smooth.
    """
    x, w = np.polynomial.legendre.leggauss(_POINTS)
    part, share = (x + 1) / 2, w / 2
    steps = ops.concat([(end - c) * part for end in (a, b)])
    weights = ops.concat([-(a - c) * share, (b - c) * share])
    points = c + steps
    values = Field(function, const(points))((points,))
    pole = c + 0 * steps[:1]
    at_pole = Field(function, const(pole))((pole,))
    smooth = ops.sum((values - at_pole) / steps * weights)
    return smooth + at_pole[0] * ops.log(ops.abs((b - c) / (a - c)))


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
