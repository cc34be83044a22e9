"""Student's t distribution."""

from __future__ import annotations

import math
from typing import Any

from .....scipy.names import scipy_module
from ... import numpy as np
from ..special import gammaln, stdtr
from .scaling import density, log_density, probability

__all__ = ["cdf", "logcdf", "logpdf", "pdf"]

_scipy = scipy_module("scipy.stats").t


def _log(z: Any, df: Any) -> Any:
    norm = gammaln((df + 1) / 2) - gammaln(df / 2) - np.log(df * math.pi) / 2
    return norm - (df + 1) / 2 * np.log1p(z**2 / df)


logpdf = log_density(_scipy.logpdf, _log, 1)
pdf = density(_scipy.pdf, _log, 1)
cdf = probability(_scipy.cdf, lambda z, df: stdtr(df, z), 1)
logcdf = probability(_scipy.logcdf, lambda z, df: np.log(stdtr(df, z)), 1)
