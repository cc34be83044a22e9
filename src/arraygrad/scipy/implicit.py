"""Implicit functions: the solution x of F(x, θ) = 0 as a function of θ, without its solver.

SciPy computes x. Its derivative follows from F alone, dx = −J⁻¹ F_θ dθ with J = ∂F/∂x. The rules
are made of ops, so every order follows, in both modes and on batches.

By default, J is a matrix. A problem with structure brings a `Solver` of its own.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from .. import linalg, ops
from ..backends import backend_of
from ..core.array import AnyFunction, plain
from ..errors import NotASolutionError, SingularError
from ..func import jacfwd, jacobian, jvp, vjp, vmap
from ..ops.define import Own
from ..ops.define.library import declare
from ..ops.padding import everywhere, size_of
from .formula import capture, const

# From a formula, x, the other arguments, and b: the solution w of J w = b, or of Jᴴ w = b if the
# last argument says so. All arrays are plain.
Solver = Callable[[Any, Any, Sequence[Any], Any, bool], Any]

_TOLERANCE: ContextVar[float] = ContextVar("arraygrad_solution_tolerance", default=1e-5)
_SINGULAR = 1e13  # the condition number from which on a matrix is called singular
_LARGE = 1000  # the number of unknowns from which on no matrix is formed


@contextmanager
def solution_tolerance(tolerance: float) -> Iterator[None]:
    """How far from a solution x may be, by the length of a Newton step over 1 + |x|.

    Derivatives are computed at the x that SciPy returned. If a Newton step from there is longer
    than the tolerance, differentiating raises an error. By default, the tolerance is 1e-5.
    """
    before = _TOLERANCE.get()
    try:
        _TOLERANCE.set(tolerance)
        yield
    finally:
        _TOLERANCE.set(before)


def implicit(
    residual: AnyFunction, x: Any, solver: Solver | None = None, check: bool = True
) -> Any:
    """A solution x of ``residual(x) = 0``, with derivatives by all arrays that `residual` uses.

    Parameters
    ----------
    residual : callable
        Returns as many numbers as `x` has.
    x : array
        The solution: a plain array, or a batch of them.
    solver : Solver, optional
        Solves linear equations with the Jacobian of `residual`.
    check : bool
        Whether differentiating raises an error if x is not a solution.
    """
    formula = capture(residual, x)
    if not formula.outside:
        return x
    if solver is None and x.size > _LARGE:
        solver = by_products
    return solve_implicit(x, formula.outside, formula, solver, check)


def solve_implicit(
    x: Any, outside: Sequence[Any], formula: AnyFunction, solver: Solver | None, check: bool
) -> Any:
    """A solution x of ``formula(x, *outside) = 0``; the formula depends on nothing else."""
    return _implicit(x, *outside, formula=formula, solver=solver, check=check, over=())


# --- the op: x is a constant input, and the result ------------------------------------------------


def _compute(
    xp: Any, x: Any, *theta: Any, formula: AnyFunction, solver: Any, check: bool, over: Any
) -> Any:
    return x


def _batch(op: Any, arrays: Any, flags: Any, params: Any) -> Any:
    """One more axis in front; `over` says which arrays have it."""
    x = everywhere(arrays[0], flags[0], size_of(arrays, flags))
    over = (flags[1:], *params["over"])
    return op.function(x, *arrays[1:], **params | {"over": over})


def _reverse(
    g: Any,
    wanted: Sequence[bool],
    out: Any,
    theta: Sequence[Any],
    formula: AnyFunction,
    solver: Any,
    check: bool,
    over: Any,
) -> list[Any]:
    places = _places(theta, wanted)
    if not over:
        found = _pulled(g, out, theta, places, formula, solver, check)
    else:
        axes = [0 if batched else None for batched in over[0]]

        def member(g: Any, out: Any, *theta: Any) -> Any:
            return tuple(
                _reverse(g, wanted, out, theta, formula, solver, check, over[1:])[i + 1]
                for i in places
            )

        found = vmap(member, in_axes=(0, 0, *axes))(g, out, *theta)
        found = [
            part if axes[i] == 0 else ops.sum(part, axis=0)
            for i, part in zip(places, found, strict=True)
        ]
    result: list[Any] = [None] * (len(theta) + 1)
    for i, part in zip(places, found, strict=True):
        result[i + 1] = part
    return result


def _pulled(
    g: Any, x: Any, theta: Any, places: list[int], formula: AnyFunction, solver: Any, check: bool
) -> Sequence[Any]:
    w = _solved(formula, x, theta, -g, True, solver, check)
    of_moving = of_places(lambda *theta: formula(x, *theta), theta, places)
    value, pull = vjp(of_moving, *(theta[i] for i in places))
    return pull(ops.reshape(w, value.shape))


def _forward(
    t_theta: Any, out: Any, theta: Any, formula: AnyFunction, solver: Any, check: bool, over: Any
) -> Any:
    if over:
        axes = [0 if batched else None for batched in over[0]]

        def member(out: Any, theta: Any, t_theta: Any) -> Any:
            return _forward(t_theta, out, theta, formula, solver, check, over[1:])

        moving = [None if t is None else axis for t, axis in zip(t_theta, axes, strict=True)]
        return vmap(member, in_axes=(0, axes, moving))(out, list(theta), list(t_theta))
    places = [i for i, t in enumerate(t_theta) if t is not None]
    of_moving = of_places(lambda *theta: formula(out, *theta), theta, places)
    _, t = jvp(of_moving, tuple(theta[i] for i in places), tuple(t_theta[i] for i in places))
    return ops.reshape(_solved(formula, out, theta, -t, False, solver, check), out.shape)


_implicit = declare(
    "implicit",
    "x",
    "*theta",
    compute=_compute,
    joint=_reverse,
    jvp=_forward,
    holomorphic=False,
    own=Own(batch=_batch),
)


def is_floating(x: Any) -> bool:
    """Whether there can be derivatives by an array."""
    return backend_of(x).kind(x.dtype) in "fc"


def _places(given: Sequence[Any], wanted: Sequence[bool]) -> list[int]:
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


# --- linear equations with J ----------------------------------------------------------------------


def _solved(
    formula: AnyFunction, x: Any, theta: Any, b: Any, adjoint: bool, solver: Any, check: bool
) -> Any:
    """The solution of J w = b, or of Jᴴ w = b, in the shape of b, as a function of x, θ and b."""
    if solver is not None:
        if check:
            _check_value(formula, x, theta, solver)
        return _linear(b, x, *theta, formula=formula, solver=solver, adjoint=adjoint)
    n = x.size
    holomorphic = backend_of(x).kind(x.dtype) == "c"
    columns = jacfwd(lambda x: ops.reshape(formula(x, *theta), (n,)), holomorphic=holomorphic)(x)
    matrix: Any = ops.reshape(columns, (n, n))
    _check_matrix(formula, x, theta, matrix, check)
    if n == 1:
        return b / ops.reshape(ops.conj(matrix) if adjoint else matrix, b.shape)
    if adjoint:
        matrix = ops.matrix_transpose(ops.conj(matrix) if holomorphic else matrix)
    return ops.reshape(linalg.solve(matrix, ops.reshape(b, (n,))), b.shape)


def _check_matrix(formula: AnyFunction, x: Any, theta: Any, matrix: Any, check: bool) -> None:
    """Raise if the Jacobian is singular, or if x is not a solution."""
    matrix = const(matrix)
    _check_condition(np.asarray(plain(matrix)))
    if check:
        value = formula(const(x), *map(const, theta))
        n = x.size
        _check_step(x, linalg.solve(matrix, ops.reshape(const(value), (n,))))


def _check_condition(matrix: Any) -> None:
    if matrix.shape[-1] == 1:
        singular = not np.all(np.isfinite(matrix) & (matrix != 0))
        condition = np.inf
    else:
        with np.errstate(all="ignore"):  # scaled, so that units do not matter
            rows = np.max(np.abs(matrix), axis=-1, keepdims=True, initial=0.0)
            matrix = matrix / np.where(rows == 0, 1.0, rows)
            columns = np.max(np.abs(matrix), axis=-2, keepdims=True, initial=0.0)
            matrix = matrix / np.where(columns == 0, 1.0, columns)
            condition = np.max(_condition(matrix), initial=0.0)
        singular = not condition < _SINGULAR
    if singular:
        raise SingularError(
            "the solution is not a smooth function of the parameters: the Jacobian of the "
            f"equations at the solution is singular (condition number {condition:.1e}). It may be "
            "a double root, or depend on one unknown too many"
        )


def _condition(matrix: Any) -> Any:
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return np.inf
    size = np.linalg.norm(matrix, 1, axis=(-2, -1)) * np.linalg.norm(inverse, 1, axis=(-2, -1))
    return np.where(np.isnan(size), np.inf, size)


def _check_value(formula: AnyFunction, x: Any, theta: Any, solver: Solver) -> None:
    x, theta = const(x), [const(t) for t in theta]
    step = _linear(formula(x, *theta), x, *theta, formula=formula, solver=solver, adjoint=False)
    _check_step(x, step)


def _check_step(x: Any, step: Any) -> None:
    """Raise if a Newton step is too long."""
    at, step = np.abs(np.asarray(plain(const(x)))), np.abs(np.asarray(plain(const(step))))
    excess = np.max(step, initial=0.0) / (1.0 + np.max(at, initial=0.0))
    if not excess <= _TOLERANCE.get():
        raise NotASolutionError(
            "what the solver returned is not a solution, so it has no derivative: a Newton step "
            f"from there changes it by {excess:.1e} of its size. Look at the solver's message, "
            "lower its tolerance, or use arraygrad.scipy.implicit.solution_tolerance() if the "
            "derivative there is meant"
        )


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
    places = _places(given, wanted)
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
    from .names import scipy_module

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
    from .names import scipy_module

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
