"""Boundary value problems: `solve_bvp`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import linalg, ops
from ...core.array import AnyFunction, Array
from ...errors import NotASolutionError
from ..formula import as_array, by_ops, const
from ..implicit import implicit
from ..linear import by_sparse
from ..names import scipy_module
from ..solving import solver
from ..values import attach, refusing

__all__ = ["solve_bvp"]

SCIPY = scipy_module("scipy.integrate")


@solver(SCIPY.solve_bvp)
def solve_bvp(runs: Any, result: Any, fun: Any, bc: Any, x: Any, p: Any, S: Any) -> Any:
    """`scipy.integrate.solve_bvp`; `y`, `p`, `yp` and `sol` of the result have derivatives.

    The states at the nodes of SciPy's mesh, and `p`, are an implicit function: they solve the
    equations of collocation, and the boundary conditions. They depend on what `fun` and `bc` close
    over, on `S`, and on both ends of `x`. The other nodes are constants.
    """
    if isinstance(result.y, list):
        raise ValueError(
            "solve_bvp: the members of the batch have different meshes, so their solutions are "
            "not one array: use a loop"
        )
    if not all(found.success for found in runs.results):
        message = next(found.message for found in runs.results if not found.success)
        raise NotASolutionError(
            f"solve_bvp: the solver failed, so the solution has no derivatives: {message}"
        )
    ends = as_array(x)
    if S is not None:
        start = ops.take(ends, 0, axis=0)
        fun = _with_singular_term(fun, as_array(S), start)
    _set_derivatives(result, fun, bc, ends, p is not None)
    refusing(result, result.y, "solve_bvp()", ("x", "y", "yp", "p", "sol"))
    return result


def _with_singular_term(fun: AnyFunction, matrix: Any, start: Any) -> AnyFunction:
    """The right-hand side with the term ``S y / (x - a)``, and its limit at the start a."""
    limit = linalg.pinv(np.eye(matrix.shape[-1]) - matrix)

    def whole(x: Any, y: Any, *p: Any) -> Any:
        f = as_array(fun(x, y, *p))
        away = x - start
        at_start = const(away) == 0
        term = ops.matmul(matrix, y) / ops.where(at_start, 1.0, away)
        return ops.where(at_start, ops.matmul(limit, f), f + term)

    return whole


def _set_derivatives(result: Any, fun: Any, bc: Any, ends: Any, has_parameters: bool) -> None:
    n, count = result.y.shape
    mesh = result.x
    if isinstance(ends, Array):
        start, end = ops.take(ends, 0, axis=0), ops.take(ends, -1, axis=0)
        place = np.arange(count)
        mesh = ops.where(place == 0, start, ops.where(place == count - 1, end, mesh))

    is_complex = np.dtype(result.y.dtype).kind == "c"

    def split(z: Any) -> tuple[Any, tuple[Any, ...]]:
        if is_complex:
            half = z.shape[0] // 2
            z = z[:half] + 1j * z[half:]
        y = ops.reshape(z[: n * count], (n, count))
        return y, (z[n * count :],) if has_parameters else ()

    def reals(z: Any) -> Any:
        """Complex unknowns or equations as twice as many real ones."""
        return ops.concat([ops.real(z), ops.imag(z)]) if is_complex else z

    def equations(z: Any) -> Any:
        """Collocation by cubics at the middle of each interval, and the boundary conditions."""
        y, p = split(z)
        h = mesh[1:] - mesh[:-1]
        f = as_array(fun(mesh, y, *p))
        middle = (y[:, 1:] + y[:, :-1]) / 2 - h / 8 * (f[:, 1:] - f[:, :-1])
        f_middle = as_array(fun(mesh[:-1] + h / 2, middle, *p))
        rest = y[:, 1:] - y[:, :-1] - h / 6 * (f[:, :-1] + f[:, 1:] + 4 * f_middle)
        ends = ops.ravel(as_array(bc(y[:, 0], y[:, -1], *p)))
        return reals(ops.concat([ops.ravel(rest), ends]))

    parts = [ops.ravel(result.y)] + ([result.p] if has_parameters else [])
    y, p = split(implicit(equations, reals(ops.concat(parts)), by_sparse, check=False))
    slopes = by_ops(lambda mesh, y, *p: fun(mesh, y, *p), mesh, y, *p)(mesh, y, *p)
    own = result.sol
    result.y = y
    result.yp = attach(result.yp, slopes)
    if has_parameters:
        result.p = p[0]
    if isinstance(mesh, Array):
        result.x = attach(result.x, mesh)
    result.sol = Spline(mesh, y, slopes, own)


class Spline:
    """The continuous solution of `solve_bvp`, with derivatives: a cubic on each interval.

    Called with a number or a vector, like SciPy's `PPoly`, whose other attributes it has.
    """

    def __init__(self, mesh: Any, y: Any, slopes: Any, own: Any) -> None:
        self._mesh, self._y, self._slopes, self._own = mesh, y, slopes, own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def __call__(self, x: Any) -> Any:
        x = as_array(x)
        if isinstance(const(x), Array) or isinstance(self._own, list):
            raise ValueError("the continuous solution cannot be called under vmap: use a loop")
        nodes = np.asarray(const(self._mesh))
        places = np.searchsorted(nodes, np.ravel(const(x)), side="right") - 1
        places = np.clip(places, 0, len(nodes) - 2)
        start = ops.take(self._mesh, places, axis=0)
        h = ops.take(self._mesh, places + 1, axis=0) - start
        s = (ops.ravel(x) - start) / h
        y0, y1 = (ops.take(self._y, places + k, axis=1) for k in (0, 1))
        d0, d1 = (h * ops.take(self._slopes, places + k, axis=1) for k in (0, 1))
        rise = y1 - y0
        inner = (d0 - rise) * (1 - s) + (rise - d1) * s
        value = self._own(const(x))
        return attach(value, ops.reshape(y0 + s * rise + s * (1 - s) * inner, value.shape))
