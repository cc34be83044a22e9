"""Cholesky and QR decompositions, and the pseudo-inverse. Eigenvalues and SVD are in `spectra`.

These functions are not holomorphic: their rules return the conjugate Wirtinger derivative.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, overload

from ..backends import backend_of
from ..core.array import Array, plain
from ..core.kinds import Matrices
from ..errors import SingularError
from .contractions import matmul
from .define.arguments import naming
from .define.library import constant, declare
from .define.signatures import A, one_array
from .elementwise import conj, greater, is_complex, isfinite, where
from .indexing import getitem
from .linalg import check_square, solve_matrix, square
from .matrices import check_matrices
from .shape import _tril, _triu, as_inexact, concat, expand_dims, matrix_transpose

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["QRResult", "cholesky", "pinv", "qr"]


def adjoint(x: Any) -> Any:
    """The conjugate transpose."""
    turned = matrix_transpose(x)
    return conj(turned) if is_complex(x) else turned


# --- Cholesky ------------------------------------------------------------------------------------


def _lower_half(x: Any) -> Any:
    """The lower triangle with half of the diagonal."""
    return (_tril(x, k=0) + _tril(x, k=-1)) * 0.5


def _upper_half(x: Any) -> Any:
    """The upper triangle with half of the diagonal."""
    return (_triu(x, k=0) + _triu(x, k=1)) * 0.5


def _between_inverses(left: Any, x: Any) -> Any:
    """``left⁻¹ x left⁻ᴴ``."""
    return adjoint(solve_matrix(left, adjoint(solve_matrix(left, x))))


def _cholesky_vjp(g: Any, out: Any) -> Any:
    half = _lower_half(matmul(adjoint(out), g))
    return _between_inverses(adjoint(out), (half + adjoint(half)) * 0.5)


def _cholesky_jvp(t: Any, out: Any) -> Any:
    # Only the Hermitian part of a tangent counts: the gradient is Hermitian, too.
    return matmul(out, _lower_half(_between_inverses(out, (t + adjoint(t)) * 0.5)))


_cholesky = declare(
    "cholesky",
    "x",
    compute=lambda xp, x: xp.linalg.cholesky(x),
    vjp=_cholesky_vjp,
    jvp=_cholesky_jvp,
    holomorphic=False,
    kind=Matrices(shapes=square),
)


@one_array
def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """The triangular factor of Hermitian, positive definite matrices: ``x = L Lᴴ``.

    Only one triangle of `x` is read. The gradient is Hermitian.

    Parameters
    ----------
    x : array of shape (..., n, n)
    upper : bool
        Whether to read the upper triangle, and return ``U`` with ``x = Uᴴ U``.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([[4.0, 2.0], [2.0, 5.0]], requires_grad=True)
    >>> ag.grad(ag.linalg.cholesky(x)[1, 1], x)
    tensor([[ 0.0625, -0.125 ],
            [-0.125 ,  0.25  ]])
    """
    check_square(x, "cholesky")
    return adjoint(_cholesky(adjoint(x))) if upper else _cholesky(x)


# --- QR ------------------------------------------------------------------------------------------


class QRResult(NamedTuple, Generic[A]):
    """Orthonormal columns `Q` and a triangular `R`."""

    Q: A
    R: A


def _check_reduced(mode: str) -> None:
    if mode == "complete":
        raise RuntimeError(
            "qr with mode='complete' has no derivative for matrices of more rows than columns, "
            "because the additional columns of Q are arbitrary: use mode='reduced'"
        )


def _qr_vjp(gs: list[Any], out: tuple[Any, Any], mode: str) -> Any:
    _check_reduced(mode)
    q, r = out
    g_q, g_r = gs
    inner = None if g_r is None else matmul(g_r, adjoint(r))
    if g_q is not None:
        turn = matmul(adjoint(q), g_q)
        inner = -turn if inner is None else inner - turn
    half = _upper_half(inner)
    g = matmul(q, half + adjoint(half))
    return adjoint(solve_matrix(r, adjoint(g if g_q is None else g + g_q)))


def _qr_jvp(t: Any, out: tuple[Any, Any], mode: str) -> Any:
    _check_reduced(mode)
    q, r = out
    step = matrix_transpose(solve_matrix(matrix_transpose(r), matrix_transpose(t)))
    turn = matmul(adjoint(q), step)
    upper = _upper_half(turn + adjoint(turn))
    return step - matmul(q, upper), matmul(upper, r)


def _qr_shapes(x: tuple[int, ...], mode: str) -> tuple[tuple[int, ...], ...]:
    m, n = x
    k = min(m, n) if mode == "reduced" else m
    return (m, k), (k, n)


_qr = declare(
    "qr",
    "x",
    compute=lambda xp, x, mode: xp.linalg.qr(x, mode=mode),
    vjp=_qr_vjp,
    jvp=_qr_jvp,
    holomorphic=False,
    kind=Matrices(shapes=_qr_shapes),
    multiple=True,
)


@overload
def qr(x: NDArray[Any], /, *, mode: str = "reduced") -> QRResult[NDArray[Any]]: ...
@overload
def qr(x: A, /, *, mode: str = "reduced") -> QRResult[A]: ...
@naming("x")
def qr(x: Any, /, *, mode: str = "reduced") -> QRResult[Any]:
    """The QR decomposition: orthonormal columns times an upper triangle, ``x = Q R``.

    Parameters
    ----------
    x : array of shape (..., m, n)
        A derivative exists only if the first ``min(m, n)`` columns are independent.
    mode : {"reduced", "complete"}
        "reduced": `Q` has ``min(m, n)`` columns. "complete": `Q` has ``m`` columns; then a
        derivative exists only if ``m <= n``.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([[3.0], [4.0]], requires_grad=True)
    >>> q, r = ag.linalg.qr(x)
    >>> ag.grad(abs(r[0, 0]), x)
    tensor([[0.6],
            [0.8]])
    """
    check_matrices(x, "qr")
    if mode not in ("reduced", "complete"):
        raise ValueError(f"mode must be 'reduced' or 'complete', not {mode!r}")
    m, n = x.shape[-2:]
    if m > n:
        return QRResult(*_qr(x, mode=mode))
    if m == n or not isinstance(x, Array):
        return QRResult(*_qr(x, mode="reduced"))
    # The first m columns determine Q; the other columns of R are Qᴴ times those of x.
    q, r = _qr(getitem(x, (..., slice(m))), mode="reduced")
    rest = matmul(adjoint(q), getitem(x, (..., slice(m, None))))
    return QRResult(q, concat((r, rest), axis=-1))


# --- the pseudo-inverse --------------------------------------------------------------------------


# Where `rtol` cuts off singular values that are not rounding errors, x has a part `left_out` that
# `out` ignores. A change of x mixes the spaces that are kept and left out, the more the smaller the
# gap between their singular values is. The mixing K satisfies
# K = K₀ + left_outᴴ left_out K out outᴴ.


class _Cut(NamedTuple):
    """The part of matrices that was cut off. They have no more columns than rows."""

    left_out: Any
    inner: Any  # left_outᴴ left_out and out outᴴ, scaled to have eigenvalues below one
    square: Any
    doublings: int  # how many times the number of terms is doubled

    def mixing(self, k: Any) -> Any:
        """The K that belongs to some K₀."""
        left, right = self.inner, self.square
        for _ in range(self.doublings):
            k = k + matmul(matmul(left, k), right)
            left, right = matmul(left, left), matmul(right, right)
        return k


_NO_GAP = 1.5e-8  # relative
_MOST_DOUBLINGS = 32  # enough for this gap


def _edges_of(xp: Any, x: Any, rtol: Any) -> Any:
    """The largest singular value that is cut off, and the smallest that is kept."""
    s = xp.linalg.svdvals(x)
    rtol = rtol[..., None] if getattr(rtol, "ndim", 0) else rtol
    is_kept = s > s[..., :1] * rtol
    below = xp.max(xp.where(is_kept, xp.zeros_like(s), s), axis=-1)
    above = xp.min(xp.where(is_kept, s, xp.full_like(s, math.inf)), axis=-1)
    return xp.stack([below, above], axis=-1)


_edges = constant(
    "pinv_edges", "x", compute=_edges_of, kind=Matrices(shapes=lambda x, rtol: ((2,),))
)


def cut_off(x: Any, out: Any, rtol: Any) -> _Cut | None:
    """What ``pinv(x, rtol=rtol)`` left out; None if it is nothing but rounding errors.

    Raises if there is no gap between the singular values that are kept and left out.
    """
    if rtol is None or not min(x.shape):
        return None
    edges = _edges(x, rtol=rtol)
    below, above = edges[..., 0], edges[..., 1]
    count, values = _MOST_DOUBLINGS, plain(edges)
    backend = backend_of(values)
    if backend.has_values(values):
        ratios = values[..., 0] / values[..., 1]
        ratio = float(backend.xp.max(ratios)) if 0 not in values.shape else 0.0
        if ratio < backend.xp.finfo(values.dtype).eps * max(x.shape[-2:]):
            return None
        if ratio > 1 - _NO_GAP:
            worst = backend.xp.reshape(values, (-1, 2))[int(backend.xp.argmax(ratios)), :]
            low, high = float(worst[0]), float(worst[1])
            raise SingularError(
                f"the pseudo-inverse keeps the singular value {high:.10g} and cuts off {low:.10g}: "
                f"the gap between both, {high - low:.1e}, is too small for a derivative. Choose "
                "another rtol (rcond, cond), so that both are kept or both are cut off"
            )
        count = max(0, math.ceil(math.log2(-37 / (2 * math.log(ratio)))))
    scale = expand_dims(where(greater(below, 0), below * above, above * above), axis=(-2, -1))
    scale = where(isfinite(scale), scale, 1.0)  # where all values are cut off
    left_out = x - matmul(x, matmul(out, x))
    inner = matmul(adjoint(left_out), left_out) / scale
    return _Cut(left_out, inner, matmul(out, adjoint(out)) * scale, count)


def _pinv_vjp(g: Any, x: Any, out: Any, rtol: Any) -> Any:
    turned, left = adjoint(out), adjoint(g)
    # The terms contain the projectors (I - x·out) and (I - out·x); these are never formed.
    right = matmul(matmul(left, out), turned)
    outer = matmul(turned, matmul(out, left))
    total = (
        right
        - matmul(x, matmul(out, right))
        + outer
        - matmul(matmul(outer, out), x)
        - matmul(turned, matmul(g, turned))
    )
    if x.shape[-2] >= x.shape[-1]:
        more = _mixing_vjp(g, x, out, rtol)
        return total if more is None else total + more
    more = _mixing_vjp(left, adjoint(x), turned, rtol)
    return total if more is None else total + adjoint(more)


def _mixing_vjp(g: Any, x: Any, out: Any, rtol: Any) -> Any:
    cut = cut_off(x, out, rtol)
    if cut is None:
        return None
    rest, turned = cut.left_out, adjoint(out)
    square = matmul(out, turned)
    side = matmul(rest, matmul(g, turned))
    k = cut.mixing(matmul(adjoint(rest), side + adjoint(g)))
    back = matmul(turned, matmul(square, adjoint(k)))
    return (
        matmul(side + matmul(rest, matmul(k, square)), square) + back - matmul(matmul(back, out), x)
    )


def _pinv_jvp(t: Any, x: Any, out: Any, rtol: Any) -> Any:
    turned, back = adjoint(out), adjoint(t)
    right = matmul(matmul(out, turned), back)
    outer = matmul(back, matmul(turned, out))
    total = (
        right
        - matmul(matmul(right, x), out)
        + outer
        - matmul(out, matmul(x, outer))
        - matmul(out, matmul(t, out))
    )
    if x.shape[-2] >= x.shape[-1]:
        more = _mixing_jvp(t, x, out, rtol)
        return total if more is None else total + more
    more = _mixing_jvp(back, adjoint(x), turned, rtol)
    return total if more is None else total + adjoint(more)


def _mixing_jvp(t: Any, x: Any, out: Any, rtol: Any) -> Any:
    cut = cut_off(x, out, rtol)
    if cut is None:
        return None
    rest = cut.left_out
    square = matmul(out, adjoint(out))
    turn = matmul(adjoint(matmul(out, t)), square)
    first = turn - matmul(out, matmul(x, turn))
    bent = matmul(adjoint(rest), matmul(t, square))
    k = cut.mixing(first + matmul(bent, square))
    inner = bent + matmul(adjoint(rest), matmul(rest, k))
    return matmul(inner, out) + adjoint(matmul(rest, k))


_pinv = declare(
    "pinv",
    "x",
    compute=lambda xp, x, rtol: xp.linalg.pinv(x, rtol=rtol),
    vjp=_pinv_vjp,
    jvp=_pinv_jvp,
    holomorphic=False,
    kind=Matrices(shapes=lambda x, rtol: (x[::-1],)),
)


@one_array
def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """The Moore-Penrose pseudo-inverse of matrices.

    The gradient is for changes that keep the rank: where the rank changes, the pseudo-inverse
    jumps. If `rtol` cuts off singular values, the gradient is that of the truncated pseudo-inverse;
    an error is raised if the singular values that are kept and cut off have no gap between them.

    Parameters
    ----------
    x : array of shape (..., m, n)
    rtol : float or array, optional
        Singular values below `rtol` times the largest count as zero. By default, `rtol` is the
        larger of m and n times the precision of the dtype.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([[3.0], [4.0]], requires_grad=True)
    >>> ag.linalg.pinv(x).detach()
    tensor([[0.12, 0.16]])
    """
    check_matrices(x, "pinv")
    x = as_inexact(x)
    return _pinv(x, rtol=plain(rtol))
