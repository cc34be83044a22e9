"""Products of vectors, matrices and tensors, and linear algebra at PyTorch's top level."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import linalg as native
from .... import ops
from ....arrays.creation import asarray
from ....core.array import Array
from ..publish import function
from .axes import axes_of, check_axes, check_floating, checked
from .elementwise import in_single
from .results import named
from .shapes import adjoint_of as adjoint

# The names of `torch` that are made here.
__all__ = [
    "addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "cdist", "chain_matmul", "cholesky",
    "cross", "det", "dot", "einsum", "ger", "inner", "inverse", "kron",
    "logdet", "matmul", "matrix_exp", "matrix_power", "mm", "mv", "norm", "outer", "pdist",
    "pinverse", "qr", "renorm", "slogdet", "svd", "tensordot", "trace", "vander", "vdot",
]  # fmt: skip


def _matrix(x: Any, name: str) -> Any:
    if x.ndim != 2:
        raise RuntimeError(f"{name} must be a matrix, not of shape {tuple(x.shape)}")
    return x


def same_dtypes(*arrays: Any) -> None:
    """Raise, as PyTorch does, unless the factors of a product have one dtype."""
    first, *others = (array.dtype for array in arrays)
    for other in others:
        if other != first:
            raise RuntimeError(
                f"expected m1 and m2 to have the same dtype, but got: {first} != {other}: convert "
                "one of them by to()"
            )


def _product(x: Any, y: Any) -> Any:
    same_dtypes(x, y)
    return ops.matmul(x, y)


matmul = function(lambda input, other: _product(input, other), name="matmul")
mm = function(
    lambda input, mat2: _product(_matrix(input, "input"), _matrix(mat2, "mat2")), name="mm"
)


@function
def bmm(input: Any, mat2: Any) -> Any:
    """The products of two stacks of matrices."""
    if input.ndim != 3 or mat2.ndim != 3 or input.shape[0] != mat2.shape[0]:
        raise RuntimeError(
            f"bmm() needs two stacks of matrices, not {tuple(input.shape)}, {tuple(mat2.shape)}"
        )
    return _product(input, mat2)


@function
def mv(input: Any, vec: Any) -> Any:
    """The product of a matrix and a vector."""
    if vec.ndim != 1:
        raise RuntimeError(f"vec must be a vector, not of shape {tuple(vec.shape)}")
    return _product(_matrix(input, "input"), vec)


@function
def dot(input: Any, tensor: Any) -> Any:
    """The product of two vectors."""
    if input.ndim != 1 or tensor.ndim != 1 or input.shape != tensor.shape:
        raise RuntimeError(
            f"dot() needs two vectors of one length, not {tuple(input.shape)}, "
            f"{tuple(tensor.shape)}"
        )
    return _product(input, tensor)


@function
def vdot(input: Any, other: Any) -> Any:
    """The product of two vectors, the first conjugated."""
    same_dtypes(input, other)
    return ops.vdot(input, other)


@function
def inner(input: Any, other: Any) -> Any:
    """Products along the last axes."""
    if input.ndim and other.ndim:
        same_dtypes(input, other)
    return ops.inner(input, other)


outer = function(lambda input, vec2: ops.outer(input, vec2), name="outer", dtypes="promoted")
ger = function(outer.__wrapped__, name="ger")
kron = function(lambda input, other: ops.kron(input, other), name="kron", dtypes="promoted")


@function(method=False, dtypes="same")
def einsum(equation: Any, *operands: Any) -> Any:
    """Sums of products, as an equation says."""
    given = (
        operands[0] if len(operands) == 1 and isinstance(operands[0], list | tuple) else operands
    )
    return ops.einsum(equation, *given)


@function(method=False, dtypes="same")
def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """Sums of products along some axes. An axis of length one fits every other."""
    if isinstance(dims, Array):
        dims = asarray(dims).tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot(): dims must not be negative, but is {dims}")
        dims = (range(a.ndim - dims, a.ndim), range(dims))
    first, second = ([checked(i, x.ndim) for i in d] for x, d in zip((a, b), dims, strict=True))
    if len(first) != len(second):
        raise RuntimeError(f"tensordot(): dims are {len(first)} and {len(second)} axes")
    for i, j in zip(first, second, strict=True):
        if a.shape[i] == 1 != b.shape[j]:
            b = ops.sum(b, axis=j, keepdims=True)
        elif b.shape[j] == 1 != a.shape[i]:
            a = ops.sum(a, axis=i, keepdims=True)
    return ops.tensordot(a, b, axes=(tuple(first), tuple(second)))


@function(method=False)
def chain_matmul(*matrices: Any) -> Any:
    """The product of several matrices."""
    product = matrices[0]
    for matrix in matrices[1:]:
        product = _product(product, matrix)
    return product


def _weighted(input: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """`beta * input + alpha * product`. A `beta` of zero keeps NaN out; dtypes stay."""
    kind = input.dtype.kind
    if kind in "iu":
        beta, alpha = int(beta), int(alpha)
    if kind == "b":
        first = ops.logical_and(input, bool(beta))
        return ops.logical_or(first, ops.logical_and(product, bool(alpha)))
    scaled = product if alpha == 1 else product * alpha
    if beta == 0:
        return ops.broadcast_to(scaled, ops.broadcast_shapes(input.shape, product.shape))
    return ops.add(input if beta == 1 else input * beta, scaled)


@function(in_place=True, dtypes="same")
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """`beta * input + alpha * (mat1 @ mat2)`."""
    return _weighted(input, _product(_matrix(mat1, "mat1"), _matrix(mat2, "mat2")), beta, alpha)


@function(in_place=True, dtypes="same")
def addmv(input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """`beta * input + alpha * (mat @ vec)`."""
    return _weighted(input, _product(mat, vec), beta, alpha)


@function(in_place=True, dtypes="promoted")
def addr(input: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """`beta * input + alpha * outer(vec1, vec2)`."""
    return _weighted(input, ops.outer(vec1, vec2), beta, alpha)


@function(in_place=True, dtypes="same")
def addbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """`beta * input + alpha *` the sum of the products of two stacks of matrices."""
    return _weighted(input, ops.sum(_product(batch1, batch2), axis=0), beta, alpha)


@function(in_place=True, dtypes="same")
def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """`beta * input + alpha * (batch1 @ batch2)`."""
    return _weighted(input, _product(batch1, batch2), beta, alpha)


trace = function(lambda input: ops.trace(_matrix(input, "input")), name="trace")


@function(dtypes="same")
def cross(input: Any, other: Any, dim: Any = None) -> Any:
    """The vector product."""
    if dim is None:
        dim = next(i for i, n in enumerate(input.shape) if n == 3)
    return native.cross(input, other, axis=dim)


@function
def norm(
    input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Any:
    """A norm of the elements, or along some axes."""
    x = input if dtype is None else ops.astype(input, dtype)
    check_floating(x, "norm")
    if p is None or p == "fro":
        p = 2
    if p == "nuc":
        if dim is None and x.ndim != 2:
            raise RuntimeError("norm('nuc') needs a matrix, or the two dim of matrices")
        return np.linalg.norm(x, "nuc", (-2, -1) if dim is None else tuple(dim), keepdim)
    axis = axes_of(dim, x.ndim)
    return in_single(native.vector_norm, x, axis=axis, keepdims=keepdim, ord=p)


@function(in_place=True)
def renorm(input: Any, p: float, dim: int, maxnorm: float) -> Any:
    """Slices along an axis scaled down to a norm."""
    check_axes("renorm", input, 2)
    axes = tuple(a for a in range(input.ndim) if a != dim % input.ndim)
    size = native.vector_norm(input, axis=axes, keepdims=True, ord=p)
    return input * ops.where(size > maxnorm, maxnorm / (size + 1e-7), ops.ones_like(size))


@function(method=False, dtypes="same")
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: Any = None) -> Any:
    """The distances of all pairs of rows."""
    apart = ops.expand_dims(x1, -2) - ops.expand_dims(x2, -3)
    return native.vector_norm(apart, axis=-1, ord=p)


vander = function(
    lambda x, N=None, increasing=False: np.vander(x, N, increasing), name="vander", method=False
)


@function(method=False)
def pdist(input: Any, p: float = 2.0) -> Any:
    """The distances of all pairs of different rows."""
    first, second = np.triu_indices(input.shape[0], 1)
    return native.vector_norm(input[first] - input[second], axis=-1, ord=p)


det = function(lambda input: native.det(input), name="det")


@function
def logdet(input: Any) -> Any:
    """The logarithm of the determinant."""
    sign, size = native.slogdet(input)
    if input.dtype.kind == "c":
        return ops.add(ops.log(sign), size)
    return ops.where(sign < 0, np.nan, size)


_Slogdet = named("slogdet", "sign", "logabsdet")
slogdet = function(lambda input: _Slogdet(*native.slogdet(input)), name="slogdet")
inverse = function(lambda input: native.inv(input), name="inverse")
pinverse = function(lambda input, rcond=None: native.pinv(input, rtol=rcond), name="pinverse")
matrix_power = function(lambda input, n: native.matrix_power(input, n), name="matrix_power")


@function
def matrix_exp(input: Any) -> Any:
    """The exponential of a square matrix."""
    from ....scipy.linalg import expm

    return ops.astype(expm(input), input.dtype)


cholesky = function(lambda input, upper=False: native.cholesky(input, upper=upper), name="cholesky")
_Qr = named("qr", "Q", "R")
_Svd = named("svd", "U", "S", "V")


@function
def qr(input: Any, some: bool = True) -> Any:
    """The QR factors."""
    return _Qr(*native.qr(input, mode="reduced" if some else "complete"))


@function
def svd(input: Any, some: bool = True, compute_uv: bool = True) -> Any:
    """The singular value decomposition; of `V`, not of its transpose."""
    u, s, vh = native.svd(input, full_matrices=not some)
    if not compute_uv:
        zeros = [asarray(np.zeros(tuple(part.shape), part.dtype)) for part in (u, vh)]
        return _Svd(zeros[0], s, zeros[1])
    return _Svd(u, s, adjoint(vh))
