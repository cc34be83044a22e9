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
from . import discrete, kde, multivariate, on_intervals, on_the_half_line, on_the_line
from .by_scipy import NOT_BY_FORMULAS, by_scipy_formulas
from .discrete import *
from .distribution import SCIPY
from .kde import *
from .multivariate import *
from .on_intervals import *
from .on_the_half_line import *
from .on_the_line import *

__all__ = [
    *discrete.__all__,
    *kde.__all__,
    *multivariate.__all__,
    *on_intervals.__all__,
    *on_the_half_line.__all__,
    *on_the_line.__all__,
]

_scipys = others_from("scipy.stats")


def __getattr__(name: str) -> Any:
    found = _scipys(name)
    if isinstance(found, SCIPY.rv_continuous) and name not in NOT_BY_FORMULAS:
        return by_scipy_formulas(name)
    return found


def __dir__() -> list[str]:
    return __all__
