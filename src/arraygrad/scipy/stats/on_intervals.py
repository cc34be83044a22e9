"""Continuous distributions between two points or on a circle, by their formulas."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import special as ours
from ...core.kinds import Elementwise
from ...ops import (
    cos,
    equal,
    exp,
    expand_dims,
    expm1,
    greater,
    isfinite,
    less,
    less_equal,
    log,
    log1p,
    logical_or,
    where,
)
from ...ops import round as round_
from ...ops import sum as sum_
from ...ops.define.library import declare
from .. import special
from ..twins import by_scipy
from .distribution import SCIPY, Distribution, constant_formula, power_log, power_log1m
from .on_the_half_line import gamma_entropy

__all__ = ["beta", "truncnorm", "uniform", "vonmises"]

_LOG_2PI = math.log(2 * math.pi)
_digamma = ours.digamma


class Beta(Distribution):
    """The beta distribution."""

    name = "beta"
    support_ = (0.0, 1.0)
    log_density = staticmethod(
        lambda y, a, b: power_log1m(b - 1, y) + power_log(a - 1, y) - ours.betaln(a, b)
    )
    distribution = staticmethod(lambda y, a, b: special.betainc(a, b, y))
    upper = staticmethod(lambda y, a, b: special.betaincc(a, b, y))
    average = staticmethod(lambda a, b: a / (a + b))
    variance = staticmethod(lambda a, b: a * b / ((a + b) ** 2 * (a + b + 1)))
    information = staticmethod(
        lambda a, b: gamma_entropy(a) + gamma_entropy(b) - gamma_entropy(a + b) - _digamma(a + b)
    )


class Uniform(Distribution):
    """The uniform distribution."""

    name = "uniform"
    support_ = (0.0, 1.0)
    log_density = staticmethod(lambda y: 0 * y)
    distribution = staticmethod(lambda y: y)
    upper = staticmethod(lambda y: 1 - y)
    average = staticmethod(constant_formula(0.5))
    variance = staticmethod(constant_formula(1 / 12))
    information = staticmethod(constant_formula(0.0))


def _log_ndtr(x: Any) -> Any:
    """The logarithm of `ndtr`, with the derivative zero at minus infinity: an end without bound."""
    is_free = equal(x, -math.inf)
    return where(is_free, -math.inf, ours.log_ndtr(where(is_free, 0.0, x)))


def _log_mass(a: Any, b: Any) -> Any:
    """The logarithm of the probability between two points of a normal variable.

    It is the same between the mirrored points, so the upper tail is computed as the lower one.
    """
    upper = greater(a, 0)
    low, high = where(upper, -b, a), where(upper, -a, b)
    empty = equal(low, high)
    low, high = where(empty, -1.0, low), where(empty, 1.0, high)
    tail = less_equal(high, 0)
    top = _log_ndtr(where(tail, high, 0.0))
    in_tail = top + log(-expm1(_log_ndtr(where(tail, low, -1.0)) - top))
    around = log1p(-(ours.ndtr(where(tail, -1.0, low)) + ours.ndtr(where(tail, -1.0, -high))))
    return where(empty, -math.inf, where(tail, in_tail, around))


def _share(y: Any, a: Any, b: Any) -> Any:
    """The probability between `a` and `y` as a share of that between `a` and `b`."""
    above, below = greater(a, 0), less(b, 0)
    # In a tail, relative to the end that is nearest to the centre.
    first = _log_ndtr(-where(above, a, 1.0))
    of_upper = expm1(_log_ndtr(-where(above, y, 1.5)) - first)
    of_upper = of_upper / expm1(_log_ndtr(-where(above, b, 2.0)) - first)
    last, here = _log_ndtr(where(below, b, -1.0)), _log_ndtr(where(below, y, -1.5))
    start = _log_ndtr(where(below, a, -2.0))
    of_lower = exp(here - last) * expm1(start - here) / expm1(start - last)
    inner = where(logical_or(above, below), 0.0, a)
    start = ours.ndtr(inner)
    of_middle = (ours.ndtr(y) - start) / (ours.ndtr(where(greater(b, inner), b, 1.0)) - start)
    return where(above, of_upper, where(below, of_lower, of_middle))


def _log_share(y: Any, a: Any, b: Any) -> Any:
    """The logarithm of `_share`; if it is almost one, by the small rest."""
    out = _log_mass(a, y) - _log_mass(a, b)
    close = greater(out, -0.1)
    return where(close, log1p(-where(close, _share(-y, -b, -a), 0.0)), out)


def _end_density(x: Any, a: Any, b: Any, power: int = 0) -> Any:
    """The density at an end of the interval, times a power of the end; zero at infinity."""
    finite = isfinite(x)
    at = where(finite, x, 0.0)
    density = exp(at * at * -0.5 - 0.5 * _LOG_2PI - _log_mass(a, b)) * at**power
    return where(finite, density, 0.0)


class TruncNorm(Distribution):
    """The normal distribution between two points."""

    name = "truncnorm"
    valid = staticmethod(lambda a, b: less(a, b))
    support_ = (lambda a, b: a, lambda a, b: b)
    log_density = staticmethod(lambda y, a, b: y * y * -0.5 - 0.5 * _LOG_2PI - _log_mass(a, b))
    distribution = staticmethod(lambda y, a, b: _share(y, a, b))
    upper = staticmethod(lambda y, a, b: _share(-y, -b, -a))
    log_distribution = staticmethod(lambda y, a, b: _log_share(y, a, b))
    log_upper = staticmethod(lambda y, a, b: _log_share(-y, -b, -a))
    average = staticmethod(lambda a, b: _end_density(a, a, b) - _end_density(b, a, b))
    variance = staticmethod(lambda a, b: _trunc_variance(a, b))
    information = staticmethod(
        lambda a, b: (
            0.5 * (_LOG_2PI + 1)
            + _log_mass(a, b)
            + 0.5 * (_end_density(a, a, b, 1) - _end_density(b, a, b, 1))
        )
    )


def _trunc_variance(a: Any, b: Any) -> Any:
    mean = _end_density(a, a, b) - _end_density(b, a, b)
    return 1 + _end_density(a, a, b, 1) - _end_density(b, a, b, 1) - mean * mean


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
    variance = staticmethod(lambda kappa: _vonmises_variance(kappa))
    information = staticmethod(lambda kappa: _vonmises_entropy(kappa))


def _vonmises_entropy(kappa: Any) -> Any:
    """``κ (1 - I1 / I0) + log(2π I0) - κ``, by 1 / κ if κ is large."""
    is_large = greater(kappa, 500.0)
    small, u = where(is_large, 1.0, kappa), 1 / where(is_large, kappa, 1.0)
    series = 0.5 * (1 + _LOG_2PI + log(u)) + u * (
        1 / 4 + u * (3 / 16 + u * (25 / 96 + u * 65 / 128))
    )
    i0, i1 = ours.i0e(small), ours.i1e(small)
    return where(is_large, series, small * (1 - i1 / i0) + _LOG_2PI + log(i0))


def _vonmises_variance(kappa: Any) -> Any:
    """The mean of the squared angle between -π and π."""
    at = _PART * math.pi
    density = exp(_vonmises_density(at, expand_dims(kappa, axis=-1)))
    return sum_(density * (at * at * _SHARE * (2 * math.pi)), axis=-1)


beta, uniform, truncnorm, vonmises = Beta(), Uniform(), TruncNorm(), VonMises()
