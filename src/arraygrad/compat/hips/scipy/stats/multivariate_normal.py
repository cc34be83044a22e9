"""The normal distribution in several dimensions."""

from __future__ import annotations

import math
from typing import Any

import numpy as _np

from .....scipy.names import scipy_module
from ... import numpy as np
from ...boxes import getval
from ...numpy.numpy_wrapper import wrapped

__all__ = ["entropy", "logpdf", "pdf"]

_scipy = scipy_module("scipy.stats").multivariate_normal


def _log(x: Any, mean: Any = None, cov: Any = 1.0, allow_singular: bool = False) -> Any:
    if np.ndim(cov) < 2:
        raise NotImplementedError("the derivative is defined if cov is a matrix")
    difference = x if mean is None else x - mean
    if not allow_singular:
        _, log_det = np.linalg.slogdet(cov)
        solved = np.linalg.solve(cov, np.expand_dims(difference, -1))
        rank = cov.shape[-1]
        distance = np.sum(difference * solved[..., 0], axis=-1)
    else:
        values = _np.linalg.eigvalsh(getval(cov))
        kept = abs(values) > 1e6 * _np.finfo(values.dtype).eps * abs(values).max()
        rank = int(kept.sum())
        log_det = np.sum(np.log(np.linalg.eigvalsh(cov)[kept]))
        distance = np.sum(difference * np.dot(difference, np.linalg.pinv(cov)), axis=-1)
    return -(rank * math.log(2 * math.pi) + log_det + distance) / 2


def _entropy(mean: Any = None, cov: Any = 1.0) -> Any:
    size = np.shape(cov)[-1]
    return size * (math.log(2 * math.pi) + 1) / 2 + np.linalg.slogdet(cov)[1] / 2


logpdf = wrapped(_scipy.logpdf, _log)
pdf = wrapped(_scipy.pdf, lambda *args, **kwargs: np.exp(_log(*args, **kwargs)))
entropy = wrapped(_scipy.entropy, _entropy)
