"""Matrix decompositions: Cholesky, QR, eigenvalues, singular values.

The vectors of a decomposition are unique only up to a choice, their *gauge*: a sign, a phase, or a
rotation among vectors of equal value. The rules give the derivative of what does not depend on
that choice. Where values coincide, the derivative of single vectors does not exist and comes out
as NaN or infinity; that of the values alone stays finite.

None of these is holomorphic: their rules give the conjugate Wirtinger derivative themselves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..backends import backend_of
from .contractions import matmul
from .elementwise import abs, conj, imag, is_complex, real, where
from .indexing import getitem
from .linalg import check_matrices, check_square, diagonal, solve_matrix
from .op import Array, declare, plain
from .shape import _tril, _triu, concat, expand_dims, matrix_transpose

# --- parts of rules ------------------------------------------------------------------------------


def adjoint(x: Any) -> Any:
    """The conjugate transpose."""
    turned = matrix_transpose(x)
    return conj(turned) if is_complex(x) else turned


def _on_diagonal(x: Any) -> Any:
    """Where the diagonal of the square matrices `x` is."""
    backend = backend_of(x)
    xp = backend.xp
    return xp.eye(x.shape[-1], dtype=xp.bool, device=backend.device(plain(x)))


def _columns(values: Any) -> Any:
    """Values to scale columns by."""
    return expand_dims(values, axis=-2)


def _rows(values: Any) -> Any:
    """Values to scale rows by."""
    return expand_dims(values, axis=-1)


def _over_gaps(x: Any, gaps: Any, on_diagonal: Any) -> Any:
    """Square matrices over the gaps between values, with the diagonal replaced."""
    mask = _on_diagonal(x)
    return where(mask, on_diagonal, x / where(mask, 1, gaps))


def _check_gauge(turns: Any, name: str) -> None:
    """Raise if a loss changes when vectors are turned in their gauge, at the rate `turns`."""
    if bool(backend_of(turns).xp.any(abs(plain(turns)) > 1e-2)):
        raise RuntimeError(
            f"the loss depends on the phase of the vectors of {name}, which is arbitrary, so it "
            "has no gradient: use only what stays the same when each vector is multiplied by a "
            "number of modulus one"
        )


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
    # Only the Hermitian part of a tangent counts, as for the gradient.
    return matmul(out, _lower_half(_between_inverses(out, (t + adjoint(t)) * 0.5)))


_cholesky = declare(
    "cholesky",
    "x",
    compute=lambda xp, x: xp.linalg.cholesky(x),
    vjp=_cholesky_vjp,
    jvp=_cholesky_jvp,
    holomorphic=False,
    batch="plain",
)


def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """The triangular factor of Hermitian, positive definite matrices: ``x = L Lᴴ``.

    Only one triangle of `x` is read. The gradient is Hermitian: that of the symmetric matrix.

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


class QRResult(NamedTuple):
    """Orthonormal columns `Q` and a triangular `R`."""

    Q: Any
    R: Any


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


_qr = declare(
    "qr",
    "x",
    compute=lambda xp, x, mode: xp.linalg.qr(x, mode=mode),
    vjp=_qr_vjp,
    jvp=_qr_jvp,
    holomorphic=False,
    batch="plain",
    multiple=True,
)


def qr(x: Any, /, *, mode: str = "reduced") -> QRResult:
    """Orthonormal columns times an upper triangle: ``x = Q R``.

    Parameters
    ----------
    x : array of shape (..., m, n)
        The first ``min(m, n)`` columns must be independent for a derivative to exist.
    mode : {"reduced", "complete"}
        Whether `Q` has ``min(m, n)`` columns, or ``m``. If these differ, "complete" has no
        derivative.

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
    # The first columns decide on Q; the others are only turned by it.
    q, r = _qr(getitem(x, (..., slice(m))), mode="reduced")
    rest = matmul(adjoint(q), getitem(x, (..., slice(m, None))))
    return QRResult(q, concat((r, rest), axis=-1))


# --- eigenvalues of Hermitian matrices -----------------------------------------------------------


class EighResult(NamedTuple):
    """Real eigenvalues in ascending order, and orthonormal eigenvectors in columns."""

    eigenvalues: Any
    eigenvectors: Any


def _gaps(values: Any) -> Any:
    """The value of each column less that of each row."""
    return _columns(values) - _rows(values)


def _similar(vectors: Any, x: Any) -> Any:
    """``vectors · x · vectorsᴴ``."""
    return matmul(matmul(vectors, x), adjoint(vectors))


def _eigh_vjp(gs: list[Any], out: tuple[Any, Any]) -> Any:
    values, vectors = out
    g_values, g_vectors = gs
    if g_vectors is None:
        return matmul(vectors * _columns(g_values), adjoint(vectors))
    turn = matmul(adjoint(vectors), g_vectors)
    if is_complex(vectors):
        _check_gauge(imag(diagonal(turn)), "eigh")
    inner = _over_gaps(turn, _gaps(values), 0 if g_values is None else _rows(g_values))
    return _similar(vectors, inner)


def _eigh_jvp(t: Any, out: tuple[Any, Any]) -> Any:
    values, vectors = out
    inner = matmul(matmul(adjoint(vectors), t), vectors)
    return real(diagonal(inner)), matmul(vectors, _over_gaps(inner, _gaps(values), 0))


_eigh = declare(
    "eigh",
    "x",
    compute=lambda xp, x: xp.linalg.eigh(x),
    vjp=_eigh_vjp,
    jvp=_eigh_jvp,
    holomorphic=False,
    batch="plain",
    multiple=True,
)


def _eigvalsh_vjp(g: Any, x: Any) -> Any:
    _, vectors = _eigh(x)
    return matmul(vectors * _columns(g), adjoint(vectors))


def _eigvalsh_jvp(t: Any, x: Any) -> Any:
    _, vectors = _eigh(x)
    return real(diagonal(matmul(matmul(adjoint(vectors), t), vectors)))


_eigvalsh = declare(
    "eigvalsh",
    "x",
    compute=lambda xp, x: xp.linalg.eigvalsh(x),
    vjp=_eigvalsh_vjp,
    jvp=_eigvalsh_jvp,
    holomorphic=False,
    batch="plain",
)


def eigh(x: Any, /) -> EighResult:
    """The eigenvalues and eigenvectors of Hermitian (or real symmetric) matrices.

    Only the lower triangle of `x` is read. Eigenvectors are unique only up to a phase (a sign):
    the gradient is right for whatever does not depend on it. It is not finite where eigenvalues
    coincide, unless only the eigenvalues are used.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([[2.0, 0.0], [0.0, 1.0]], requires_grad=True)
    >>> values, vectors = ag.linalg.eigh(x)
    >>> ag.grad(values[1], x)
    tensor([[1., 0.],
            [0., 0.]])
    """
    check_square(x, "eigh")
    return EighResult(*_eigh(x))


def eigvalsh(x: Any, /) -> Any:
    """The eigenvalues of Hermitian (or real symmetric) matrices, in ascending order."""
    check_square(x, "eigvalsh")
    return _eigvalsh(x)


# --- eigenvalues of any square matrix ------------------------------------------------------------


class EigResult(NamedTuple):
    """Complex eigenvalues in no particular order, and eigenvectors of length one in columns."""

    eigenvalues: Any
    eigenvectors: Any


def _as_complex(xp: Any, x: Any) -> Any:
    """NumPy gives real numbers where all eigenvalues happen to be real."""
    return xp.astype(x, xp.result_type(x.dtype, xp.complex64), copy=False)


def _eig_vjp(gs: list[Any], out: tuple[Any, Any]) -> Any:
    values, vectors = out
    g_values, g_vectors = gs
    dual = adjoint(vectors)
    if g_vectors is None:
        return solve_matrix(dual, _rows(g_values) * dual)
    turn = matmul(dual, g_vectors)
    along = diagonal(turn)
    _check_gauge(imag(along), "eig")
    # The vectors keep their length.
    turn = turn - matmul(dual, vectors) * _columns(real(along))
    on_diagonal = 0 if g_values is None else _rows(g_values)
    return solve_matrix(dual, matmul(_over_gaps(turn, conj(_gaps(values)), on_diagonal), dual))


def _eig_jvp(t: Any, out: tuple[Any, Any]) -> Any:
    values, vectors = out
    inner = solve_matrix(vectors, matmul(t, vectors))
    step = matmul(vectors, _over_gaps(inner, _gaps(values), 0))
    stretch = real(diagonal(matmul(adjoint(vectors), step)))
    return diagonal(inner), step - vectors * _columns(stretch)


_eig = declare(
    "eig",
    "x",
    compute=lambda xp, x: tuple(_as_complex(xp, part) for part in xp.linalg.eig(x)),
    vjp=_eig_vjp,
    jvp=_eig_jvp,
    holomorphic=False,
    batch="plain",
    multiple=True,
)


def eig(x: Any, /) -> EigResult:
    """The eigenvalues and eigenvectors of square matrices. Both are complex, always.

    Eigenvectors have length one and are unique only up to a phase: the gradient is right for
    whatever does not depend on it, and not finite where eigenvalues coincide.
    """
    check_square(x, "eig")
    return EigResult(*_eig(x))


def eigvals(x: Any, /) -> Any:
    """The eigenvalues of square matrices: complex numbers in no particular order.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([[0.0, 1.0], [-1.0, 0.0]], requires_grad=True)
    >>> values = ag.linalg.eigvals(x)
    >>> ag.grad(ag.sum(abs(values)), x)
    tensor([[ 0.,  1.],
            [-1.,  0.]])
    """
    check_square(x, "eigvals")
    if isinstance(x, Array):
        # Not an op of its own: without vectors, LAPACK may find the values in another order.
        return _eig(x)[0]
    xp = backend_of(x).xp
    return _as_complex(xp, xp.linalg.eigvals(x))


# --- singular values -----------------------------------------------------------------------------


class SVDResult(NamedTuple):
    """Left singular vectors in columns, singular values in descending order, right ones in rows."""

    U: Any
    S: Any
    Vh: Any


def _square_gaps(values: Any) -> Any:
    """The square of the value of each column less that of each row."""
    return _gaps(values) * (_columns(values) + _rows(values))


def _without_complement(g: Any, vectors: Any, k: int) -> tuple[Any, Any]:
    """The first `k` columns, and a cotangent of them that stands for that of all the columns.

    The other columns span the complement of the first; which basis they are is arbitrary.
    """
    first, rest = vectors[..., :k], vectors[..., k:]
    if g is None or not rest.shape[-1]:
        return g, first
    g_rest = g[..., k:]
    turn = matmul(adjoint(rest), g_rest)
    if bool(backend_of(turn).xp.any(abs(plain(turn - adjoint(turn))) > 1e-2)):
        raise RuntimeError(
            "the loss depends on the additional vectors of svd with full_matrices=True, which "
            "are an arbitrary basis, so it has no gradient: use full_matrices=False, or only the "
            "space that they span"
        )
    return g[..., :k] - matmul(rest, matmul(adjoint(g_rest), first)), first


def _svd_vjp(gs: list[Any], out: tuple[Any, Any, Any]) -> Any:
    g_u, g_s, g_vh = gs
    u, s, vh = out
    k = s.shape[-1]
    g_u, u = _without_complement(g_u, u, k)
    g_v, v = _without_complement(None if g_vh is None else adjoint(g_vh), adjoint(vh), k)
    vh = adjoint(v)
    if g_u is None and g_v is None:
        return matmul(u * _columns(g_s), vh)
    inner: Any = 0.0
    on_diagonal = 0 if g_s is None else _rows(g_s)
    turns = []
    if g_u is not None:
        turn = matmul(adjoint(u), g_u)
        turns.append(turn - adjoint(turn))
        inner = inner + turns[-1] * _columns(s)
    if g_v is not None:
        turn = matmul(vh, g_v)
        turns.append(turn - adjoint(turn))
        inner = inner + _rows(s) * turns[-1]
    if is_complex(u):
        phases = [diagonal(turn) for turn in turns]
        _check_gauge(imag(sum(phases)) * 0.5, "svd")
        if len(phases) == 2:
            on_diagonal = on_diagonal + _rows((phases[0] - phases[1]) / (4 * s))
    g = matmul(matmul(u, _over_gaps(inner, _square_gaps(s), on_diagonal)), vh)
    if g_u is not None and u.shape[-2] > k:
        scaled = g_u / _columns(s)
        g = g + matmul(scaled - matmul(u, matmul(adjoint(u), scaled)), vh)
    if g_v is not None and v.shape[-2] > k:
        scaled = g_v / _columns(s)
        g = g + matmul(u, adjoint(scaled - matmul(v, matmul(vh, scaled))))
    return g


def _svd_jvp(t: Any, out: tuple[Any, Any, Any]) -> Any:
    all_u, s, all_vh = out
    all_v = adjoint(all_vh)
    k = s.shape[-1]
    u, v = all_u[..., :k], all_v[..., :k]
    inner = matmul(matmul(adjoint(u), t), v)
    along = diagonal(inner)
    phase = _rows(imag(along) * 1j / (2 * s)) if is_complex(u) else 0
    back = adjoint(inner)
    gaps = _square_gaps(s)
    turn_u = _over_gaps(inner * _columns(s) + _rows(s) * back, gaps, phase)
    turn_v = _over_gaps(_rows(s) * inner + back * _columns(s), gaps, -phase)
    t_u, t_v = matmul(u, turn_u), matmul(v, turn_v)
    if u.shape[-2] > k:
        t_u = t_u + (matmul(t, v) - matmul(u, inner)) / _columns(s)
    if v.shape[-2] > k:
        t_v = t_v + (matmul(adjoint(t), u) - matmul(v, back)) / _columns(s)
    return (
        _with_complement(t_u, all_u, k),
        real(along),
        adjoint(_with_complement(t_v, all_v, k)),
    )


def _with_complement(t: Any, vectors: Any, k: int) -> Any:
    """The tangent of all the columns from that of the first `k`: the others stay orthogonal."""
    first, rest = vectors[..., :k], vectors[..., k:]
    if not rest.shape[-1]:
        return t
    return concat((t, -matmul(first, matmul(adjoint(t), rest))), axis=-1)


_svd = declare(
    "svd",
    "x",
    compute=lambda xp, x, full_matrices: xp.linalg.svd(x, full_matrices=full_matrices),
    vjp=_svd_vjp,
    jvp=_svd_jvp,
    holomorphic=False,
    batch="plain",
    multiple=True,
)


def _svdvals_vjp(g: Any, x: Any) -> Any:
    u, _, vh = _svd(x, full_matrices=False)
    return matmul(u * _columns(g), vh)


def _svdvals_jvp(t: Any, x: Any) -> Any:
    u, _, vh = _svd(x, full_matrices=False)
    return real(diagonal(matmul(matmul(adjoint(u), t), adjoint(vh))))


_svdvals = declare(
    "svdvals",
    "x",
    compute=lambda xp, x: xp.linalg.svdvals(x),
    vjp=_svdvals_vjp,
    jvp=_svdvals_jvp,
    holomorphic=False,
    batch="plain",
)


def svd(x: Any, /, *, full_matrices: bool = True) -> SVDResult:
    """The singular value decomposition: ``x = U diag(S) Vh``.

    Singular vectors are unique only up to a common phase (a sign) of each pair: the gradient is
    right for whatever does not depend on it. It is not finite where singular values coincide (or,
    for matrices that are not square, where one is zero), unless only the values are used.

    Parameters
    ----------
    x : array of shape (..., m, n)
    full_matrices : bool
        Whether to fill up `U` and `Vh` to square matrices. The additional vectors are an
        arbitrary basis, so a gradient exists only for what depends on the space they span.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([[2.0, 0.0], [0.0, 1.0]], requires_grad=True)
    >>> u, s, vh = ag.linalg.svd(x)
    >>> ag.grad(s[0], x)
    tensor([[1., 0.],
            [0., 0.]])
    """
    check_matrices(x, "svd")
    return SVDResult(*_svd(x, full_matrices=full_matrices))


def svdvals(x: Any, /) -> Any:
    """The singular values of matrices, in descending order."""
    check_matrices(x, "svdvals")
    return _svdvals(x)


# --- the pseudo-inverse --------------------------------------------------------------------------


def _pinv_vjp(g: Any, x: Any, out: Any) -> Any:
    turned, left = adjoint(out), adjoint(g)
    # What each side leaves out: (I - x·out) and (I - out·x), applied without forming them.
    right = matmul(matmul(left, out), turned)
    outer = matmul(turned, matmul(out, left))
    return (
        right
        - matmul(x, matmul(out, right))
        + outer
        - matmul(matmul(outer, out), x)
        - matmul(turned, matmul(g, turned))
    )


def _pinv_jvp(t: Any, x: Any, out: Any) -> Any:
    turned, back = adjoint(out), adjoint(t)
    right = matmul(matmul(out, turned), back)
    outer = matmul(back, matmul(turned, out))
    return (
        right
        - matmul(matmul(right, x), out)
        + outer
        - matmul(out, matmul(x, outer))
        - matmul(out, matmul(t, out))
    )


_pinv = declare(
    "pinv",
    "x",
    compute=lambda xp, x, rtol: xp.linalg.pinv(x, rtol=rtol),
    vjp=_pinv_vjp,
    jvp=_pinv_jvp,
    holomorphic=False,
    batch="plain",
)


def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """The Moore-Penrose pseudo-inverse of matrices.

    The gradient is that among matrices of the same rank, to others the pseudo-inverse jumps.

    Parameters
    ----------
    x : array of shape (..., m, n)
    rtol : float or array, optional
        Singular values below this part of the largest count as zero; by default the larger of m
        and n times the precision of the dtype.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([[3.0], [4.0]], requires_grad=True)
    >>> ag.linalg.pinv(x).detach()
    tensor([[0.12, 0.16]])
    """
    check_matrices(x, "pinv")
    return _pinv(x, rtol=plain(rtol))
