"""Continuous distributions, each by its formulas in standard form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import special as ours
from ...core.kinds import Elementwise
from ...ops import (
    abs,
    atan,
    cos,
    exp,
    expand_dims,
    expm1,
    greater,
    less,
    less_equal,
    log,
    log1p,
    sqrt,
    tan,
    where,
)
from ...ops import round as round_
from ...ops import sum as sum_
from ...ops.define.library import declare
from .. import special
from ..twins import by_scipy
from .distribution import SCIPY, Distribution

_LOG_2PI = math.log(2 * math.pi)
_EULER = 0.5772156649015329
_ROOT_HALF = math.sqrt(0.5)
_gammaln, _digamma = ours.gammaln, ours.digamma


def _constant(value: float) -> Any:
    return lambda *shapes: value


class Norm(Distribution):
    """The normal distribution."""

    name = "norm"
    log_density = staticmethod(lambda y: y * y * -0.5 - 0.5 * _LOG_2PI)
    distribution = staticmethod(lambda y: ours.ndtr(y))
    upper = staticmethod(lambda y: ours.ndtr(-y))
    log_distribution = staticmethod(lambda y: ours.log_ndtr(y))
    log_upper = staticmethod(lambda y: ours.log_ndtr(-y))
    quantile = staticmethod(lambda q: ours.ndtri(q))
    upper_quantile = staticmethod(lambda q: -ours.ndtri(q))
    average = staticmethod(_constant(0.0))
    variance = staticmethod(_constant(1.0))
    information = staticmethod(_constant(0.5 * (_LOG_2PI + 1)))


class StudentT(Distribution):
    """Student's t distribution."""

    name = "t"
    log_density = staticmethod(
        lambda y, df: (
            _gammaln((df + 1) * 0.5)
            - _gammaln(df * 0.5)
            - 0.5 * log(df * math.pi)
            - (df + 1) * 0.5 * log1p(y * y / df)
        )
    )
    distribution = staticmethod(lambda y, df: special.stdtr(df, y))
    upper = staticmethod(lambda y, df: special.stdtr(df, -y))
    quantile = staticmethod(lambda q, df: special.stdtrit(df, q))
    upper_quantile = staticmethod(lambda q, df: -special.stdtrit(df, q))
    average = staticmethod(lambda df: where(greater(df, 1), 0 * df, math.inf))
    variance = staticmethod(
        lambda df: where(
            greater(df, 2), df / (where(greater(df, 2), df, 3) - 2), _without_variance(df)
        )
    )
    information = staticmethod(
        lambda df: (
            (df + 1) * 0.5 * (_digamma((df + 1) * 0.5) - _digamma(df * 0.5))
            + 0.5 * log(df)
            + ours.betaln(df * 0.5, 0.5)
        )
    )


def _without_variance(df: Any) -> Any:
    return where(less_equal(df, 1), math.nan, math.inf)


class Gamma(Distribution):
    """The gamma distribution."""

    name = "gamma"
    support_ = (0.0, math.inf)
    log_density = staticmethod(lambda y, a: ours.xlogy(a - 1, y) - y - _gammaln(a))
    distribution = staticmethod(lambda y, a: special.gammainc(a, y))
    upper = staticmethod(lambda y, a: special.gammaincc(a, y))
    quantile = staticmethod(lambda q, a: special.gammaincinv(a, q))
    upper_quantile = staticmethod(lambda q, a: special.gammainccinv(a, q))
    average = staticmethod(lambda a: a)
    variance = staticmethod(lambda a: a)
    information = staticmethod(lambda a: a + _gammaln(a) + (1 - a) * _digamma(a))


class Beta(Distribution):
    """The beta distribution."""

    name = "beta"
    support_ = (0.0, 1.0)
    log_density = staticmethod(
        lambda y, a, b: ours.xlog1py(b - 1, -y) + ours.xlogy(a - 1, y) - ours.betaln(a, b)
    )
    distribution = staticmethod(lambda y, a, b: special.betainc(a, b, y))
    upper = staticmethod(lambda y, a, b: special.betaincc(a, b, y))
    quantile = staticmethod(lambda q, a, b: special.betaincinv(a, b, q))
    upper_quantile = staticmethod(lambda q, a, b: special.betainccinv(a, b, q))
    average = staticmethod(lambda a, b: a / (a + b))
    variance = staticmethod(lambda a, b: a * b / ((a + b) ** 2 * (a + b + 1)))
    information = staticmethod(
        lambda a, b: (
            ours.betaln(a, b)
            - (a - 1) * _digamma(a)
            - (b - 1) * _digamma(b)
            + (a + b - 2) * _digamma(a + b)
        )
    )


class Expon(Distribution):
    """The exponential distribution."""

    name = "expon"
    support_ = (0.0, math.inf)
    log_density = staticmethod(lambda y: -y)
    distribution = staticmethod(lambda y: -expm1(-y))
    upper = staticmethod(lambda y: exp(-y))
    log_upper = staticmethod(lambda y: -y)
    quantile = staticmethod(lambda q: -log1p(-q))
    upper_quantile = staticmethod(lambda q: -log(q))
    average = staticmethod(_constant(1.0))
    variance = staticmethod(_constant(1.0))
    information = staticmethod(_constant(1.0))


class LogNorm(Distribution):
    """The log-normal distribution."""

    name = "lognorm"
    support_ = (0.0, math.inf)
    log_density = staticmethod(
        lambda y, s: -log(y) * (1 + log(y) / (2 * s * s)) - log(s) - 0.5 * _LOG_2PI
    )
    distribution = staticmethod(lambda y, s: ours.ndtr(log(y) / s))
    upper = staticmethod(lambda y, s: ours.ndtr(-log(y) / s))
    log_distribution = staticmethod(lambda y, s: ours.log_ndtr(log(y) / s))
    log_upper = staticmethod(lambda y, s: ours.log_ndtr(-log(y) / s))
    quantile = staticmethod(lambda q, s: exp(s * ours.ndtri(q)))
    upper_quantile = staticmethod(lambda q, s: exp(-s * ours.ndtri(q)))
    average = staticmethod(lambda s: exp(s * s * 0.5))
    variance = staticmethod(lambda s: expm1(s * s) * exp(s * s))
    information = staticmethod(lambda s: 0.5 * (1 + _LOG_2PI) + log(s))


class WeibullMin(Distribution):
    """Weibull's distribution of minima."""

    name = "weibull_min"
    support_ = (0.0, math.inf)
    log_density = staticmethod(lambda y, c: log(c) + ours.xlogy(c - 1, y) - y**c)
    distribution = staticmethod(lambda y, c: -expm1(-(y**c)))
    upper = staticmethod(lambda y, c: exp(-(y**c)))
    log_upper = staticmethod(lambda y, c: -(y**c))
    quantile = staticmethod(lambda q, c: (-log1p(-q)) ** (1 / c))
    upper_quantile = staticmethod(lambda q, c: (-log(q)) ** (1 / c))
    average = staticmethod(lambda c: ours.gamma(1 + 1 / c))
    variance = staticmethod(lambda c: ours.gamma(1 + 2 / c) - ours.gamma(1 + 1 / c) ** 2)
    information = staticmethod(lambda c: -_EULER / c - log(c) + _EULER + 1)


class Pareto(Distribution):
    """Pareto's distribution."""

    name = "pareto"
    support_ = (1.0, math.inf)
    log_density = staticmethod(lambda y, b: log(b) - (b + 1) * log(y))
    distribution = staticmethod(lambda y, b: -expm1(-b * log(y)))
    upper = staticmethod(lambda y, b: y**-b)
    log_upper = staticmethod(lambda y, b: -b * log(y))
    quantile = staticmethod(lambda q, b: exp(log1p(-q) / -b))
    upper_quantile = staticmethod(lambda q, b: q ** (-1 / b))
    average = staticmethod(
        lambda b: where(greater(b, 1), b / (where(greater(b, 1), b, 2) - 1), math.inf)
    )
    variance = staticmethod(
        lambda b: where(
            greater(b, 2),
            b / ((where(greater(b, 2), b, 3) - 2) * (where(greater(b, 2), b, 3) - 1) ** 2),
            math.inf,
        )
    )
    information = staticmethod(lambda b: 1 + 1 / b - log(b))


class Laplace(Distribution):
    """Laplace's distribution."""

    name = "laplace"
    log_density = staticmethod(lambda y: -abs(y) - math.log(2))
    distribution = staticmethod(lambda y: _laplace(y))
    upper = staticmethod(lambda y: _laplace(-y))
    quantile = staticmethod(lambda q: _laplace_inverse(q))
    upper_quantile = staticmethod(lambda q: -_laplace_inverse(q))
    average = staticmethod(_constant(0.0))
    variance = staticmethod(_constant(2.0))
    information = staticmethod(_constant(math.log(2) + 1))


def _laplace(y: Any) -> Any:
    half = 0.5 * exp(-abs(y))
    return where(greater(y, 0), 1 - half, half)


def _laplace_inverse(q: Any) -> Any:
    above = greater(q, 0.5)
    return where(above, -log(2 * (1 - where(above, q, 0.5))), log(2 * where(above, 0.5, q)))


class Logistic(Distribution):
    """The logistic distribution."""

    name = "logistic"
    log_density = staticmethod(lambda y: ours.log_expit(y) + ours.log_expit(-y))
    distribution = staticmethod(lambda y: ours.expit(y))
    upper = staticmethod(lambda y: ours.expit(-y))
    log_distribution = staticmethod(lambda y: ours.log_expit(y))
    log_upper = staticmethod(lambda y: ours.log_expit(-y))
    quantile = staticmethod(lambda q: ours.logit(q))
    upper_quantile = staticmethod(lambda q: -ours.logit(q))
    average = staticmethod(_constant(0.0))
    variance = staticmethod(_constant(math.pi**2 / 3))
    information = staticmethod(_constant(2.0))


class Cauchy(Distribution):
    """Cauchy's distribution."""

    name = "cauchy"
    log_density = staticmethod(lambda y: -math.log(math.pi) - log1p(y * y))
    distribution = staticmethod(lambda y: 0.5 + atan(y) / math.pi)
    upper = staticmethod(lambda y: 0.5 - atan(y) / math.pi)
    quantile = staticmethod(lambda q: tan((q - 0.5) * math.pi))
    upper_quantile = staticmethod(lambda q: tan((0.5 - q) * math.pi))
    average = staticmethod(_constant(math.nan))
    variance = staticmethod(_constant(math.nan))
    information = staticmethod(_constant(math.log(4 * math.pi)))


class Chi2(Distribution):
    """The chi-squared distribution."""

    name = "chi2"
    support_ = (0.0, math.inf)
    log_density = staticmethod(
        lambda y, df: (
            ours.xlogy(df * 0.5 - 1, y) - y * 0.5 - _gammaln(df * 0.5) - df * (0.5 * math.log(2))
        )
    )
    distribution = staticmethod(lambda y, df: special.chdtr(df, y))
    upper = staticmethod(lambda y, df: special.chdtrc(df, y))
    quantile = staticmethod(lambda q, df: special.gammaincinv(df * 0.5, q) * 2)
    upper_quantile = staticmethod(lambda q, df: special.chdtri(df, q))
    average = staticmethod(lambda df: df)
    variance = staticmethod(lambda df: 2 * df)
    information = staticmethod(
        lambda df: df * 0.5 + math.log(2) + _gammaln(df * 0.5) + (1 - df * 0.5) * _digamma(df * 0.5)
    )


class FisherF(Distribution):
    """Fisher's F distribution."""

    name = "f"
    support_ = (0.0, math.inf)
    log_density = staticmethod(
        lambda y, m, n: (
            n * 0.5 * log(n)
            + m * 0.5 * log(m)
            + ours.xlogy(m * 0.5 - 1, y)
            - (n + m) * 0.5 * log(n + m * y)
            - ours.betaln(m * 0.5, n * 0.5)
        )
    )
    distribution = staticmethod(lambda y, m, n: special.fdtr(m, n, y))
    upper = staticmethod(lambda y, m, n: special.fdtrc(m, n, y))
    quantile = staticmethod(lambda q, m, n: special.fdtri(m, n, q))
    average = staticmethod(
        lambda m, n: where(greater(n, 2), n / (where(greater(n, 2), n, 3) - 2), math.inf) + 0 * m
    )
    variance = staticmethod(lambda m, n: _f_variance(m, n))


def _f_variance(m: Any, n: Any) -> Any:
    known = greater(n, 4)
    n = where(known, n, 5)
    out = 2 * n * n * (m + n - 2) / (m * (n - 2) ** 2 * (n - 4))
    return where(known, out, math.inf)


class GumbelR(Distribution):
    """Gumbel's distribution of maxima."""

    name = "gumbel_r"
    log_density = staticmethod(lambda y: -y - exp(-y))
    distribution = staticmethod(lambda y: exp(-exp(-y)))
    upper = staticmethod(lambda y: -expm1(-exp(-y)))
    log_distribution = staticmethod(lambda y: -exp(-y))
    quantile = staticmethod(lambda q: -log(-log(q)))
    upper_quantile = staticmethod(lambda q: -log(-log1p(-q)))
    average = staticmethod(_constant(_EULER))
    variance = staticmethod(_constant(math.pi**2 / 6))
    information = staticmethod(_constant(_EULER + 1))


class GumbelL(Distribution):
    """Gumbel's distribution of minima."""

    name = "gumbel_l"
    log_density = staticmethod(lambda y: y - exp(y))
    distribution = staticmethod(lambda y: -expm1(-exp(y)))
    upper = staticmethod(lambda y: exp(-exp(y)))
    log_upper = staticmethod(lambda y: -exp(y))
    quantile = staticmethod(lambda q: log(-log1p(-q)))
    upper_quantile = staticmethod(lambda q: log(-log(q)))
    average = staticmethod(_constant(-_EULER))
    variance = staticmethod(_constant(math.pi**2 / 6))
    information = staticmethod(_constant(_EULER + 1))


class Uniform(Distribution):
    """The uniform distribution."""

    name = "uniform"
    support_ = (0.0, 1.0)
    log_density = staticmethod(lambda y: 0 * y)
    distribution = staticmethod(lambda y: y)
    upper = staticmethod(lambda y: 1 - y)
    quantile = staticmethod(lambda q: q)
    upper_quantile = staticmethod(lambda q: 1 - q)
    average = staticmethod(_constant(0.5))
    variance = staticmethod(_constant(1 / 12))
    information = staticmethod(_constant(0.0))


def _normal_mass(a: Any, b: Any) -> Any:
    """The probability between two points, without loss of digits in the upper tail."""
    upper = greater(a, 0)
    return where(upper, ours.ndtr(-a) - ours.ndtr(-b), ours.ndtr(b) - ours.ndtr(a))


def _normal_density(x: Any) -> Any:
    return exp(x * x * -0.5) / math.sqrt(2 * math.pi)


class TruncNorm(Distribution):
    """The normal distribution between two points."""

    name = "truncnorm"
    valid = staticmethod(lambda a, b: less(a, b))
    support_ = (lambda a, b: a, lambda a, b: b)
    log_density = staticmethod(
        lambda y, a, b: y * y * -0.5 - 0.5 * _LOG_2PI - log(_normal_mass(a, b))
    )
    distribution = staticmethod(lambda y, a, b: _normal_mass(a, y) / _normal_mass(a, b))
    upper = staticmethod(lambda y, a, b: _normal_mass(y, b) / _normal_mass(a, b))
    average = staticmethod(
        lambda a, b: (_normal_density(a) - _normal_density(b)) / _normal_mass(a, b)
    )
    variance = staticmethod(lambda a, b: _trunc_variance(a, b))
    information = staticmethod(
        lambda a, b: (
            0.5 * (_LOG_2PI + 1)
            + log(_normal_mass(a, b))
            + (a * _normal_density(a) - b * _normal_density(b)) / (2 * _normal_mass(a, b))
        )
    )


def _trunc_variance(a: Any, b: Any) -> Any:
    mass = _normal_mass(a, b)
    first, last = _normal_density(a), _normal_density(b)
    mean = (first - last) / mass
    return 1 + (a * first - b * last) / mass - mean * mean


def _vonmises_density(y: Any, kappa: Any) -> Any:
    return kappa * (cos(y) - 1) - _LOG_2PI - log(ours.i0e(kappa))


# Points and weights between zero and one, close to each other near zero, where the peak is.
_nodes, _weights = np.polynomial.legendre.leggauss(120)
_PART, _SHARE = ((_nodes + 1) / 2) ** 3, _weights / 2 * 3 * ((_nodes + 1) / 2) ** 2


def _vonmises_by_kappa(y: Any, kappa: Any) -> Any:
    """The derivative of the distribution function by kappa, which is zero at zero and at ±π."""
    y = expand_dims(y + 0 * kappa, axis=-1)
    kappa = expand_dims(kappa, axis=-1) + 0 * y
    y = y - 2 * math.pi * round_(y * (0.5 / math.pi))
    at = y * _PART
    mean = ours.i1e(kappa) / ours.i0e(kappa)
    slope = (cos(at) - mean) * exp(_vonmises_density(at, kappa))
    return sum_(slope * (y * _SHARE), axis=-1)


_vonmises = declare(
    "scipy.stats.vonmises.cdf",
    "y",
    "kappa",
    kind=Elementwise(),
    compute=by_scipy(lambda y, kappa: SCIPY.vonmises.cdf(y, kappa)),
    vjp_y=lambda g, y, kappa: g * exp(_vonmises_density(y, kappa)),
    vjp_kappa=lambda g, y, kappa: g * _vonmises_by_kappa(y, kappa),
)


class VonMises(Distribution):
    """The distribution of von Mises, on a circle."""

    name = "vonmises"
    log_density = staticmethod(_vonmises_density)
    distribution = staticmethod(lambda y, kappa: _vonmises(y, kappa))
    average = staticmethod(lambda kappa: 0 * kappa)
    information = staticmethod(
        lambda kappa: (
            -kappa * ours.i1e(kappa) / ours.i0e(kappa) + _LOG_2PI + log(ours.i0e(kappa)) + kappa
        )
    )


class HalfNorm(Distribution):
    """The distribution of the absolute value of a normal variable."""

    name = "halfnorm"
    support_ = (0.0, math.inf)
    log_density = staticmethod(lambda y: 0.5 * math.log(2 / math.pi) - y * y * 0.5)
    distribution = staticmethod(lambda y: ours.erf(y * _ROOT_HALF))
    upper = staticmethod(lambda y: ours.erfc(y * _ROOT_HALF))
    quantile = staticmethod(lambda q: ours.ndtri((1 + q) * 0.5))
    upper_quantile = staticmethod(lambda q: -ours.ndtri(q * 0.5))
    average = staticmethod(_constant(math.sqrt(2 / math.pi)))
    variance = staticmethod(_constant(1 - 2 / math.pi))
    information = staticmethod(_constant(0.5 * math.log(math.pi / 2) + 0.5))


class Rayleigh(Distribution):
    """Rayleigh's distribution."""

    name = "rayleigh"
    support_ = (0.0, math.inf)
    log_density = staticmethod(lambda y: log(y) - y * y * 0.5)
    distribution = staticmethod(lambda y: -expm1(y * y * -0.5))
    upper = staticmethod(lambda y: exp(y * y * -0.5))
    log_upper = staticmethod(lambda y: y * y * -0.5)
    quantile = staticmethod(lambda q: sqrt(-2 * log1p(-q)))
    upper_quantile = staticmethod(lambda q: sqrt(-2 * log(q)))
    average = staticmethod(_constant(math.sqrt(math.pi / 2)))
    variance = staticmethod(_constant((4 - math.pi) / 2))
    information = staticmethod(_constant(_EULER / 2 + 1 - 0.5 * math.log(2)))


class Maxwell(Distribution):
    """Maxwell's distribution of speeds."""

    name = "maxwell"
    support_ = (0.0, math.inf)
    log_density = staticmethod(lambda y: 0.5 * math.log(2 / math.pi) + 2 * log(y) - y * y * 0.5)
    distribution = staticmethod(lambda y: special.gammainc(1.5, y * y * 0.5))
    upper = staticmethod(lambda y: special.gammaincc(1.5, y * y * 0.5))
    quantile = staticmethod(lambda q: sqrt(2 * special.gammaincinv(1.5, q)))
    upper_quantile = staticmethod(lambda q: sqrt(2 * special.gammainccinv(1.5, q)))
    average = staticmethod(_constant(2 * math.sqrt(2 / math.pi)))
    variance = staticmethod(_constant(3 - 8 / math.pi))
    information = staticmethod(_constant(_EULER + 0.5 * _LOG_2PI - 0.5))


class InvGamma(Distribution):
    """The distribution of the inverse of a gamma variable."""

    name = "invgamma"
    support_ = (0.0, math.inf)
    log_density = staticmethod(lambda y, a: -(1 + (a + 1) * ours.xlogy(y, y)) / y - _gammaln(a))
    distribution = staticmethod(lambda y, a: special.gammaincc(a, 1 / y))
    upper = staticmethod(lambda y, a: special.gammainc(a, 1 / y))
    quantile = staticmethod(lambda q, a: 1 / special.gammainccinv(a, q))
    upper_quantile = staticmethod(lambda q, a: 1 / special.gammaincinv(a, q))
    average = staticmethod(
        lambda a: where(greater(a, 1), 1 / (where(greater(a, 1), a, 2) - 1), math.inf)
    )
    variance = staticmethod(
        lambda a: where(
            greater(a, 2),
            1 / ((where(greater(a, 2), a, 3) - 1) ** 2 * (where(greater(a, 2), a, 3) - 2)),
            math.inf,
        )
    )
    information = staticmethod(lambda a: a + _gammaln(a) - (1 + a) * _digamma(a))


norm, t, gamma, beta, expon = Norm(), StudentT(), Gamma(), Beta(), Expon()
lognorm, weibull_min, pareto, laplace = LogNorm(), WeibullMin(), Pareto(), Laplace()
logistic, cauchy, chi2, f = Logistic(), Cauchy(), Chi2(), FisherF()
gumbel_r, gumbel_l, uniform, truncnorm = GumbelR(), GumbelL(), Uniform(), TruncNorm()
vonmises, halfnorm, rayleigh = VonMises(), HalfNorm(), Rayleigh()
maxwell, invgamma = Maxwell(), InvGamma()
