"""Eigenvalues, singular values, QR, polar and LDL decompositions, and bases of subspaces.

Vectors are unique only up to a sign or phase. They are those of SciPy; derivatives are correct for
functions that do not depend on this choice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import linalg as ours
from ...backends.filled import zeros_like
from ...core.array import plain
from ...core.kinds import Matrices, Opaque
from ...ops import (
    concat,
    conj,
    diagonal,
    expand_dims,
    is_complex,
    matmul,
    real,
    sign,
    sum,
    take_along_axis,
)
from ...ops.decompositions import cut_off
from ...ops.define.library import constant, declare
from ...ops.spectra import _eigh_jvp, _eigh_vjp, _eigvalsh_jvp, _eigvalsh_vjp, _unless
from ..twins import by_scipy, twin
from .equations import sylvester
from .stacked import SCIPY, adjoint, hermitian, matrix, matrix_op, regular, stacked

__all__ = [
    "eigh",
    "eigvalsh",
    "null_space",
    "orth",
    "orthogonal_procrustes",
    "polar",
    "qr",
    "svd",
    "svdvals",
]

# --- eigenvalues ---------------------------------------------------------------------------------

_eigh = matrix_op(
    "eigh",
    "x",
    compute=lambda x, *, lower, driver: SCIPY.eigh(
        x, lower=lower, driver=driver, check_finite=False
    ),
    shapes=lambda x, **keywords: (x[:1], x),
    multiple=True,
    vjp=lambda gs, out: _eigh_vjp(gs, out),
    jvp=lambda t, out: _eigh_jvp(t, out),
    holomorphic=False,
)
# For forward mode: these have derivatives where the vectors have none.
_eigvalsh = matrix_op(
    "eigvalsh",
    "x",
    compute=lambda x, *, lower, driver: SCIPY.eigh(
        x, lower=lower, driver=driver, check_finite=False
    )[0],
    shapes=lambda x, **keywords: (x[:1],),
    vjp=lambda g, x: _eigvalsh_vjp(g, x),
    jvp=lambda t, x: _eigvalsh_jvp(t, x),
    holomorphic=False,
)
# The vectors as SciPy has them: their signs depend on all options. Without b, it is a again.
_vectors = constant(
    "scipy.linalg.eigh_vectors",
    "a",
    "b",
    compute=stacked(
        lambda a, b, *, alone, options: SCIPY.eigh(a, None if alone else b, **dict(options))[1]
    ),
    kind=Matrices(shapes=lambda a, b, alone, options: (a,)),
)


def _first_and_last(values: Any, by_index: Any, by_value: Any) -> tuple[int, int]:
    n = values.shape[-1]
    if by_index is not None:
        first, last = (int(i) for i in by_index)
        return first % n, last % n + 1
    low, high = by_value
    inside = (plain(values) > low) & (plain(values) <= high)
    counts = {(int(row.argmax()), int(row.sum())) for row in inside.reshape(-1, n)}
    if len(counts) > 1:
        raise ValueError(
            "subset_by_value selects different eigenvalues for the matrices of a stack"
        )
    ((first, count),) = counts
    return first, first + count


def _reduced(a: Any, b: Any, type: int) -> tuple[Any, Any]:
    """The matrix of an equal standard problem, and the one that turns vectors back."""
    lower = ours.cholesky(b)
    if type == 1:
        half = ours.solve(lower, a)
        inner = adjoint(ours.solve(lower, adjoint(half)))
    else:
        inner = matmul(adjoint(lower), matmul(a, lower))
    back = lower if type == 3 else ours.inv(adjoint(lower))
    return (inner + adjoint(inner)) * 0.5, back


@twin(SCIPY.eigh)
def eigh(
    a: Any,
    b: Any,
    lower: bool,
    eigvals_only: bool,
    type: int,
    subset_by_index: Any,
    subset_by_value: Any,
    driver: str | None,
) -> Any:
    """Eigenvalues and eigenvectors of Hermitian matrices, also of generalised problems."""
    a = hermitian(matrix(a, "eigh"), lower)
    back = None
    inner = a
    if b is not None:
        b = hermitian(matrix(b, "eigh"), lower)
        inner, back = _reduced(a, b, type)
    vectors: Any = None
    how = {"lower": lower, "driver": driver if b is None else None}
    if eigvals_only and not getattr(inner, "requires_grad", False):
        values = _eigvalsh(inner, **how)
    else:
        values, vectors = _eigh(inner, **how)
    part = slice(None)
    if subset_by_index is not None or subset_by_value is not None:
        part = slice(*_first_and_last(values, subset_by_index, subset_by_value))
        values = values[..., part]
        vectors = None if vectors is None else vectors[..., part]
    if eigvals_only:
        return values
    if back is not None:
        vectors = matmul(back, vectors)
    if back is not None or part != slice(None):
        options: dict[str, Any] = {"lower": lower, "driver": driver, "check_finite": False}
        if subset_by_index is not None:
            options["subset_by_index"] = tuple(subset_by_index)
        if subset_by_value is not None:
            options["subset_by_value"] = tuple(subset_by_value)
        if b is not None:
            options["type"] = type
        given = a, a if b is None else b
        own = _vectors(*given, alone=b is None, options=tuple(options.items()))
        vectors = vectors * phase(vectors, own)
    return values, vectors


def phase(vectors: Any, own: Any) -> Any:
    """The signs, or phases, that turn vectors into those of SciPy: constants."""
    overlap = sum(conj(vectors) * own, axis=-2, keepdims=True)
    if is_complex(overlap):
        overlap = overlap.detach() if hasattr(overlap, "detach") else overlap
        return overlap / abs(overlap)
    return sign(overlap)


@twin(SCIPY.eigvalsh)
def eigvalsh(**options: Any) -> Any:
    """Eigenvalues of Hermitian matrices, also of generalised problems."""
    return eigh(eigvals_only=True, **options)


# --- singular values -----------------------------------------------------------------------------


@twin(SCIPY.svd)
def svd(a: Any, full_matrices: bool, compute_uv: bool) -> Any:
    """The singular value decomposition."""
    a = matrix(a, "svd", square=False)
    if not compute_uv:
        return ours.svdvals(a)
    return tuple(ours.svd(a, full_matrices=full_matrices))


@twin(SCIPY.svdvals)
def svdvals(a: Any) -> Any:
    """The singular values."""
    a = matrix(a, "svdvals", square=False)
    return ours.svdvals(a)


def _rank(values: Any, a: Any, rcond: Any) -> int:
    """The number of singular values that count; it must be one for all matrices of a stack."""
    s = plain(values)
    if rcond is None:
        rcond = np.finfo(s.dtype).eps * max(a.shape[-2:])
    ranks = {int(n) for n in np.ravel((s > s.max(axis=-1, keepdims=True) * rcond).sum(axis=-1))}
    if len(ranks) > 1:
        raise ValueError("the matrices of a stack have different ranks")
    return ranks.pop()


@twin(SCIPY.orth)
def orth(A: Any, rcond: Any) -> Any:
    """An orthonormal basis of the columns' span."""
    a = matrix(A, "orth", square=False)
    u, s, _ = ours.svd(a, full_matrices=False)
    return u[..., : _rank(s, a, rcond)]


def _if_basis_is_free(g: Any, out: Any, name: str, way_out: str) -> Any:
    """The cotangent of an orthonormal basis; an error if it depends on the choice of the basis."""
    turn = matmul(adjoint(out), g)
    return _unless(
        turn - adjoint(turn),
        g,
        f"the loss depends on the choice of {name}, which is arbitrary, so it has no gradient: "
        f"{way_out}",
    )


def _null_vjp(g: Any, a: Any, out: Any, rcond: Any) -> Any:
    way_out = "use only what stays the same when the basis is turned, such as N @ N.T"
    g = _if_basis_is_free(g, out, "the basis of null_space", way_out)
    inverse = ours.pinv(a, rtol=rcond)
    cut = cut_off(a, inverse, rcond)
    if cut is None:
        return -matmul(adjoint(inverse), matmul(g, adjoint(out)))
    turn = cut.mixing(-matmul(out, adjoint(g)))
    side = matmul(matmul(cut.left_out, turn), inverse)
    return matmul(adjoint(inverse), adjoint(turn)) + matmul(side, adjoint(inverse))


def _null_jvp(t: Any, a: Any, out: Any, rcond: Any) -> Any:
    inverse = ours.pinv(a, rtol=rcond)
    cut = cut_off(a, inverse, rcond)
    turn = matmul(inverse, t)
    if cut is not None:  # values that are not zero count as zero
        side = matmul(inverse, adjoint(matmul(adjoint(cut.left_out), matmul(t, inverse))))
        turn = adjoint(cut.mixing(adjoint(turn - matmul(turn, matmul(inverse, a)) + side)))
    return -matmul(turn, out)


# The shape of the result depends on the values.
_null_space = declare(
    "scipy.linalg.null_space",
    "a",
    kind=Opaque(),
    compute=by_scipy(
        # SciPy has options since 1.15.
        lambda a, *, rcond, driver: (
            SCIPY.null_space(a, rcond)
            if driver == "gesdd"
            else SCIPY.null_space(a, rcond, lapack_driver=driver)
        )
    ),
    vjp=_null_vjp,
    jvp=_null_jvp,
    holomorphic=False,
)


@twin(SCIPY.null_space)
def null_space(A: Any, rcond: Any, lapack_driver: str = "gesdd") -> Any:
    """An orthonormal basis of the null space, for uses where any basis will do."""
    a = matrix(A, "null_space", square=False)
    return _null_space(a, rcond=rcond, driver=lapack_driver)


# --- polar ---------------------------------------------------------------------------------------


def _along(t: Any, a: Any, out: Any) -> Any:
    """The derivative of the unitary factor of tall matrices; the map equals its adjoint."""
    p = matmul(adjoint(out), regular(a, "polar"))
    inner = matmul(adjoint(out), t)
    turn = sylvester(p, p, inner - adjoint(inner))
    if a.shape[-1] == a.shape[-2]:
        return matmul(out, turn)
    rest = adjoint(ours.solve(adjoint(p), adjoint(t - matmul(out, inner))))
    return matmul(out, turn) + rest


_unitary = matrix_op(
    "polar",
    "a",
    compute=lambda a: SCIPY.polar(a)[0],
    shapes=lambda a: (a,),
    vjp=lambda g, a, out: _along(g, a, out),
    jvp=lambda t, a, out: _along(t, a, out),
    holomorphic=False,
)


@twin(SCIPY.polar)
def polar(a: Any, side: str) -> Any:
    """The unitary factor and the positive factor of matrices of full rank."""
    a = matrix(a, "polar", square=False)
    if side not in ("left", "right"):
        raise ValueError("`side` must be either 'right' or 'left'")
    m, n = a.shape[-2:]
    u = _unitary(a) if m >= n else adjoint(_unitary(adjoint(a)))
    p = matmul(adjoint(u), a) if side == "right" else matmul(a, adjoint(u))
    return u, (p + adjoint(p)) * 0.5


@twin(SCIPY.orthogonal_procrustes)
def orthogonal_procrustes(A: Any, B: Any) -> Any:
    """The orthogonal matrix that maps `A` to `B` best, and the sum of singular values."""
    a, b = matrix(A, "A", square=False), matrix(B, "B", square=False)
    product = matmul(adjoint(a), b)
    u = _unitary(product)
    return u, sum(diagonal(real(matmul(adjoint(u), product)), axis1=-2, axis2=-1), axis=-1)


# --- QR ------------------------------------------------------------------------------------------

_qr_order = constant(
    "scipy.linalg.qr_order",
    "a",
    compute=stacked(lambda a: SCIPY.qr(a, mode="r", pivoting=True, check_finite=False)[1]),
    kind=Matrices(shapes=lambda a: (a[1:],)),
)


def _complement_vjp(g: Any, a: Any, out: Any) -> Any:
    g = _if_basis_is_free(g, out, "the last columns of Q of qr", "use mode='economic'")
    return -matmul(out, matmul(adjoint(g), adjoint(ours.pinv(a))))


# The columns of Q beyond those of a tall matrix.
_complement = matrix_op(
    "qr_complement",
    "a",
    compute=lambda a: SCIPY.qr(a, check_finite=False)[0][:, a.shape[1] :],
    shapes=lambda a: ((a[0], a[0] - a[1]),),
    vjp=_complement_vjp,
    jvp=lambda t, a, out: -matmul(adjoint(ours.pinv(a)), matmul(adjoint(t), out)),
    holomorphic=False,
)


@twin(SCIPY.qr)
def qr(a: Any, mode: str, pivoting: bool) -> Any:
    """The QR decomposition. The order of the columns by pivoting is a constant."""
    a = matrix(a, "qr", square=False)
    if mode not in ("full", "r", "economic"):
        raise NotImplementedError(f"qr of tensors has the modes full, r and economic, not {mode!r}")
    m, n = a.shape[-2:]
    order: tuple[Any, ...] = ()
    if pivoting:
        order = (_qr_order(a),)
        index = expand_dims(order[0], axis=-2) + np.zeros((m, 1), np.int64)
        a = take_along_axis(a, index, axis=-1)
    q, r = ours.qr(a, mode="reduced")
    if m > n and mode != "economic":
        r = concat((r, zeros_like(r, (*r.shape[:-2], m - n, n))), axis=-2)
    if mode == "r":
        return (r, *order)
    if m > n and mode == "full":
        q = concat((q, _complement(a)), axis=-1)
    return (q, r, *order)
