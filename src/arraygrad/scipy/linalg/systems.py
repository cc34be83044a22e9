"""Linear systems with a dense matrix, inverses, determinants and norms.

Factorisations that are kept to solve systems are in `factors`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import linalg as ours
from ...core.array import plain
from ...ops import is_complex, matmul, matrix_transpose, tril, triu
from ..twins import double, floating, refuse, twin
from .stacked import (
    SCIPY,
    adjoint,
    columns,
    hermitian,
    matrix,
    matrix_op,
    symmetric,
    uncolumned,
)

__all__ = ["det", "inv", "lstsq", "norm", "pinv", "pinvh", "solve", "solve_triangular"]

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
def solve(a: Any, b: Any, lower: bool, assume_a: str | None, transposed: bool) -> Any:
    """The solution of ``a @ x = b``.

    Only the elements that are read have a gradient: one triangle of a symmetric, Hermitian or
    triangular matrix, and the diagonals of a diagonal or tridiagonal one.
    """
    a, b = matrix(a, "solve"), floating(b)
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
    g_b = triangular(matrix_transpose(a), g, lower=not lower, unit=unit)
    if not wanted[0]:
        return None, g_b
    return -_part(matmul(g_b, matrix_transpose(out)), lower, unit), g_b


triangular = matrix_op(
    "solve_triangular",
    "a",
    "b",
    compute=lambda a, b, *, lower, unit: SCIPY.solve_triangular(
        a, b, lower=lower, unit_diagonal=unit, check_finite=False
    ),
    shapes=lambda a, b, lower, unit: (b,),
    joint=_triangular_rule,
    jvp=lambda t_a, t_b, a, out, lower, unit: triangular(
        a, t_b - matmul(_part(t_a, lower, unit), out), lower=lower, unit=unit
    ),
)


@twin(SCIPY.solve_triangular)
def solve_triangular(a: Any, b: Any, trans: Any, lower: bool, unit_diagonal: bool) -> Any:
    """The solution of ``a @ x = b`` for a triangular matrix, of which only the triangle is read."""
    a, b = matrix(a, "solve_triangular"), floating(b)
    kinds = {0: "N", 1: "T", 2: "C"}
    trans = kinds.get(trans, trans)
    if trans not in kinds.values():
        raise ValueError(f"trans must be 0, 1, 2, 'N', 'T' or 'C', not {trans!r}")
    if trans != "N":
        a, lower = (adjoint(a) if trans == "C" else matrix_transpose(a)), not lower
    b, vector = columns(b)
    return uncolumned(triangular(a, b, lower=lower, unit=unit_diagonal), vector)


# --- the functions of `arraygrad.linalg` ---------------------------------------------------------


@twin(SCIPY.inv)
def inv(a: Any) -> Any:
    """The inverse of matrices."""
    a = matrix(a, "inv")
    return ours.inv(a)


@twin(SCIPY.det)
def det(a: Any) -> Any:
    """The determinant of matrices."""
    a = double(matrix(a, "det"))  # as SciPy does
    return ours.det(a)


@twin(SCIPY.pinv)
def pinv(a: Any, atol: Any, rtol: Any, return_rank: bool) -> Any:
    """The pseudo-inverse of matrices."""
    a = matrix(a, "pinv", square=False)
    if atol is not None:  # which values are cut off is a constant
        values = np.asarray(plain(a))
        largest = np.linalg.norm(values, 2, axis=(-2, -1))
        rtol = max(a.shape[-2:]) * np.finfo(values.dtype).eps if rtol is None else rtol
        rtol = rtol + atol / np.where(largest > 0, largest, 1.0)
    out = ours.pinv(a, rtol=rtol)
    return (out, ours.matrix_rank(a, rtol=rtol)) if return_rank else out


@twin(SCIPY.pinvh)
def pinvh(a: Any, lower: bool, **options: Any) -> Any:
    """The pseudo-inverse of Hermitian matrices, of which one triangle is read."""
    return pinv(hermitian(matrix(a, "pinvh"), lower), **options)


@twin(SCIPY.lstsq)
def lstsq(a: Any, b: Any, cond: Any, lapack_driver: str | None) -> Any:
    """The least-squares solution, the squared residuals, the rank and the singular values."""
    if lapack_driver == "gelsy":  # it finds another rank, and no singular values
        refuse("lstsq", lapack_driver=(lapack_driver, "gelsd"))
    a, b = matrix(a, "lstsq", square=False), floating(b)
    # SciPy's default is the precision itself.
    x, residues, rank, values = ours.lstsq(a, b, rcond=-1 if cond is None else cond)
    if residues.size and np.any(np.asarray(plain(rank)) < a.shape[-1]):
        residues = residues[..., :0]
    elif b.ndim == 1 and residues.ndim == 1 and residues.shape[0] == 1:
        residues = residues[0]  # SciPy gives a number for a vector
    return x, residues, rank, values


@twin(SCIPY.norm)
def norm(a: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    """A norm of vectors or matrices."""
    a = floating(a)
    return np.linalg.norm(a, ord=ord, axis=axis, keepdims=keepdims)
