"""Factorisations that are kept to solve linear systems: Cholesky and LU."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import linalg as ours
from ...backends.filled import zeros_like
from ...core.kinds import Matrices, Opaque
from ...ops import argmax, astype, concat, matmul, matrix_transpose, tril, triu
from ...ops.define.library import constant
from ..twins import array_like, by_scipy, floating, twin
from .stacked import (
    SCIPY,
    adjoint,
    columns,
    hermitian,
    matrix,
    matrix_op,
    stacked,
    uncolumned,
)
from .systems import triangular

__all__ = ["cho_factor", "cho_solve", "cholesky", "lu", "lu_factor", "lu_solve"]

# --- Cholesky ------------------------------------------------------------------------------------


@twin(SCIPY.cholesky)
def cholesky(a: Any, lower: bool) -> Any:
    """The triangular factor of positive definite matrices, of which one triangle is read."""
    a = matrix(a, "cholesky")
    return ours.cholesky(hermitian(a, lower), upper=not lower)


@twin(SCIPY.cho_factor)
def cho_factor(a: Any, lower: bool) -> Any:
    """The Cholesky factor for `cho_solve`; the numbers in the other triangle have no meaning."""
    a = matrix(a, "cho_factor")
    factor = ours.cholesky(hermitian(a, lower), upper=not lower)
    return factor + (triu(a, k=1) if lower else tril(a, k=-1)), lower


@twin(SCIPY.cho_solve)
def cho_solve(c_and_lower: Any, b: Any) -> Any:
    """The solution of a linear system, by the result of `cho_factor`."""
    c, lower = c_and_lower
    c, b = matrix(c, "cho_solve"), floating(b)
    b, vector = columns(b)
    first, second = (c, adjoint(c)) if lower else (adjoint(c), c)
    x = triangular(second, triangular(first, b, lower=True, unit=False), lower=False, unit=False)
    return uncolumned(x, vector)


# --- LU ------------------------------------------------------------------------------------------
# Pivoting is a choice by the values: the permutation is a constant.

_lu_permutation = constant(
    "scipy.linalg.lu_permutation",
    "a",
    compute=stacked(lambda a: SCIPY.lu(a, check_finite=False)[0].astype(a.dtype)),
    kind=Matrices(shapes=lambda a: ((a[0], a[0]),)),
)
_lu_pivots = constant(
    "scipy.linalg.lu_pivots",
    "a",
    compute=stacked(lambda a: SCIPY.lu_factor(a, check_finite=False)[1]),
    kind=Matrices(shapes=lambda a: ((min(a),),)),
)


def _permutation_of(pivots: Any) -> Any:
    out = np.empty((*pivots.shape, pivots.shape[-1]))
    for index in np.ndindex(*pivots.shape[:-1]):
        order = np.arange(pivots.shape[-1])
        for i, j in enumerate(pivots[index]):
            order[[i, j]] = order[[j, i]]
        out[index] = np.eye(len(order))[order]
    return out


# The matrix that reorders rows as the pivots say.
_permutation = constant(
    "scipy.linalg.permutation",
    "pivots",
    compute=by_scipy(_permutation_of),
    kind=Opaque(leading=True),
)


def _lu_vjp(gs: Any, out: Any) -> Any:
    lower, upper = out
    inner = None
    if gs[0] is not None:
        inner = tril(matmul(adjoint(lower), gs[0]), k=-1)
    if gs[1] is not None:
        right = triu(matmul(gs[1], adjoint(upper)))
        inner = right if inner is None else inner + right
    left = triangular(adjoint(lower), inner, lower=False, unit=True)
    return adjoint(triangular(upper, adjoint(left), lower=False, unit=False))


def _lu_jvp(t: Any, out: Any) -> Any:
    lower, upper = out
    inner = matrix_transpose(triangular(lower, t, lower=True, unit=True))
    inner = matrix_transpose(triangular(matrix_transpose(upper), inner, lower=True, unit=False))
    return matmul(lower, tril(inner, k=-1)), matmul(triu(inner), upper)


# Of square matrices whose rows are in the order that pivoting has found, so that none move.
_lu = matrix_op(
    "lu",
    "a",
    compute=lambda a: SCIPY.lu(a, check_finite=False)[1:],
    shapes=lambda a: (a, a),
    multiple=True,
    vjp=_lu_vjp,
    jvp=_lu_jvp,
    holomorphic=False,
)


def _factors(a: Any) -> tuple[Any, Any, Any]:
    """The permutation, and both factors."""
    m, n = a.shape[-2:]
    k = min(m, n)
    permutation = _lu_permutation(a)
    ordered = matmul(matrix_transpose(permutation), a)
    lower, upper = _lu(ordered[..., :k, :k])
    if m > n:
        rest = matrix_transpose(ordered[..., k:, :])
        rest = triangular(matrix_transpose(upper), rest, lower=True, unit=False)
        lower = concat((lower, matrix_transpose(rest)), axis=-2)
    elif n > m:
        rest = triangular(lower, ordered[..., :, k:], lower=True, unit=True)
        upper = concat((upper, rest), axis=-1)
    return permutation, lower, upper


@twin(SCIPY.lu)
def lu(a: Any, permute_l: bool, p_indices: bool) -> Any:
    """The LU decomposition. The permutation is a constant."""
    a = matrix(a, "lu", square=False)
    permutation, lower, upper = _factors(a)
    if permute_l:
        return matmul(permutation, lower), upper
    if p_indices:
        kind = SCIPY.lu(np.eye(2), p_indices=True)[0].dtype
        return astype(argmax(permutation, axis=-1), kind), lower, upper
    return permutation, lower, upper


@twin(SCIPY.lu_factor)
def lu_factor(a: Any) -> Any:
    """Both factors of an LU decomposition in one matrix, and the pivots, for `lu_solve`."""
    a = matrix(a, "lu_factor", square=False)
    _, lower, upper = _factors(a)
    m, n = a.shape[-2:]
    lower = tril(lower, k=-1)
    if m > n:
        upper = concat((upper, zeros_like(upper, (*upper.shape[:-2], m - n, n))), axis=-2)
    elif n > m:
        lower = concat((lower, zeros_like(lower, (*lower.shape[:-2], m, n - m))), axis=-1)
    return lower + upper, _lu_pivots(a)


@twin(SCIPY.lu_solve)
def lu_solve(lu_and_piv: Any, b: Any, trans: int) -> Any:
    """The solution of a linear system, by the result of `lu_factor`."""
    both, pivots = lu_and_piv
    both, b = matrix(both, "lu_solve"), floating(b)
    b, vector = columns(b)
    order = astype(_permutation(array_like(pivots)), b.dtype)
    if trans == 0:
        x = triangular(both, matmul(order, b), lower=True, unit=True)
        return uncolumned(triangular(both, x, lower=False, unit=False), vector)
    if trans not in (1, 2):
        raise ValueError(f"trans must be 0, 1 or 2, not {trans!r}")
    turned = matrix_transpose(both) if trans == 1 else adjoint(both)
    x = triangular(turned, b, lower=True, unit=False)
    x = triangular(turned, x, lower=False, unit=True)
    return uncolumned(matmul(matrix_transpose(order), x), vector)
