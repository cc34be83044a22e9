"""Integrals with the weights of QUADPACK that are infinite somewhere, as integrals from 0 to 1.

Powers of the distances from both ends may be infinite there. Cauchy's weight 1 / (x - c) has a pole
in the range. As a function of s from 0 to 1, the integrand is smooth, or singular at 0 alone, where
distances keep all digits. The points move with the ends of the range.
"""

from __future__ import annotations

from typing import Any

from ... import ops
from ...core.array import AnyFunction
from ..formula import const


def with_powers(function: AnyFunction, a: Any, b: Any, weight: str, powers: Any) -> AnyFunction:
    """For the integral with the weight ``(x - a)**powers[0] * (b - x)**powers[1]``.

    `weight` may add logarithms of the distances. Each s stands for two points, one from each end.
    """
    width = b - a
    scale = width ** (powers[0] + powers[1] + 1) / 2

    def integrand(s: Any) -> Any:
        total: Any = 0.0
        # The distances from a and from b as parts of the width: to their powers, they may be large.
        for x, from_a, from_b in (
            (a + width * s / 2, s / 2, 1 - s / 2),
            (b - width * s / 2, 1 - s / 2, s / 2),
        ):
            term = function(x) * from_a ** powers[0] * from_b ** powers[1]
            if weight in ("alg-loga", "alg-log"):
                term = term * (ops.log(width) + ops.log(from_a))
            if weight in ("alg-logb", "alg-log"):
                term = term * (ops.log(width) + ops.log(from_b))
            total = total + term
        return total * scale

    return integrand


def principal_value(function: AnyFunction, a: Any, b: Any, c: Any) -> AnyFunction:
    """For Cauchy's principal value of the integral of ``function(x) / (x - c)`` from a to b.

    Around the pole, up to the nearer end, the values on both sides are subtracted.
    """
    below, above = c - a, b - c
    near = ops.where(ops.abs(const(below)) < ops.abs(const(above)), below, above)

    def integrand(s: Any) -> Any:
        total = (function(c + near * s) - function(c - near * s)) / s
        for sign, far in ((1.0, above), (-1.0, below)):
            away = near + (far - near) * s
            total = total + sign * function(c + sign * away) * (far - near) / away
        return total

    return integrand
