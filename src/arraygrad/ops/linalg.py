"""Linear systems, determinants, traces, and powers of matrices.

Decompositions are in `decompositions` and `spectra`, norms in `norms`. All functions act on the
last two axes; leading axes are a batch.
"""

from __future__ import annotations

import cmath
import functools
import math
import operator
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, overload

import numpy as np

from ..backends import backend_of
from ..backends.filled import zeros_like
from ..core.array import plain
from ..core.axes import one_axis
from ..core.kinds import Matrices
from .contractions import matmul
from .contractions import outer as _outer
from .define.arguments import naming
from .define.library import constant, declare
from .define.op import Op, Own
from .define.signatures import A, one_array, two_arrays
from .elementwise import abs, conj, equal, imag, is_complex, real, where
from .matrices import check_matrices, diagonal
from .padding import aligned
from .reductions import _max, _others, sum
from .shape import _reshape, expand_dims, matrix_transpose, moveaxis, roll

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "SlogdetResult", "cross", "det", "inv", "matrix_power", "matrix_rank", "outer", "slogdet",
    "solve", "trace",
]  # fmt: skip


def check_square(x: Any, name: str, argument: str = "x") -> None:
    """Raise unless the last two axes of `x` have the same length."""
    check_matrices(x, name, argument)
    if x.shape[-1] != x.shape[-2]:
        raise np.linalg.LinAlgError(
            f"{name}: the last two dimensions of {argument} must be equal, got shape "
            f"{tuple(x.shape)}"
        )


# --- parts of matrices ---------------------------------------------------------------------------


@one_array
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sum of a diagonal of matrices.

    >>> ag.linalg.trace(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor(5.)
    """
    return sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


# --- products ------------------------------------------------------------------------------------


@two_arrays
def outer(x1: Any, x2: Any, /) -> Any:
    """The outer product of two vectors.

    >>> ag.linalg.outer(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 10.0]))
    tensor([[ 1., 10.],
            [ 2., 20.]])
    """
    for name, x in (("x1", x1), ("x2", x2)):
        if x.ndim != 1:
            raise ValueError(f"outer: {name} must be one-dimensional, got shape {tuple(x.shape)}")
    return _outer(x1, x2)


@two_arrays
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The cross product of vectors along an axis of length three.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 0.0, 0.0], requires_grad=True)
    >>> y = ag.tensor([0.0, 1.0, 0.0])
    >>> ag.linalg.cross(x, y).detach()
    tensor([0., 0., 1.])
    """
    for name, x in (("x1", x1), ("x2", x2)):
        length = x.shape[one_axis(axis, x.ndim)]
        if length != 3:
            raise ValueError(f"cross: {name} must have length 3 along axis {axis}, not {length}")
    if axis >= 0 and x1.ndim != x2.ndim:  # it is another axis of each, once they are broadcast
        last = cross(moveaxis(x1, axis, -1), moveaxis(x2, axis, -1))
        return moveaxis(last, -1, axis)
    return roll(x1, -1, axis=axis) * roll(x2, -2, axis=axis) - (
        roll(x1, -2, axis=axis) * roll(x2, -1, axis=axis)
    )


def square(x: tuple[int, ...], **keywords: Any) -> tuple[tuple[int, ...], ...]:
    """The shape of the result of a function that maps square matrices to matrices of this shape."""
    return (x,)


_identity = declare(
    "matrix_power",
    "x",
    compute=lambda xp, x: xp.broadcast_to(
        xp.eye(x.shape[-1], dtype=x.dtype, device=backend_of(x).device(x)), x.shape
    ),
    kind=Matrices(shapes=square, flat=("x",)),
)


@one_array
def matrix_power(x: Any, n: int, /) -> Any:
    """The `n`-th power of square matrices; if `n` is negative, the power of the inverse.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([[2.0]], requires_grad=True)
    >>> ag.grad(ag.linalg.matrix_power(x, -2)[0, 0], x)
    tensor([[-0.25]])
    """
    check_square(x, "matrix_power")
    try:
        n = operator.index(n)
    except TypeError:
        raise TypeError(f"n must be an integer, not {type(n).__name__}") from None
    if n < 0:
        x, n = inv(x), -n
    power = None
    while n:
        if n & 1:
            power = x if power is None else matmul(power, x)
        n >>= 1
        x = matmul(x, x) if n else x
    return _identity(x) if power is None else power


# --- linear systems ------------------------------------------------------------------------------


def _solve_rule(g: Any, wanted: tuple[bool, bool], a: Any, out: Any) -> tuple[Any, Any]:
    g_b = solve_matrix(matrix_transpose(a), g)
    return -matmul(g_b, matrix_transpose(out)) if wanted[0] else None, g_b


def _batched_solve(op: Op, arrays: Any, flags: Any, params: Any) -> Any:
    a, b = arrays
    if flags != (False, True) or a.ndim > 2:
        return op.function(*aligned(arrays, flags))
    # All members share one matrix: their right-hand sides become the columns of one matrix.
    turned = moveaxis(b, -2, 0)
    n = turned.shape[0]
    columns = _reshape(turned, shape=(n, math.prod(turned.shape[1:])))
    return moveaxis(_reshape(op.function(a, columns), shape=turned.shape), 0, -2)


solve_matrix = declare(
    "solve",
    "a",
    "b",
    compute=lambda xp, a, b: xp.linalg.solve(a, b),
    joint=_solve_rule,
    jvp=lambda t_a, t_b, a, out: solve_matrix(a, t_b - matmul(t_a, out)),
    kind=Matrices(shapes=lambda a, b: (b,)),
    own=Own(batch=_batched_solve),
)

inv_matrix = declare(
    "inv",
    "x",
    compute=lambda xp, x: xp.linalg.inv(x),
    vjp=lambda g, out: -matmul(matrix_transpose(out), matmul(g, matrix_transpose(out))),
    jvp=lambda t, out: -matmul(out, matmul(t, out)),
    kind=Matrices(shapes=square),
)


@two_arrays
def solve(x1: Any, x2: Any, /) -> Any:
    """The solution `x` of ``x1 @ x = x2``.

    Parameters
    ----------
    x1 : array of shape (..., n, n)
        Matrices that are not singular.
    x2 : array of shape (n,) or (..., n, k)
        One vector for all matrices or, with more axes, matrices of right-hand sides.

    Examples
    --------
    >>> import arraygrad as ag
    >>> a = ag.tensor([[2.0, 0.0], [0.0, 4.0]], requires_grad=True)
    >>> b = ag.tensor([2.0, 4.0], requires_grad=True)
    >>> ag.grad(ag.sum(ag.linalg.solve(a, b)), [a, b])
    (tensor([[-0.5 , -0.5 ],
            [-0.25, -0.25]]), tensor([0.5 , 0.25]))
    """
    check_square(x1, "solve", "x1")
    if x2.ndim == 0 or x2.shape[-2 if x2.ndim > 1 else -1] != x1.shape[-1]:
        raise ValueError(
            f"solve: x2 must have shape ({x1.shape[-1]},) or (..., {x1.shape[-1]}, k) to fit x1 of "
            f"shape {tuple(x1.shape)}, got {tuple(x2.shape)}"
        )
    if x2.ndim > 1:
        return solve_matrix(x1, x2)
    out = solve_matrix(x1, expand_dims(x2, axis=-1))
    return _reshape(out, shape=out.shape[:-1])


@one_array
def inv(x: Any, /) -> Any:
    """The inverse of square matrices.

    >>> ag.linalg.inv(ag.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5 , 0.  ],
            [0.  , 0.25]])
    """
    check_square(x, "inv")
    return inv_matrix(x)


_matrix_rank = constant(
    "matrix_rank",
    "x",
    compute=lambda xp, x, rtol: xp.linalg.matrix_rank(x, rtol=rtol),
    kind=Matrices(shapes=lambda x, **keywords: ((),)),
)


@one_array
def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """The number of singular values of matrices that are not zero.

    Singular values below `rtol` times the largest count as zero. By default, `rtol` is the larger
    of the matrix's two lengths times the precision of the dtype.

    >>> ag.linalg.matrix_rank(ag.tensor([[1.0, 2.0], [2.0, 4.0]]))
    tensor(1)
    """
    check_matrices(x, "matrix_rank")
    return _matrix_rank(x, rtol=plain(rtol))


# --- determinants --------------------------------------------------------------------------------
# The gradient of a determinant is the matrix of cofactors. For a matrix far from singular, they are
# `det(x) inv(x)ᵀ`. Near a singular matrix this formula loses digits, so the cofactors and their
# derivative are computed from singular values.


def _decomposed(xp: Any, x: Any) -> tuple[Any, Any, Any, Any]:
    """The singular value decomposition, and ``det(u) det(vh)``; NaN for what is not finite."""
    finite = xp.all(xp.isfinite(x), axis=(-2, -1), keepdims=True)
    u, s, vh = xp.linalg.svd(xp.where(finite, x, xp.zeros_like(x)), full_matrices=False)
    s = xp.where(finite[..., 0], s, xp.full_like(s, math.nan))  # LAPACK may give up on NaN
    return u, s, vh, (xp.linalg.det(u) * xp.linalg.det(vh))[..., None, None]


def _far_from_singular(xp: Any, x: Any) -> bool:
    """Whether inverting the matrices loses few digits; False if their values are not known."""
    if not backend_of(x).has_values(x):
        return False
    if bool(xp.any(xp.linalg.det(x) == 0)):
        return False
    condition = xp.linalg.matrix_norm(x) * xp.linalg.matrix_norm(xp.linalg.inv(x))
    lost = condition >= xp.finfo(x.dtype).eps ** -0.25
    # NaN and infinity count as regular: an inverse accepts them, but an SVD does not.
    return not bool(xp.any(lost & xp.isfinite(condition)))


def _compute_cofactors(xp: Any, x: Any) -> Any:
    if _far_from_singular(xp, x):
        return xp.linalg.det(x)[..., None, None] * matrix_transpose(xp.linalg.inv(x))
    u, s, vh, sign = _decomposed(xp, x)
    return sign * ((conj(u) * _all_but_one(s)[..., None, :]) @ conj(vh))


def _compute_along(xp: Any, x: Any, e: Any) -> Any:
    u, s, vh, sign = _decomposed(xp, x)
    diagonal = xp.eye(x.shape[-1], dtype=xp.bool, device=backend_of(x).device(x))
    # At row i and column j: the product of all singular values except number i and j.
    but_one = xp.where(diagonal, xp.ones_like(s)[..., None, :], s[..., None, :])
    but_two = _all_but_one(but_one)
    but_two = xp.where(diagonal, xp.zeros_like(but_two), but_two)
    turned = matrix_transpose(conj(u)) @ e @ matrix_transpose(conj(vh))
    along = xp.sum(xp.where(diagonal, turned, xp.zeros_like(turned)), axis=-1)
    minors = xp.where(
        diagonal,
        xp.sum(but_two * along[..., None, :], axis=-1)[..., None],
        -but_two * matrix_transpose(turned),
    )
    return sign * (conj(u) @ minors @ conj(vh))


def _all_but_one(s: Any) -> Any:
    """For each element, the product of all other elements along the last axis."""
    return _others(s, (s.ndim - 1,))


def _along_twice(x: Any, e: Any, f: Any) -> Any:
    """The derivative of `_cofactors_along(x, e)` along `f`."""
    if x.shape[-1] < 3:
        return zeros_like(x)
    if not _far_from_singular(backend_of(x).xp, plain(x)):
        return _interpolated(x, e, f)
    x_inv = inv_matrix(x)
    e, f = matmul(x_inv, e), matmul(x_inv, f)

    trace_e, trace_f, trace_ef = trace(e), trace(f), trace(matmul(e, f))
    total = _scaled(trace_e * trace_f - trace_ef, x_inv) + matmul(
        matmul(e, f) + matmul(f, e) - _scaled(trace_e, f) - _scaled(trace_f, e), x_inv
    )
    return _scaled(det_matrix(x), matrix_transpose(total))


def _interpolated(x: Any, e: Any, f: Any) -> Any:
    """The derivative of `_cofactors_along(x, e)` along `f`, also for nearly singular matrices.

    The function is a polynomial along `f`. The derivative of a polynomial at the centre of a circle
    is a sum over points on the circle, exactly; the number of points is its degree.
    """
    radius = _largest(x) / _largest(f)
    count = x.shape[-1] - 1
    points = [radius * cmath.exp(2j * cmath.pi * k / count) for k in range(count)]
    terms = [_cofactors_along(x + f * point, e) / (point * count) for point in points]
    total = functools.reduce(lambda a, b: a + b, terms)
    return total if any(is_complex(part) for part in (x, e, f)) else real(total)


def _largest(x: Any) -> Any:
    """The largest absolute value, as a number if it is known; one if all elements are zero."""
    size = _max(abs(plain(x)), axis=None, keepdims=False)
    if backend_of(size).has_values(size):
        return float(size) or 1.0
    return where(equal(size, 0), 1, size)


def _scaled(scalars: Any, x: Any) -> Any:
    """Matrices, each multiplied by its own number."""
    return expand_dims(scalars, axis=(-2, -1)) * x


det_matrix = declare(
    "det",
    "x",
    compute=lambda xp, x: xp.linalg.det(x),
    vjp=lambda g, x: _scaled(g, _cofactors(x)),
    jvp=lambda t, x: sum(t * _cofactors(x), axis=(-2, -1)),
    kind=Matrices(shapes=lambda x: ((),)),
)
_cofactors = declare(
    "cofactors",
    "x",
    compute=_compute_cofactors,
    vjp=lambda g, x: _cofactors_along(x, g),
    jvp=lambda t, x: _cofactors_along(x, t),
    kind=Matrices(shapes=square),
)
# The derivative of the cofactors along `e`. It is a second derivative, so it equals its transpose.
_cofactors_along = declare(
    "cofactors_along",
    "x",
    "e",
    compute=_compute_along,
    vjp_x=lambda g, x, e: _along_twice(x, e, g),
    vjp_e=lambda g, x: _cofactors_along(x, g),
    jvp=lambda t_x, t_e, x, e: _cofactors_along(x, t_e) + _along_twice(x, e, t_x),
    kind=Matrices(shapes=lambda x, e: (x,)),
)


@one_array
def det(x: Any, /) -> Any:
    """The determinant of square matrices.

    Derivatives of all orders are correct even if a matrix is singular.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
    >>> ag.round(ag.grad(ag.linalg.det(x), x))
    tensor([[ 4., -2.],
            [-2.,  1.]])
    """
    check_square(x, "det")
    return det_matrix(x)


class SlogdetResult(NamedTuple, Generic[A]):
    """The sign (phase) of determinants, and the logarithm of their absolute value."""

    sign: A
    logabsdet: A


def _slogdet_vjp(gs: list[Any], x: Any, out: tuple[Any, Any]) -> Any:
    g_sign, g_log = gs
    sign, _ = out
    weight = g_log
    if g_sign is not None and is_complex(sign):
        phase = real(conj(g_sign) * (sign * 1j)) * 1j
        weight = phase if g_log is None else g_log + phase
    if weight is None:  # the sign of a real determinant is constant
        return zeros_like(x)
    inverse = inv_matrix(matrix_transpose(x))
    return _scaled(weight, conj(inverse) if is_complex(x) else inverse)


def _slogdet_jvp(t: Any, x: Any, out: tuple[Any, Any]) -> tuple[Any, Any]:
    sign, _ = out
    rate = trace(solve_matrix(x, t))
    return sign * (imag(rate) * 1j) if is_complex(sign) else zeros_like(sign), real(rate)


_slogdet = declare(
    "slogdet",
    "x",
    compute=lambda xp, x: xp.linalg.slogdet(x),
    vjp=_slogdet_vjp,
    jvp=_slogdet_jvp,
    holomorphic=False,
    kind=Matrices(shapes=lambda x: ((), ())),
    multiple=True,
)


@overload
def slogdet(x: NDArray[Any], /) -> SlogdetResult[NDArray[Any]]: ...
@overload
def slogdet(x: A, /) -> SlogdetResult[A]: ...
@naming("x")
def slogdet(x: Any, /) -> SlogdetResult[Any]:
    """The sign (phase, if complex) of determinants, and the logarithm of their absolute value.

    Unlike `det`, the results do not overflow for large matrices.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([[2.0, 0.0], [0.0, 4.0]], requires_grad=True)
    >>> sign, logabsdet = ag.linalg.slogdet(x)
    >>> ag.grad(logabsdet, x)
    tensor([[0.5 , 0.  ],
            [0.  , 0.25]])
    """
    check_square(x, "slogdet")
    return SlogdetResult(*_slogdet(x))
