"""NumPy's covariances and correlations, of one or two sets of variables, with weights."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np

from .... import ops
from ....backends import backend_of, default
from ....core.array import plain
from .common import array_of, in_dtype, rule_for


@rule_for(np.cov)
def _cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    x = _variables(m, rowvar, dtype, "m")
    if y is not None:
        x = ops.concat([x, _variables(y, rowvar, dtype, "y")], axis=0)
        x = _as_numpys(x, dtype)
    if not x.shape[0]:
        return ops.reshape(x, (0, 0))
    counts = _weights(fweights, x.shape[1], "fweights")
    weights = _weights(aweights, x.shape[1], "aweights")
    correction = _correction(ddof, bias)
    w = weights if counts is None else counts if weights is None else counts * weights
    centred = x - (ops.mean(x, axis=1, keepdims=True) if w is None else _mean(x, w))
    other = centred if w is None else centred * w
    out = ops.matmul(centred, ops.conj(other.T)) * _factor(x.shape[1], w, weights, correction)
    return ops.squeeze(out, axis=tuple(a for a in (0, 1) if out.shape[a] == 1))


@rule_for(np.corrcoef)
def _corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    c = _cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    deviation = ops.sqrt(ops.real(ops.diag(c)))
    c = c / deviation[:, None] / deviation[None, :]
    if backend_of(c).kind(c.dtype) != "c":
        return ops.clip(c, -1, 1)  # where rounding leads out of it
    return ops.clip(ops.real(c), -1, 1) + 1j * ops.clip(ops.imag(c), -1, 1)


def _variables(given: Any, rowvar: bool, dtype: Any, name: str) -> Any:
    """An argument as a matrix with a variable in each row."""
    x = array_of(given)
    if x.ndim > 2:
        raise ValueError(f"numpy.cov: {name} has more than 2 dimensions: {x.ndim}")
    rows = x if x.ndim == 2 else ops.reshape(x, (1, -1))
    turned = x.ndim == 2 and not rowvar and (name == "m" or x.shape[0] != 1)
    return _as_numpys(rows.T if turned else rows, dtype)


def _as_numpys(x: Any, dtype: Any) -> Any:
    """The array in the dtype that NumPy computes in: float64, or wider."""
    if dtype is None and backend_of(x) is default:
        dtype = np.result_type(x.dtype, np.float64)
    return in_dtype(x, dtype)


def _weights(given: Any, n: int, name: str) -> Any:
    if given is None:
        return None
    weights = ops.astype(array_of(given), np.float64, copy=False)
    if weights.ndim != 1 or weights.shape[0] != n:
        raise RuntimeError(f"numpy.cov: {name} must be one weight for each of {n} observations")
    values = plain(weights)
    if name == "fweights" and bool(ops.any(ops.not_equal(values, ops.round(values)))):
        raise TypeError("numpy.cov: fweights must be integers")
    if bool(ops.any(ops.less(values, 0))):
        raise ValueError(f"numpy.cov: {name} cannot be negative")
    return weights


def _correction(ddof: Any, bias: bool) -> int:
    if ddof is None:
        return 0 if bias else 1
    if ddof != int(ddof):
        raise ValueError(f"numpy.cov: ddof must be an integer, not {ddof}")
    return operator.index(int(ddof))


def _mean(x: Any, w: Any) -> Any:
    if not bool(ops.all(plain(ops.sum(w)))):
        raise ZeroDivisionError("numpy.cov: the weights sum to zero")
    return ops.sum(x * w, axis=1, keepdims=True) / ops.sum(w)


def _factor(n: int, w: Any, aweights: Any, correction: int) -> Any:
    """One over the degrees of freedom."""
    freedom: Any = n - correction
    if w is not None:
        total = ops.sum(w)
        lost = 1 if aweights is None else ops.sum(w * aweights) / total
        freedom = total - correction * lost
    if bool(np.any(np.asarray(plain(freedom)) <= 0)):
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=4)
        freedom = ops.where(freedom <= 0, 0.0, freedom) if w is not None else np.float64(0.0)
    with np.errstate(divide="ignore"):
        return 1 / freedom
