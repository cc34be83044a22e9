"""Minima as functions of the parameters of what is minimised.

At a minimum without constraints, the gradient is zero. With constraints, the Lagrange multipliers
of the active constraints are further unknowns (the equations of Karush, Kuhn and Tucker). A bound
or a constraint is active if the minimum is at it, or so close that a Newton step would cross it. At
a point where the active set is about to change, because the minimum is at a bound and no force
holds it there, there is no derivative, and an error says so.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import func, linalg, ops
from ...core.array import AnyFunction, Array
from ...errors import SingularError
from ..conjugate import SEVERAL, by_conjugate_gradients
from ..formula import as_array, by_ops, capture, const
from ..implicit import implicit
from ..linear import LARGE
from ..solving import solver
from ..values import attach, refusing
from .exact import SCIPY, as_number, first_of, minimized, rules_of

__all__ = [
    "basinhopping",
    "differential_evolution",
    "direct",
    "dual_annealing",
    "fmin",
    "fmin_bfgs",
    "fmin_cg",
    "fmin_l_bfgs_b",
    "fmin_ncg",
    "fmin_powell",
    "minimize",
    "minimize_scalar",
    "shgo",
]

_CLOSE = 1e-5  # how far from its bound, relative to 1 + |bound|, an active constraint may be
_UNDECIDED = 1e-9  # how far from a bound an undecided minimum would be without the bound
_EXACT = 1e-12  # how far from its bound a number counts as equal to it


@solver(SCIPY.minimize, minimized)
def minimize(
    runs: Any, result: Any, fun: Any, args: Any, jac: Any, bounds: Any, constraints: Any
) -> Any:
    """`scipy.optimize.minimize`; `x` and `fun` of the result have derivatives.

    The derivatives of `x` are those of an implicit function: the gradient is zero, with bounds and
    constraints held that are active at the minimum. `fun` must be made of functions that arraygrad
    can differentiate twice.

    Without `jac`, SciPy's methods get exact gradients, Hessians or products with them, and exact
    Jacobians of constraints, if arraygrad can differentiate the functions; otherwise SciPy takes
    differences, as it does for ``jac="2-point"``. With ``jac="compiled"``, `arraygrad.compile`
    compiles the exact derivatives, which pays for many iterations. `hess` may also be "product",
    "matrix" or "sparse": exact Hessians in this form.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> def best(a):
    ...     return ag.scipy.optimize.minimize(lambda x: np.sum((x - a) ** 2) + x[0] ** 2, [0, 0]).x
    >>> np.round(ag.func.jacrev(best)(np.array([1.0, 2.0])), 6) + 0.0
    array([[0.5, 0. ],
           [0. , 1. ]])
    """
    rules = rules_of(constraints)
    value = by_ops(first_of(fun, args, jac is True), result.x)
    limits = [_limits(rule) for rule in rules]
    result.x = minimum(value, result.x, _lower_upper(bounds, result.x.shape), limits)
    result.fun = attach(
        np.asarray(result.fun) if not isinstance(result.fun, Array) else result.fun,
        as_number(value(result.x)),
    )
    known = ["x", "fun"]
    if isinstance(result.get("jac"), np.ndarray | Array) and result.jac.shape == result.x.shape:
        slope = func.grad(lambda x: as_number(value(x)))(result.x)
        result.jac, known = attach(result.jac, slope), [*known, "jac"]
    refusing(result, result.x, "minimize()", known)
    return result


class Limits:
    """A constraint: ``lower <= function(x) <= upper``."""

    def __init__(self, function: AnyFunction, lower: Any, upper: Any) -> None:
        self.function = lambda x: ops.ravel(as_array(function(x)))
        self.lower, self.upper = as_array(lower), as_array(upper)


def minimum(
    value: AnyFunction, x: Any, bounds: tuple[Any, Any] | None, limits: Sequence[Limits] = ()
) -> Any:
    """A minimum x that SciPy found, as a function of the arrays that `value` and others use."""
    x = x if isinstance(x, Array) else np.asarray(x)
    n = x.size

    def slope(x: Any) -> Any:
        return func.grad(lambda x: as_number(value(x)))(x)

    if bounds is None and not limits:
        return implicit(slope, x, by_conjugate_gradients if n > SEVERAL else None)
    low, high = (None, None) if bounds is None else bounds
    rules = [by_ops(c.function, x) for c in limits]
    total = sum(int(np.prod(rule(x).shape)) for rule in rules)

    def levels(x: Any, which: str) -> Any:
        """The distances of all constraints from their lower, or upper, limits."""
        pairs = zip(rules, limits, strict=True)
        return ops.concat([rule(x) - getattr(c, which) for rule, c in pairs])

    def values(function: AnyFunction) -> Any:
        """A function of x at the minimum, without derivatives."""
        formula = capture(function, x)
        return const(formula(x, *map(const, formula.outside)))

    gradient = values(slope)
    curvature = values(func.jacfwd(slope)) if n <= LARGE else None
    multipliers: Any = np.zeros(total)
    at_low = at_high = np.zeros(total, bool)
    free: Any = np.ones(x.shape, bool)
    if bounds is not None:
        from_low, from_high = x - const(low), const(high) - x
        free = ~(_is_close(from_low, low) | _is_close(from_high, high))
    if limits:
        from_lower, from_upper = (functools.partial(levels, which=w) for w in ("lower", "upper"))
        above, below = values(from_lower), -values(from_upper)
        jacobian = values(func.jacrev(from_lower))
        is_equation = _is_close(above, 0.0) & _is_close(below, 0.0)
        close = _is_close(above, 0.0) | _is_close(below, 0.0)
        multipliers = _multipliers(jacobian, gradient, free, close)
        along = _along(jacobian, curvature)
        at_low = is_equation | _is_active(above, multipliers, along, 0.0)
        at_high = ~is_equation & _is_active(below, -multipliers, along, 0.0)
        _check_decided(above, multipliers, along, 0.0, "a constraint", ~is_equation)
        _check_decided(below, -multipliers, along, 0.0, "a constraint", ~is_equation)
        multipliers = _multipliers(jacobian, gradient, free, at_low | at_high)
        gradient = gradient - ops.matmul(multipliers, jacobian)
    at_lower = at_upper = np.zeros(x.shape, bool)
    if bounds is not None:
        along = _along(None, curvature)
        at_lower = _is_active(from_low, gradient, along, low)
        at_upper = _is_active(from_high, -gradient, along, high)
        _check_decided(from_low, gradient, along, low, "a bound")
        _check_decided(from_high, -gradient, along, high, "a bound")

    def equations(z: Any) -> Any:
        x, weights = ops.reshape(z[:n], gradient.shape), z[n:]

        def lagrangian(x: Any) -> Any:
            out = as_number(value(x))
            return out - ops.sum(weights * ops.concat([r(x) for r in rules])) if limits else out

        first = func.grad(lagrangian)(x)
        if bounds is not None:
            first = ops.where(at_lower, x - low, ops.where(at_upper, x - high, first))
        if not limits:
            return first
        held = ops.where(at_low, levels(x, "lower"), 0.0)
        held = ops.where(at_high, levels(x, "upper"), held)
        held = ops.where(at_low | at_high, held, weights)
        return ops.concat([ops.ravel(first), held])

    unknowns = ops.concat([ops.ravel(x), multipliers]) if limits else ops.ravel(x)
    return ops.reshape(implicit(equations, unknowns)[:n], gradient.shape)


def _is_close(distance: Any, bound: Any) -> Any:
    """Whether the distance from a bound is small."""
    return ops.abs(distance) <= _CLOSE * (1 + ops.abs(_finite(bound)))


def _is_active(distance: Any, force: Any, along: Any, bound: Any) -> Any:
    """Whether a force, which is positive towards a bound, holds the minimum at the bound.

    It does if the distance is zero, or less than that of a Newton step with a curvature `along`.
    """
    is_exact = ops.abs(distance) <= _EXACT * (1 + ops.abs(_finite(bound)))
    crosses = False if along is None else force > along * distance
    return _is_close(distance, bound) & (force > 0) & (is_exact | crosses)


def _check_decided(
    distance: Any, force: Any, along: Any, bound: Any, what: str, where: Any = True
) -> None:
    """Raise if the minimum is at a bound, and would be there without the bound, too.

    A Newton step says where it would be.
    """
    if along is None:
        return
    near = _UNDECIDED * (1 + ops.abs(_finite(bound)))
    is_open = ops.abs(along * _finite(distance) - force) <= ops.abs(along) * near
    is_open = _is_close(distance, bound) & is_open & where
    while isinstance(is_open, Array):
        is_open = is_open._array
    if np.any(is_open):
        raise SingularError(
            f"the minimum is not a smooth function of the parameters: {what} is about to become "
            "active, as the minimum is there with and without it"
        )


def _finite(bound: Any) -> Any:
    bound = const(bound)
    return ops.where(ops.isfinite(bound), bound, 0.0) if hasattr(bound, "dtype") else bound


def _along(jacobian: Any, curvature: Any) -> Any:
    """The curvature of the function along each variable, or along the gradient of a constraint.

    The latter is for a step that changes the constraint by one. None if not known.
    """
    if curvature is None:
        return None
    if jacobian is None:
        return curvature if not curvature.ndim else ops.diagonal(curvature)
    size = ops.sum(jacobian**2, axis=-1)
    bent = ops.sum(ops.matmul(jacobian, curvature) * jacobian, axis=-1)
    return bent / ops.where(size == 0, 1.0, size) ** 2


def _multipliers(jacobian: Any, gradient: Any, free: Any, active: Any) -> Any:
    """The weights of the active constraints that balance the gradient of the free variables."""
    rows = jacobian * active[:, None] * free[None, :]
    matrix = ops.matmul(rows, ops.matrix_transpose(rows)) + ops.diag(1.0 * ~active)
    try:
        return linalg.solve(matrix, ops.matmul(rows, gradient * free))
    except np.linalg.LinAlgError:
        raise SingularError(
            "the minimum is not a smooth function of the parameters: the gradients of the active "
            "constraints depend on each other. Remove constraints that follow from others"
        ) from None


# --- other functions that find a minimum ---------------------------------------------------------


def _finding(name: str) -> AnyFunction:
    """The twin of a function of SciPy's that returns a minimum, or a minimum and more."""

    def found(runs: Any, result: Any, **given: Any) -> Any:
        if name == "basinhopping":  # args, bounds and constraints are those of its minimiser
            given = (given["minimizer_kwargs"] or {}) | given
        fun, args = given["func" if "func" in given else "f"], given.get("args", ())
        with_derivative = "approx_grad" in given and not (given["fprime"] or given["approx_grad"])
        if given.get("integrality") is not None:
            raise NotImplementedError(f"{name} has no derivatives here with integrality")
        if isinstance(result, dict):
            parts = result
        else:  # the minimum alone, or with its value, or with other arrays
            more = result if isinstance(result, tuple) else (result,)
            names = ["x", "fun" if len(more) > 2 else "allvecs", *map(str, range(2, len(more)))]
            parts = dict(zip(names, more, strict=False))
        x = parts["x"]
        value = by_ops(first_of(fun, args, with_derivative), x)
        limits = [_limits(rule) for rule in rules_of(given.get("constraints"))]
        x = minimum(value, x, _lower_upper(given.get("bounds"), x.shape), limits)
        parts["x"] = x
        if "fun" in parts:
            fun = parts["fun"]
            fun = fun if isinstance(fun, Array) else np.asarray(fun)
            parts["fun"] = attach(fun, as_number(value(x)))
        refusing(parts, x, f"{name}()", ["x", "fun"])
        if isinstance(result, dict):
            return result
        return tuple(parts.values()) if isinstance(result, tuple) else x

    found.__doc__ = f"`scipy.optimize.{name}`; the minimum has derivatives."
    return solver(getattr(SCIPY, name))(found)


basinhopping = _finding("basinhopping")
differential_evolution = _finding("differential_evolution")
direct = _finding("direct")
dual_annealing = _finding("dual_annealing")
fmin = _finding("fmin")
fmin_bfgs = _finding("fmin_bfgs")
fmin_cg = _finding("fmin_cg")
fmin_l_bfgs_b = _finding("fmin_l_bfgs_b")
fmin_ncg = _finding("fmin_ncg")
fmin_powell = _finding("fmin_powell")
shgo = _finding("shgo")


# --- bounds and constraints in SciPy's forms ------------------------------------------------------


def _lower_upper(bounds: Any, shape: tuple[int, ...]) -> tuple[Any, Any] | None:
    """Both bounds as arrays of the shape of x."""
    if bounds is None:
        return None
    if isinstance(bounds, SCIPY.Bounds):
        low, high = bounds.lb, bounds.ub
    else:
        low = as_array([-np.inf if pair[0] is None else pair[0] for pair in bounds])
        high = as_array([np.inf if pair[1] is None else pair[1] for pair in bounds])
    return ops.broadcast_to(as_array(low), shape), ops.broadcast_to(as_array(high), shape)


def _limits(rule: Any) -> Limits:
    if isinstance(rule, SCIPY.LinearConstraint):
        matrix = rule.A.toarray() if hasattr(rule.A, "toarray") else rule.A
        return Limits(lambda x: ops.matmul(matrix, x), rule.lb, rule.ub)
    if isinstance(rule, SCIPY.NonlinearConstraint):
        return Limits(rule.fun, rule.lb, rule.ub)
    upper = 0.0 if rule["type"] == "eq" else np.inf
    return Limits(first_of(rule["fun"], rule.get("args", ())), 0.0, upper)


# --- one variable ---------------------------------------------------------------------------------


@solver(SCIPY.minimize_scalar)
def minimize_scalar(runs: Any, result: Any, fun: Any, bounds: Any, args: Any) -> Any:
    """`scipy.optimize.minimize_scalar`; `x` and `fun` of the result have derivatives."""
    both = None if bounds is None else (as_array(bounds[0]), as_array(bounds[1]))
    value = result.fun if isinstance(result.fun, Array) else np.asarray(result.fun)
    x = result.x if isinstance(result.x, Array) else np.asarray(result.x)
    function = by_ops(first_of(fun, args), x)
    result.x = minimum(function, x, both)
    result.fun = attach(value, as_number(function(result.x)))
    return result
