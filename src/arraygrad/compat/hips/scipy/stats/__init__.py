"""`autograd.scipy.stats`: one module for each distribution, with its methods as functions."""

from __future__ import annotations

import sys
from types import ModuleType

from .....scipy import stats
from .....scipy.names import scipy_module
from ...numpy.numpy_wrapper import wrapped

_METHODS = {
    "beta": "cdf logpdf pdf",
    "chi2": "cdf logpdf pdf",
    "dirichlet": "logpdf pdf rvs",
    "gamma": "cdf logpdf pdf",
    "multivariate_normal": "entropy logpdf pdf",
    "norm": "cdf logcdf logpdf logsf pdf sf",
    "poisson": "cdf logpmf pmf",
    "t": "cdf logcdf logpdf pdf",
}


def _module(name: str) -> ModuleType:
    """The module of a distribution, which can be imported, too."""
    made = ModuleType(
        f"{__name__}.{name}", f"The functions of `scipy.stats.{name}`, for boxes too."
    )
    raw, own = getattr(scipy_module("scipy.stats"), name), getattr(stats, name)
    for method in _METHODS[name].split():
        random = method == "rvs"
        function = getattr(raw, method)
        setattr(made, method, function if random else wrapped(function, getattr(own, method)))
    sys.modules[made.__name__] = made
    return made


beta, chi2, dirichlet, gamma, multivariate_normal, norm, poisson, t = map(_module, _METHODS)

__all__ = ["beta", "chi2", "dirichlet", "gamma", "multivariate_normal", "norm", "poisson", "t"]
