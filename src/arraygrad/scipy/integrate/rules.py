"""The points and weights at which an integral is differentiated.

They are those of QUADPACK on its last subdivision of the range, where it is accurate. At singular
ends, where QUADPACK extrapolates, they are those of the double exponential rule. Both have other
rules inside, on some of the points: the differences are an estimate of the error.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any, NamedTuple

import numpy as np

_STEP = 1 / 64  # of the double exponential rule
_END = 1e-8  # how far from the ends of an interval its last points are
_NOTHING = 1e-12  # an error that is no larger part of an integral, whatever its tolerance
WAVES = 30, 60  # how many half periods are summed, and then how many more are averaged


class Nodes(NamedTuple):
    """Points and weights on some intervals: arrays of the shape (intervals, points).

    `others` are the weights of other rules, with one more axis for the rules. At the last `checks`
    points of an interval, `w` is zero: only the other rules have them.
    """

    x: Any
    w: Any
    others: Any
    checks: int


def errors(w: Any, others: Any, terms: Any) -> tuple[Any, Any]:
    """The estimated errors on each interval, and the sums of absolute values, as QUADPACK has them.

    The terms have the shape (..., intervals, points, components).
    """
    w = w[..., None]
    if not np.isfinite(terms).all():
        # Where only other rules look, the terms may be infinite: then these rules say nothing.
        lost = ~np.isfinite(terms) & (w == 0)
        terms = np.where(lost, 0.0, terms)
        seen = (lost.any(-1)[..., None] & (others != 0)).any(-2, keepdims=True)
        others = np.where(seen, w, others)
    weighted, size = w * terms, np.abs(w)
    fine = weighted.sum(-2, keepdims=True)
    apart = np.abs(fine - others.swapaxes(-1, -2) @ terms).max(-2)
    sizes = np.abs(weighted).sum(-2)
    if (200 * apart <= _NOTHING * sizes).all():
        return 200 * apart, sizes  # as much as the estimate below can be
    total = size.sum(-2, keepdims=True)
    spread = (size * np.abs(terms - fine / np.where(total == 0, 1.0, total))).sum(-2)
    with np.errstate(all="ignore"):
        known = spread * np.minimum(1, (200 * apart / spread) ** 1.5)
    return np.where(spread > apart, known, apart), sizes


@functools.cache
def gauss_kronrod(n: int) -> tuple[Any, Any]:
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
def _with_others(n: int) -> tuple[Any, Any, Any]:
    """Kronrod's points, two more points at the ends, Kronrod's weights, and those of other rules.

    One of the others is Gauss's rule. The other two see what is between the last of Kronrod's
    points and an end, such as a kink: there, they take the value at the end in the place of the
    polynomial through Kronrod's points.
    """
    x, w = gauss_kronrod(n)
    ends = np.array([_END - 1, 1 - _END])
    others = np.zeros((len(x) + 2, 3))
    others[1:-2:2, 0] = np.polynomial.legendre.leggauss(n)[1]
    apart = x[:, None] - x + np.eye(len(x))
    for k, end in enumerate(ends):
        left = np.where(np.eye(len(x), dtype=bool), 1.0, end - x)
        others[:-2, k + 1] = w - (1 + x[0]) * np.prod(left / apart, axis=1)
        others[len(x) + k, k + 1] = 1 + x[0]
    return np.append(x, ends), np.append(w, [0.0, 0.0]), others


def on_intervals(ends: tuple[float, float], edges: Any) -> Nodes:
    """QUADPACK's rule on each interval of a subdivision, an array of the shape (intervals, 2).

    Of an infinite range, they are those of t with x = start ± (1 - t) / t.
    """
    a, b = ends
    sign = 1.0 if a <= b else -1.0
    is_finite = np.isfinite(a) and np.isfinite(b)
    x, w, others = _with_others(10 if is_finite else 7)
    low, high = edges[:, :1], edges[:, 1:]
    middle, half = (low + high) / 2, (high - low) / 2
    t, width = middle + half * x, sign * half
    if is_finite:
        return Nodes(t, width * w, width[..., None] * others, 2)
    away, width = (1 - t) / t, width / t**2
    w, others = width * w, width[..., None] * others
    if np.isinf(a) and np.isinf(b):
        w, others = (np.concatenate([v, v]) for v in (w, others))
        return Nodes(np.concatenate([away, -away]), w, others, 2)
    start = b if np.isinf(a) else a
    return Nodes(start + (away if np.inf in (a, b) else -away), w, others, 2)


def on_waves(ends: tuple[float, float], frequency: float, edges: Any) -> Nodes:
    """The rule for waves to infinity, on a subdivision of the distances from the finite end.

    The means of the last partial sums, taken again and again, are the limit: so half a period has
    a share in the sum.
    """
    first, more = WAVES
    left = [math.comb(more, j) / 2.0**more for j in range(more + 1)]
    shares = np.append(np.ones(first), 1 - np.cumsum(left)[:-1])
    away, w, others, checks = on_intervals((0.0, 1.0), edges)
    share = shares[(edges.mean(1) * abs(frequency) / math.pi).astype(int)][:, None]
    a, b = ends
    x = a + away if np.isinf(b) else b - away
    return Nodes(x, share * w, share[..., None] * others, checks)


def half_periods(frequency: float) -> Any:
    """The first subdivision for `on_waves`."""
    edges = math.pi / abs(frequency) * np.arange(sum(WAVES) + 1)
    return np.stack([edges[:-1], edges[1:]], axis=1)


def near_ends(ends: tuple[float, float], breaks: Any) -> Nodes:
    """The double exponential rule, between points given by the user, as one interval."""
    a, b = sorted(ends)
    parts = [double_exponential(*pair) for pair in itertools.pairwise([a, *np.sort(breaks), b])]
    sign = 1.0 if ends[0] <= ends[1] else -1.0
    x, w, rough = (np.concatenate(column)[None] for column in zip(*parts, strict=True))
    return Nodes(x, sign * w, sign * rough[..., None], 0)


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
