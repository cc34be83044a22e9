"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any

from .....scipy.names import scipy_module
from ... import numpy as np
from ...numpy.numpy_wrapper import wrapped
from ..special import gammaln, xlogy

__all__ = ["logpdf", "pdf", "rvs"]

_scipy = scipy_module("scipy.stats").dirichlet


def _log(x: Any, alpha: Any) -> Any:
    if len(x) == len(alpha) - 1:  # the last one is what is missing to one
        x = np.concatenate([x, np.expand_dims(1 - np.sum(x, axis=0), 0)])
    norm = gammaln(np.sum(alpha)) - np.sum(gammaln(alpha))
    return norm + np.sum(xlogy((alpha - 1), x.T), axis=-1)


rvs = _scipy.rvs
logpdf = wrapped(_scipy.logpdf, _log)
pdf = wrapped(_scipy.pdf, lambda x, alpha: np.exp(_log(x, alpha)))
