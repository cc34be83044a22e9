"""Gamma and beta functions, distribution functions made of them, and the inverses of these.

Distribution functions have derivatives by all continuous arguments, counts are constants. The
derivative of an inverse follows from that of the function: ``dx = (dy - F_a da) / F_x``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import special as ours
from ...core.array import AnyFunction, plain
from ...func import stop_gradient
from ...ops import (
    cos,
    equal,
    exp,
    floor,
    greater,
    isinf,
    less,
    less_equal,
    log,
    log1p,
    logical_and,
    logical_not,
    logical_or,
    minimum,
    real,
    sin,
    where,
)
from ...ops.elementwise import choose
from ...ops.special.gamma import digamma
from ...ops.special.incomplete import _beta_density, _gamma_density
from ...ops.special.parameters import betainc_slope, gammainc_slope
from ..twins import double, has_values, twin
from .declaring import SCIPY, by_formula, elementwise, special, whole

__all__ = [
    "bdtr",
    "bdtrc",
    "bdtri",
    "beta",
    "betainc",
    "betaincc",
    "betainccinv",
    "betaincinv",
    "binom",
    "chdtr",
    "chdtrc",
    "chdtri",
    "fdtr",
    "fdtrc",
    "fdtri",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
    "gdtr",
    "gdtrc",
    "loggamma",
    "multigammaln",
    "nbdtr",
    "nbdtrc",
    "pdtr",
    "pdtrc",
    "pdtri",
    "poch",
    "rgamma",
    "stdtr",
    "stdtrit",
]

# --- gamma and beta ------------------------------------------------------------------------------


def _is_pole(x: Any) -> Any:
    """Where the gamma function is infinite."""
    return logical_and(less_equal(x, 0), equal(floor(x), x))


def _by_gammas(over: Any, under: Any, signs: Any, out: Any) -> Any:
    """The derivative of a quotient of gamma functions, whose arguments move with given signs.

    Where one argument of the denominator is at a pole, the quotient is zero, but its derivative is
    that of one over this gamma function, times the others.
    """
    total: Any = 0.0
    for x, sign in zip((*over, *under), signs, strict=True):
        if sign:
            at = _is_pole(x)
            total = total + where(at, 0.0, digamma(where(at, 1.0, x))) * sign
    slope = out * total
    for i, x in enumerate(under):
        if signs[len(over) + i]:
            at = _is_pole(x)
            rest: Any = -signs[len(over) + i] * _rgamma_slope(where(at, x, 1.0), 1.0)
            for other in over:
                rest = rest * ours.gamma(where(at, other, 1.0))
            for j, other in enumerate(under):
                if j != i:
                    rest = rest * rgamma(where(at, other, 1.0))
            slope = where(at, rest + 0 * out, slope)  # not a number where the quotient is none
    return slope


def _past_poles(slope: AnyFunction, z: Any, end: Any, out: Any) -> Any:
    """A slope at `z`, or ``out`` times that of ``log(Γ(end) / Γ(z))`` where both have poles.

    There, `z` and `end` move together, and the quotient is a polynomial or its inverse.
    """
    at = logical_and(_is_pole(z), _is_pole(end))
    if has_values(at) and not plain(at).any():
        return slope(z)
    mirrored = digamma(where(at, 1 - end, 1.0)) - digamma(where(at, 1 - z, 1.0))
    return where(at, out * mirrored, slope(where(at, 1.0, z)))


beta = special(
    "beta",
    "a",
    "b",
    d_a=lambda a, b, out: _past_poles(
        lambda a: _by_gammas(_both(a, b), (a + b,), (1, 0, -1), out), a, a + b, -out
    ),
    d_b=lambda a, b, out: _past_poles(
        lambda b: _by_gammas(_both(a, b), (a + b,), (0, 1, -1), out), b, a + b, -out
    ),
)
loggamma = special("loggamma", "z", d_z=lambda z: digamma(z))


def _rgamma_slope(z: Any, out: Any) -> Any:
    """The derivative; left of one half by ``sin(πz) Γ(1 - z) / π``, which has no poles there."""
    left = less(real(z), 0.5)
    z, mirrored = where(left, 1.0, z), where(left, 1 - z, 1.0)
    size = ours.gamma(mirrored)
    turn = (1 - mirrored) * math.pi
    slope = size * (cos(turn) - sin(turn) * (1 / math.pi) * digamma(mirrored))
    return where(left, slope, where(left, 0.0, -out) * digamma(z))


rgamma = special("rgamma", "z", d_z=_rgamma_slope)
poch = special(
    "poch",
    "z",
    "m",
    d_z=lambda z, m, out: _past_poles(
        lambda z: _by_gammas((z + m,), (_array(z, m),), (1, -1), out), z, z + m, out
    ),
    d_m=lambda z, m, out: out * digamma(z + m),
)
binom = special(
    "binom",
    "n",
    "k",
    d_n=lambda n, k, out: _by_gammas(_top(n, k), _bottom(n, k), (1, 0, -1), out),
    d_k=lambda n, k, out: _by_gammas(_top(n, k), _bottom(n, k), (0, -1, 1), out),
)


def _top(n: Any, k: Any) -> Any:
    return (n + 1 + 0 * k,)


def _bottom(n: Any, k: Any) -> Any:
    return k + 1 + 0 * n, n - k + 1


def _both(a: Any, b: Any) -> Any:
    return _array(a, b), _array(b, a)


def _array(x: Any, like: Any) -> Any:
    """A number as an array of the shape of another argument."""
    return x if hasattr(x, "dtype") else x + 0 * like


@twin(SCIPY.multigammaln)
def multigammaln(a: Any, d: int) -> Any:
    """The logarithm of the multivariate gamma function."""
    a = double(a)
    total: Any = d * (d - 1) * 0.25 * math.log(math.pi)
    for k in range(d):
        total = total + ours.gammaln(a - 0.5 * k)
    return total


# --- incomplete integrals and their inverses -----------------------------------------------------


gammainc = elementwise("gammainc", ours.gammainc)
gammaincc = elementwise("gammaincc", ours.gammaincc)
betainc = elementwise("betainc", ours.betainc)
betaincc = special(
    "betaincc",
    "a",
    "b",
    "x",
    d_a=lambda a, b, x: -betainc_slope(a, b, x, m=1, n=0),
    d_b=lambda a, b, x: -betainc_slope(a, b, x, m=0, n=1),
    d_x=lambda a, b, x: -_beta_density(a, b, x),
)


def _over_density(slope: Any, density: Any, at_end: Any) -> Any:
    """How an inverse moves with a parameter; it does not at the ends of the range."""
    return where(at_end, 0.0, -slope / where(at_end, 1.0, density))


def _gamma_inverse_by_a(a: Any, out: Any) -> Any:
    return _over_density(
        gammainc_slope(a, out, n=1), _gamma_density(a, out), logical_or(equal(out, 0), isinf(out))
    )


def _beta_inverse_by(a: Any, b: Any, out: Any, m: int, n: int) -> Any:
    return _over_density(
        betainc_slope(a, b, out, m=m, n=n),
        _beta_density(a, b, out),
        logical_or(equal(out, 0), equal(out, 1)),
    )


gammaincinv = special(
    "gammaincinv",
    "a",
    "y",
    d_a=lambda a, out: _gamma_inverse_by_a(a, out),
    d_y=lambda a, out: 1 / _gamma_density(a, out),
)
gammainccinv = special(
    "gammainccinv",
    "a",
    "y",
    d_a=lambda a, out: _gamma_inverse_by_a(a, out),
    d_y=lambda a, out: -1 / _gamma_density(a, out),
)
betaincinv = special(
    "betaincinv",
    "a",
    "b",
    "y",
    d_a=lambda a, b, out: _beta_inverse_by(a, b, out, 1, 0),
    d_b=lambda a, b, out: _beta_inverse_by(a, b, out, 0, 1),
    d_y=lambda a, b, out: 1 / _beta_density(a, b, out),
)
betainccinv = special(
    "betainccinv",
    "a",
    "b",
    "y",
    d_a=lambda a, b, out: _beta_inverse_by(a, b, out, 1, 0),
    d_b=lambda a, b, out: _beta_inverse_by(a, b, out, 0, 1),
    d_y=lambda a, b, out: -1 / _beta_density(a, b, out),
)

# --- Student's t ---------------------------------------------------------------------------------


def t_log_density(df: Any, t: Any) -> Any:
    """The logarithm of the density of Student's t distribution."""
    df = minimum(_array(df, t), 1e300)  # infinity, too
    many = greater(df, 100)  # where the logarithms of gamma functions lose digits to each other
    few, u = where(many, 1.0, df), 1 / where(many, df, 1.0)
    size = ours.gammaln((few + 1) * 0.5) - ours.gammaln(few * 0.5) - log(few * math.pi) * 0.5
    square = u * u
    series = u * (-1 / 4 + square * (1 / 24 + square * (-1 / 20 + square * (17 / 112))))
    size = where(many, series - 0.5 * math.log(2 * math.pi), size)
    return size - log1p(t * t / df) * ((df + 1) * 0.5)


def t_density(df: Any, t: Any) -> Any:
    """The density of Student's t distribution."""
    return exp(t_log_density(df, t))


def _t_by_df(df: Any, t: Any) -> Any:
    """The derivative of `stdtr` by `df`: it is half an incomplete beta function, and odd in t."""
    df = _array(df, t)
    t = _array(t, df)
    side, square = where(t > 0, -0.5, 0.5), t * t
    # Both terms below are much larger than their sum if df is large, or t small.
    is_small = square < 1e-3 * minimum(df, 1.0)
    is_large = logical_and(df > _LARGE_DF * (1 + square) ** 2, logical_not(is_small))
    other = logical_or(is_small, is_large)
    any_df, any_square = where(other, 1.0, df), where(other, 1.0, square)
    x = any_df / (any_df + any_square)
    by_x = _beta_density(any_df * 0.5, 0.5, x) * any_square / (any_df + any_square) ** 2
    slope = side * (betainc_slope(any_df * 0.5, 0.5, x, m=1, n=0) * 0.5 + by_x)
    slope = where(is_small, _t_by_df_near_zero(df, where(is_small, t, 0.0)), slope)
    return where(is_large, _t_by_large_df(where(is_large, df, 1.0), t), slope)


def _t_by_df_near_zero(df: Any, t: Any) -> Any:
    """The integral of the derivative of the density by df from zero to a small t, by Gauss's rule.

    The logarithm of the density at zero moves by ``1 / (4 df**2)`` and less if df is large.
    """
    u = 1 / where(df > 100, df, 100.0)
    series = u * u * (1 / 4 - u * u * (1 / 8 - u * u / 4))
    few = minimum(df, 100.0)
    exact = (digamma((few + 1) * 0.5) - digamma(few * 0.5) - 1 / few) * 0.5
    at_zero = where(df > 100, series, exact)
    total: Any = 0.0
    for node, weight in zip(*np.polynomial.legendre.leggauss(4), strict=True):
        place = t * (0.5 * (node + 1))
        s = place * place / df
        change = at_zero - log1p(s) * 0.5 + (df + 1) * s / (2 * df * (1 + s))
        total = total + t_density(df, place) * change * (0.5 * weight)
    return total * t


_LARGE_DF = 1000.0


def _t_by_large_df(df: Any, t: Any) -> Any:
    """The first terms of the expansion of the derivative in 1 / df."""
    s, u = t * t, 1 / df
    terms = (
        (s + 1) / 4,
        (((3 * s - 7) * s - 5) * s - 3) / 48,
        (((((s - 11) * s + 14) * s + 6) * s - 3) * s - 15) / 128,
    )
    total = (terms[0] + (terms[1] + terms[2] * u) * u) * (u * u)
    return exp(s * -0.5) * (1 / math.sqrt(2 * math.pi)) * t * total


stdtr = special(
    "stdtr", "df", "x", d_df=lambda df, x: _t_by_df(df, x), d_x=lambda df, x: t_density(df, x)
)
stdtrit = special(
    "stdtrit",
    "df",
    "p",
    d_df=lambda df, out: -_t_by_df(df, out) / t_density(df, out),
    d_p=lambda df, out: 1 / t_density(df, out),
)

# --- made of incomplete integrals ----------------------------------------------------------------


chdtr = by_formula("chdtr")(lambda v, x: gammainc(v / 2, x / 2))
chdtrc = by_formula("chdtrc")(lambda v, x: gammaincc(v / 2, x / 2))
chdtri = by_formula("chdtri")(lambda v, p: gammainccinv(v / 2, p) * 2)
gdtr = by_formula("gdtr")(lambda a, b, x: gammainc(b, a * x))
gdtrc = by_formula("gdtrc")(lambda a, b, x: gammaincc(b, a * x))
pdtr = by_formula("pdtr")(lambda k, m: gammaincc(_count(k), m))
pdtrc = by_formula("pdtrc")(lambda k, m: gammainc(_count(k), m))
pdtri = by_formula("pdtri")(lambda k, y: gammainccinv(_count(k), y))
bdtr = by_formula("bdtr", 1)(lambda k, n, p: betaincc(_count(k), whole(n) - _count(k) + 1, p))
bdtrc = by_formula("bdtrc", 1)(lambda k, n, p: betainc(_count(k), whole(n) - _count(k) + 1, p))
bdtri = by_formula("bdtri", 1)(lambda k, n, y: betainccinv(_count(k), whole(n) - _count(k) + 1, y))
nbdtr = by_formula("nbdtr")(lambda k, n, p: betainc(whole(n), _count(k), p))
nbdtrc = by_formula("nbdtrc")(lambda k, n, p: betaincc(whole(n), _count(k), p))


def _from_the_middle(dfn: Any, dfd: Any, x: Any) -> Any:
    """The distribution function of F, but for a constant on each side of x = dfd / dfn.

    On each side, it is the integral whose argument is small, so that no digits are lost.
    """
    rate = dfn / dfd
    ratio = choose(equal(x, 0), stop_gradient(rate), rate) * x  # at zero, only x moves it
    left = ratio < 1
    share, rest = where(left, ratio, 0.5), 1 / where(left, 1.0, ratio)
    lower = betainc(dfn / 2, dfd / 2, share / (1 + share))
    return where(left, lower, -betainc(dfd / 2, dfn / 2, rest / (1 + rest)))


fdtr = by_formula("fdtr")(lambda dfn, dfd, x: _from_the_middle(dfn, dfd, x))
fdtrc = by_formula("fdtrc")(lambda dfn, dfd, x: -_from_the_middle(dfn, dfd, x))


def _count(k: Any) -> Any:
    """The number of events up to `k`, and one: a constant."""
    return floor(k) + 1 if hasattr(k, "dtype") else math.floor(k) + 1


@by_formula("fdtri")
def fdtri(dfn: Any, dfd: Any, p: Any) -> Any:
    """The inverse of `fdtr` by its last argument."""
    a, b = dfn / 2, dfd / 2
    low = betainccinv(b, a, p) > 0.5  # a share that is almost one has lost its digits
    share = betaincinv(a, b, where(low, p, 0.5))
    rest = betainccinv(b, a, where(low, 0.5, p))
    return where(low, share / (1 - share), (1 - rest) / rest) * b / a
