"""Eigenvalues, norms, inverses and exponentials of sparse matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....backends.filled import zeros_like
from ....core.array import plain
from ....core.kinds import Opaque
from ....errors import SingularError
from ....linalg import vector_norm
from ....ops import (
    concat,
    conj,
    equal,
    expand_dims,
    is_complex,
    matmul,
    ravel,
    real,
    sqrt,
    stack,
    take,
    where,
)
from ....ops import max as max_
from ....ops import min as min_
from ....ops.define.library import constant, declare
from ....ops.define.op import Own
from ...linalg import expm as dense_expm
from ...names import scipy_module
from ...twins import by_scipy, refuse, twin
from ...values import refusing
from ..arrays import SparseTensor, as_sparse, from_places
from ..pattern import Pattern, by_columns, on_pattern, transposed
from .matrices import SCIPY, columns, square
from .solvers import _uncolumned, solve

__all__ = ["eigs", "eigsh", "expm", "expm_multiply", "inv", "norm", "svds"]

SPARSE = scipy_module("scipy.sparse")

# --- eigsh ---------------------------------------------------------------------------------------


def _eigsh_of(data: Any, *, pattern: Pattern, options: Any, values_only: bool) -> Any:
    matrix = pattern.matrix(data)
    values, vectors = SCIPY.eigsh(matrix, **dict(options))
    if not values_only:
        return values, vectors
    own = SCIPY.eigsh(matrix, **dict(options), return_eigenvectors=False)  # in another order
    order = np.argsort(values)[np.argsort(np.argsort(own))]
    return own, vectors[:, order]


def _bordered(data: Any, pattern: Pattern, value: Any, vector: Any, right: Any) -> Any:
    """The solution y of ``(A - value) y = right``, up to the vector, that is orthogonal to it."""
    n = pattern.shape[0]
    place, last = np.arange(n), np.full(n, n)
    bordered = from_places(
        concat((data, -value + np.zeros(n), vector, vector), axis=-1),
        np.concatenate((pattern.rows, place, place, last)),
        np.concatenate((pattern.columns, place, last, place)),
        (n + 1, n + 1),
        "csr",
    )
    longer = expand_dims(concat((right, np.zeros(1)), axis=0), axis=-1)
    out = solve(bordered, longer)[:n, 0]
    size, largest = (float(np.linalg.norm(plain(x))) for x in (out, right))
    _check_gap(largest / size if size else np.inf, float(np.max(np.abs(plain(value)))))
    return out


def _check_gap(gap: float, largest: float) -> None:
    if not gap > 1e-9 * largest:
        raise SingularError(
            f"eigenvalues or singular values coincide, or a singular value is zero (the gap is "
            f"{gap:.1e}, and a value {largest:.1e}), so that their vectors have no derivative: use "
            "the values only"
        )


def _check_gaps(values: Any) -> None:
    found = np.sort(plain(values), axis=-1)
    _check_gap(np.min(np.diff(found, axis=-1), initial=np.inf), np.max(np.abs(found), initial=0.0))


def _eigsh_rule(gs: Any, data: Any, out: Any, pattern: Any) -> Any:
    values, vectors = out
    total: Any = None
    if gs[0] is not None:
        total = on_pattern(vectors * expand_dims(gs[0], axis=0), vectors, pattern)
    if gs[1] is None:
        return total
    _check_gaps(values)
    parts = [
        _bordered(data, pattern, values[k], vectors[:, k], -gs[1][:, k])
        for k in range(values.shape[0])
    ]
    own = on_pattern(stack(parts, axis=1), vectors, pattern)
    return own if total is None else total + own


_eigsh = declare(
    "scipy.sparse.linalg.eigsh",
    "data",
    kind=Opaque(),
    compute=by_scipy(_eigsh_of),
    vjp=_eigsh_rule,
    multiple=True,
)


@twin(SCIPY.eigsh)
def eigsh(A: Any, return_eigenvectors: bool, **options: Any) -> Any:
    """Some eigenvalues and eigenvectors of a real symmetric matrix."""
    refuse("eigsh", **{name: (options.pop(name), None) for name in ("M", "Minv", "OPinv")})
    a = square(A, "eigsh")
    if is_complex(a.elements):
        raise NotImplementedError("eigsh has derivatives here for real matrices only")
    values, vectors = _eigsh(
        a.elements,
        pattern=a.pattern,
        options=tuple(options.items()),
        values_only=not return_eigenvectors,
    )
    return (values, vectors) if return_eigenvectors else values


# --- eigs ----------------------------------------------------------------------------------------


def _eigs_of(data: Any, *, pattern: Pattern, options: Any, values_only: bool) -> Any:
    """Rows of eigenvalues, of their vectors, and of left vectors; with these, products are one."""
    matrix = pattern.matrix(data)
    values, vectors = SCIPY.eigs(matrix, **dict(options))
    if values_only:
        # In another order; and of a pair, by chance, the other value.
        own = SCIPY.eigs(matrix, **dict(options), return_eigenvectors=False)
        if not np.iscomplexobj(data):
            values = np.concatenate((values, values.conj()))
            vectors = np.concatenate((vectors, vectors.conj()), axis=1)
        order = np.argmin(np.abs(values - own[:, None]), axis=1)
        values, vectors = own, vectors[:, order]
    size = max(float(np.max(np.abs(values), initial=0.0)), np.finfo(float).tiny)
    left = [_left_of(matrix, v, x, size) for v, x in zip(values, vectors.T, strict=True)]
    return np.concatenate((values[None], vectors, np.stack(left, axis=1)))


def _left_of(matrix: Any, value: Any, vector: Any, size: float) -> Any:
    """By inverse iteration, with an eigenvalue that is off by a little."""
    shift = (value + 1e-9 * size) * SPARSE.eye_array(matrix.shape[0])
    factors = SCIPY.splu((matrix.T - shift).tocsc())
    left = np.conj(vector)
    for _ in range(4):
        left = factors.solve(left)
        left = left / np.linalg.norm(left)
    product = left @ vector
    if not abs(product) > 1e-10:
        raise SingularError(
            f"eigs: the matrix is defective, or nearly so (an eigenvalue has the condition number "
            f"{1 / max(abs(product), 1e-300):.1e}), so that the eigenvalue has no derivative"
        )
    return left / product


_eigs = constant(
    "scipy.sparse.linalg.eigs_values", "data", kind=Opaque(), compute=by_scipy(_eigs_of)
)


def _by_elements(g: Any, data: Any, slopes: Any) -> Any:
    found = matmul(conj(slopes), g)
    return found if is_complex(data) else real(found)


# The values, with the slopes by the elements, which are constants unless they are differentiated.
_eigenvalues = declare(
    "scipy.sparse.linalg.eigs",
    "data",
    "values",
    "slopes",
    kind=Opaque(),
    compute=lambda xp, data, values, slopes: values,
    vjp_data=_by_elements,
    jvp=lambda t_data, slopes: matmul(t_data + 0j, slopes),
    holomorphic=False,
)


@twin(SCIPY.eigs)
def eigs(A: Any, return_eigenvectors: bool, **options: Any) -> Any:
    """Some eigenvalues of a matrix, with first derivatives, and their vectors without."""
    names = ("M", "Minv", "OPinv", "OPpart")
    refuse("eigs", **{name: (options.pop(name), None) for name in names})
    a = square(A, "eigs")
    n, options = a.shape[0], {"options": tuple(options.items())}
    found = _eigs(a.elements, pattern=a.pattern, **options, values_only=not return_eigenvectors)
    parts = {"vectors": found[1 : n + 1], "left": found[n + 1 :]}
    refusing(parts, a.elements, "eigs()", ())
    vectors, left = parts.values()
    slopes = take(left, a.pattern.rows, axis=0) * take(vectors, a.pattern.columns, axis=0)
    values = _eigenvalues(a.elements, found[0], slopes)
    return (values, vectors) if return_eigenvectors else values


# --- svds ----------------------------------------------------------------------------------------


def _svds_of(data: Any, *, pattern: Pattern, options: Any) -> Any:
    return SCIPY.svds(pattern.matrix(data), **dict(options))


def _svds_rule(gs: Any, data: Any, out: Any, pattern: Any) -> Any:
    """By the eigenvectors (u, v) of ``[[0, A], [Aᵀ, 0]]``; its eigenvalues are singular values."""
    u, values, vh = out
    v = vh.T
    total: Any = None
    if gs[1] is not None:
        total = on_pattern(u * expand_dims(gs[1], axis=0), v, pattern)
    if gs[0] is None and gs[2] is None:
        return total
    _check_gaps(concat((values, -values), axis=0))  # a zero is there twice
    m, n = pattern.shape
    both = from_places(
        concat((data, data), axis=-1),
        np.concatenate((pattern.rows, pattern.columns + m)),
        np.concatenate((pattern.columns + m, pattern.rows)),
        (m + n, m + n),
        "csr",
    )
    g = concat(
        (
            zeros_like(u) if gs[0] is None else gs[0],
            zeros_like(v) if gs[2] is None else gs[2].T,
        ),
        axis=0,
    )
    vectors = concat((u, v), axis=0) / math.sqrt(2)
    parts = [
        _bordered(both.elements, both.pattern, values[k], vectors[:, k], -g[:, k])
        for k in range(values.shape[0])
    ]
    w = stack(parts, axis=1)
    own = on_pattern(w[:m], v, pattern) + on_pattern(u, w[m:], pattern)
    return own if total is None else total + own


_svds = declare(
    "scipy.sparse.linalg.svds",
    "data",
    kind=Opaque(),
    compute=by_scipy(_svds_of),
    vjp=_svds_rule,
    multiple=True,
)


@twin(SCIPY.svds)
def svds(A: Any, return_singular_vectors: Any, **options: Any) -> Any:
    """Some singular values and their vectors, of a real matrix."""
    a = as_sparse(A)
    if is_complex(a.elements):
        raise NotImplementedError("svds has derivatives here for real matrices only")
    given = tuple((name, value) for name, value in options.items() if value is not None)
    u, values, vh = _svds(a.elements, pattern=a.pattern, options=given)
    if return_singular_vectors is False:
        return values
    if return_singular_vectors is True:
        return u, values, vh
    return (u, values, None) if return_singular_vectors == "u" else (None, values, vh)


# --- the exponential -----------------------------------------------------------------------------


def _nodes(data: Any, pattern: Pattern) -> tuple[Any, Any]:
    """A Gauss rule on (0, 1) that is exact to rounding for the exponential of the matrix."""
    values = np.abs(plain(data)).reshape(-1, len(pattern.rows)).max(axis=0, initial=0.0)
    norm = np.bincount(pattern.columns, values, minlength=1).max(initial=0.0)
    nodes, weights = np.polynomial.legendre.leggauss(10 + math.ceil(norm))
    return (nodes + 1) / 2, weights / 2


def _exponential_by_data(g: Any, data: Any, b: Any, pattern: Pattern) -> Any:
    """The integral of ``exp((1-s) Aᵀ) g (exp(s A) b)ᵀ`` over s, on the pattern."""
    turned, other = transposed(data, pattern)
    total: Any = 0.0
    for node, weight in zip(*_nodes(data, pattern), strict=True):
        left = _exponential(turned * (1 - node), g, pattern=other)
        right = _exponential(data * node, b, pattern=pattern)
        total = total + on_pattern(left, right, pattern) * weight
    return total


def _by_b(g: Any, data: Any, pattern: Pattern) -> Any:
    turned, other = transposed(data, pattern)
    return _exponential(turned, g, pattern=other)


_exponential = declare(
    "scipy.sparse.linalg.expm_multiply",
    "data",
    "b",
    kind=Opaque(),
    compute=by_scipy(
        lambda data, b, *, pattern: SCIPY.expm_multiply(
            pattern.matrix(data), b, traceA=_trace(data, pattern)
        )
    ),
    vjp_data=_exponential_by_data,
    vjp_b=_by_b,
    own=Own(batch=by_columns),
)


def _trace(data: Any, pattern: Pattern) -> Any:
    return data[pattern.rows == pattern.columns].sum()


@twin(SCIPY.expm_multiply)
def expm_multiply(A: Any, B: Any) -> Any:
    """The exponential of a sparse matrix times a vector or columns."""
    a = square(A, "expm_multiply")
    b, vector = columns(B, a.shape[0], "expm_multiply")
    return _uncolumned(_exponential(a.elements, b, pattern=a.pattern), vector)


# --- results that have no zeros ------------------------------------------------------------------


@twin(SCIPY.expm)
def expm(A: Any) -> Any:
    """The exponential of a sparse matrix: a matrix without zeros, computed as a dense one."""
    a = square(A, "expm")
    return _as_given(dense_expm(a.toarray()), a)


@twin(SCIPY.inv)
def inv(A: Any) -> Any:
    """The inverse of a sparse matrix: a matrix without zeros, by one factorisation."""
    a = square(A, "inv")
    eye = np.eye(a.shape[0], dtype=a.dtype)
    return _as_given(solve(a, eye), a)


def _as_given(dense: Any, a: SparseTensor) -> SparseTensor:
    whole = as_sparse(dense)
    return SparseTensor(whole.elements, whole.pattern, a.format, a.is_matrix)


# --- norms ---------------------------------------------------------------------------------------


@twin(SCIPY.norm)
def norm(x: Any, ord: Any, axis: Any) -> Any:
    """A norm of a sparse matrix, or of its rows or columns."""
    a = as_sparse(x)
    if axis is None or isinstance(axis, tuple | list):
        if axis is not None and len(axis) == 2:
            first, second = (k % 2 for k in axis)
            a = a.T if (first, second) == (1, 0) else a
        elif axis is not None:
            (axis,) = axis
            return norm(a, ord, axis)
        if ord in (None, "fro", "f"):
            return vector_norm(a.elements)
        if ord in (1, -1, math.inf, -math.inf):
            sums = a._with(abs(a.elements)).sum(axis=0 if abs(ord) == 1 else 1)
            return (max_ if ord > 0 else min_)(sums)
    elif ord in (None, 2, 1):
        size = abs(a.elements)
        if ord == 1:
            return ravel(a._with(size).sum(axis=axis))
        return _root(ravel(a._with(size * size).sum(axis=axis)))
    raise NotImplementedError(
        f"scipy.sparse.linalg.norm with ord={ord!r} has no derivative here, only with ord=None, "
        "'fro', 1, -1, inf and -inf of a matrix, and with None, 1 and 2 of its rows or columns"
    )


def _root(squares: Any) -> Any:
    """Norms by their squares; one that is zero has the derivative zero, as norms of vectors."""
    is_zero = equal(squares, 0)
    return where(is_zero, 0.0, sqrt(where(is_zero, 1.0, squares)))
