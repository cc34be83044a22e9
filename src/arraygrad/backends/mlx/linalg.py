"""The standard's linear algebra for MLX, which has it on the CPU only, and mostly for real numbers.

A complex linear system is solved as a real one of twice the size. A complex determinant is the
product of the eigenvalues. MLX crashes on some matrices without elements, so it never gets any.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import mlx.core as mx

from .reductions import count_nonzero, sum


def _adjoint(x: Any) -> Any:
    return mx.conj(mx.swapaxes(x, -1, -2))


def _as_real(x: Any) -> Any:
    """Complex matrices as real ones of twice the size."""
    a, b = mx.real(x), mx.imag(x)
    return mx.concatenate([mx.concatenate([a, -b], -1), mx.concatenate([b, a], -1)], -2)


def solve(a: Any, b: Any, /) -> Any:
    """The solution of systems of linear equations."""
    dtype = mx.result_type(a, b)
    if dtype == mx.complex64:
        n = a.shape[-1]
        a, b = a.astype(dtype), b.astype(dtype)
        out = solve(_as_real(a), mx.concatenate([mx.real(b), mx.imag(b)], -2))
        return out[..., :n, :] + 1j * out[..., n:, :]
    lead = mx.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = mx.broadcast_to(a, (*lead, *a.shape[-2:])).astype(dtype)
    b = mx.broadcast_to(b, (*lead, *b.shape[-2:])).astype(dtype)
    if not a.size or not b.size:
        return mx.zeros_like(b)
    return mx.linalg.solve(a, b, stream=mx.cpu)


def inv(x: Any, /) -> Any:
    """The inverse of square matrices."""
    if x.dtype == mx.complex64:
        n = x.shape[-1]
        out = inv(_as_real(x))
        return out[..., :n, :n] + 1j * out[..., n:, :n]
    return mx.linalg.inv(x, stream=mx.cpu) if x.size else x


def det(x: Any, /) -> Any:
    """The determinant of square matrices."""
    if not x.size:
        return mx.ones(x.shape[:-2], x.dtype)
    if x.dtype == mx.complex64:
        return mx.prod(eigvals(x), axis=-1)
    return mx.linalg.det(x, stream=mx.cpu)


def slogdet(x: Any, /) -> tuple[Any, Any]:
    """The phase of determinants, and the logarithm of their absolute value."""
    if not x.size:
        phases = mx.ones(x.shape[:-2], x.dtype)
        return phases, mx.zeros_like(mx.real(phases))
    if x.dtype != mx.complex64:
        return tuple(mx.linalg.slogdet(x, stream=mx.cpu))
    values = eigvals(x)
    sizes = mx.abs(values)
    phases = mx.prod(values / mx.where(sizes == 0, 1, sizes), axis=-1)
    return phases, mx.sum(mx.log(sizes), axis=-1)


def eig(x: Any, /) -> Any:
    """Eigenvalues and eigenvectors of square matrices."""
    if not x.size:
        return mx.zeros(x.shape[:-1], mx.complex64), mx.zeros(x.shape, mx.complex64)
    values, vectors = mx.linalg.eig(x, stream=mx.cpu)
    if x.dtype == mx.complex64 and _eig_conjugates():
        vectors = mx.conj(vectors)
    return values, vectors


@functools.cache
def _eig_conjugates() -> bool:
    """Whether this version of MLX conjugates complex eigenvectors."""
    x = mx.array([[1, 1j], [0, 2]], mx.complex64)
    values, vectors = mx.linalg.eig(x, stream=mx.cpu)
    errors = mx.abs(mx.matmul(x, vectors) - vectors * values)
    return bool((mx.max(errors) > 0.1).item())


def eigvals(x: Any, /) -> Any:
    """Eigenvalues of square matrices."""
    if not x.size:
        return mx.zeros(x.shape[:-1], mx.complex64)
    return mx.linalg.eigvals(x, stream=mx.cpu)


def eigh(x: Any, /) -> Any:
    """Eigenvalues and eigenvectors of Hermitian matrices."""
    if not x.size:
        return mx.real(x[..., 0, :] if x.shape[-1] else mx.zeros(x.shape[:-1], x.dtype)), x
    return mx.linalg.eigh(x, stream=mx.cpu)


def eigvalsh(x: Any, /) -> Any:
    """Eigenvalues of Hermitian matrices."""
    return mx.linalg.eigvalsh(x, stream=mx.cpu) if x.size else eigh(x)[0]


def svd(x: Any, /, *, full_matrices: bool = True) -> tuple[Any, Any, Any]:
    """The singular value decomposition."""
    if x.size:
        u, s, vh = mx.linalg.svd(x, stream=mx.cpu)
    else:
        *lead, m, n = x.shape
        u, vh = (mx.broadcast_to(mx.eye(k).astype(x.dtype), (*lead, k, k)) for k in (m, n))
        s = mx.real(mx.zeros((*lead, min(m, n)), x.dtype))
    k = s.shape[-1]
    if full_matrices:
        return u, s, vh
    return u[..., :, :k], s, vh[..., :k, :]


def svdvals(x: Any, /) -> Any:
    """The singular values."""
    return mx.linalg.svd(x, compute_uv=False, stream=mx.cpu) if x.size else svd(x)[1]


def cholesky(x: Any, /) -> Any:
    """The lower Cholesky factor of positive definite matrices."""
    if x.dtype != mx.complex64:
        return mx.linalg.cholesky(x, stream=mx.cpu) if x.size else x
    # Column by column: subtract from the matrix the product of each column with its adjoint.
    n = x.shape[-1]
    columns = [x[..., :, :0]]
    for k in range(n):
        below = (mx.arange(n) >= k)[:, None]
        column = x[..., :, k : k + 1] / mx.sqrt(mx.real(x[..., k : k + 1, k : k + 1]))
        columns.append(mx.where(below, column, 0))
        x = x - mx.matmul(columns[-1], _adjoint(columns[-1]))
    return mx.concatenate(columns, -1)


def qr(x: Any, /, *, mode: str = "reduced") -> Any:
    """The QR decomposition."""
    if mode == "reduced" and x.dtype != mx.complex64 and x.size:
        return mx.linalg.qr(x, stream=mx.cpu)
    return _householder(x, x.shape[-2] if mode == "complete" else min(x.shape[-2:]))


def _householder(x: Any, size: int) -> tuple[Any, Any]:
    """QR by Householder reflections, one for each column; the first `size` columns and rows."""
    m, n = x.shape[-2:]
    q = mx.broadcast_to(mx.eye(m).astype(x.dtype), (*x.shape[:-2], m, m))
    rows = mx.arange(m)[:, None]
    for k in range(min(m - (x.dtype != mx.complex64), n)):
        column = mx.where(rows >= k, x[..., :, k : k + 1], 0)
        norm = mx.sqrt(mx.sum(mx.abs(column) ** 2, axis=-2, keepdims=True))
        head = column[..., k : k + 1, :]
        phase = mx.where(mx.abs(head) == 0, 1, head / mx.where(head == 0, 1, mx.abs(head)))
        vector = mx.where(rows == k, column + phase * norm, column)
        square = mx.sum(mx.abs(vector) ** 2, axis=-2, keepdims=True)
        vector = vector * (math.sqrt(2) / mx.sqrt(mx.where(square == 0, 1, square)))
        x = x - mx.matmul(vector, mx.matmul(_adjoint(vector), x))
        q = q - mx.matmul(mx.matmul(q, vector), _adjoint(vector))
        if x.dtype == mx.complex64:  # make the diagonal of R real, with the sign as in LAPACK
            turn = mx.where(mx.real(head) < 0, -1, 1) * phase
            x = mx.where(rows == k, x * mx.conj(turn), x)
            q = mx.where(mx.arange(m) == k, q * turn, q)
    return q[..., :, :size], mx.triu(x)[..., :size, :]


def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """The pseudo-inverse."""
    u, s, vh = svd(x, full_matrices=False)
    keep = s > _cutoff(x, s, rtol)
    scale = mx.where(keep, 1 / mx.where(keep, s, 1), 0)
    return mx.matmul(_adjoint(vh) * scale[..., None, :], _adjoint(u))


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """How many singular values are not zero."""
    s = svdvals(x)
    return count_nonzero(s > _cutoff(x, s, rtol), axis=-1)


def _cutoff(x: Any, s: Any, rtol: Any) -> Any:
    """The bound below which a singular value counts as zero."""
    if rtol is None:
        rtol = max(x.shape[-2:]) * mx.finfo(s.dtype).eps
    rtol = rtol[..., None] if isinstance(rtol, mx.array) else rtol
    if not s.shape[-1]:
        return mx.zeros_like(s)
    return mx.max(s, axis=-1, keepdims=True) * rtol


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: float = 2) -> Any:
    """The norm of vectors, of any order except zero and infinity."""
    size = mx.abs(x)
    return sum(size**ord, axis=axis, keepdims=keepdims) ** (1 / ord)


def matrix_norm(x: Any, /) -> Any:
    """The Frobenius norm."""
    return vector_norm(x, axis=(-2, -1))


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """A diagonal of matrices."""
    return mx.diagonal(x, offset, -2, -1)
