"""The gamma distribution."""

from __future__ import annotations

from typing import Any

from .....scipy.names import scipy_module
from ..special import gammainc, gammaln, xlogy
from .scaling import density, log_density, probability

__all__ = ["cdf", "logpdf", "pdf"]

_scipy = scipy_module("scipy.stats").gamma


def _log(z: Any, a: Any) -> Any:
    return xlogy(a - 1, z) - z - gammaln(a)


logpdf = log_density(_scipy.logpdf, _log, 1)
pdf = density(_scipy.pdf, _log, 1)
cdf = probability(_scipy.cdf, lambda z, a: gammainc(a, z), 1)
