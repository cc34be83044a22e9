"""Derivatives of the incomplete gamma and beta functions by their parameters, of any order.

Both functions are integrals of a density that is known in closed form, so their derivatives are
integrals of the derivatives of the density. The integration runs over the logarithm of ``t`` (for
beta, of ``t / (1 - t)``), where the density has one smooth peak. It runs from `x` away from the
peak, to where the density has fallen by a factor of 1e-17, by a Gauss rule. The integral of a
derivative over all ``t`` is zero, so the side of `x` away from the peak is always enough.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np

from ...backends import backend_of
from ...backends.special import kernel
from ...core.kinds import Elementwise
from ..define.library import declare
from ..elementwise import exp, greater, less, log, log1p, logical_and, where
from .gamma import digamma, gammaln, polygamma

_FALL = 39.0  # in units of the logarithm


@functools.cache
def _rule() -> tuple[Any, Any]:
    """Nodes and weights on (0, 1), denser at the beginning."""
    nodes, weights = np.polynomial.legendre.leggauss(28)
    ends = (0.0, 3e-4, 3e-3, 0.03, 0.2, 1.0)
    pieces = [(a, b - a) for a, b in itertools.pairwise(ends)]
    return (
        np.concatenate([a + (nodes + 1) * (0.5 * length) for a, length in pieces]),
        np.concatenate([weights * (0.5 * length) for _, length in pieces]),
    )


def _rule_like(xp: Any, y: Any) -> list[Any]:
    """Nodes and weights as arrays like `y`."""
    return [xp.asarray(v, dtype=y.dtype, device=backend_of(y).device(y)) for v in _rule()]


def _derivatives(slopes: Any, i: int, j: int) -> Any:
    """The mixed derivative of exp(L) divided by exp(L): `slopes(i, j)` are derivatives of L."""
    if i == j == 0:
        return 1.0
    total = 0.0
    if i:  # Leibniz' rule for the derivative of L_a exp(L)
        for p in range(i):
            for q in range(j + 1):
                factor = math.comb(i - 1, p) * math.comb(j, q)
                total = total + factor * slopes(i - p, j - q) * _derivatives(slopes, p, q)
        return total
    for q in range(j):
        total = total + math.comb(j - 1, q) * slopes(0, j - q) * _derivatives(slopes, 0, q)
    return total


def _arrays(xp: Any, *values: Any) -> list[Any]:
    """The arguments as arrays of floating-point numbers of one shape; some may be numbers."""
    like = next(v for v in values if hasattr(v, "dtype"))
    made = [v * 1.0 if hasattr(v, "dtype") else xp.zeros_like(like * 1.0) + v for v in values]
    return list(xp.broadcast_arrays(*made))


# --- the gamma distribution ----------------------------------------------------------------------


def _gamma_slope_of(xp: Any, a: Any, x: Any, n: int) -> Any:
    a, x = _arrays(xp, a, x)
    inside = (x > 0) & xp.isfinite(x) & (a > 0)
    a, y = xp.where(inside, a, xp.ones_like(a)), xp.where(inside, x, xp.ones_like(x))
    below = y < a
    # How far to go, by Newton's method from beyond: down by a d - y (1 - exp(-d)), up by
    # y (exp(d) - 1) - a d.
    down = (_FALL + xp.sqrt(_FALL * (_FALL + 8 * a))) / (2 * a)
    low, high = xp.where(below, y, 0.5 * a), xp.where(below, 2 * a, y)
    up = xp.where(high < 100, xp.log1p(200 / high), xp.sqrt(80 / high))
    for _ in range(8):
        e = xp.exp(-down)
        down = down - (a * down - low * (1 - e) - _FALL) / (a - low * e)
        e = xp.exp(up)
        up = up - (high * (e - 1) - a * up - _FALL) / (high * e - a)
    length = xp.where(below, -down, up)[..., None]
    nodes, weights = _rule_like(xp, y)
    s = xp.log(y)[..., None] + length * nodes
    density = xp.exp(a[..., None] * s - xp.exp(s) - kernel(xp, "gammaln")(a)[..., None])
    digammas = [_digamma_of(xp, k, a)[..., None] for k in range(n)]
    factor = _derivatives(lambda i, _: s - digammas[0] if i == 1 else -digammas[i - 1], n, 0)
    # Going down, the integral is that of the lower side; going up, minus that of the upper side.
    total = -xp.sum(density * factor * weights, axis=-1) * length[..., 0]
    return xp.where(inside, total, xp.where(xp.isnan(x + a), x + a, xp.zeros_like(x)))


def _digamma_of(xp: Any, k: int, a: Any) -> Any:
    """The derivative of order `k` of digamma, by zeta: PyTorch's polygamma has fewer digits."""
    if not k:
        return kernel(xp, "digamma")(a)
    return kernel(xp, "zeta")(k + 1.0 + 0 * a, a) * ((-1) ** (k + 1) * math.factorial(k))


def _gamma_density_slope(a: Any, x: Any, n: int) -> Any:
    """The derivative of order `n` by `a` of the density of the gamma distribution."""
    inside = greater(x, 0)
    size = log(where(inside, x, 1))
    digammas = [_digammas(k, a) for k in range(n)]
    factor = _derivatives(lambda i, _: size - digammas[0] if i == 1 else -digammas[i - 1], n, 0)
    return where(inside, exp(size * (a - 1) - x - gammaln(a)) * factor, 0)


def _digammas(k: int, a: Any) -> Any:
    return polygamma(k, a) if k else digamma(a)


gammainc_slope = declare(
    "gammainc_slope",
    "a",
    "x",
    compute=_gamma_slope_of,
    vjp_a=lambda g, a, x, n: g * gammainc_slope(a, x, n=n + 1),
    vjp_x=lambda g, a, x, n: g * _gamma_density_slope(_like(a, x), x, n),
    kind=Elementwise(),
)


def _like(a: Any, x: Any) -> Any:
    """A parameter that may be a number, as an array."""
    return a if hasattr(a, "dtype") else where(less(x, x), x, a)


# --- the beta distribution -----------------------------------------------------------------------


def _beta_slope_of(xp: Any, a: Any, b: Any, x: Any, m: int, n: int) -> Any:
    a, b, x = _arrays(xp, a, b, x)
    inside = (x > 0) & (x < 1) & (a > 0) & (b > 0)
    one = xp.ones_like(x)
    a, b, y = xp.where(inside, a, one), xp.where(inside, b, one), xp.where(inside, x, 0.5 * one)
    below = y * (a + b) < a
    start = xp.log(y) - xp.log1p(-y)
    # Above the peak, the sides change their roles. So always go down from `from_`.
    from_ = xp.where(below, start, -start)
    left, right = xp.where(below, a, b), xp.where(below, b, a)

    def height(s: Any) -> Any:
        e = xp.log1p(xp.exp(-xp.abs(s)))
        return -left * (e + xp.maximum(-s, 0 * s)) - right * (e + xp.maximum(s, 0 * s))

    top = height(from_)
    length = _FALL / left + 9 * xp.sqrt(1 / left + 1 / right)
    for _ in range(10):
        s = from_ - length
        t = 0.5 + 0.5 * xp.tanh(0.5 * s)
        length = length + (height(s) - top + _FALL) / (left * (1 - t) - right * t)
    nodes, weights = _rule_like(xp, y)
    length, left, right = length[..., None], left[..., None], right[..., None]
    s = from_[..., None] - length * nodes
    gammaln = kernel(xp, "gammaln")
    density = xp.exp(height(s) + (gammaln(a + b) - gammaln(a) - gammaln(b))[..., None])
    e = xp.log1p(xp.exp(-xp.abs(s)))
    logs = -(e + xp.maximum(-s, 0 * s)), -(e + xp.maximum(s, 0 * s))
    log_t = xp.where(below[..., None], logs[0], logs[1])
    log_rest = xp.where(below[..., None], logs[1], logs[0])

    def slopes(p: int, q: int) -> Any:
        out = _digamma_of(xp, p + q - 1, a + b)[..., None]
        if not q:
            out = out - _digamma_of(xp, p - 1, a)[..., None]
        if not p:
            out = out - _digamma_of(xp, q - 1, b)[..., None]
        if p + q == 1:
            out = out + (log_t if p else log_rest)
        return out

    total = xp.sum(density * _derivatives(slopes, m, n) * weights, axis=-1) * length[..., 0]
    total = xp.where(below, total, -total)
    return xp.where(inside, total, xp.where(xp.isnan(x + a + b), x + a + b, xp.zeros_like(x)))


def _beta_density_slope(a: Any, b: Any, x: Any, m: int, n: int) -> Any:
    """The derivative of orders `m` and `n` by `a` and `b` of the density of beta."""
    inside = logical_and(greater(x, 0), less(x, 1))
    y = where(inside, x, 0.5)
    log_t, log_rest = log(y), log1p(-y)

    def slopes(p: int, q: int) -> Any:
        out = _digammas(p + q - 1, a + b)
        if not q:
            out = out - _digammas(p - 1, a)
        if not p:
            out = out - _digammas(q - 1, b)
        if p + q == 1:
            out = out + (log_t if p else log_rest)
        return out

    size = log_t * (a - 1) + log_rest * (b - 1) + gammaln(a + b) - gammaln(a) - gammaln(b)
    return where(inside, exp(size) * _derivatives(slopes, m, n), 0)


betainc_slope = declare(
    "betainc_slope",
    "a",
    "b",
    "x",
    compute=_beta_slope_of,
    vjp_a=lambda g, a, b, x, m, n: g * betainc_slope(a, b, x, m=m + 1, n=n),
    vjp_b=lambda g, a, b, x, m, n: g * betainc_slope(a, b, x, m=m, n=n + 1),
    vjp_x=lambda g, a, b, x, m, n: g * _beta_density_slope(_like(a, x), _like(b, x), x, m, n),
    kind=Elementwise(),
)
