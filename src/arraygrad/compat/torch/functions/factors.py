"""Factors of matrices, and what is solved with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import linalg, ops
from ....arrays.creation import asarray
from ..publish import function
from .results import named


@function
def matrix_exp(input: Any) -> Any:
    """The exponential of square matrices."""
    from ....scipy.linalg import expm

    return expm(input)


def _adjoint(x: Any) -> Any:
    turned = ops.matrix_transpose(x)
    return ops.conj(turned) if x.dtype.kind == "c" else turned


@function
def cholesky_solve(B: Any, L: Any, upper: bool = False) -> Any:  # noqa: N803
    """The solution of `A X = B`, given the Cholesky factor of `A`."""
    factor = ops.triu(L) if upper else ops.tril(L)
    lower = _adjoint(factor) if upper else factor
    return linalg.solve(_adjoint(lower), linalg.solve(lower, B))


@function
def cholesky_inverse(L: Any, upper: bool = False) -> Any:  # noqa: N803
    """The inverse of `A`, given its Cholesky factor."""
    return cholesky_solve.__wrapped__(np.eye(L.shape[-1], dtype=L.dtype), L, upper)


_Lu, _Factor = named("linalg_lu", "P", "L", "U"), named("linalg_lu_factor", "LU", "pivots")


@function(method=False)
def lu(A: Any, *, pivot: bool = True) -> Any:  # noqa: N803
    """The factors `P L U` of a matrix."""
    from ....scipy.linalg import lu as factors

    _check_pivot(pivot)
    return _Lu(*factors(A))


@function(method=False)
def lu_factor(A: Any, *, pivot: bool = True) -> Any:  # noqa: N803
    """The factors of a matrix in one, and the rows that were exchanged, counted from one."""
    from ....scipy.linalg import lu_factor as factors

    _check_pivot(pivot)
    found, rows = factors(A)
    return _Factor(found, asarray(np.asarray(rows, np.int32) + 1))


def _check_pivot(pivot: bool) -> None:
    if not pivot:
        raise NotImplementedError("pivot=False is not supported: it is not stable")


@function(method=False)
def lu_solve(LU: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False) -> Any:  # noqa: N803
    """The solution of `A X = B`, given the factors of `A` by `lu_factor`."""
    lower = ops.tril(LU, k=-1) + np.eye(LU.shape[-1], dtype=LU.dtype)
    order = np.arange(LU.shape[-1])
    rows = np.asarray(pivots.detach().array) - 1
    if rows.ndim > 1:
        raise NotImplementedError("lu_solve() is for one matrix, not for a stack of them")
    for i, row in enumerate(rows):
        order[[i, row]] = order[[row, i]]
    matrix = ops.matmul(lower, ops.triu(LU))[np.argsort(order)]
    matrix = _adjoint(matrix) if adjoint else matrix
    if left:
        return linalg.solve(matrix, B)
    return ops.matrix_transpose(linalg.solve(ops.matrix_transpose(matrix), ops.matrix_transpose(B)))


@function(method=False)
def tensorinv(A: Any, ind: int = 2) -> Any:  # noqa: N803
    """The inverse of a tensor as a linear map of its last axes to its first `ind`."""
    first, last = tuple(A.shape[:ind]), tuple(A.shape[ind:])
    size = int(np.prod(first))
    return ops.reshape(linalg.inv(ops.reshape(A, (size, -1))), (*last, *first))
