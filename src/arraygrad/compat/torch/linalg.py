"""`torch.linalg`: arraygrad's linear algebra under PyTorch's names and keywords."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import linalg as native
from ... import ops
from .functions import factors, products
from .functions.results import named as _named
from .handles import Tensor
from .publish import function as _function

__all__ = [
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]


def __dir__() -> list[str]:
    return __all__


def _plain(function: Any, name: str | None = None) -> Callable[..., Tensor]:
    """A function of arraygrad that has PyTorch's parameters already."""

    def made(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    made.__doc__ = function.__doc__
    found: Callable[..., Tensor] = _function(made, name=name or function.__name__, method=False)
    return found


_Eigh = _named("linalg_eigh", "eigenvalues", "eigenvectors")
_Eig = _named("linalg_eig", "eigenvalues", "eigenvectors")
_Svd = _named("linalg_svd", "U", "S", "Vh")
_Qr = _named("linalg_qr", "Q", "R")
_Lstsq = _named("linalg_lstsq", "solution", "residuals", "rank", "singular_values")

det = _plain(native.det)
inv = _plain(native.inv)
eigvals = _plain(native.eigvals)
matrix_power = _plain(native.matrix_power)
svdvals = _plain(native.svdvals)
matmul: Callable[..., Tensor] = products.matmul
matrix_exp: Callable[..., Tensor] = factors.matrix_exp
lu: Callable[..., Tensor] = factors.lu
lu_factor: Callable[..., Tensor] = factors.lu_factor
lu_solve: Callable[..., Tensor] = factors.lu_solve
tensorinv: Callable[..., Tensor] = factors.tensorinv
slogdet: Callable[..., Tensor] = products.slogdet


@_function(method=False)
def cholesky(A: Any, *, upper: bool = False) -> Any:  # noqa: N803
    """The Cholesky factor."""
    return native.cholesky(A, upper=upper)


@_function(method=False)
def solve(A: Any, B: Any, *, left: bool = True) -> Any:  # noqa: N803
    """The solution of `A X = B`; one for each matrix, if `B` is a stack of vectors."""
    if left and B.ndim == A.ndim - 1 and B.ndim > 1 and B.shape == A.shape[:-1]:
        return native.solve(A, B[..., None])[..., 0]
    if not left:
        turned = native.solve(ops.matrix_transpose(A), ops.matrix_transpose(B))
        return ops.matrix_transpose(turned)
    return native.solve(A, B)


@_function(method=False)
def solve_triangular(
    A: Any,  # noqa: N803
    B: Any,  # noqa: N803
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
) -> Any:
    """The solution of `A X = B` for a triangle `A`."""
    triangle = ops.triu(A) if upper else ops.tril(A)
    if unitriangular:
        one = np.eye(A.shape[-1], dtype=bool)
        triangle = ops.where(one, 1, triangle)
    return solve.__wrapped__(triangle, B, left=left)


@_function(method=False)
def eigh(A: Any, UPLO: str = "L") -> Any:  # noqa: N803
    """The eigenvalues and eigenvectors of a symmetric matrix."""
    return _Eigh(*native.eigh(_symmetric(A, UPLO)))


@_function(method=False)
def eigvalsh(A: Any, UPLO: str = "L") -> Any:  # noqa: N803
    """The eigenvalues of a symmetric matrix."""
    return native.eigvalsh(_symmetric(A, UPLO))


def _symmetric(x: Any, triangle: str) -> Any:
    """The symmetric matrix that has one triangle of `x`; `x` itself for its lower one."""
    if triangle.upper() == "L":
        return x
    turned = ops.matrix_transpose(x)
    return ops.conj(turned) if x.dtype.kind == "c" else turned


@_function(method=False)
def eig(A: Any) -> Any:  # noqa: N803
    """The eigenvalues and eigenvectors."""
    return _Eig(*native.eig(A))


@_function(method=False)
def svd(A: Any, full_matrices: bool = True, *, driver: Any = None) -> Any:  # noqa: N803
    """The singular value decomposition."""
    return _Svd(*native.svd(A, full_matrices=full_matrices))


@_function(method=False)
def qr(A: Any, mode: str = "reduced") -> Any:  # noqa: N803
    """The QR factors."""
    return _Qr(*native.qr(A, mode=mode))


@_function(method=False)
def pinv(A: Any, rcond: Any = None, *, rtol: Any = None, hermitian: bool = False) -> Any:  # noqa: N803
    """The pseudo-inverse; of a symmetric matrix, given by its lower triangle, if it says so."""
    if hermitian:
        lower = ops.tril(A, k=-1)
        turned = ops.matrix_transpose(lower)
        A = ops.tril(A) + (ops.conj(turned) if A.dtype.kind == "c" else turned)  # noqa: N806
    return native.pinv(A, rtol=rtol if rtol is not None else rcond)


@_function(method=False)
def matrix_rank(A: Any, tol: Any = None, *, atol: Any = None, rtol: Any = None) -> Any:  # noqa: N803
    """The rank: how many singular values are above an absolute or a relative bound."""
    least = tol if tol is not None else atol
    if least is None:
        return native.matrix_rank(A, rtol=rtol)
    values = native.svdvals(A)
    bound = least if not rtol else ops.maximum(values[..., :1] * rtol, least)
    return ops.sum(ops.astype(values > bound, np.int64), axis=-1)


@_function(method=False)
def lstsq(A: Any, B: Any, rcond: Any = None, *, driver: Any = None) -> Any:  # noqa: N803
    """The solution of least squares."""
    return _Lstsq(*native.lstsq(A, B, rcond))


@_function(method=False)
def vector_norm(
    x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """The norm of vectors."""
    x = x if dtype is None else ops.astype(x, dtype)
    axis = tuple(dim) if isinstance(dim, list) else dim
    return native.vector_norm(x, axis=axis, keepdims=keepdim, ord=ord)


@_function(method=False)
def matrix_norm(
    A: Any,  # noqa: N803
    ord: Any = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Any:
    """The norm of matrices."""
    x = A if dtype is None else ops.astype(A, dtype)
    first, second = (d % x.ndim for d in dim)
    moved = ops.moveaxis(x, (first, second), (-2, -1))
    found = native.matrix_norm(moved, ord=ord, keepdims=keepdim)
    return ops.moveaxis(found, (-2, -1), (first, second)) if keepdim else found


@_function(method=False)
def norm(
    A: Any,  # noqa: N803
    ord: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Any:
    """The norm of vectors or matrices."""
    pair = isinstance(dim, tuple | list) and len(dim) == 2
    if ord is not None and (pair or (dim is None and A.ndim == 2)):
        return matrix_norm.__wrapped__(A, ord, dim or (-2, -1), keepdim, dtype=dtype)
    return vector_norm.__wrapped__(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


@_function(method=False)
def cond(A: Any, p: Any = None) -> Any:  # noqa: N803
    """The condition number."""
    if p is None or p in (2, -2):
        values = native.svdvals(A)
        ratio = values[..., 0] / values[..., -1]
        return ops.reciprocal(ratio) if p == -2 else ratio
    return native.matrix_norm(A, ord=p) * native.matrix_norm(native.inv(A), ord=p)


@_function(method=False)
def cross(input: Any, other: Any, *, dim: int = -1) -> Any:
    """The vector product."""
    return native.cross(input, other, axis=dim)


@_function(method=False)
def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:  # noqa: N803
    """The diagonal of matrices."""
    return ops.diagonal(A, offset, dim1, dim2)


@_function(method=False)
def vecdot(x: Any, y: Any, *, dim: int = -1) -> Any:
    """The product of vectors, the first conjugated."""
    return native.vecdot(x, y, axis=dim)


@_function(method=False)
def multi_dot(tensors: Any) -> Any:
    """The product of several matrices; the first and the last may be vectors."""
    for i, part in enumerate(tensors):
        if part.ndim != 2 and not (part.ndim == 1 and i in (0, len(tensors) - 1)):
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {part.ndim}D")
    return products.chain_matmul.__wrapped__(*tensors)


@_function(method=False)
def tensorsolve(A: Any, B: Any, dims: Any = None) -> Any:  # noqa: N803
    """The solution of `tensordot(A, X) = B`."""
    if dims is not None:
        rest = [a for a in range(A.ndim) if a not in dims]
        A = ops.permute_dims(A, (*rest, *dims))  # noqa: N806
    shape = A.shape[B.ndim :]
    return ops.reshape(native.solve(ops.reshape(A, (B.size, -1)), ops.reshape(B, (-1,))), shape)


@_function(method=False)
def vander(x: Any, *, N: int | None = None) -> Any:  # noqa: N803
    """Powers of the elements, on a new last axis."""
    count = x.shape[-1] if N is None else N
    return ops.stack([ops.pow(x, k) if k else ops.ones_like(x) for k in range(count)], axis=-1)
