"""The points and weights at which an integral is differentiated.

They are those of QUADPACK on its last subdivision of the range, where it is accurate. At singular
ends, where QUADPACK extrapolates, they are those of the double exponential rule. Both have a
rougher rule inside, on some of the points: the difference is an estimate of the error.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any, NamedTuple

import numpy as np

Rule = tuple[Any, Any]  # points, weights

_STEP = 1 / 96  # of the double exponential rule


class Nodes(NamedTuple):
    """Points and weights on some intervals: arrays of the shape (intervals, points).

    `rough` are the weights of the rougher rule, zero at the points that it does not have.
    """

    x: Any
    w: Any
    rough: Any


def errors(w: Any, rough: Any, terms: Any) -> tuple[Any, Any]:
    """The estimated errors on each interval, and the sums of absolute values, as QUADPACK has them.

    The terms have the shape (..., intervals, points, components).
    """
    w, rough = w[..., None], rough[..., None]
    fine = np.sum(w * terms, axis=-2, keepdims=True)
    apart = np.abs(fine - np.sum(rough * terms, axis=-2, keepdims=True))[..., 0, :]
    size = np.sum(np.abs(w), axis=-2, keepdims=True)
    mean = fine / np.where(size == 0, 1.0, size)
    spread = np.sum(np.abs(w) * np.abs(terms - mean), axis=-2)
    with np.errstate(all="ignore"):
        error = np.where(spread > 0, spread * np.minimum(1, (200 * apart / spread) ** 1.5), apart)
    return error, np.sum(np.abs(w * terms), axis=-2)


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


@functools.cache
def _both(n: int) -> tuple[Any, Any, Any]:
    """Kronrod's points and weights, and Gauss's weights at every other point."""
    x, w = gauss_kronrod(n)
    rough = np.zeros_like(w)
    rough[1::2] = np.polynomial.legendre.leggauss(n)[1]
    return x, w, rough


def on_intervals(ends: tuple[float, float], edges: Any) -> Nodes:
    """QUADPACK's rule on each interval of a subdivision, an array of the shape (intervals, 2).

    Of an infinite range, they are those of t with x = start ± (1 - t) / t.
    """
    a, b = ends
    sign = 1.0 if a <= b else -1.0
    is_finite = np.isfinite(a) and np.isfinite(b)
    x, w, rough = _both(10 if is_finite else 7)
    middle, half = edges.mean(1)[:, None], (edges[:, 1] - edges[:, 0])[:, None] / 2
    t, weights = middle + half * x, (sign * half * w, sign * half * rough)
    if is_finite:
        return Nodes(t, *weights)
    away = (1 - t) / t
    weights = weights[0] / t**2, weights[1] / t**2
    if np.isinf(a) and np.isinf(b):
        return Nodes(np.concatenate([away, -away]), *(np.concatenate([v, v]) for v in weights))
    start = b if np.isinf(a) else a
    return Nodes(start + (away if np.inf in (a, b) else -away), *weights)


def near_ends(ends: tuple[float, float], breaks: Any) -> Nodes:
    """The double exponential rule, between points given by the user, as one interval."""
    a, b = sorted(ends)
    parts = [double_exponential(*pair) for pair in itertools.pairwise([a, *np.sort(breaks), b])]
    sign = 1.0 if ends[0] <= ends[1] else -1.0
    x, w, rough = (np.concatenate(column)[None] for column in zip(*parts, strict=True))
    return Nodes(x, sign * w, sign * rough)


@functools.cache
def distances() -> Rule:
    """The distances from the nearer end of the points of the double exponential rule on (0, 1).

    They are those in one half. Close to the end, they keep all digits.
    """
    u = _STEP * (np.arange(384) + 0.5)
    near = 1 / (1 + np.exp(np.pi * np.sinh(u)))
    return near, _STEP * np.pi * np.cosh(u) * near * (1 - near)


def double_exponential(a: float, b: float) -> tuple[Any, Any, Any]:
    """Points that come close to the ends, either of which can be infinite; weights of two rules."""
    number = np.arange(-384, 385)
    u = _STEP * number
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
    return x[inside], w[inside], np.where(number % 2, 0.0, 2 * w)[inside]
