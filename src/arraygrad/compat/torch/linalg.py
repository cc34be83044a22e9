"""`torch.linalg`: arraygrad's linear algebra under PyTorch's names and keywords."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import linalg as native
from ... import ops
from ...arrays.creation import asarray
from ...core.array import Array, plain
from .functions import factors
from .functions.axes import axes_of, check_floating
from .functions.factors import cholesky_ex, householder_product, inv_ex, solve_ex
from .functions.lu_factors import lu, lu_factor, lu_factor_ex, lu_solve
from .functions.products import chain_matmul, matmul, matrix_exp, slogdet
from .functions.results import named as _named
from .functions.shapes import adjoint_of
from .handles import Tensor
from .publish import function as _function
from .wording import LinAlgError as LinAlgError

__all__ = [
    "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals",
    "eigvalsh", "householder_product", "inv", "inv_ex", "lstsq", "lu", "lu_factor", "lu_factor_ex",
    "lu_solve", "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot",
    "norm", "pinv", "qr", "slogdet", "solve", "solve_ex", "solve_triangular", "svd", "svdvals",
    "tensorinv", "tensorsolve", "vander", "vecdot", "vector_norm",
]  # fmt: skip


def _row(name: str, native: Any) -> Callable[..., Tensor]:
    """PyTorch's function for one with its parameters."""
    return _function(native, name=name, method=False)


_Eigh = _named("linalg_eigh", "eigenvalues", "eigenvectors")
_Eig = _named("linalg_eig", "eigenvalues", "eigenvectors")
_Svd = _named("linalg_svd", "U", "S", "Vh")
_Qr = _named("linalg_qr", "Q", "R")
_Lstsq = _named("linalg_lstsq", "solution", "residuals", "rank", "singular_values")

det, inv, eigvals, matrix_power, svdvals = (
    _row(name, lambda *args, name=name, **keywords: getattr(native, name)(*args, **keywords))
    for name in ("det", "inv", "eigvals", "matrix_power", "svdvals")
)
cholesky = _row("cholesky", lambda A, *, upper=False: native.cholesky(A, upper=upper))
# `A X = B` or `X A = B`; for vectors, if `B` has one axis less than `A`.
solve = _row("solve", lambda A, B, *, left=True: factors.solved(A, B, left))
eig = _row("eig", lambda A: _Eig(*native.eig(A)))
eigh = _row("eigh", lambda A, UPLO="L": _Eigh(*native.eigh(_symmetric(A, UPLO))))
eigvalsh = _row("eigvalsh", lambda A, UPLO="L": native.eigvalsh(_symmetric(A, UPLO)))
qr = _row("qr", lambda A, mode="reduced": _Qr(*native.qr(A, mode=mode)))
svd = _row(
    "svd",
    lambda A, full_matrices=True, *, driver=None: _Svd(*native.svd(A, full_matrices=full_matrices)),
)
cond = _row("cond", lambda A, p=None: np.linalg.cond(A, p))
tensorinv = _row("tensorinv", lambda A, ind=2: np.linalg.tensorinv(A, ind))
tensorsolve = _row("tensorsolve", lambda A, B, dims=None: np.linalg.tensorsolve(A, B, dims))
vecdot = _row("vecdot", lambda x, y, *, dim=-1: native.vecdot(x, y, axis=dim))
diagonal = _row(
    "diagonal", lambda A, *, offset=0, dim1=-2, dim2=-1: ops.diagonal(A, offset, dim1, dim2)
)


@_function(method=False)
def solve_triangular(
    A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    """The solution of `A X = B` for a triangle `A`."""
    return factors.solved(factors.triangle(A, upper, unitriangular), B, left, vectors=False)


def _symmetric(x: Any, triangle: str) -> Any:
    """The symmetric matrix that has one triangle of `x`; `x` itself for its lower one."""
    return x if triangle.upper() == "L" else adjoint_of(x)


@_function(method=False)
def pinv(
    A: Any, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Any:
    """The pseudo-inverse. Singular values below the larger of both tolerances count as zero."""
    rtol = rcond if rtol is None else rtol
    if hermitian:
        A = _mirrored(A)  # noqa: N806
    if atol is None:
        return native.pinv(A, rtol=rtol)
    largest = ops.max(native.svdvals(A.detach()), axis=-1) if 0 not in A.shape else 1.0
    least = _default_rtol(A, atol) if rtol is None else rtol
    return native.pinv(A, rtol=ops.maximum(ops.divide(_number(atol), largest), _number(least)))


def _number(value: Any) -> Any:
    return value.detach() if isinstance(value, Array) else asarray(np.asarray(value, np.float64))


def _default_rtol(x: Any, atol: Any) -> Any:
    """The relative tolerance, if only an absolute one is given: zero, unless that is zero."""
    precision = max(x.shape[-2:]) * float(np.finfo(x.dtype).eps)
    if isinstance(atol, Array):
        return ops.where(ops.greater(atol, 0), 0.0, precision)
    return precision if atol is None or atol <= 0 else 0.0


def _mirrored(x: Any) -> Any:
    """The Hermitian matrix of a lower triangle. Derivatives are those of a full matrix."""
    fixed = x.detach()
    below = ops.tril(fixed, k=-1)
    middle = np.eye(x.shape[-1], dtype=x.dtype) * ops.real(fixed)
    return x + (below + adjoint_of(below) + middle - fixed)


@_function(method=False)
def matrix_rank(
    A: Any, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Any:
    """The number of singular values above the larger of an absolute and a relative tolerance."""
    if tol is not None:
        atol, rtol = tol, 0.0
    x = A.detach()
    values = ops.abs(native.eigvalsh(_mirrored(x))) if hermitian else native.svdvals(x)
    if not values.shape[-1]:
        return ops.astype(ops.sum(values, axis=-1), np.int64)
    least = _default_rtol(x, atol) if rtol is None else rtol
    bound = _number(least) * ops.max(values, axis=-1)
    if atol is not None:
        bound = ops.maximum(bound, _number(atol))
    return ops.sum(ops.astype(values > ops.expand_dims(bound, -1), np.int64), axis=-1)


_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@_function(method=False)
def lstsq(A: Any, B: Any, rcond: Any = None, *, driver: Any = None) -> Any:
    """The solution of least squares. What is not asked of LAPACK's `driver` is empty."""
    driver = driver or "gelsy"
    if driver not in _DRIVERS:
        raise RuntimeError(f"lstsq(): driver must be one of {', '.join(_DRIVERS)}, not {driver!r}")
    vector = factors.is_vector(A, B)
    columns = ops.expand_dims(B, -1) if vector else B
    lead = ops.broadcast_shapes(tuple(A.shape[:-2]), tuple(columns.shape[:-2]))
    a, b = (ops.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (A, columns))
    found = native.lstsq(a, b, rcond)
    solution = found[0]
    rank, values = found[2].detach(), found[3].detach()
    m, n = A.shape[-2:]
    left = ops.reshape(ops.real(solution[..., :0]), (-1,))
    if m > n and driver != "gelsy":
        full = driver == "gels" or bool(np.all(np.asarray(plain(rank)) == n))
        if full:
            apart = ops.matmul(a, solution) - b
            left = ops.sum(ops.real(apart * ops.conj(apart)), axis=-2)
    empty = asarray(np.zeros(0, np.int64))
    return _Lstsq(
        ops.squeeze(solution, axis=-1) if vector else solution,
        left,
        empty if driver == "gels" else ops.astype(rank, np.int64),
        values if driver in ("gelsd", "gelss") else asarray(np.zeros(0, left.dtype)),
    )


@_function(method=False)
def vector_norm(
    x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """The norm of vectors."""
    x = x if dtype is None else ops.astype(x, dtype)
    check_floating(x, "linalg.vector_norm")
    return native.vector_norm(x, axis=axes_of(dim, x.ndim), keepdims=keepdim, ord=ord)


@_function(method=False)
def matrix_norm(
    A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """The norm of matrices."""
    x = A if dtype is None else ops.astype(A, dtype)
    return np.linalg.norm(x, ord, tuple(dim), keepdim)


@_function(method=False)
def norm(
    A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """The norm of vectors or matrices."""
    pair = isinstance(dim, tuple | list) and len(dim) == 2
    if ord is not None and (pair or (dim is None and A.ndim == 2)):
        return matrix_norm.__wrapped__(A, ord, dim or (-2, -1), keepdim, dtype=dtype)
    return vector_norm.__wrapped__(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


@_function(method=False)
def cross(input: Any, other: Any, *, dim: int = -1) -> Any:
    """The vector product."""
    if input.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    return native.cross(input, other, axis=dim)


@_function(method=False)
def multi_dot(tensors: Any) -> Any:
    """The product of several matrices; the first and the last may be vectors."""
    for i, part in enumerate(tensors):
        if part.ndim != 2 and not (part.ndim == 1 and i in (0, len(tensors) - 1)):
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {part.ndim}D")
    return chain_matmul.__wrapped__(*tensors)


@_function(method=False)
def vander(x: Any, *, N: int | None = None) -> Any:
    """Powers of the elements, on a new last axis."""
    x = x if x.ndim else ops.reshape(x, (1,))
    count = x.shape[-1] if N is None else N
    return ops.stack([ops.pow(x, k) if k else ops.ones_like(x) for k in range(count)], axis=-1)
