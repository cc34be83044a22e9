"""The points and weights at which an integral is differentiated.

They are those of QUADPACK on its last subdivision of the range, where it is accurate. At singular
ends, where QUADPACK extrapolates, they are those of the double exponential rule.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

Rule = tuple[Any, Any]  # points, weights

_STEP = 1 / 96  # of the double exponential rule


@functools.cache
def gauss_kronrod(n: int) -> Rule:
    """The rule with 2n + 1 points that has the n points of Gauss's rule among its own, on (-1, 1).

    The other points are the zeros of Stieltjes' polynomial, which is orthogonal to all polynomials
    of degree n, with the Legendre polynomial of degree n as weight.
    """
    from numpy.polynomial import legendre

    x, w = legendre.leggauss(2 * n + 2)
    weight = w * legendre.legval(x, np.eye(n + 1)[n])
    basis = np.stack([legendre.legval(x, np.eye(n + 2)[k]) for k in range(n + 2)])
    matrix = (basis * weight) @ basis.T  # of products with Legendre polynomials
    rest = np.linalg.lstsq(matrix[: n + 1, : n + 1], -matrix[: n + 1, n + 1], rcond=None)[0]
    coefficients = np.append(rest, 1.0)
    zeros = np.real(legendre.legroots(coefficients))
    for _ in range(2):  # the roots are eigenvalues: polish them
        slope = legendre.legval(zeros, legendre.legder(coefficients))
        zeros = zeros - legendre.legval(zeros, coefficients) / slope
    points = np.sort(np.concatenate([legendre.leggauss(n)[0], zeros]))
    degrees = np.eye(2 * n + 1)
    vandermonde = np.stack([legendre.legval(points, e) for e in degrees])
    weights = np.linalg.solve(vandermonde, 2 * degrees[0])
    return points, weights


def on_intervals(rule: Rule, edges: Any) -> Rule:
    """A rule on each of some intervals, an array of the shape (intervals, 2)."""
    x, w = rule
    middle, half = edges.mean(1)[:, None], (edges[:, 1] - edges[:, 0])[:, None] / 2
    return (middle + half * x).ravel(), (half * w).ravel()


def on_half_line(rule: Rule, start: float, direction: float) -> Rule:
    """From a rule on (0, 1) to one from `start` to infinity: x = start ± (1 - t) / t."""
    t, w = rule
    return start + direction * (1 - t) / t, w / t**2


@functools.cache
def distances() -> Rule:
    """The distances from the nearer end of the points of the double exponential rule on (0, 1).

    They are those in one half. Close to the end, they keep all digits.
    """
    u = _STEP * (np.arange(384) + 0.5)
    near = 1 / (1 + np.exp(np.pi * np.sinh(u)))
    return near, _STEP * np.pi * np.cosh(u) * near * (1 - near)


def double_exponential(a: float, b: float) -> Rule:
    """Points that come close to the ends; either end can be infinite."""
    u = _STEP * np.arange(-384, 385)
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isinf(a) and np.isinf(b):
            x = np.sinh(np.pi / 2 * np.sinh(u))
            w = _STEP * np.pi / 2 * np.cosh(u) * np.cosh(np.pi / 2 * np.sinh(u))
        elif np.isinf(a) or np.isinf(b):
            away = np.exp(np.pi / 2 * np.sinh(u))
            x = a + away if np.isinf(b) else b - away
            w = _STEP * np.pi / 2 * np.cosh(u) * away
        else:
            # The distance from the nearer end, which keeps its digits.
            near = (b - a) / (1 + np.exp(np.pi * np.abs(np.sinh(u))))
            x = np.where(u < 0, a + near, b - near)
            w = _STEP * (b - a) / 2 * np.pi / 2 * np.cosh(u) / np.cosh(np.pi / 2 * np.sinh(u)) ** 2
    inside = np.isfinite(x) & np.isfinite(w) & (x != a) & (x != b) & (w != 0) & (np.abs(x) < 1e150)
    return x[inside], w[inside]
