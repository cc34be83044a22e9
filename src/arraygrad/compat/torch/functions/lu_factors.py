"""LU decompositions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops
from ....arrays.creation import asarray
from ....core.kinds import Opaque
from ....ops.define.library import constant
from ..publish import function
from .factors import check_info, zero_pivots
from .results import named
from .shapes import adjoint_of

_Lu = named("linalg_lu", "P", "L", "U")
_LuFactor = named("linalg_lu_factor", "LU", "pivots")
_LuFactorEx = named("linalg_lu_factor_ex", "LU", "pivots", "info")
_LuUnpack = named("lu_unpack", "P", "L", "U")


def _pivoted(pivot: bool) -> None:
    if not pivot:
        raise RuntimeError("lu without pivoting is not implemented on the CPU: leave pivot=True")


def _factored(a: Any) -> tuple[Any, Any]:
    """Both factors in one matrix, and the pivots, counted from one."""
    from ....scipy.linalg import lu_factor as packed

    if not a.size:
        count = min(a.shape[-2:])
        return ops.copy(a), asarray(np.zeros((*a.shape[:-2], count), np.int32))
    both, pivots = packed(a)
    return both, ops.astype(pivots + 1, np.int32)


@function(name="lu", method=False)
def lu(A: Any, *, pivot: bool = True) -> Any:
    """The permutation and both factors of an LU decomposition."""
    from ....scipy import linalg

    _pivoted(pivot)
    return _Lu(*linalg.lu(A))


@function(name="lu_factor", method=False)
def lu_factor(A: Any, *, pivot: bool = True) -> Any:
    """Both factors of an LU decomposition in one matrix, and the pivots."""
    _pivoted(pivot)
    return _LuFactor(*_factored(A))


@function(name="lu_factor_ex", method=False)
def lu_factor_ex(A: Any, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """`lu_factor`, and for each matrix the number of a pivot that is zero, or 0."""
    _pivoted(pivot)
    info = zero_pivots(A)
    if check_errors:
        check_info("lu_factor_ex", info, "a matrix is singular")
    return _LuFactorEx(*_factored(A), info)


def _permutations(pivots: Any, rows: int) -> Any:
    """The matrices that rows in the order of the pivots are multiplied by to be as before."""
    out = np.zeros((*pivots.shape[:-1], rows, rows))
    for place in np.ndindex(*pivots.shape[:-1]):
        order = np.arange(rows)
        for i, j in enumerate(pivots[place]):
            order[[i, j - 1]] = order[[j - 1, i]]
        out[place][order, np.arange(rows)] = 1
    return out


_permutation = constant(
    "torch.permutation",
    "pivots",
    compute=lambda xp, pivots, *, rows: _permutations(np.asarray(pivots), rows),
    kind=Opaque(leading=True),
)


@function(name="lu_unpack", method=False)
def lu_unpack(
    LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True
) -> Any:
    """The permutation and both factors, of the result of `lu_factor`."""
    m, n = LU_data.shape[-2:]
    k = min(m, n)
    empty = asarray(np.zeros(0, LU_data.dtype))
    order: Any = empty
    lower: Any = empty
    upper: Any = empty
    if unpack_pivots:
        order = ops.astype(_permutation(LU_pivots, rows=m), LU_data.dtype)
    if unpack_data:
        lower = ops.tril(LU_data[..., :, :k], k=-1) + np.eye(m, k, dtype=LU_data.dtype)
        upper = ops.triu(LU_data[..., :k, :])
    return _LuUnpack(order, lower, upper)


@function(name="lu_solve", method=False)
def lu_solve(LU: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    """The solution of a system by the result of `lu_factor`."""
    from ....scipy import linalg

    if not left:  # X A = B is Aᴴ Xᴴ = Bᴴ
        return adjoint_of(lu_solve.__wrapped__(LU, pivots, adjoint_of(B), adjoint=not adjoint))
    lead = ops.broadcast_shapes(tuple(LU.shape[:-2]), tuple(B.shape[:-2]))
    both, b = (ops.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (LU, B))
    places = ops.broadcast_to(pivots - 1, (*lead, pivots.shape[-1]))
    return linalg.lu_solve((both, places), b, 2 if adjoint else 0)
