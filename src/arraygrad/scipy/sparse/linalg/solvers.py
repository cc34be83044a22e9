"""Solutions of sparse linear systems, by factors and by iterations.

The adjoint system is solved by the same method. The cotangent of the matrix's elements is
``-w[i] x[j]`` at their places.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.array import Array, plain
from ....core.kinds import Opaque
from ....ops import concat, conj, is_complex
from ....ops.define.library import declare
from ....ops.define.op import Own
from ...twins import by_scipy, refuse, twin
from ...values import refusing
from ..arrays import SparseTensor, as_sparse
from ..building import diags_array, vstack
from ..pattern import SCIPY as SPARSE
from ..pattern import Pattern, by_columns, on_pattern, product, transposed
from .matrices import SCIPY, columns, each_column, square

__all__ = [
    "bicg",
    "bicgstab",
    "cg",
    "cgs",
    "factorized",
    "gcrotmk",
    "gmres",
    "lgmres",
    "lsmr",
    "lsqr",
    "minres",
    "qmr",
    "splu",
    "spsolve",
    "spsolve_triangular",
    "tfqmr",
]


def _uncolumned(x: Any, vector: bool) -> Any:
    return x[..., 0] if vector else x


# --- spsolve -------------------------------------------------------------------------------------

# `lower` says which triangle a triangular matrix has; None of other matrices.


def _solved(data: Any, b: Any, *, pattern: Pattern, options: Any, lower: bool | None) -> Any:
    matrix = pattern.matrix(data)
    if lower is not None:
        rows = matrix.tocsr()
        places = (rows.indices.astype(np.intc), rows.indptr.astype(np.intc))  # for SciPy 1.14
        rows = SPARSE.csr_array((rows.data, *places), shape=rows.shape)
        return SCIPY.spsolve_triangular(rows, b, lower=lower)
    return SCIPY.spsolve(matrix.tocsc(), b, **dict(options)).reshape(b.shape)


def _solve_rule(
    g: Any, wanted: Any, data: Any, out: Any, pattern: Any, options: Any, lower: bool | None
) -> Any:
    turned, other = transposed(data, pattern)
    above = None if lower is None else not lower
    w = _solve(turned, g, pattern=other, options=options, lower=above)
    return -on_pattern(w, out, pattern) if wanted[0] else None, w


_solve = declare(
    "scipy.sparse.linalg.spsolve",
    "data",
    "b",
    kind=Opaque(),
    compute=by_scipy(_solved),
    joint=_solve_rule,
    jvp=lambda t_data, t_b, data, out, pattern, options, lower: _solve(
        data,
        t_b - product(t_data, out, pattern=pattern),
        pattern=pattern,
        options=options,
        lower=lower,
    ),
    own=Own(batch=by_columns),
)


def solve(a: SparseTensor, b: Any, options: Any = (), lower: bool | None = None) -> Any:
    """The solution for the columns of b."""
    return _solve(a.elements, b, pattern=a.pattern, options=options, lower=lower)


@twin(SCIPY.spsolve)
def spsolve(A: Any, b: Any, **options: Any) -> Any:
    """The solution of a sparse linear system, by the elements of the matrix and by `b`."""
    a = square(A, "spsolve")
    b, vector = columns(b, a.shape[0], "spsolve")
    return _uncolumned(solve(a, b, tuple(options.items())), vector)


@twin(SCIPY.spsolve_triangular)
def spsolve_triangular(A: Any, b: Any, lower: bool, unit_diagonal: bool) -> Any:
    """The solution of a sparse triangular system, by the elements of the matrix and by `b`."""
    a = square(A, "spsolve_triangular")
    b, vector = columns(b, a.shape[0], "spsolve_triangular")
    if unit_diagonal:  # the diagonal is not read
        is_off = a.pattern.rows != a.pattern.columns
        a = SparseTensor(a.elements * is_off, a.pattern) + SPARSE.eye_array(a.shape[0])
    return _uncolumned(solve(a, b, lower=lower), vector)


# --- factors that are kept -----------------------------------------------------------------------

_OTHER = {"N": "T", "T": "N"}


def _factored_rule(
    g: Any, wanted: Any, data: Any, out: Any, pattern: Pattern, factor: Any, trans: str
) -> Any:
    w = _factored(data, g, pattern=pattern, factor=factor, trans=_OTHER[trans])
    if not wanted[0]:
        return None, w
    return -(on_pattern(w, out, pattern) if trans == "N" else on_pattern(out, w, pattern)), w


def _factored_along(
    t_data: Any, t_b: Any, data: Any, out: Any, pattern: Pattern, factor: Any, trans: str
) -> Any:
    moved, shape = (t_data, pattern) if trans == "N" else transposed(t_data, pattern)
    rest = t_b - product(moved, out, pattern=shape)
    return _factored(data, rest, pattern=pattern, factor=factor, trans=trans)


def _factored_batch(op: Any, arrays: Any, flags: Any, params: Any) -> Any:
    if flags[0]:
        raise NotImplementedError(
            "splu keeps the factors of one matrix, not of a batch: use spsolve inside vmap"
        )
    return by_columns(op, arrays, flags, params)


# The factors belong to the values of `data`; the derivative by `data` needs no others.
_factored = declare(
    "scipy.sparse.linalg.factored_solve",
    "data",
    "b",
    kind=Opaque(),
    compute=by_scipy(lambda data, b, *, pattern, factor, trans: factor.solve(b, trans)),
    joint=_factored_rule,
    jvp=_factored_along,
    own=Own(batch=_factored_batch),
)


class Factor:
    """The LU decomposition of a sparse matrix of tensors: `solve` can be differentiated."""

    def __init__(self, a: SparseTensor, factor: Any) -> None:
        self._matrix, self._factor = a, factor
        self.shape = a.shape

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        """The solution of a system with the matrix, or with its transpose ("T")."""
        if trans not in _OTHER:
            raise NotImplementedError(f"trans must be 'N' or 'T', not {trans!r}")
        b, vector = columns(rhs, self.shape[0], "solve")
        out = _factored(
            self._matrix.elements,
            b,
            pattern=self._matrix.pattern,
            factor=self._factor,
            trans=trans,
        )
        return _uncolumned(out, vector)


class _MixedFactor:
    """SciPy's factors of a plain matrix, which also solve for tensors."""

    def __init__(self, a: Any, factor: Any) -> None:
        self._plain, self._ours = factor, Factor(as_sparse(a), factor)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plain, name)

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        if isinstance(rhs, Array):
            return self._ours.solve(rhs, trans)
        return self._plain.solve(rhs, trans)


def splu(A: Any, **options: Any) -> Any:
    """The LU decomposition of a sparse matrix, whose `solve` takes and gives tensors."""
    if not isinstance(A, SparseTensor) and not isinstance(A, Array):
        return _MixedFactor(A, SCIPY.splu(A, **options))
    a = square(A, "splu")
    values = _plain_values(a.elements)
    return Factor(a, SCIPY.splu(a.pattern.matrix(values).tocsc(), **options))


def _plain_values(data: Any) -> Any:
    """The elements as plain numbers; a batch is refused."""
    values = plain(data)
    if values.ndim != 1:
        raise NotImplementedError(
            "the values of a sparse matrix are needed, which are others for each member of a "
            "batch: use spsolve inside vmap"
        )
    return values


def factorized(A: Any) -> Any:
    """A function that solves systems with one matrix."""
    return splu(A).solve


# --- iterations ----------------------------------------------------------------------------------


def _converged(info: Any) -> None:
    if np.any(info):
        raise RuntimeError(
            "the iteration has not converged, so its result is no solution and has no derivative: "
            "raise maxiter, or choose another method"
        )


def _iterative_of(data: Any, b: Any, *, pattern: Pattern, method: str, options: Any) -> Any:
    matrix, info = pattern.matrix(data), []

    def run(column: Any) -> Any:
        x, state = getattr(SCIPY, method)(matrix, column, **dict(options))
        info.append(state)
        return x

    return each_column(run, b), np.asarray(info)


def _iterative_rule(
    gs: Any, wanted: Any, data: Any, out: Any, pattern: Any, method: Any, options: Any
) -> Any:
    x, info = out
    _converged(plain(info))
    turned, other = transposed(data, pattern)
    w, state = _iterative(turned, gs[0], pattern=other, method=method, options=options)
    _converged(plain(state))
    return -on_pattern(w, x, pattern) if wanted[0] else None, w


def _iterative_along(
    t_data: Any, t_b: Any, data: Any, out: Any, pattern: Any, method: Any, options: Any
) -> Any:
    x, info = out
    _converged(plain(info))
    rest = t_b - product(t_data, x, pattern=pattern)
    w, state = _iterative(data, rest, pattern=pattern, method=method, options=options)
    _converged(plain(state))
    return w, info * 0


_iterative = declare(
    "scipy.sparse.linalg.iterative",
    "data",
    "b",
    kind=Opaque(),
    compute=by_scipy(_iterative_of),
    joint=_iterative_rule,
    jvp=_iterative_along,
    multiple=True,
)


def _method(name: str) -> Any:
    @twin(getattr(SCIPY, name))
    def run(A: Any, b: Any, **options: Any) -> Any:
        """The solution by iterations. The adjoint system is solved by the same method."""
        without = ("M", "M1", "M2", "callback", "x0")
        refuse(name, **{n: (options.pop(n, None), None) for n in without})
        a = square(A, name)
        b, vector = columns(b, a.shape[0], name)
        x, info = _iterative(
            a.elements, b, pattern=a.pattern, method=name, options=tuple(options.items())
        )
        return _uncolumned(x, vector), int(np.max(plain(info)))

    return run


cg, gmres, bicgstab, minres = map(_method, ("cg", "gmres", "bicgstab", "minres"))
bicg, cgs, qmr, tfqmr = map(_method, ("bicg", "cgs", "qmr", "tfqmr"))
gcrotmk, lgmres = map(_method, ("gcrotmk", "lgmres"))

# --- least squares -------------------------------------------------------------------------------


def _lsqr_of(data: Any, b: Any, *, pattern: Pattern, method: str, options: Any) -> Any:
    matrix = pattern.matrix(data)
    x = each_column(lambda column: getattr(SCIPY, method)(matrix, column, **dict(options))[0], b)
    # The solution for zero is real, also for complex matrices.
    return x.astype(np.result_type(x, data, b), copy=False)


def _lsqr_rule(
    g: Any, wanted: Any, data: Any, b: Any, out: Any, pattern: Any, method: str, options: Any
) -> Any:
    # The solution is A⁺b. Each product with A⁺ or its adjoint is a least-squares problem, too.
    turned, other = transposed(_conj(data), pattern)
    u = _lsqr(turned, g, pattern=other, method=method, options=options)
    if not wanted[0]:
        return None, u
    w = _lsqr(data, u, pattern=pattern, method=method, options=options)
    v = _lsqr(turned, out, pattern=other, method=method, options=options)
    rest = b - product(data, out, pattern=pattern)
    outside = g - product(turned, u, pattern=other)
    by_data = on_pattern(rest, _conj(w), pattern) - on_pattern(u, _conj(out), pattern)
    return by_data + on_pattern(v, _conj(outside), pattern), u


def _lsqr_along(
    t_data: Any, t_b: Any, data: Any, b: Any, out: Any, pattern: Any, method: str, options: Any
) -> Any:
    turned, other = transposed(_conj(data), pattern)
    change, _ = transposed(_conj(t_data), pattern)
    rest = b - product(data, out, pattern=pattern)
    v = _lsqr(turned, out, pattern=other, method=method, options=options)
    inside = _lsqr(
        turned, product(change, rest, pattern=other), pattern=other, method=method, options=options
    )
    outside = product(change, v, pattern=other)
    right = t_b - product(t_data, out, pattern=pattern) + inside
    right = right - product(data, outside, pattern=pattern)
    return _lsqr(data, right, pattern=pattern, method=method, options=options) + outside


def _conj(x: Any) -> Any:
    return conj(x) if is_complex(x) else x


_lsqr = declare(
    "scipy.sparse.linalg.lsqr",
    "data",
    "b",
    kind=Opaque(),
    compute=by_scipy(_lsqr_of),
    joint=_lsqr_rule,
    jvp=_lsqr_along,
    holomorphic=False,
    own=Own(batch=by_columns),
)


# The results after the solution, the reason to stop and the number of iterations.
_LSQR = ("r1norm", "r2norm", "anorm", "acond", "arnorm", "xnorm", "var")
_LSMR = ("normr", "normar", "norma", "conda", "normx")


def _least_squares(
    name: str, norms: tuple[str, ...], A: Any, b: Any, damp: float, more: Any, limits: Any
) -> Any:
    refuse(name, show=(limits.pop("show"), False), x0=(limits.pop("x0"), None))
    a = as_sparse(A)
    right, vector = columns(b, a.shape[0], name)
    elements, numbers = plain(a.elements), plain(b)
    reports: Any = (None,) * (2 + len(norms))  # of a batch
    if elements.ndim == 1 and np.ndim(numbers) == 1:
        given = {"damp": damp, **more, **limits}
        reports = getattr(SCIPY, name)(a.pattern.matrix(elements), numbers, **given)[1:]
    if damp:  # is the same as more rows
        n = a.shape[1]
        a = vstack([a, diags_array(a.elements[:1] * 0 + np.full(n, damp))])
        right = concat((right, np.zeros((n, right.shape[1]))), axis=0)
    x = _lsqr(a.elements, right, pattern=a.pattern, method=name, options=tuple(limits.items()))
    rest = {
        key: None if v is None else np.asarray(v) for key, v in zip(norms, reports[2:], strict=True)
    }
    refusing(rest, x, f"{name}()", ())
    return (_uncolumned(x, vector), *reports[:2], *rest.values())


@twin(SCIPY.lsqr)
def lsqr(A: Any, b: Any, damp: float, calc_var: bool, **limits: Any) -> Any:
    """The least-squares solution. The other results have no derivatives; inside `vmap`, None."""
    return _least_squares("lsqr", _LSQR, A, b, damp, {"calc_var": calc_var}, limits)


@twin(SCIPY.lsmr)
def lsmr(A: Any, b: Any, damp: float, **limits: Any) -> Any:
    """The least-squares solution. The other results have no derivatives; inside `vmap`, None."""
    return _least_squares("lsmr", _LSMR, A, b, damp, {}, limits)
