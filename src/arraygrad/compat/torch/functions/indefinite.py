"""LDL decompositions of symmetric matrices, by LAPACK. As in PyTorch, they have no derivative."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from .... import ops
from ....core.kinds import Matrices, Opaque
from ....ops.define.library import constant
from ..publish import function
from .factors import check_info, refuse_recorded
from .results import named

_Factor = named("linalg_ldl_factor", "LD", "pivots")
_FactorEx = named("linalg_ldl_factor_ex", "LD", "pivots", "info")


def _routine(step: str, dtype: Any, hermitian: bool) -> Any:
    lapack = importlib.import_module("scipy.linalg.lapack")
    letter = {"f": "s", "d": "d", "F": "c", "D": "z"}[np.dtype(dtype).char]
    kind = "he" if hermitian and letter in "cz" else "sy"
    return getattr(lapack, f"{letter}{kind}{step}")


def _factored(position: int) -> Any:
    """One of LAPACK's three results for each matrix of a stack."""

    def compute(xp: Any, a: Any, *, hermitian: bool) -> Any:
        run = _routine("trf", a.dtype, hermitian)
        n = a.shape[-1]
        shape = ((n, n), (n,), ())[position]
        out = np.zeros((*a.shape[:-2], *shape), a.dtype if not position else np.int32)
        for place in np.ndindex(*a.shape[:-2]):
            if n:
                found = run(a[place], lower=1)[position]
                out[place] = found if position else np.tril(found)
        return out

    return compute


_matrix = constant("torch.ldl", "a", compute=_factored(0), kind=Matrices(shapes=lambda a: (a,)))
_pivots = constant(
    "torch.ldl_pivots", "a", compute=_factored(1), kind=Matrices(shapes=lambda a: (a[:1],))
)
_info = constant("torch.ldl_info", "a", compute=_factored(2), kind=Matrices(shapes=lambda a: ((),)))


@function(name="ldl_factor", method=False)
def ldl_factor(A: Any, *, hermitian: bool = False) -> Any:  # noqa: N803
    """The factors of an LDL decomposition in one matrix, and the pivots."""
    return _Factor(*ldl_factor_ex.__wrapped__(A, hermitian=hermitian)[:2])


@function(name="ldl_factor_ex", method=False)
def ldl_factor_ex(
    A: Any,  # noqa: N803
    *,
    hermitian: bool = False,
    check_errors: bool = False,
) -> Any:
    """`ldl_factor`, and for each matrix the number of a pivot that is zero, or 0."""
    refuse_recorded("ldl_factor", A, "use torch.linalg.cholesky() or lu_factor(), or ")
    parts = [part(A, hermitian=hermitian) for part in (_matrix, _pivots, _info)]
    if check_errors:
        check_info("ldl_factor_ex", parts[2], "a matrix is singular")
    return _FactorEx(*parts)


def _solve(xp: Any, ld: Any, pivots: Any, b: Any, *, hermitian: bool) -> Any:
    run = _routine("trs", ld.dtype, hermitian)
    lead = np.broadcast_shapes(ld.shape[:-2], b.shape[:-2])  # a batch may be in one of them
    ld, b = (np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (ld, b))
    order = np.broadcast_to(pivots, (*lead, *pivots.shape[-2:]))[..., 0]
    out = np.empty_like(b)
    for place in np.ndindex(*b.shape[:-2]):
        if b.shape[-1] and b.shape[-2]:
            out[place] = run(ld[place], order[place], b[place], lower=1)[0]
    return out


_solved = constant(
    "torch.ldl_solve", "ld", "pivots", "b", compute=_solve, kind=Opaque(leading=True)
)


@function(name="ldl_solve", method=False)
def ldl_solve(
    LD: Any,  # noqa: N803
    pivots: Any,
    B: Any,  # noqa: N803
    *,
    hermitian: bool = False,
) -> Any:
    """The solution of a system by the result of `ldl_factor`."""
    refuse_recorded("ldl_solve", (LD, B), "use torch.linalg.solve(), or ")
    lead = ops.broadcast_shapes(tuple(LD.shape[:-2]), tuple(B.shape[:-2]))
    ld, b = (ops.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (LD, B))
    column = ops.expand_dims(ops.broadcast_to(pivots, (*lead, pivots.shape[-1])), -1)
    return _solved(ld, column, b, hermitian=hermitian)
