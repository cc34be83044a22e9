"""The normal distribution."""

from __future__ import annotations

import math
from typing import Any

from .....scipy.names import scipy_module
from ..special import log_ndtr, ndtr
from .scaling import density, log_density, probability

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]

_scipy = scipy_module("scipy.stats").norm


def _log(z: Any) -> Any:
    return -(z**2) / 2 - math.log(2 * math.pi) / 2


logpdf = log_density(_scipy.logpdf, _log)
pdf = density(_scipy.pdf, _log)
cdf = probability(_scipy.cdf, ndtr)
sf = probability(_scipy.sf, lambda z: ndtr(-z))
logcdf = probability(_scipy.logcdf, log_ndtr)
logsf = probability(_scipy.logsf, lambda z: log_ndtr(-z))
