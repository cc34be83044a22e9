"""Linear systems, by solving them and by Cholesky's and Householder's factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import linalg as native
from .... import ops
from ....arrays.creation import asarray
from ....core.kinds import Matrices
from ....core.nodes import recorder
from ....ops.define.library import constant
from ..handles import is_recorded
from ..publish import function
from .results import named
from .shapes import adjoint_of as adjoint

# The names of `torch` that are made here.
__all__ = [
    "cholesky_inverse", "cholesky_solve", "geqrf", "orgqr", "ormqr", "triangular_solve",
]  # fmt: skip


def is_vector(a: Any, b: Any) -> bool:
    """Whether the right-hand side of a system is a vector for each matrix, by PyTorch's rule."""
    if b.ndim == 1:
        return True
    return a.ndim - 1 == b.ndim and tuple(b.shape) == tuple(a.shape[:-1])


def solved(a: Any, b: Any, left: bool = True, vectors: bool = True) -> Any:
    """The solution of `a x = b`, or of `x a = b`."""
    vector = vectors and is_vector(a, b)
    b = ops.expand_dims(b, -1) if vector else b
    if left or vector:
        x = native.solve(a if left else ops.matrix_transpose(a), b)
        return ops.squeeze(x, axis=-1) if vector else x
    turned = native.solve(ops.matrix_transpose(a), ops.matrix_transpose(b))
    return ops.matrix_transpose(turned)


def triangle(a: Any, upper: bool, unit: bool = False) -> Any:
    """One triangle of matrices, with ones on its diagonal if it is `unit`."""
    part = ops.triu(a) if upper else ops.tril(a)
    return ops.where(np.eye(a.shape[-1], dtype=bool), 1, part) if unit else part


# --- whether matrices have an inverse, or a Cholesky factor ---


def _each(check: Any) -> Any:
    """A function of one matrix, for each matrix of a stack."""

    def compute(xp: Any, a: Any) -> Any:
        found = np.zeros(a.shape[:-2], np.int32)
        for place in np.ndindex(*a.shape[:-2]):
            found[place] = check(a[place])
        return found

    return compute


def _zero_pivot(a: Any) -> int:
    """The number of the first pivot of Gauss's elimination that is zero; 0 if there is none."""
    a = np.array(a)
    for k in range(min(a.shape)):
        row = k + int(np.argmax(np.abs(a[k:, k])))
        if a[row, k] == 0:
            return k + 1
        a[[k, row]] = a[[row, k]]
        a[k + 1 :] -= np.outer(a[k + 1 :, k] / a[k, k], a[k])
    return 0


def _bad_minor(a: Any) -> int:
    """The order of the first leading minor that is not positive; 0 if there is none."""
    for k in range(1, len(a) + 1):
        try:
            np.linalg.cholesky(a[:k, :k])
        except np.linalg.LinAlgError:
            return k
    return 0


zero_pivots = constant(
    "torch.zero_pivots", "a", compute=_each(_zero_pivot), kind=Matrices(shapes=lambda a: ((),))
)
_bad_minors = constant(
    "torch.bad_minors", "a", compute=_each(_bad_minor), kind=Matrices(shapes=lambda a: ((),))
)


def check_info(name: str, info: Any, what: str) -> None:
    """Raise if a factorisation did not work for some matrix."""
    if bool(ops.any(info != 0)):
        raise RuntimeError(f"{name}(): {what}")


def _or_identity(a: Any, info: Any) -> Any:
    """Matrices, with the identity in the place of those that cannot be factored."""
    bad = ops.reshape(info != 0, (*info.shape, 1, 1))
    return ops.where(bad, np.eye(a.shape[-1], dtype=a.dtype), a), bad


_InvEx = named("linalg_inv_ex", "inverse", "info")
_SolveEx = named("linalg_solve_ex", "result", "info")
_CholeskyEx = named("linalg_cholesky_ex", "L", "info")


@function(method=False)
def inv_ex(A: Any, *, check_errors: bool = False) -> Any:
    """The inverse; where there is none, NaN and the number of the pivot that is zero."""
    info = zero_pivots(A)
    if check_errors:
        check_info("inv_ex", info, "a matrix is singular")
    a, bad = _or_identity(A, info)
    return _InvEx(ops.where(bad, np.nan, native.inv(a)), info)


@function(method=False)
def solve_ex(A: Any, B: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    """The solution of a system; for singular matrices, NaN and the number of a pivot of zero."""
    info = zero_pivots(A)
    if check_errors:
        check_info("solve_ex", info, "a matrix is singular")
    a, bad = _or_identity(A, info)
    bad = ops.squeeze(bad, axis=-1) if is_vector(A, B) else bad
    return _SolveEx(ops.where(bad, np.nan, solved(a, B, left)), info)


@function(method=False)
def cholesky_ex(A: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    """The Cholesky factor; where there is none, NaN and the order of a minor not positive."""
    info = _bad_minors(A)
    if check_errors:
        check_info("cholesky_ex", info, "a matrix is not positive definite")
    a, bad = _or_identity(A, info)
    return _CholeskyEx(ops.where(bad, np.nan, native.cholesky(a, upper=upper)), info)


# --- by Cholesky's factor ---


@function
def cholesky_inverse(input: Any, upper: bool = False) -> Any:
    """The inverse of the matrix that has a Cholesky factor."""
    one = asarray(np.eye(input.shape[-1], dtype=input.dtype))
    return _by_cholesky(input, one, upper)


@function
def cholesky_solve(input: Any, L: Any, upper: bool = False) -> Any:
    """The solution of a system with the matrix that has a Cholesky factor `L`."""
    if input.ndim < 2:
        raise RuntimeError("cholesky_solve(): input must have at least two axes")
    return _by_cholesky(L, input, upper)


def _by_cholesky(factor: Any, b: Any, upper: bool) -> Any:
    part = triangle(factor, upper)
    first, second = (adjoint(part), part) if upper else (part, adjoint(part))
    lead = ops.broadcast_shapes(tuple(factor.shape[:-2]), tuple(b.shape[:-2]))
    b = ops.broadcast_to(b, (*lead, *b.shape[-2:]))
    return native.solve(second, native.solve(first, b))


_TriangularSolve = named("triangular_solve", "solution", "cloned_coefficient")


@function
def triangular_solve(
    input: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """The solution of a system with a triangle of `A`, and a copy of `A`."""
    part = triangle(A, upper, unitriangular)
    lead = ops.broadcast_shapes(tuple(A.shape[:-2]), tuple(input.shape[:-2]))
    b = ops.broadcast_to(input, (*lead, *input.shape[-2:]))
    x = native.solve(ops.matrix_transpose(part) if transpose else part, b)
    return _TriangularSolve(x, ops.copy(ops.broadcast_to(A, (*lead, *A.shape[-2:]))))


# --- by Householder's reflections ---


def _reflectors(a: Any, tau: Any) -> list[tuple[Any, Any]]:
    """The vectors and factors of reflections, which are below the diagonal of a matrix."""
    below = ops.tril(a, k=-1)
    found = []
    for k in range(tau.shape[-1]):
        unit = np.zeros(a.shape[-2], a.dtype)
        unit[k] = 1
        v = ops.expand_dims(below[..., :, k] + unit, -1)
        found.append((v, ops.reshape(tau[..., k], (*tau.shape[:-1], 1, 1))))
    return found


def _reflected(x: Any, v: Any, factor: Any) -> Any:
    return x - factor * ops.matmul(v, ops.matmul(adjoint(v), x))


@function(name="householder_product", method=False)
def householder_product(input: Any, tau: Any) -> Any:
    """The first columns of a product of Householder's reflections."""
    m, n = input.shape[-2:]
    if n > m or tau.shape[-1] > n:
        raise RuntimeError(
            f"householder_product(): needs at least as many rows as columns, and columns as tau, "
            f"not shapes {tuple(input.shape)}, {tuple(tau.shape)}"
        )
    x = ops.tril(input, k=-m) + np.eye(m, n, dtype=input.dtype)  # zeros, and the identity
    return _multiplied(input, tau, x, False)


orgqr = function(householder_product.__wrapped__, name="orgqr")


@function
def ormqr(input: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False) -> Any:
    """The product of a matrix with Householder's reflections, from the left or the right."""
    if not left:  # X Q is the adjoint of Qᴴ Xᴴ
        turned = _multiplied(input, tau, adjoint(other), not transpose)
        return adjoint(turned)
    return _multiplied(input, tau, other, transpose)


def _multiplied(input: Any, tau: Any, x: Any, transpose: bool) -> Any:
    steps = _reflectors(input, tau)
    for v, factor in steps if transpose else reversed(steps):
        if transpose and factor.dtype.kind == "c":
            factor = ops.conj(factor)
        x = _reflected(x, v, factor)
    return x


def _raw(position: int) -> Any:
    def compute(xp: Any, a: Any) -> Any:
        found = np.linalg.qr(a, mode="raw")[position]
        return found if position else np.swapaxes(found, -1, -2)

    return compute


_packed_qr = constant("torch.packed_qr", "a", compute=_raw(0), kind=Matrices(shapes=lambda a: (a,)))
_reflections = constant(
    "torch.reflections", "a", compute=_raw(1), kind=Matrices(shapes=lambda a: ((min(a),),))
)
_Geqrf = named("geqrf", "a", "tau")


@function
def geqrf(input: Any) -> Any:
    """The triangle of a QR decomposition with Householder's vectors below it, and their factors.

    As in PyTorch, it has no derivative: use `torch.linalg.qr`.
    """
    refuse_recorded("geqrf", input, "use torch.linalg.qr(), or ")
    return _Geqrf(_packed_qr(input), _reflections(input))


def refuse_recorded(name: str, given: Any, instead: str = "") -> None:
    """Raise for tensors that a function without derivatives would cut off from the graph."""
    if isinstance(given, list | tuple):
        for x in given:
            refuse_recorded(name, x, instead)
    elif is_recorded(given) and recorder() is not None:
        raise RuntimeError(
            f"{name}(): the derivative is not implemented, as in PyTorch: {instead}pass x.detach()"
        )
