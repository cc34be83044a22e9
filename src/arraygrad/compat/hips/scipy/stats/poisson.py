"""The Poisson distribution."""

from __future__ import annotations

from typing import Any

from .....scipy.names import scipy_module
from ... import numpy as np
from ...numpy.numpy_wrapper import wrapped
from ..special import gammaincc, gammaln, xlogy

__all__ = ["cdf", "logpmf", "pmf"]

_scipy = scipy_module("scipy.stats").poisson


def _log(k: Any, mu: Any) -> Any:
    return xlogy(k, mu) - mu - gammaln(k + 1.0)


logpmf = wrapped(_scipy.logpmf, _log)
pmf = wrapped(_scipy.pmf, lambda k, mu: np.exp(_log(k, mu)))
cdf = wrapped(_scipy.cdf, lambda k, mu: gammaincc(np.floor(k) + 1.0, mu))
