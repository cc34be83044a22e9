"""Linear systems with a dense matrix, and factorisations that are kept to solve them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import linalg as ours
from ...backends.filled import zeros_like
from ...core.kinds import Matrices, Opaque
from ...ops import concat, is_complex, matmul, matrix_transpose, tril, triu
from ...ops.define.library import constant
from ..twins import array_like, by_scipy, floating, refuse, twin
from .stacked import (
    SCIPY,
    adjoint,
    check_numbers,
    columns,
    hermitian,
    matrix,
    matrix_op,
    stacked,
    symmetric,
    uncolumned,
)

# --- solve ---------------------------------------------------------------------------------------

# The structure of the transposed matrix, where it is another.
_TURNED = {"lower triangular": "upper triangular", "upper triangular": "lower triangular"}


def _solve_rule(g: Any, wanted: Any, a: Any, out: Any, assume_a: Any, lower: bool) -> Any:
    turned = _TURNED.get(assume_a, assume_a)
    g_b = _solve(matrix_transpose(a), g, assume_a=turned, lower=not lower)
    return -matmul(g_b, matrix_transpose(out)) if wanted[0] else None, g_b


def _solve_of(a: Any, b: Any, *, assume_a: Any, lower: bool) -> Any:
    known = {} if assume_a is None else {"assume_a": assume_a}
    return SCIPY.solve(a, b, lower=lower, check_finite=False, **known)


_solve = matrix_op(
    "solve",
    "a",
    "b",
    compute=_solve_of,
    shapes=lambda a, b, **keywords: (b,),
    joint=_solve_rule,
    jvp=lambda t_a, t_b, a, out, assume_a, lower: _solve(
        a, t_b - matmul(t_a, out), assume_a=assume_a, lower=lower
    ),
)
_SYMMETRIC = {"sym", "symmetric"}
# The elements that are read of a matrix with a structure: diagonals from and to.
_READ = {"diagonal": (0, 0), "tridiagonal": (-1, 1)}
_HERMITIAN = {"her", "hermitian", "pos", "positive definite"}


@twin(SCIPY.solve)
def solve(
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: str | None = None,
    transposed: bool = False,
) -> Any:
    """The solution of ``a @ x = b``.

    Only the elements that are read have a gradient: one triangle of a symmetric, Hermitian or
    triangular matrix, and the diagonals of a diagonal or tridiagonal one.
    """
    a, b = matrix(a, "solve"), floating(b)
    check_numbers(check_finite, a, b)
    if assume_a in _HERMITIAN:
        a = hermitian(a, lower)
    elif assume_a in _SYMMETRIC:
        a = symmetric(a, lower)
    elif assume_a in _TURNED:
        a = tril(a) if assume_a == "lower triangular" else triu(a)
    elif assume_a in _READ:
        first, last = _READ[assume_a]
        a = tril(triu(a, k=first), k=last)
    if transposed:
        if is_complex(a) or is_complex(b):
            raise NotImplementedError(
                "scipy.linalg.solve can currently not solve a^T x = b or a^H x = b for complex "
                "matrices."
            )
        a, assume_a, lower = matrix_transpose(a), _TURNED.get(str(assume_a), assume_a), not lower
    b, vector = columns(b)
    return uncolumned(_solve(a, b, assume_a=assume_a, lower=lower), vector)


# --- triangular ----------------------------------------------------------------------------------


def _part(x: Any, lower: bool, unit: bool) -> Any:
    return tril(x, k=-int(unit)) if lower else triu(x, k=int(unit))


def _triangular_rule(g: Any, wanted: Any, a: Any, out: Any, lower: bool, unit: bool) -> Any:
    g_b = _triangular(matrix_transpose(a), g, lower=not lower, unit=unit)
    if not wanted[0]:
        return None, g_b
    return -_part(matmul(g_b, matrix_transpose(out)), lower, unit), g_b


_triangular = matrix_op(
    "solve_triangular",
    "a",
    "b",
    compute=lambda a, b, *, lower, unit: SCIPY.solve_triangular(
        a, b, lower=lower, unit_diagonal=unit, check_finite=False
    ),
    shapes=lambda a, b, lower, unit: (b,),
    joint=_triangular_rule,
    jvp=lambda t_a, t_b, a, out, lower, unit: _triangular(
        a, t_b - matmul(_part(t_a, lower, unit), out), lower=lower, unit=unit
    ),
)


@twin(SCIPY.solve_triangular)
def solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    """The solution of ``a @ x = b`` for a triangular matrix, of which only the triangle is read."""
    a, b = matrix(a, "solve_triangular"), floating(b)
    check_numbers(check_finite, a, b)
    kinds = {0: "N", 1: "T", 2: "C"}
    trans = kinds.get(trans, trans)
    if trans not in kinds.values():
        raise ValueError(f"trans must be 0, 1, 2, 'N', 'T' or 'C', not {trans!r}")
    if trans != "N":
        a, lower = (adjoint(a) if trans == "C" else matrix_transpose(a)), not lower
    b, vector = columns(b)
    return uncolumned(_triangular(a, b, lower=lower, unit=unit_diagonal), vector)


# --- Cholesky ------------------------------------------------------------------------------------


@twin(SCIPY.cholesky)
def cholesky(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """The triangular factor of positive definite matrices, of which one triangle is read."""
    a = matrix(a, "cholesky")
    check_numbers(check_finite, a)
    return ours.cholesky(hermitian(a, lower), upper=not lower)


@twin(SCIPY.cho_factor)
def cho_factor(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """The Cholesky factor for `cho_solve`; the numbers in the other triangle have no meaning."""
    a = matrix(a, "cho_factor")
    check_numbers(check_finite, a)
    factor = ours.cholesky(hermitian(a, lower), upper=not lower)
    return factor + (triu(a, k=1) if lower else tril(a, k=-1)), lower


@twin(SCIPY.cho_solve)
def cho_solve(
    c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    """The solution of a linear system, by the result of `cho_factor`."""
    c, lower = c_and_lower
    c, b = matrix(c, "cho_solve"), floating(b)
    check_numbers(check_finite, c, b)
    b, vector = columns(b)
    first, second = (c, adjoint(c)) if lower else (adjoint(c), c)
    x = _triangular(second, _triangular(first, b, lower=True, unit=False), lower=False, unit=False)
    return uncolumned(x, vector)


# --- LU ------------------------------------------------------------------------------------------
# Pivoting is a choice by the values: the permutation is a constant.

_lu_order = constant(
    "scipy.linalg.lu_order",
    "a",
    compute=stacked(lambda a: SCIPY.lu(a, p_indices=True, check_finite=False)[0]),
    kind=Matrices(shapes=lambda a: (a[:1],)),
)
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
    left = _triangular(adjoint(lower), inner, lower=False, unit=True)
    return adjoint(_triangular(upper, adjoint(left), lower=False, unit=False))


def _lu_jvp(t: Any, out: Any) -> Any:
    lower, upper = out
    inner = matrix_transpose(_triangular(lower, t, lower=True, unit=True))
    inner = matrix_transpose(_triangular(matrix_transpose(upper), inner, lower=True, unit=False))
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
        rest = _triangular(matrix_transpose(upper), rest, lower=True, unit=False)
        lower = concat((lower, matrix_transpose(rest)), axis=-2)
    elif n > m:
        rest = _triangular(lower, ordered[..., :, k:], lower=True, unit=True)
        upper = concat((upper, rest), axis=-1)
    return permutation, lower, upper


@twin(SCIPY.lu)
def lu(
    a: Any,
    permute_l: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
    p_indices: bool = False,
) -> Any:
    """The LU decomposition. The permutation is a constant."""
    a = matrix(a, "lu", square=False)
    check_numbers(check_finite, a)
    permutation, lower, upper = _factors(a)
    if permute_l:
        return matmul(permutation, lower), upper
    return _lu_order(a) if p_indices else permutation, lower, upper


@twin(SCIPY.lu_factor)
def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Both factors of an LU decomposition in one matrix, and the pivots, for `lu_solve`."""
    a = matrix(a, "lu_factor", square=False)
    check_numbers(check_finite, a)
    _, lower, upper = _factors(a)
    m, n = a.shape[-2:]
    lower = tril(lower, k=-1)
    if m > n:
        upper = concat((upper, zeros_like(upper, (*upper.shape[:-2], m - n, n))), axis=-2)
    elif n > m:
        lower = concat((lower, zeros_like(lower, (*lower.shape[:-2], m, n - m))), axis=-1)
    return lower + upper, _lu_pivots(a)


@twin(SCIPY.lu_solve)
def lu_solve(
    lu_and_piv: Any, b: Any, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    """The solution of a linear system, by the result of `lu_factor`."""
    both, pivots = lu_and_piv
    both, b = matrix(both, "lu_solve"), floating(b)
    check_numbers(check_finite, both, b)
    b, vector = columns(b)
    order = _permutation(array_like(pivots))
    if trans == 0:
        x = _triangular(both, matmul(order, b), lower=True, unit=True)
        return uncolumned(_triangular(both, x, lower=False, unit=False), vector)
    if trans not in (1, 2):
        raise ValueError(f"trans must be 0, 1 or 2, not {trans!r}")
    turned = matrix_transpose(both) if trans == 1 else adjoint(both)
    x = _triangular(turned, b, lower=True, unit=False)
    x = _triangular(turned, x, lower=False, unit=True)
    return uncolumned(matmul(matrix_transpose(order), x), vector)


# --- the functions of `arraygrad.linalg` ---------------------------------------------------------


@twin(SCIPY.inv)
def inv(
    a: Any,
    overwrite_a: bool = False,
    check_finite: bool = True,
    *,
    assume_a: Any = None,
    lower: bool = False,
) -> Any:
    """The inverse of matrices."""
    refuse("inv", assume_a=(assume_a, None), lower=(lower, False))
    a = matrix(a, "inv")
    check_numbers(check_finite, a)
    return ours.inv(a)


@twin(SCIPY.det)
def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The determinant of matrices."""
    a = matrix(a, "det")
    check_numbers(check_finite, a)
    return ours.det(a)


@twin(SCIPY.pinv)
def pinv(
    a: Any,
    *,
    atol: Any = None,
    rtol: Any = None,
    return_rank: bool = False,
    check_finite: bool = True,
) -> Any:
    """The pseudo-inverse of matrices."""
    refuse("pinv", atol=(atol, None))
    a = matrix(a, "pinv", square=False)
    check_numbers(check_finite, a)
    out = ours.pinv(a, rtol=rtol)
    return (out, ours.matrix_rank(a, rtol=rtol)) if return_rank else out


@twin(SCIPY.pinvh)
def pinvh(
    a: Any,
    atol: Any = None,
    rtol: Any = None,
    lower: bool = True,
    return_rank: bool = False,
    check_finite: bool = True,
) -> Any:
    """The pseudo-inverse of Hermitian matrices, of which one triangle is read."""
    return pinv(
        hermitian(matrix(a, "pinvh"), lower),
        atol=atol,
        rtol=rtol,
        return_rank=return_rank,
        check_finite=check_finite,
    )


@twin(SCIPY.lstsq)
def lstsq(
    a: Any,
    b: Any,
    cond: Any = None,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    lapack_driver: str | None = None,
) -> Any:
    """The least-squares solution, the squared residuals, the rank and the singular values."""
    refuse("lstsq", lapack_driver=(lapack_driver, None))
    a, b = matrix(a, "lstsq", square=False), floating(b)
    check_numbers(check_finite, a, b)
    x, residues, rank, values = ours.lstsq(a, b, rcond=cond)
    if b.ndim == 1 and residues.ndim == 1 and residues.shape[0] == 1:
        residues = residues[0]  # SciPy gives a number for a vector
    return x, residues, rank, values


@twin(SCIPY.norm)
def norm(
    a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: bool = True
) -> Any:
    """A norm of vectors or matrices."""
    a = floating(a)
    check_numbers(check_finite, a)
    return np.linalg.norm(a, ord=ord, axis=axis, keepdims=keepdims)
