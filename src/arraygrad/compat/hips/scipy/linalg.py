"""`autograd.scipy.linalg`: SciPy's functions; some have derivatives."""

from __future__ import annotations

from typing import Any

import numpy as _np
import scipy.linalg as _scipy

from .. import numpy as np
from ..numpy.numpy_wrapper import wrap_namespace
from ..primitives import primitive
from ..rules import defjvp, defjvp_argnums, defvjp, defvjp_argnums

wrap_namespace(vars(_scipy), globals())


def _t(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


# --- a X + X b = q -------------------------------------------------------------------------------

solve_sylvester = primitive(_scipy.solve_sylvester)


def _pull_sylvester(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Any:
    a, b, _ = args

    def vjp(g: Any) -> Any:
        by_q = solve_sylvester(_t(a), _t(b), g)
        parts = (-np.dot(by_q, _t(ans)), -np.dot(_t(ans), by_q), by_q)
        return [parts[i] for i in argnums]

    return vjp


def _push_sylvester(argnums: Any, gs: Any, ans: Any, args: Any, kwargs: Any) -> Any:
    a, b, q = args
    tangents = dict(zip(argnums, gs, strict=True))
    right = tangents.get(2, _np.zeros(np.shape(q)))
    if 0 in tangents:
        right = right - np.dot(tangents[0], ans)
    if 1 in tangents:
        right = right - np.dot(ans, tangents[1])
    return solve_sylvester(a, b, right)


defvjp_argnums(solve_sylvester, _pull_sylvester)
defjvp_argnums(solve_sylvester, _push_sylvester)

# --- the square root of a matrix -----------------------------------------------------------------

sqrtm = primitive(_scipy.sqrtm)
defvjp(sqrtm, lambda ans, a: lambda g: solve_sylvester(_t(ans), _t(ans), g))
defjvp(sqrtm, lambda g, ans, a: solve_sylvester(ans, ans, g))

# --- triangular matrices -------------------------------------------------------------------------

solve_triangular = primitive(_scipy.solve_triangular)


def _transposed(trans: Any) -> int:
    """The option that solves with the transpose of the matrix; of the conjugate, there is none."""
    if trans in (0, "N"):
        return 1
    if trans in (1, "T"):
        return 0
    raise NotImplementedError("the derivative of solve_triangular with trans='C' is not defined")


def _by_matrix(ans: Any, a: Any, b: Any, trans: Any = 0, lower: bool = False, **kw: Any) -> Any:
    def vjp(g: Any) -> Any:
        w = solve_triangular(a, g, trans=_transposed(trans), lower=lower, **kw)
        outer = -np.outer(w, ans) if w.ndim == 1 else -np.dot(w, _t(ans))
        outer = outer if trans in (0, "N") else _t(outer)
        part = np.tril(outer) if lower else np.triu(outer)
        return part - part * _np.eye(part.shape[-1]) if kw.get("unit_diagonal") else part

    return vjp


def _by_right(ans: Any, a: Any, b: Any, trans: Any = 0, lower: bool = False, **kw: Any) -> Any:
    return lambda g: solve_triangular(a, g, trans=_transposed(trans), lower=lower, **kw)


defvjp(solve_triangular, _by_matrix, _by_right)

# --- banded matrices -----------------------------------------------------------------------------

solve_banded = primitive(_scipy.solve_banded)


def _entries(bands: tuple[int, int], n: int) -> tuple[Any, Any, Any, Any]:
    """Where the elements of a band matrix are: rows and columns in its bands, and in full."""
    lower, upper = bands
    row, column = _np.indices((lower + upper + 1, n))
    full = row + column - upper
    inside = (full >= 0) & (full < n)
    return row[inside], column[inside], full[inside], column[inside]


def _turned(bands: tuple[int, int], a: Any) -> Any:
    """The bands of the transposed matrix."""
    lower, upper = bands
    row, column, i, j = _entries(bands, a.shape[1])
    places = _np.zeros(a.shape, int)
    places[lower + j - i, i] = row * a.shape[1] + column
    used = _np.zeros(a.shape)
    used[lower + j - i, i] = 1.0
    return np.ravel(a)[places] * used


def _by_bands(ans: Any, bands: tuple[int, int], a: Any, b: Any, **kw: Any) -> Any:
    row, column, i, j = _entries(bands, a.shape[1])
    place = _np.zeros((2, *a.shape), int)
    place[0, row, column], place[1, row, column] = i, j
    used = _np.zeros(a.shape)
    used[row, column] = 1.0

    def vjp(g: Any) -> Any:
        w = solve_banded(bands[::-1], _turned(bands, a), g, **kw)
        product = w[place[0]] * ans[place[1]]
        return -used * (product if ans.ndim == 1 else np.sum(product, axis=-1))

    return vjp


def _by_banded_right(ans: Any, bands: tuple[int, int], a: Any, b: Any, **kw: Any) -> Any:
    return lambda g: solve_banded(bands[::-1], _turned(bands, a), g, **kw)


defvjp(solve_banded, _by_bands, _by_banded_right, argnums=[1, 2])
