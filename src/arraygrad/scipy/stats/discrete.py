"""Discrete distributions, each by its formulas. Counts are constants."""

from __future__ import annotations

import functools
import math
from typing import Any

from ... import special as ours
from ...ops import equal, expm1, floor, log, log1p, logical_and, where
from .. import special
from .counting import Discrete
from .distribution import method

__all__ = ["bernoulli", "binom", "geom", "nbinom", "poisson"]

_gammaln = ours.gammaln


def _all(*conditions: Any) -> Any:
    return functools.reduce(logical_and, conditions)


class Binom(Discrete):
    """The binomial distribution."""

    name = "binom"
    support_ = (0.0, lambda n, p: n)
    valid = staticmethod(lambda n, p: _all(n >= 0, equal(floor(n), n), p >= 0, p <= 1))
    log_density = staticmethod(
        lambda k, n, p: (
            _gammaln(n + 1)
            - _gammaln(k + 1)
            - _gammaln(n - k + 1)
            + ours.xlogy(k, p)
            + ours.xlog1py(n - k, -p)
        )
    )
    distribution = staticmethod(lambda k, n, p: special.bdtr(k, n, p))
    upper = staticmethod(lambda k, n, p: special.bdtrc(k, n, p))
    average = staticmethod(lambda n, p: n * p)
    variance = staticmethod(lambda n, p: n * p * (1 - p))


class Poisson(Discrete):
    """Poisson's distribution."""

    name = "poisson"
    support_ = (0.0, math.inf)
    valid = staticmethod(lambda mu: mu >= 0)
    log_density = staticmethod(lambda k, mu: ours.xlogy(k, mu) - _gammaln(k + 1) - mu)
    distribution = staticmethod(lambda k, mu: special.pdtr(k, mu))
    upper = staticmethod(lambda k, mu: special.pdtrc(k, mu))
    average = staticmethod(lambda mu: mu)
    variance = staticmethod(lambda mu: mu)


class NBinom(Discrete):
    """The negative binomial distribution."""

    name = "nbinom"
    support_ = (0.0, math.inf)
    valid = staticmethod(lambda n, p: _all(n > 0, p > 0, p <= 1))
    log_density = staticmethod(
        lambda k, n, p: (
            _gammaln(n + k) - _gammaln(k + 1) - _gammaln(n) + n * log(p) + ours.xlog1py(k, -p)
        )
    )
    distribution = staticmethod(lambda k, n, p: special.betainc(n, k + 1, p))
    upper = staticmethod(lambda k, n, p: special.betaincc(n, k + 1, p))
    average = staticmethod(lambda n, p: n * (1 - p) / p)
    variance = staticmethod(lambda n, p: n * (1 - p) / (p * p))


class Geom(Discrete):
    """The geometric distribution."""

    name = "geom"
    support_ = (1.0, math.inf)
    valid = staticmethod(lambda p: _all(p > 0, p <= 1))
    log_density = staticmethod(lambda k, p: ours.xlog1py(k - 1, -p) + log(p))
    distribution = staticmethod(lambda k, p: -expm1(log1p(-p) * k))
    upper = staticmethod(lambda k, p: (1 - p) ** k)
    log_upper = staticmethod(lambda k, p: k * log1p(-p))
    average = staticmethod(lambda p: 1 / p)
    variance = staticmethod(lambda p: (1 - p) / (p * p))

    @method
    def entropy(self, shapes: Any, loc: Any, scale: Any) -> Any:
        """The entropy."""
        (p,) = shapes
        return -log(p) - ours.xlog1py(1 - p, -p) / p + 0 * loc


class Bernoulli(Discrete):
    """The distribution of one trial."""

    name = "bernoulli"
    support_ = (0.0, 1.0)
    valid = staticmethod(lambda p: _all(p >= 0, p <= 1))
    log_density = staticmethod(lambda k, p: ours.xlogy(k, p) + ours.xlog1py(1 - k, -p))
    distribution = staticmethod(lambda k, p: where(k < 1, 1 - p, 1.0))
    average = staticmethod(lambda p: p)
    variance = staticmethod(lambda p: p * (1 - p))


binom, poisson, nbinom, geom, bernoulli = Binom(), Poisson(), NBinom(), Geom(), Bernoulli()
