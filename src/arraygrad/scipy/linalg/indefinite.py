"""The decomposition ``A = L D Lᴴ`` of Hermitian matrices, or ``A = L D Lᵀ`` of symmetric ones.

D has blocks of one or two rows. With ``M = L⁻¹ dA L⁻ᴴ``, or ``L⁻ᵀ``, the change of D is the part of
M in its blocks, and ``L⁻¹ dL D`` is the part of M below the blocks; or above them, if L is an upper
triangle.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import linalg as ours
from ...core.kinds import Matrices
from ...ops import (
    conj,
    is_complex,
    logical_or,
    matmul,
    matrix_transpose,
    not_equal,
    tril,
    triu,
    where,
)
from ...ops.define.library import constant
from ..twins import twin
from .stacked import SCIPY, adjoint, matrix, matrix_op, stacked, symmetric
from .stacked import hermitian as hermitian_of

__all__ = ["ldl"]


def _parts_of(a: Any, *, lower: bool, hermitian: bool) -> Any:
    """The triangle with its rows in order, D, and the matrix that puts rows in order."""
    triangle, d, order = SCIPY.ldl(a, lower=lower, hermitian=hermitian, check_finite=False)
    return triangle[order], d, np.eye(len(a), dtype=a.dtype)[order]


def _masked(x: Any, d: Any, lower: bool) -> tuple[Any, Any]:
    """The elements of `x` in the blocks of D, and those beyond them in the triangle."""
    in_blocks = logical_or(not_equal(d, 0), np.eye(d.shape[-1], dtype=bool))
    beyond = tril(x, k=-1) if lower else triu(x, k=1)
    return where(in_blocks, x, 0.0), where(in_blocks, 0.0, beyond)


def _vjp(gs: Any, out: Any, lower: bool, hermitian: bool) -> Any:
    triangle, d, order = out
    turned = adjoint(triangle)
    inner: Any = 0.0
    if gs[0] is not None:
        by_d = adjoint(ours.solve(d, adjoint(matmul(turned, gs[0]))))
        inner = _masked(by_d, d, lower)[1]
    if gs[1] is not None:
        inner = inner + _masked(gs[1], d, lower)[0]
    half = ours.solve(turned, inner)
    right = matrix_transpose(triangle) if hermitian else turned
    whole = ours.solve(right, matrix_transpose(half))
    whole = matrix_transpose(whole)
    return matmul(matrix_transpose(order), matmul(whole, order))


def _jvp(t: Any, out: Any, lower: bool, hermitian: bool) -> Any:
    triangle, d, order = out
    change = matmul(order, matmul(t, matrix_transpose(order)))
    half = matrix_transpose(ours.solve(triangle, change))
    other = conj(triangle) if hermitian and is_complex(triangle) else triangle
    inner = matrix_transpose(ours.solve(other, half))
    in_blocks, beyond = _masked(inner, d, lower)
    step = matrix_transpose(ours.solve(matrix_transpose(d), matrix_transpose(beyond)))
    return matmul(triangle, step), in_blocks, order * 0


_ldl = matrix_op(
    "ldl",
    "a",
    compute=_parts_of,
    shapes=lambda a, **keywords: (a, a, a),
    multiple=True,
    vjp=_vjp,
    jvp=_jvp,
    holomorphic=False,
)
_order = constant(
    "scipy.linalg.ldl_order",
    "a",
    compute=stacked(
        lambda a, *, lower, hermitian: SCIPY.ldl(
            a, lower=lower, hermitian=hermitian, check_finite=False
        )[2]
    ),
    kind=Matrices(shapes=lambda a, **keywords: (a[:1],)),
)


@twin(SCIPY.ldl)
def ldl(A: Any, lower: bool, hermitian: bool) -> Any:
    """The LDL decomposition of Hermitian or symmetric matrices, of which one triangle is read."""
    a = matrix(A, "ldl")
    a = hermitian_of(a, lower) if hermitian else symmetric(a, lower)
    options = {"lower": bool(lower), "hermitian": bool(hermitian)}
    triangle, d, order = _ldl(a, **options)
    return matmul(matrix_transpose(order), triangle), d, _order(a, **options)
