"""Linear equations with the Jacobian J of a formula, as functions of all that J depends on.

By default, J is a matrix. `by_products` and `by_sparse` solve for many unknowns; a problem with a
structure of its own brings its own solver.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import linalg, ops
from ..backends import backend_of
from ..core.array import AnyFunction, plain
from ..errors import SingularError
from ..func import jacfwd, jacobian, jvp, vjp
from ..ops.define.library import declare
from .formula import const
from .names import scipy_module
from .solutions import check_condition, check_step, singular

LARGE = 1000  # the number of unknowns from which on no matrix is formed

# From a formula, x, the other arguments, and b: the solution w of J w = b, or of Jᴴ w = b if the
# last argument says so. All arrays are plain.
Solver = Callable[[Any, Any, Sequence[Any], Any, bool], Any]


def solved(
    formula: AnyFunction, x: Any, theta: Any, b: Any, adjoint: bool, solver: Any, check: bool
) -> Any:
    """The solution of J w = b, or of Jᴴ w = b, in the shape of b, as a function of x, θ and b."""
    if solver is not None:
        if check:
            _check_value(formula, x, theta, solver)
        return _linear(b, x, *theta, formula=formula, solver=solver, adjoint=adjoint)
    n = x.size
    if n == 1:
        return _divided(formula, x, theta, b, adjoint, check)
    holomorphic = backend_of(x).kind(x.dtype) == "c"
    columns = jacfwd(lambda x: ops.reshape(formula(x, *theta), (n,)), holomorphic=holomorphic)(x)
    matrix: Any = ops.reshape(columns, (n, n))
    _check_matrix(formula, x, theta, matrix, check)
    if adjoint:
        matrix = ops.matrix_transpose(ops.conj(matrix) if holomorphic else matrix)
    return ops.reshape(linalg.solve(matrix, ops.reshape(b, (n,))), b.shape)


def _divided(formula: AnyFunction, x: Any, theta: Any, b: Any, adjoint: bool, check: bool) -> Any:
    """The solution for one unknown."""
    value, slope = jvp(lambda x: formula(x, *theta), (x,), (ops.ones_like(x),))
    values = np.asarray(plain(const(slope)))
    if not np.all(np.isfinite(values) & (values != 0)):
        raise singular(np.inf)
    if check:
        check_step(x, const(value) / const(slope), _derivative(formula, theta))
        _check_slope(formula, x, theta, values)
    return b / ops.reshape(ops.conj(slope) if adjoint else slope, b.shape)


def _check_slope(formula: AnyFunction, x: Any, theta: Any, slope: Any) -> None:
    """Raise if the slope for one unknown is that of a rounding error: at a double root.

    There, it becomes another one within the precision of the root.
    """
    at, theta = const(x), [const(t) for t in theta]
    near = at + 1e-8 * ops.abs(at)
    other = jvp(lambda x: formula(x, *theta), (near,), (ops.ones_like(near),))[1]
    if np.any(np.abs(np.asarray(plain(other)) - slope) > 0.5 * np.abs(slope)):
        raise singular(np.inf)


def _derivative(formula: AnyFunction, theta: Any) -> AnyFunction:
    """The derivative of the solution along a direction of the parameters, as a function of x."""
    given = [const(t) for t in theta]
    places = [i for i, t in enumerate(given) if is_floating(t)]
    along = tuple(ops.abs(given[i]) + 1.0 for i in places)

    def derivative(x: Any) -> Any:
        x = const(x)
        of_moving = of_places(lambda *t: formula(x, *t), given, places)
        _, change = jvp(of_moving, tuple(given[i] for i in places), along)
        n = x.size
        matrix = jacfwd(lambda x: ops.reshape(formula(x, *given), (n,)))(x)
        pushed = linalg.solve(ops.reshape(matrix, (n, n)), ops.reshape(change, (n,)))
        return np.asarray(plain(const(pushed)))

    return derivative


def _check_matrix(formula: AnyFunction, x: Any, theta: Any, matrix: Any, check: bool) -> None:
    """Raise if the Jacobian is singular, or if x is not a solution."""
    matrix = const(matrix)
    check_condition(np.asarray(plain(matrix)))
    if check:
        value = formula(const(x), *map(const, theta))
        n = x.size
        step = linalg.solve(matrix, ops.reshape(const(value), (n,)))
        check_step(x, step, _derivative(formula, theta))


def _check_value(formula: AnyFunction, x: Any, theta: Any, solver: Solver) -> None:
    x, theta = const(x), [const(t) for t in theta]
    step = _linear(formula(x, *theta), x, *theta, formula=formula, solver=solver, adjoint=False)
    check_step(x, step)


def is_floating(x: Any) -> bool:
    """Whether there can be derivatives by an array."""
    return backend_of(x).kind(x.dtype) in "fc"


def places_of(given: Sequence[Any], wanted: Sequence[bool]) -> list[int]:
    """Which arrays after the first input need a cotangent; `wanted` ends with the last of them."""
    pairs = zip(given, wanted[1:], strict=False)
    return [i for i, (array, is_wanted) in enumerate(pairs) if is_wanted and is_floating(array)]


def of_places(function: AnyFunction, given: Sequence[Any], places: list[int]) -> AnyFunction:
    """The function of the arrays at some places alone."""

    def of_moving(*moving: Any) -> Any:
        full = list(given)
        for i, value in zip(places, moving, strict=True):
            full[i] = value
        return function(*full)

    return of_moving


# --- the op, for solvers on plain arrays ----------------------------------------------------------


def _product(formula: AnyFunction, x: Any, theta: Sequence[Any], w: Any, adjoint: bool) -> Any:
    """J w, or Jᴴ w."""
    if adjoint:
        return vjp(lambda x: formula(x, *theta), x)[1](w)[0]
    return jvp(lambda x: formula(x, *theta), (x,), (ops.reshape(w, x.shape),))[1]


def _linear_reverse(
    g: Any, wanted: Any, out: Any, x: Any, theta: Any, formula: Any, solver: Any, adjoint: bool
) -> list[Any]:
    by_b = _linear(g, x, *theta, formula=formula, solver=solver, adjoint=not adjoint)
    given = [x, *theta]
    places = places_of(given, wanted)
    result: list[Any] = [by_b, *[None] * len(given)]
    if places:
        product = of_places(lambda x, *t: _product(formula, x, t, out, adjoint), given, places)
        _, pull = vjp(product, *(given[i] for i in places))
        for i, part in zip(places, pull(-by_b), strict=True):
            result[i + 1] = part
    return result


def _linear_forward(
    t_b: Any,
    t_x: Any,
    t_theta: Any,
    out: Any,
    x: Any,
    theta: Any,
    formula: Any,
    solver: Any,
    adjoint: bool,
) -> Any:
    given, tangents = [x, *theta], [t_x, *t_theta]
    places = [i for i, t in enumerate(tangents) if t is not None]
    product = of_places(lambda x, *t: _product(formula, x, t, out, adjoint), given, places)
    _, t = jvp(product, tuple(given[i] for i in places), tuple(tangents[i] for i in places))
    return _linear(t_b - t, x, *theta, formula=formula, solver=solver, adjoint=adjoint)


def _linear_compute(
    xp: Any, b: Any, x: Any, *theta: Any, formula: AnyFunction, solver: Solver, adjoint: bool
) -> Any:
    return solver(formula, x, theta, b, adjoint)


_linear = declare(
    "implicit_linear",
    "b",
    "x",
    "*theta",
    compute=_linear_compute,
    joint=_linear_reverse,
    jvp=_linear_forward,
    holomorphic=False,
)


def by_products(formula: AnyFunction, x: Any, theta: Sequence[Any], b: Any, adjoint: bool) -> Any:
    """Solve by GMRES, from products with J: for many unknowns, as no matrix is formed."""
    sparse = scipy_module("scipy.sparse.linalg")
    _, pull = vjp(lambda x: formula(x, *theta), x)

    def product(w: Any) -> Any:
        w = np.reshape(w, b.shape)
        out = pull(w)[0] if adjoint else _product(formula, x, theta, w, False)
        return np.ravel(np.asarray(out))

    operator = sparse.LinearOperator((b.size, b.size), product, dtype=b.dtype)
    w, failed = sparse.gmres(operator, np.ravel(b), rtol=1e-10, restart=50, maxiter=100)
    if failed:
        raise SingularError(
            "the linear equations for the derivative could not be solved by GMRES: the Jacobian "
            "at the solution may be singular, or badly conditioned"
        )
    return np.reshape(w, b.shape)


def by_sparse(formula: AnyFunction, x: Any, theta: Sequence[Any], b: Any, adjoint: bool) -> Any:
    """Solve by the sparse factors of J, which has few entries in each row."""

    def flat(v: Any) -> Any:
        return ops.ravel(formula(ops.reshape(v, x.shape), *theta))

    def factors() -> Any:
        matrix: Any = jacobian(flat, sparse=True)(np.ravel(x))
        try:
            return scipy_module("scipy.sparse.linalg").splu(matrix.tocsc())
        except RuntimeError as error:
            raise SingularError(
                "the solution is not a smooth function of the parameters: the Jacobian of the "
                f"equations at the solution is singular ({error})"
            ) from None

    found = remembered(formula, (x, *theta), factors)
    return found.solve(np.ravel(b), trans="H" if adjoint else "N").reshape(b.shape)


_last: weakref.WeakKeyDictionary[Any, tuple[Any, Any]] = weakref.WeakKeyDictionary()


def remembered(formula: AnyFunction, given: tuple[Any, ...], make: Callable[[], Any]) -> Any:
    """``make()``, or what it returned before, if that was for the same formula and arrays."""
    known = _last.get(formula)
    if known is None or any(a is not b for a, b in zip(known[0], given, strict=True)):
        known = _last[formula] = given, make()
    return known[1]
