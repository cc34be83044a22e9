"""`scipy.stats` with derivatives: distributions by all their parameters, and `gaussian_kde`.

Distributions have the methods pdf, logpdf, cdf, logcdf, sf, logsf, ppf, isf, entropy, mean, var,
std and rvs. Continuous distributions that are not in `__all__` have derivatives, too, where SciPy's
own formulas can compute with tensors. Names that have no derivatives here are SciPy's own.

>>> import arraygrad as ag
>>> from arraygrad.scipy.stats import gamma
>>> shape = ag.tensor(2.0, requires_grad=True)
>>> round(ag.grad(gamma.logpdf(3.0, shape), shape).item(), 6)  # log(3) - digamma(2)
0.675828
"""

from __future__ import annotations

from typing import Any

from ..names import others_from
from .by_scipy import NOT_BY_FORMULAS, by_scipy_formulas
from .discrete import bernoulli, binom, geom, nbinom, poisson
from .distribution import SCIPY
from .kde import gaussian_kde
from .multivariate import dirichlet, multinomial, multivariate_normal, multivariate_t, wishart
from .on_intervals import beta, truncnorm, uniform, vonmises
from .on_the_half_line import (
    chi2,
    expon,
    f,
    gamma,
    halfnorm,
    invgamma,
    lognorm,
    maxwell,
    pareto,
    rayleigh,
    weibull_min,
)
from .on_the_line import cauchy, gumbel_l, gumbel_r, laplace, logistic, norm, t

__all__ = [
    "bernoulli",
    "beta",
    "binom",
    "cauchy",
    "chi2",
    "dirichlet",
    "expon",
    "f",
    "gamma",
    "gaussian_kde",
    "geom",
    "gumbel_l",
    "gumbel_r",
    "halfnorm",
    "invgamma",
    "laplace",
    "logistic",
    "lognorm",
    "maxwell",
    "multinomial",
    "multivariate_normal",
    "multivariate_t",
    "nbinom",
    "norm",
    "pareto",
    "poisson",
    "rayleigh",
    "t",
    "truncnorm",
    "uniform",
    "vonmises",
    "weibull_min",
    "wishart",
]

_scipys = others_from("scipy.stats")


def __getattr__(name: str) -> Any:
    found = _scipys(name)
    if isinstance(found, SCIPY.rv_continuous) and name not in NOT_BY_FORMULAS:
        return by_scipy_formulas(name)
    return found


def __dir__() -> list[str]:
    return __all__
