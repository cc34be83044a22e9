"""Continuous distributions on the whole line, each by its formulas in standard form."""

from __future__ import annotations

import math
from typing import Any

from ... import special as ours
from ...ops import (
    abs,
    atan2,
    exp,
    expm1,
    greater,
    hypot,
    less_equal,
    log,
    ones_like,
    where,
)
from .. import special
from ..special.distributions import t_log_density
from .distribution import Distribution, constant_formula

__all__ = ["cauchy", "gumbel_l", "gumbel_r", "laplace", "logistic", "norm", "t"]

_LOG_2PI = math.log(2 * math.pi)
_EULER = 0.5772156649015329
_gammaln, _digamma = ours.gammaln, ours.digamma


class Norm(Distribution):
    """The normal distribution."""

    name = "norm"
    log_density = staticmethod(lambda y: y * y * -0.5 - 0.5 * _LOG_2PI)
    distribution = staticmethod(lambda y: ours.ndtr(y))
    upper = staticmethod(lambda y: ours.ndtr(-y))
    log_distribution = staticmethod(lambda y: ours.log_ndtr(y))
    log_upper = staticmethod(lambda y: ours.log_ndtr(-y))
    average = staticmethod(constant_formula(0.0))
    variance = staticmethod(constant_formula(1.0))
    information = staticmethod(constant_formula(0.5 * (_LOG_2PI + 1)))


class StudentT(Distribution):
    """Student's t distribution."""

    name = "t"
    log_density = staticmethod(lambda y, df: t_log_density(df, y))
    distribution = staticmethod(lambda y, df: special.stdtr(df, y))
    upper = staticmethod(lambda y, df: special.stdtr(df, -y))
    average = staticmethod(lambda df: where(greater(df, 1), 0 * df, math.inf))
    variance = staticmethod(
        lambda df: where(
            greater(df, 2), df / (where(greater(df, 2), df, 3) - 2), _without_variance(df)
        )
    )
    information = staticmethod(lambda df: _t_entropy(df))


def _t_entropy(df: Any) -> Any:
    """The entropy of Student's t, by 1 / df if df is large."""
    is_large = greater(df, 200.0)
    small, u = where(is_large, 1.0, df), 1 / where(is_large, df, 1.0)
    terms = u * (1 + u * (1 / 4 + u * (-1 / 6 + u * (-1 / 8 + u * (3 / 10 + u / 4)))))
    exact = (small + 1) * 0.5 * (_digamma((small + 1) * 0.5) - _digamma(small * 0.5))
    exact = exact + 0.5 * log(small) + ours.betaln(small * 0.5, 0.5)
    return where(is_large, 0.5 * (_LOG_2PI + 1) + terms, exact)


def _without_variance(df: Any) -> Any:
    return where(less_equal(df, 1), math.nan, math.inf)


class Laplace(Distribution):
    """Laplace's distribution."""

    name = "laplace"
    log_density = staticmethod(lambda y: -abs(y) - math.log(2))
    distribution = staticmethod(lambda y: _laplace(y))
    upper = staticmethod(lambda y: _laplace(-y))
    average = staticmethod(constant_formula(0.0))
    variance = staticmethod(constant_formula(2.0))
    information = staticmethod(constant_formula(math.log(2) + 1))


def _laplace(y: Any) -> Any:
    half = 0.5 * exp(-abs(y))
    return where(greater(y, 0), 1 - half, half)


class Logistic(Distribution):
    """The logistic distribution."""

    name = "logistic"
    log_density = staticmethod(lambda y: ours.log_expit(y) + ours.log_expit(-y))
    distribution = staticmethod(lambda y: ours.expit(y))
    upper = staticmethod(lambda y: ours.expit(-y))
    log_distribution = staticmethod(lambda y: ours.log_expit(y))
    log_upper = staticmethod(lambda y: ours.log_expit(-y))
    average = staticmethod(constant_formula(0.0))
    variance = staticmethod(constant_formula(math.pi**2 / 3))
    information = staticmethod(constant_formula(2.0))


class Cauchy(Distribution):
    """Cauchy's distribution."""

    name = "cauchy"
    log_density = staticmethod(lambda y: -math.log(math.pi) - 2 * log(hypot(1.0, y)))
    distribution = staticmethod(lambda y: atan2(ones_like(y), -y) / math.pi)
    upper = staticmethod(lambda y: atan2(ones_like(y), y) / math.pi)
    average = staticmethod(constant_formula(math.nan))
    variance = staticmethod(constant_formula(math.nan))
    information = staticmethod(constant_formula(math.log(4 * math.pi)))


class GumbelR(Distribution):
    """Gumbel's distribution of maxima."""

    name = "gumbel_r"
    log_density = staticmethod(lambda y: -y - exp(-y))
    distribution = staticmethod(lambda y: exp(-exp(-y)))
    upper = staticmethod(lambda y: -expm1(-exp(-y)))
    log_distribution = staticmethod(lambda y: -exp(-y))
    average = staticmethod(constant_formula(_EULER))
    variance = staticmethod(constant_formula(math.pi**2 / 6))
    information = staticmethod(constant_formula(_EULER + 1))


class GumbelL(Distribution):
    """Gumbel's distribution of minima."""

    name = "gumbel_l"
    log_density = staticmethod(lambda y: y - exp(y))
    distribution = staticmethod(lambda y: -expm1(-exp(y)))
    upper = staticmethod(lambda y: exp(-exp(y)))
    log_upper = staticmethod(lambda y: -exp(y))
    average = staticmethod(constant_formula(-_EULER))
    variance = staticmethod(constant_formula(math.pi**2 / 6))
    information = staticmethod(constant_formula(_EULER + 1))


norm, t, laplace, logistic = Norm(), StudentT(), Laplace(), Logistic()
cauchy, gumbel_r, gumbel_l = Cauchy(), GumbelR(), GumbelL()
