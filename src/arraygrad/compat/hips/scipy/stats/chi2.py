"""The chi-squared distribution."""

from __future__ import annotations

import math
from typing import Any

from .....scipy.names import scipy_module
from ..special import gammainc, gammaln, xlogy
from .scaling import density, log_density, probability

__all__ = ["cdf", "logpdf", "pdf"]

_scipy = scipy_module("scipy.stats").chi2


def _log(z: Any, df: Any) -> Any:
    return xlogy(df / 2 - 1, z) - z / 2 - gammaln(df / 2) - df * (math.log(2) / 2)


logpdf = log_density(_scipy.logpdf, _log, 1)
pdf = density(_scipy.pdf, _log, 1)
cdf = probability(_scipy.cdf, lambda z, df: gammainc(df / 2, z / 2), 1)
