"""NumPy's functions of polynomials, given as arrays of coefficients, highest power first."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .... import linalg, ops
from ..values import plain_values
from .common import RULES, array_of, refuse, rule_for


@rule_for(np.polyval)
def _polyval(p: Any, x: Any) -> Any:
    x = array_of(x)
    value = 0 * x
    for coefficient in array_of(p):
        value = value * x + coefficient
    return value


@rule_for(np.polyfit)
def _polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: Any = None,
    full: bool = False,
    w: Any = None,
    cov: Any = False,
) -> Any:
    refuse("polyfit", full=full or None, cov=cov or None)
    x, y = array_of(x), array_of(y)
    powers = x[:, None] ** np.arange(deg, -1, -1)
    if w is not None:
        w = array_of(w)
        powers = powers * w[:, None]
        y = y * (w if y.ndim == 1 else w[:, None])
    # Columns of equal norm, as in NumPy: otherwise small powers would lose precision.
    scale = linalg.vector_norm(powers, axis=0)
    found = linalg.lstsq(powers / scale, y, rcond).solution
    return found / (scale if y.ndim == 1 else scale[:, None])


@rule_for(np.poly)
def _poly(seq_of_zeros: Any) -> Any:
    zeros = array_of(seq_of_zeros)
    if zeros.ndim == 2:
        zeros = linalg.eigvals(zeros)
    one = np.ones(1)
    factors = [ops.concat([one, ops.reshape(-zero, (1,))]) for zero in zeros]
    return functools.reduce(ops.convolve, factors, one)


@rule_for(np.roots)
def _roots(p: Any) -> Any:
    p = array_of(p)
    if p.ndim != 1:
        raise ValueError(f"numpy.roots: p must have one axis, got shape {tuple(p.shape)}")
    places = np.flatnonzero(np.asarray(plain_values(p)))
    if not len(places):
        return ops.astype(p[:0], np.complex128)
    first, last = int(places[0]), int(places[-1])
    q = p[first : last + 1]
    size = q.shape[0] - 1
    found = ops.astype(p[:0], np.complex128)
    if size:
        top = ops.expand_dims(-q[1:] / q[0], axis=0)
        found = linalg.eigvals(ops.concat([top, np.eye(size, k=-1)[1:]]))
    return ops.concat([found, np.zeros(p.shape[0] - 1 - last, np.complex128)])


def _coefficients(p: Any) -> Any:
    return ops.atleast_1d(array_of(p))


def _of_one_degree(*polynomials: Any) -> list[Any]:
    """The coefficients of all polynomials, padded by zeros to the highest degree."""
    arrays = [_coefficients(p) for p in polynomials]
    size = max(p.shape[0] for p in arrays)
    return [ops.pad(p, ((size - p.shape[0], 0),)) for p in arrays]


RULES[np.polyadd] = lambda a1, a2: ops.add(*_of_one_degree(a1, a2))
RULES[np.polysub] = lambda a1, a2: ops.subtract(*_of_one_degree(a1, a2))
RULES[np.polymul] = lambda a1, a2: ops.convolve(_coefficients(a1), _coefficients(a2))


@rule_for(np.polyder)
def _polyder(p: Any, m: int = 1) -> Any:
    p = array_of(p)
    for _ in range(m):
        p = p[:-1] * np.arange(p.shape[0] - 1, 0, -1)
    return p


@rule_for(np.polyint)
def _polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    p = array_of(p)
    constants = [0.0] * m if k is None else k if hasattr(k, "__len__") else [k] * m
    for constant in constants:
        raised = p / np.arange(p.shape[0], 0, -1)
        p = ops.concat([raised, ops.reshape(array_of(constant), (1,))])
    return p
