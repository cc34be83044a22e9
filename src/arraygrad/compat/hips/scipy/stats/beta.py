"""The beta distribution."""

from __future__ import annotations

from typing import Any

from .....scipy.names import scipy_module
from ..special import betainc, betaln, xlog1py, xlogy
from .scaling import density, log_density, probability

__all__ = ["cdf", "logpdf", "pdf"]

_scipy = scipy_module("scipy.stats").beta


def _log(z: Any, a: Any, b: Any) -> Any:
    return xlogy(a - 1, z) + xlog1py(b - 1, -z) - betaln(a, b)


logpdf = log_density(_scipy.logpdf, _log, 2)
pdf = density(_scipy.pdf, _log, 2)
cdf = probability(_scipy.cdf, lambda z, a, b: betainc(a, b, z), 2)
