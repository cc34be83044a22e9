"""Continuous distributions of positive numbers, each by its formulas in standard form."""

from __future__ import annotations

import math
from typing import Any

from ... import special as ours
from ...ops import exp, expm1, greater, log, minimum, where
from .. import special
from .distribution import Distribution, constant_formula, power_log

__all__ = [
    "chi2",
    "expon",
    "f",
    "gamma",
    "halfnorm",
    "invgamma",
    "lognorm",
    "maxwell",
    "pareto",
    "rayleigh",
    "weibull_min",
]

_LOG_2PI = math.log(2 * math.pi)
_EULER = 0.5772156649015329
_LARGE = 1e300  # in place of infinity
_ROOT_HALF = math.sqrt(0.5)
_gammaln, _digamma = ours.gammaln, ours.digamma


def gamma_entropy(a: Any) -> Any:
    """The entropy of a gamma variable: ``a + log Γ(a) + (1 - a) ψ(a)``, by 1 / a if a is large."""
    is_large = greater(a, 200.0)
    small, u = where(is_large, 1.0, a), 1 / where(is_large, a, 1.0)
    series = 0.5 * (1 + _LOG_2PI - log(u)) - u * (1 / 3 + u * (1 / 12 + u * (1 / 90 - u / 120)))
    return where(is_large, series, small + _gammaln(small) + (1 - small) * _digamma(small))


class Gamma(Distribution):
    """The gamma distribution."""

    name = "gamma"
    support_ = (0.0, math.inf)
    log_density = staticmethod(lambda y, a: power_log(a - 1, y) - y - _gammaln(a))
    distribution = staticmethod(lambda y, a: special.gammainc(a, y))
    upper = staticmethod(lambda y, a: special.gammaincc(a, y))
    average = staticmethod(lambda a: a)
    variance = staticmethod(lambda a: a)
    information = staticmethod(gamma_entropy)


class Expon(Distribution):
    """The exponential distribution."""

    name = "expon"
    support_ = (0.0, math.inf)
    log_density = staticmethod(lambda y: -y)
    distribution = staticmethod(lambda y: -expm1(-y))
    upper = staticmethod(lambda y: exp(-y))
    log_upper = staticmethod(lambda y: -y)
    average = staticmethod(constant_formula(1.0))
    variance = staticmethod(constant_formula(1.0))
    information = staticmethod(constant_formula(1.0))


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
    average = staticmethod(lambda s: exp(s * s * 0.5))
    variance = staticmethod(lambda s: expm1(s * s) * exp(s * s))
    information = staticmethod(lambda s: 0.5 * (1 + _LOG_2PI) + log(s))


class WeibullMin(Distribution):
    """Weibull's distribution of minima."""

    name = "weibull_min"
    support_ = (0.0, math.inf)
    log_density = staticmethod(lambda y, c: log(c) + power_log(c - 1, y) - y**c)
    distribution = staticmethod(lambda y, c: -expm1(-(y**c)))
    upper = staticmethod(lambda y, c: exp(-(y**c)))
    log_upper = staticmethod(lambda y, c: -(y**c))
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


class Chi2(Distribution):
    """The chi-squared distribution."""

    name = "chi2"
    support_ = (0.0, math.inf)
    log_density = staticmethod(
        lambda y, df: (
            power_log(df * 0.5 - 1, y) - y * 0.5 - _gammaln(df * 0.5) - df * (0.5 * math.log(2))
        )
    )
    distribution = staticmethod(lambda y, df: special.chdtr(df, y))
    upper = staticmethod(lambda y, df: special.chdtrc(df, y))
    average = staticmethod(lambda df: df)
    variance = staticmethod(lambda df: 2 * df)
    information = staticmethod(lambda df: gamma_entropy(df * 0.5) + math.log(2))


class FisherF(Distribution):
    """Fisher's F distribution."""

    name = "f"
    support_ = (0.0, math.inf)
    log_density = staticmethod(
        lambda y, m, n: (
            n * 0.5 * log(n)
            + m * 0.5 * log(m)
            + power_log(m * 0.5 - 1, y)
            - (n + m) * 0.5 * log(n + m * y)
            - ours.betaln(m * 0.5, n * 0.5)
        )
    )
    distribution = staticmethod(lambda y, m, n: special.fdtr(m, n, y))
    upper = staticmethod(lambda y, m, n: special.fdtrc(m, n, y))
    average = staticmethod(
        lambda m, n: where(greater(n, 2), n / (where(greater(n, 2), n, 3) - 2), math.inf) + 0 * m
    )
    variance = staticmethod(lambda m, n: _f_variance(m, n))
    information = staticmethod(
        lambda m, n: (
            gamma_entropy(m * 0.5)
            + gamma_entropy(n * 0.5)
            - gamma_entropy((m + n) * 0.5)
            + _digamma((m + n) * 0.5)
            - 2 * _digamma(n * 0.5)
            + log(n / m)
        )
    )


def _f_variance(m: Any, n: Any) -> Any:
    known = greater(n, 4)
    n = where(known, n, 5)
    out = 2 * n * n * (m + n - 2) / (m * (n - 2) ** 2 * (n - 4))
    return where(known, out, math.inf)


class HalfNorm(Distribution):
    """The distribution of the absolute value of a normal variable."""

    name = "halfnorm"
    support_ = (0.0, math.inf)
    log_density = staticmethod(lambda y: 0.5 * math.log(2 / math.pi) - y * y * 0.5)
    distribution = staticmethod(lambda y: ours.erf(y * _ROOT_HALF))
    upper = staticmethod(lambda y: ours.erfc(y * _ROOT_HALF))
    average = staticmethod(constant_formula(math.sqrt(2 / math.pi)))
    variance = staticmethod(constant_formula(1 - 2 / math.pi))
    information = staticmethod(constant_formula(0.5 * math.log(math.pi / 2) + 0.5))


class Rayleigh(Distribution):
    """Rayleigh's distribution."""

    name = "rayleigh"
    support_ = (0.0, math.inf)
    log_density = staticmethod(lambda y: log(minimum(y, _LARGE)) - y * y * 0.5)
    distribution = staticmethod(lambda y: -expm1(y * y * -0.5))
    upper = staticmethod(lambda y: exp(y * y * -0.5))
    log_upper = staticmethod(lambda y: y * y * -0.5)
    average = staticmethod(constant_formula(math.sqrt(math.pi / 2)))
    variance = staticmethod(constant_formula((4 - math.pi) / 2))
    information = staticmethod(constant_formula(_EULER / 2 + 1 - 0.5 * math.log(2)))


class Maxwell(Distribution):
    """Maxwell's distribution of speeds."""

    name = "maxwell"
    support_ = (0.0, math.inf)
    log_density = staticmethod(lambda y: 0.5 * math.log(2 / math.pi) + 2 * log(y) - y * y * 0.5)
    distribution = staticmethod(lambda y: special.gammainc(1.5, y * y * 0.5))
    upper = staticmethod(lambda y: special.gammaincc(1.5, y * y * 0.5))
    average = staticmethod(constant_formula(2 * math.sqrt(2 / math.pi)))
    variance = staticmethod(constant_formula(3 - 8 / math.pi))
    information = staticmethod(constant_formula(_EULER + 0.5 * _LOG_2PI - 0.5))


class InvGamma(Distribution):
    """The distribution of the inverse of a gamma variable."""

    name = "invgamma"
    support_ = (0.0, math.inf)
    # At zero, 1 / y is larger than all others.
    log_density = staticmethod(
        lambda y, a: -(1 / y + (a + 1) * log(where(greater(y, 0), y, 1))) - _gammaln(a)
    )
    distribution = staticmethod(lambda y, a: special.gammaincc(a, 1 / y))
    upper = staticmethod(lambda y, a: special.gammainc(a, 1 / y))
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
    information = staticmethod(lambda a: gamma_entropy(a) - 2 * _digamma(a))


gamma, expon, lognorm, weibull_min = Gamma(), Expon(), LogNorm(), WeibullMin()
pareto, chi2, f, halfnorm = Pareto(), Chi2(), FisherF(), HalfNorm()
rayleigh, maxwell, invgamma = Rayleigh(), Maxwell(), InvGamma()
