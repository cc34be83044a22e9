"""Eigenvalues of sparse matrices, and the exponential of a sparse matrix times columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.array import plain
from ....core.kinds import Opaque
from ....ops import concat, expand_dims, stack, take
from ....ops.define.library import declare
from ....ops.define.op import Own
from ...twins import by_scipy, refuse
from ...values import attach
from ..arrays import as_sparse, from_places
from ..pattern import Pattern, on_pattern, transposed
from .solvers import _batched, _plain_values, _uncolumned, solve
from .twins import SCIPY, columns, square, twin

# --- eigsh ---------------------------------------------------------------------------------------


def _eigsh_of(data: Any, *, pattern: Pattern, options: Any) -> Any:
    return SCIPY.eigsh(pattern.matrix(data), **dict(options))


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
    return solve(bordered.elements, longer, pattern=bordered.pattern, options=())[:n, 0]


def _check_gaps(values: Any) -> None:
    found = np.sort(plain(values), axis=-1)
    gaps = np.diff(found, axis=-1)
    if gaps.size and gaps.min() < 1e-9 * max(1.0, float(np.abs(found).max())):
        raise RuntimeError(
            "eigenvalues coincide, so single eigenvectors have no derivative: use the eigenvalues "
            "only"
        )


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


@twin("eigsh")
def eigsh(
    A: Any,  # noqa: N803  (SciPy's names)
    k: int = 6,
    M: Any = None,  # noqa: N803
    sigma: Any = None,
    which: str = "LM",
    return_eigenvectors: bool = True,
    **options: Any,
) -> Any:
    """Some eigenvalues and eigenvectors of a real symmetric matrix."""
    refuse("eigsh", M=(M, None))
    for name in ("Minv", "OPinv"):
        refuse("eigsh", **{name: (options.pop(name, None), None)})
    a = square(A, "eigsh")
    if "complex" in str(a.dtype):
        raise NotImplementedError("eigsh has derivatives here for real matrices only")
    given = {"k": k, "sigma": sigma, "which": which, **options}
    values, vectors = _eigsh(a.elements, pattern=a.pattern, options=tuple(given.items()))
    return (values, vectors) if return_eigenvectors else values


@twin("svds")
def svds(
    A: Any,  # noqa: N803  (SciPy's name)
    k: int = 6,
    ncv: Any = None,
    tol: float = 0,
    which: str = "LM",
    v0: Any = None,
    maxiter: Any = None,
    return_singular_vectors: Any = True,
    solver: str = "arpack",
    rng: Any = None,
    options: Any = None,
    **older: Any,
) -> Any:
    """The largest singular values and their vectors, of a real matrix.

    They are eigenvalues and eigenvectors of ``[[0, A], [Aᵀ, 0]]``.
    """
    refuse("svds", which=(which, "LM"), solver=(solver, "arpack"), options=(options, None))
    a = as_sparse(A)
    if "complex" in str(a.dtype):
        raise NotImplementedError("svds has derivatives here for real matrices only")
    given = {"k": k, "ncv": ncv, "tol": tol, "v0": v0, "maxiter": maxiter, **older}
    if rng is not None:
        given["rng"] = rng
    own = SCIPY.svds(a.pattern.matrix(_plain_values(a.elements)), **given)
    m, n = a.shape
    # A constant start, so that the same call gives the same vectors.
    start = np.concatenate((own[0].sum(axis=1), own[2].sum(axis=0)))
    both = from_places(
        concat((a.elements, a.elements), axis=-1),
        np.concatenate((a.pattern.rows, a.pattern.columns + m)),
        np.concatenate((a.pattern.columns + m, a.pattern.rows)),
        (m + n, m + n),
        "csr",
    )
    choice = (("k", k), ("which", "LA"), ("v0", start))
    values, vectors = _eigsh(both.elements, pattern=both.pattern, options=choice)
    places = np.argsort(np.argsort(own[1]))  # SciPy's order; ours is ascending
    values, vectors = take(values, places, axis=0), take(vectors, places, axis=1)
    values = attach(own[1], values)
    if return_singular_vectors is False:
        return values
    signs = np.sign((plain(vectors)[:m] * own[0]).sum(axis=0)) * math.sqrt(2)
    u, vh = attach(own[0], vectors[:m] * signs), attach(own[2], (vectors[m:] * signs).T)
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
    own=Own(batch=_batched),
)


def _trace(data: Any, pattern: Pattern) -> Any:
    return data[pattern.rows == pattern.columns].sum()


@twin("expm_multiply")
def expm_multiply(
    A: Any,  # noqa: N803  (SciPy's names)
    B: Any,  # noqa: N803
    start: Any = None,
    stop: Any = None,
    num: Any = None,
    endpoint: Any = None,
    traceA: Any = None,  # noqa: N803
) -> Any:
    """The exponential of a sparse matrix times a vector or columns."""
    refuse("expm_multiply", start=(start, None), stop=(stop, None), num=(num, None))
    refuse("expm_multiply", endpoint=(endpoint, None), traceA=(traceA, None))
    a = square(A, "expm_multiply")
    b, vector = columns(B, a.shape[0], "expm_multiply")
    return _uncolumned(_exponential(a.elements, b, pattern=a.pattern), vector)
