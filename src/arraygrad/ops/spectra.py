"""Eigenvalues and singular values, and their vectors. Cholesky and QR are in `decompositions`.

The vectors are unique only up to a choice, their *gauge*: a sign, a phase, or a rotation among
vectors of equal value. The rules are correct for functions that do not depend on this choice. Where
values coincide, single vectors have no derivative: the reverse rules raise an error, with the gap
in it, unless the loss depends only on the space that the vectors span. Forward mode does not know
what the vectors are for: unless the direction mixes none, their tangents raise the error when they
are used. The derivative of the values alone stays finite.

These functions are not holomorphic: their rules return the conjugate Wirtinger derivative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, overload

from ..backends import backend_of, default
from ..core.array import Array, plain
from ..core.kinds import Matrices
from ..errors import SingularError
from .contractions import matmul
from .decompositions import adjoint
from .define.arguments import naming
from .define.library import declare
from .define.signatures import A, one_array
from .elementwise import (
    abs,
    conj,
    imag,
    is_complex,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    multiply,
    real,
    where,
)
from .linalg import check_square, solve_matrix
from .matrices import check_matrices, diagonal
from .reductions import sum
from .shape import concat, expand_dims

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "EigResult", "EighResult", "SVDResult", "eig", "eigh", "eigvals", "eigvalsh", "svd", "svdvals",
]  # fmt: skip

# --- parts of rules ------------------------------------------------------------------------------


def _on_diagonal(x: Any) -> Any:
    """A mask of the diagonal of the square matrices `x`."""
    backend = backend_of(x)
    xp = backend.xp
    return xp.eye(x.shape[-1], dtype=xp.bool, device=backend.device(plain(x)))


def _columns(values: Any) -> Any:
    """The values as factors of the columns of a matrix."""
    return expand_dims(values, axis=-2)


def _rows(values: Any) -> Any:
    """The values as factors of the rows of a matrix."""
    return expand_dims(values, axis=-1)


def _over_gaps(x: Any, gaps: Any, on_diagonal: Any, close: Any = None) -> Any:
    """Square matrices divided by the gaps between values; `on_diagonal` replaces the diagonal.

    Elements are zero where `close`.
    """
    mask = _on_diagonal(x)
    if close is None:
        return where(mask, on_diagonal, x / where(mask, 1, gaps))
    return where(mask, on_diagonal, where(close, 0, x / where(logical_or(mask, close), 1, gaps)))


def _coincide(values: Any) -> Any:
    """A mask of the pairs of values that differ by no more than rounding errors."""
    size = sum(abs(values), axis=-1, keepdims=True)
    precision = 100 * backend_of(values).xp.finfo(size.dtype).eps
    return less_equal(abs(_gaps(values)), _rows(size * precision))


_WAY_OUT = (
    "use only this space (the product of the vectors with their adjoint), and values from a "
    "separate call only apart from it"
)


def _unless_close(
    close: Any, uses: Any, g: Any, of: Any, values: Any, name: str, way_out: str = _WAY_OUT
) -> Any:
    """`g`; raises if a loss uses vectors of values that coincide, which are an arbitrary basis.

    `uses` are made of the cotangents `of`; or of a tangent, which mixes these vectors.
    """
    found, sizes = plain(close), abs(plain(uses))
    backend = backend_of(found)
    xp = backend.xp
    found = xp.logical_and(found, xp.logical_not(_on_diagonal(uses)))
    if backend.has_values(found) and not bool(xp.any(found)):
        return g
    found = xp.logical_and(found, sizes > _noise(of))
    bad = xp.any(found)
    if not backend.has_values(bad):
        return where(bad, math.nan, g)
    if bool(bad):
        values = plain(values)
        gap = xp.max(xp.where(found, abs(_gaps(values)), xp.zeros_like(sizes)))
        raise SingularError(
            f"{name}: values coincide (their gap is {float(gap):.1e}, and the largest value "
            f"{float(xp.max(abs(values))):.1e}), so that their vectors are an arbitrary basis of "
            f"one space and have no derivative: {way_out}. For a function of a matrix, such as its "
            "exponential, use arraygrad.scipy.linalg"
        )
    return g


def _unless_mixed(close: Any, uses: Any, t: Any, of: Any, values: Any, name: str) -> Any:
    """`t`; raises if the tangent `of` mixes vectors of values that coincide."""
    way_out = "use only the values, or reverse mode, which knows whether only this space is used"
    return _unless_close(close, uses, t, [of], values, name, way_out)


class _NoTangent(Array):
    """A tangent that does not exist, instead of NaN: an op on it raises the error that says why."""

    __slots__ = ("_array", "_error")

    def __init__(self, array: Any, error: SingularError) -> None:
        self._array, self._error = array * math.nan, error

    shape = property(lambda self: self._array.shape)
    ndim = property(lambda self: self._array.ndim)
    dtype = property(lambda self: self._array.dtype)

    @classmethod
    def apply(cls, op: Any, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        raise next(a._error for a in arrays if type(a) is cls)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise self._error


def _where_known(tangents: Callable[[], list[Any]], vectors: list[Any]) -> list[Any]:
    """The tangents of vectors; the error is raised when they are used, as the values have some."""
    try:
        return tangents()
    except SingularError as error:
        return [_NoTangent(v, error.with_traceback(None)) for v in vectors]


def _noise(of: list[Any]) -> Any:
    """What rounding errors may leave of differences between cotangents."""
    sizes = [abs(plain(g)) for g in of if g is not None]
    xp = backend_of(sizes[0]).xp
    largest = [xp.sum(size) for size in sizes]
    total = largest[0] if len(largest) == 1 else largest[0] + largest[1]
    return math.sqrt(xp.finfo(sizes[0].dtype).eps) * total


def _in_gauge(g: Any, turns: Any, name: str) -> Any:
    """`g`, if the loss does not depend on the gauge: `turns` is its derivative by the phases."""
    return _unless(
        turns,
        g,
        f"the loss depends on the phase of the vectors of {name}, which is arbitrary, so it has no "
        "gradient: use only what stays the same when each vector is multiplied by a number of "
        "modulus one",
    )


def _unless(changes: Any, g: Any, message: str) -> Any:
    """`g` if `changes` is zero; otherwise raises, or returns NaN if values are not known yet."""
    backend = backend_of(changes)
    xp, size = backend.xp, abs(plain(changes))
    found = xp.any(size > 1e-2)
    if not backend.has_values(found):
        return where(found, math.nan, g)
    if bool(found):
        # Large gradients leave that much by rounding.
        rounding = math.sqrt(xp.finfo(size.dtype).eps) * xp.max(abs(plain(g)))
        if bool(xp.any(size > 1e-2 + rounding)):
            raise RuntimeError(message)
    return g


# --- eigenvalues of Hermitian matrices -----------------------------------------------------------


class EighResult(NamedTuple, Generic[A]):
    """Real eigenvalues in ascending order, and orthonormal eigenvectors in columns."""

    eigenvalues: A
    eigenvectors: A


def _gaps(values: Any) -> Any:
    """The value of each column minus the value of each row."""
    return _columns(values) - _rows(values)


def _eigh_vjp(gs: list[Any], out: tuple[Any, Any]) -> Any:
    values, vectors = out
    g_values, g_vectors = gs
    if g_vectors is None:
        return matmul(multiply(vectors, _columns(g_values)), adjoint(vectors))
    turn = matmul(adjoint(vectors), g_vectors)
    if is_complex(vectors):
        turn = _in_gauge(turn, imag(diagonal(turn)), "eigh")
    close, both = _coincide(values), turn
    turn = (turn - adjoint(turn)) * 0.5
    # If the loss uses values, too, what is used of the vectors may be a limit that is not known.
    used = turn if g_values is None else both
    turn = _unless_close(close, used, turn, [g_vectors], values, "eigh")
    inner = _over_gaps(turn, _gaps(values), 0 if g_values is None else _rows(g_values), close)
    return matmul(matmul(vectors, inner), adjoint(vectors))


def _eigh_jvp(t: Any, out: tuple[Any, Any]) -> Any:
    values, vectors = out
    inner = matmul(matmul(adjoint(vectors), t), vectors)

    def of_vectors() -> list[Any]:
        # Only the Hermitian part of a tangent counts: the gradient is Hermitian, too.
        turn, close = (inner + adjoint(inner)) * 0.5, _coincide(values)
        turn = _unless_mixed(close, turn, turn, t, values, "eigh")
        return [matmul(vectors, _over_gaps(turn, _gaps(values), 0, close))]

    return real(diagonal(inner)), *_where_known(of_vectors, [vectors])


def _eigh_of(xp: Any, x: Any, upper: bool = False) -> Any:
    """`eigh` of the lower or upper triangle: NumPy's signs of the vectors depend on it."""
    if upper and backend_of(x) is default:
        return xp.linalg.eigh(x, UPLO="U")
    return xp.linalg.eigh(xp.conj(xp.matrix_transpose(x)) if upper else x)


_eigh = declare(
    "eigh",
    "x",
    compute=_eigh_of,
    vjp=_eigh_vjp,
    jvp=_eigh_jvp,
    holomorphic=False,
    kind=Matrices(shapes=lambda x, upper=False: (x[1:], x)),
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
    kind=Matrices(shapes=lambda x: (x[1:],)),
)


@overload
def eigh(x: NDArray[Any], /) -> EighResult[NDArray[Any]]: ...
@overload
def eigh(x: A, /) -> EighResult[A]: ...
@naming("x")
def eigh(x: Any, /) -> EighResult[Any]:
    """The eigenvalues and eigenvectors of Hermitian (or real symmetric) matrices.

    Only the lower triangle of `x` is read; the gradient is Hermitian. Eigenvectors are unique only
    up to a phase (a sign). The gradient is correct for functions that do not depend on the phase.
    Where eigenvalues coincide, there is a gradient only for functions of the eigenvalues, or of the
    space that the vectors of one eigenvalue span; for others, an error is raised.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([[2.0, 0.0], [0.0, 1.0]], requires_grad=True)
    >>> values, vectors = ag.linalg.eigh(x)
    >>> ag.grad(values[1], x)
    tensor([[1., 0.],
            [0., 0.]])
    """
    return eigh_of_triangle(x, upper=False)


def eigh_of_triangle(x: Any, *, upper: bool) -> EighResult[Any]:
    """The result of `eigh`, computed from the upper triangle or the lower one."""
    check_square(x, "eigh")
    return EighResult(*(_eigh(x, upper=True) if upper else _eigh(x)))


@one_array
def eigvalsh(x: Any, /) -> Any:
    """The eigenvalues of Hermitian (or real symmetric) matrices, in ascending order.

    >>> ag.linalg.eigvalsh(ag.tensor([[2.0, 1.0], [1.0, 2.0]]))
    tensor([1., 3.])
    """
    check_square(x, "eigvalsh")
    if getattr(x, "requires_grad", False):  # the gradient needs the vectors: compute both at once
        return _eigh(x)[0]
    return _eigvalsh(x)


# --- eigenvalues of any square matrix ------------------------------------------------------------


class EigResult(NamedTuple, Generic[A]):
    """Complex eigenvalues in no particular order, and eigenvectors of length one in columns."""

    eigenvalues: A
    eigenvectors: A


def _as_complex(xp: Any, x: Any) -> Any:
    """The array as complex numbers. NumPy returns real numbers if all eigenvalues are real."""
    return xp.astype(x, xp.result_type(x.dtype, xp.complex64), copy=False)


def _eig_vjp(gs: list[Any], out: tuple[Any, Any]) -> Any:
    values, vectors = out
    g_values, g_vectors = gs
    dual = adjoint(vectors)
    _check_independent(vectors, g_values if g_vectors is None else None)
    if g_vectors is None:
        return solve_matrix(dual, _rows(g_values) * dual)
    turn = matmul(dual, g_vectors)
    along = diagonal(turn)
    turn = _in_gauge(turn, imag(along), "eig")
    # The length of the vectors stays one.
    turn = turn - multiply(matmul(dual, vectors), _columns(real(along)))
    on_diagonal = 0 if g_values is None else _rows(g_values)
    close = _coincide(values)
    turn = _unless_close(close, turn, turn, [g_vectors], values, "eig")
    if g_values is not None:  # with their values, what is used of the vectors may be a limit
        used = _columns(g_values) + 0 * turn
        turn = _unless_close(close, used, turn, [g_values], values, "eig")
    inner = _over_gaps(turn, conj(_gaps(values)), on_diagonal, close)
    return solve_matrix(dual, matmul(inner, dual))


def _check_independent(vectors: Any, g_values: Any = None) -> None:
    """Raise if the vectors depend on each other, so that the values have no derivative.

    With the cotangent of the values, look only at those that are used.
    """
    v = plain(vectors)
    backend = backend_of(v)
    xp = backend.xp
    if not backend.has_values(v) or not bool(xp.all(xp.isfinite(v))):
        return
    worst = math.inf
    if not bool(xp.any(xp.linalg.det(v) == 0)):
        conditions = xp.linalg.vector_norm(xp.linalg.inv(v), axis=-1)
        if g_values is not None:
            conditions = xp.where(plain(g_values) == 0, xp.zeros_like(conditions), conditions)
        worst = float(xp.max(conditions)) if 0 not in conditions.shape else 0.0
    if not worst * xp.finfo(v.dtype).eps < 1e-3:
        raise SingularError(
            "eig: the matrix is defective, or nearly so: its eigenvectors depend on each other "
            f"(an eigenvalue has the condition number {worst:.1e}), so that the eigenvalues have "
            "no derivative"
        )


def _eig_jvp(t: Any, out: tuple[Any, Any]) -> Any:
    values, vectors = out
    _check_independent(vectors)
    inner = solve_matrix(vectors, matmul(t, vectors))

    def of_vectors() -> list[Any]:
        close = _coincide(values)
        turn = _unless_mixed(close, inner, inner, t, values, "eig")
        step = matmul(vectors, _over_gaps(turn, _gaps(values), 0, close))
        stretch = real(diagonal(matmul(adjoint(vectors), step)))
        return [step - vectors * _columns(stretch)]

    return diagonal(inner), *_where_known(of_vectors, [vectors])


_eig = declare(
    "eig",
    "x",
    compute=lambda xp, x: tuple(_as_complex(xp, part) for part in xp.linalg.eig(x)),
    vjp=_eig_vjp,
    jvp=_eig_jvp,
    holomorphic=False,
    kind=Matrices(shapes=lambda x: (x[1:], x)),
    multiple=True,
)


@overload
def eig(x: NDArray[Any], /) -> EigResult[NDArray[Any]]: ...
@overload
def eig(x: A, /) -> EigResult[A]: ...
@naming("x")
def eig(x: Any, /) -> EigResult[Any]:
    """The eigenvalues and eigenvectors of square matrices. Both are always complex.

    Eigenvectors have length one and are unique only up to a phase. The gradient is correct for
    functions that do not depend on the phase. Where eigenvalues coincide, their vectors have none,
    and where the vectors depend on each other (the matrix is defective), the eigenvalues have none:
    an error is raised.

    >>> found = ag.linalg.eig(ag.tensor([[0.0, 1.0], [-1.0, 0.0]]))
    >>> ag.sort(ag.imag(found.eigenvalues))
    tensor([-1.,  1.])
    """
    check_square(x, "eig")
    return EigResult(*_eig(x))


@one_array
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
        # Use the op `eig`: without vectors, LAPACK may return the values in another order.
        return _eig(x)[0]
    xp = backend_of(x).xp
    return _as_complex(xp, xp.linalg.eigvals(x))


# --- singular values -----------------------------------------------------------------------------


class SVDResult(NamedTuple, Generic[A]):
    """Left singular vectors in columns, singular values, descending, right vectors in rows."""

    U: A
    S: A
    Vh: A


def _square_gaps(values: Any) -> Any:
    """The squared value of each column minus the squared value of each row."""
    return _gaps(values) * (_columns(values) + _rows(values))


def _without_complement(g: Any, vectors: Any, k: int) -> tuple[Any, Any]:
    """A cotangent for the first `k` columns that includes that of the others; and these columns.

    The other columns are an arbitrary basis of the complement of the first.
    """
    first, rest = vectors[..., :k], vectors[..., k:]
    if g is None or not rest.shape[-1]:
        return g, first
    g_rest = g[..., k:]
    turn = matmul(adjoint(rest), g_rest)
    g_rest = _unless(
        turn - adjoint(turn),
        g_rest,
        "the loss depends on the additional vectors of svd with full_matrices=True, which are an "
        "arbitrary basis, so it has no gradient: use full_matrices=False, or only the space that "
        "they span",
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
        return matmul(multiply(u, _columns(g_s)), vh)
    inner: Any = 0.0
    on_diagonal = 0 if g_s is None else _rows(g_s)
    turns, uses, along = [], [], []
    if g_u is not None:
        turn = matmul(adjoint(u), g_u)
        uses.append(turn)
        turns.append(turn - adjoint(turn))
        along.append(turns[-1])
        inner = inner + turns[-1] * _columns(s)
    if g_v is not None:
        turn = matmul(vh, g_v)
        uses.append(turn)
        turns.append(turn - adjoint(turn))
        along.append(-turns[-1])
        inner = inner + multiply(_rows(s), turns[-1])
    # Pairs of left and right vectors turn together where values coincide; each alone at zero.
    close, zero = _coincide(s), _is_zero(s)
    used = sum_of(turns if g_s is None else uses)
    inner = _unless_close(close, used, inner, [g_u, g_v], s, "svd")
    both_zero = logical_and(_rows(zero), _columns(zero))
    for turn in turns:
        inner = _unless_close(both_zero, turn, inner, [g_u, g_v], s, "svd")
    sums = where(both_zero, 1, _columns(s) + _rows(s))
    apart = where(close, where(both_zero, 0, sum_of(along) * 0.5 / sums), 0)
    if is_complex(u):
        phases = [diagonal(turn) for turn in turns]
        inner = _in_gauge(inner, imag(sum_of(phases)) * 0.5, "svd")
        if len(phases) == 2:
            difference = phases[0] - phases[1]
            on_diagonal = on_diagonal + _rows(_over_values(difference, s, zero, [g_u, g_v]) * 0.25)
    inside = _over_gaps(inner, _square_gaps(s), on_diagonal, close)
    inside = where(_on_diagonal(inner), inside, inside + apart)
    g = matmul(matmul(u, inside), vh)
    if g_u is not None and u.shape[-2] > k:
        outside = g_u - matmul(u, matmul(adjoint(u), g_u))
        g = g + matmul(_over_values(outside, _columns(s), _columns(zero), [g_u, g_v]), vh)
    if g_v is not None and v.shape[-2] > k:
        outside = g_v - matmul(v, matmul(vh, g_v))
        g = g + matmul(u, adjoint(_over_values(outside, _columns(s), _columns(zero), [g_u, g_v])))
    return g


def sum_of(parts: list[Any]) -> Any:
    """The sum of one array or two."""
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


def _is_zero(s: Any) -> Any:
    """A mask of the singular values that are no more than rounding errors."""
    precision = 100 * backend_of(s).xp.finfo(s.dtype).eps
    return less_equal(s, sum(s, axis=-1, keepdims=True) * precision)


def _over_values(x: Any, s: Any, zero: Any, of: list[Any]) -> Any:
    """`x` divided by singular values; raises where a value is zero, but x is not."""
    found, sizes = plain(zero), abs(plain(x))
    backend = backend_of(found)
    xp = backend.xp
    out = where(zero, 0, x / where(zero, 1, s))
    if backend.has_values(found) and not bool(xp.any(found)):
        return out
    bad = xp.any(xp.logical_and(found, sizes > _noise(of)))
    if not backend.has_values(bad):
        return where(bad, math.nan, out)
    if bool(bad):
        raise SingularError(
            "svd: a singular value is zero, or a rounding error (the smallest is "
            f"{float(xp.min(plain(s))):.1e}), so that its vectors have no derivative: use only the "
            "vectors of other values"
        )
    return out


def _svd_jvp(t: Any, out: tuple[Any, Any, Any]) -> Any:
    all_u, s, all_vh = out
    all_v = adjoint(all_vh)
    k = s.shape[-1]
    u, v = all_u[..., :k], all_v[..., :k]
    inner = matmul(matmul(adjoint(u), t), v)
    along = diagonal(inner)

    def of_vectors() -> list[Any]:
        back = adjoint(inner)
        close, zero = _coincide(s), _is_zero(s)
        both_zero = logical_and(_rows(zero), _columns(zero))
        turn = _unless_mixed(close, inner + back, inner, t, s, "svd")
        turn = _unless_mixed(both_zero, inner, turn, t, s, "svd")
        gaps = _square_gaps(s)
        phase = _rows(_over_values(imag(along) * 0.5j, s, zero, [t])) if is_complex(u) else 0
        # Where values coincide, the left vectors turn against the right ones.
        apart = (inner - back) * 0.5 / where(both_zero, 1, _columns(s) + _rows(s))
        apart = where(logical_and(close, logical_not(_on_diagonal(inner))), apart, 0)
        turn_u = _over_gaps(turn * _columns(s) + _rows(s) * back, gaps, phase, close)
        turn_v = _over_gaps(_rows(s) * turn + back * _columns(s), gaps, -phase, close)
        t_u, t_v = matmul(u, turn_u + apart), matmul(v, turn_v - apart)
        if u.shape[-2] > k:
            rest = matmul(t, v) - matmul(u, inner)
            t_u = t_u + _over_values(rest, _columns(s), _columns(zero), [t])
        if v.shape[-2] > k:
            rest = matmul(adjoint(t), u) - matmul(v, back)
            t_v = t_v + _over_values(rest, _columns(s), _columns(zero), [t])
        return [_with_complement(t_u, all_u, k), adjoint(_with_complement(t_v, all_v, k))]

    t_u, t_vh = _where_known(of_vectors, [all_u, all_vh])
    return t_u, real(along), t_vh


def _with_complement(t: Any, vectors: Any, k: int) -> Any:
    """The tangent of all columns, given that of the first `k`: the others stay orthogonal."""
    first, rest = vectors[..., :k], vectors[..., k:]
    if not rest.shape[-1]:
        return t
    return concat((t, -matmul(first, matmul(adjoint(t), rest))), axis=-1)


def _svd_shapes(x: tuple[int, ...], full_matrices: bool) -> tuple[tuple[int, ...], ...]:
    m, n = x
    k = min(m, n)
    return ((m, m), (k,), (n, n)) if full_matrices else ((m, k), (k,), (k, n))


_svd = declare(
    "svd",
    "x",
    compute=lambda xp, x, full_matrices: xp.linalg.svd(x, full_matrices=full_matrices),
    vjp=_svd_vjp,
    jvp=_svd_jvp,
    holomorphic=False,
    kind=Matrices(shapes=_svd_shapes),
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
    kind=Matrices(shapes=lambda x: ((min(x),),)),
)


@overload
def svd(x: NDArray[Any], /, *, full_matrices: bool = True) -> SVDResult[NDArray[Any]]: ...
@overload
def svd(x: A, /, *, full_matrices: bool = True) -> SVDResult[A]: ...
@naming("x")
def svd(x: Any, /, *, full_matrices: bool = True) -> SVDResult[Any]:
    """The singular value decomposition: ``x = U diag(S) Vh``.

    Singular vectors are unique only up to a common phase (a sign) of each pair. The gradient is
    correct for functions that do not depend on the phase. Where singular values coincide (or, for
    matrices that are not square, where one is zero), their vectors have none: an error is raised,
    unless only the values, or the spaces that the vectors span, are used.

    Parameters
    ----------
    x : array of shape (..., m, n)
    full_matrices : bool
        Whether to extend `U` and `Vh` to square matrices. The additional vectors are an arbitrary
        basis, so a gradient exists only for functions of the space that they span.

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


@one_array
def svdvals(x: Any, /) -> Any:
    """The singular values of matrices, in descending order.

    >>> ag.linalg.svdvals(ag.tensor([[3.0, 0.0], [0.0, -4.0]]))
    tensor([4., 3.])
    """
    check_matrices(x, "svdvals")
    if getattr(x, "requires_grad", False):  # the gradient needs the vectors: compute all at once
        return _svd(x, full_matrices=False)[1]
    return _svdvals(x)
