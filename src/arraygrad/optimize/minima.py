"""`minimize`: SciPy's methods with arraygrad's derivatives. The methods themselves are SciPy's."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import func, ops
from ..core.array import AnyFunction
from ..interop.lazy import compute
from .space import Space, as_vector, scipy_optimize

# Which derivatives SciPy's methods use: no gradients, products with the Hessian, or the Hessian.
_WITHOUT_GRADIENT = {"nelder-mead", "powell", "cobyla", "cobyqa"}
_BY_PRODUCTS = {"newton-cg", "trust-ncg", "trust-krylov", "trust-constr"}
_BY_MATRICES = {"dogleg", "trust-exact"}
_SPARSE = {"newton-cg", "trust-constr"}


def minimize(
    fun: AnyFunction,
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str | None = None,
    lower: Any = None,
    upper: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    hessian: str | None = None,
    tol: float | None = None,
    options: dict[str, Any] | None = None,
    callback: AnyFunction | None = None,
    progress: bool = False,
) -> Any:
    """Minimise a function of any structure of arrays, by `scipy.optimize.minimize`.

    Automatic differentiation of `fun` gives the gradients, the Hessians and their products with
    vectors. Automatic differentiation of the constraints gives their Jacobians.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args)`` returns one real number; `x` has the structure of `x0`.
    x0 : array, number, or nested structure of them
        The starting point: real numbers, in dicts, lists, tuples and other containers that optree
        knows. A list of numbers is one array, as for SciPy.
    args : tuple
        More arguments of `fun`, which stay fixed.
    method : str, optional
        One of SciPy's methods. By default BFGS; L-BFGS-B with bounds, SLSQP with constraints.
    lower, upper : number, or structure like that of `x0`, optional
        Bounds. A structure contains numbers or arrays, or None where there is no bound.
    bounds : scipy.optimize.Bounds, or sequence of pairs, optional
        Bounds in SciPy's form, in place of `lower` and `upper`: for the numbers of `x0` in order.
    constraints : dict, NonlinearConstraint, LinearConstraint, or sequence of these
        As in SciPy, ``{"type": "eq" or "ineq", "fun": g}``: ``g(x)`` must be zero, or not negative.
        `g`, and the function of a `NonlinearConstraint`, takes `x` in the structure of `x0`.
        Jacobians and Hessians need not be given. The matrix of a `LinearConstraint` has a column
        for each number of `x0`.
    hessian : "product", "matrix", "sparse" or None
        How methods that use second derivatives get them. By default, as products with vectors, if
        the method can use them. With "sparse", as a sparse array, for trust-constr and Newton-CG.
    tol, options
        Passed on to SciPy.
    callback : callable, optional
        Called as ``callback(x)`` after each iteration. If it returns True, the search stops.
    progress : bool
        Whether to print the number, the value and the norm of the gradient of each iteration to
        the standard error stream.

    Returns
    -------
    scipy.optimize.OptimizeResult
        Its `x` and `jac` have the structure of `x0`.

    Examples
    --------
    >>> import arraygrad as ag
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 2.0])
    >>> y = np.array([1.0, 3.0, 5.0])
    >>> def loss(line):
    ...     return np.sum((line["slope"] * x + line["offset"] - y) ** 2)
    >>> found = ag.optimize.minimize(loss, {"slope": 0.0, "offset": 0.0})
    >>> round(float(found.x["slope"]), 3), round(float(found.x["offset"]), 3)
    (2.0, 1.0)
    """
    optimize = scipy_optimize("minimize")
    space = Space(x0)
    problem = _Problem(fun, args, space)
    bounds = space.either(lower, upper, bounds)
    kinds = (optimize.NonlinearConstraint, optimize.LinearConstraint)
    rules = [constraints] if isinstance(constraints, (dict, *kinds)) else list(constraints)
    chosen = method or ("SLSQP" if rules else "L-BFGS-B" if bounds is not None else "BFGS")
    if not isinstance(chosen, str):
        raise TypeError(
            f"method must be the name of one of SciPy's methods, not {type(chosen).__name__}"
        )
    name = chosen.lower()
    keywords: dict[str, Any] = {}
    if name not in _WITHOUT_GRADIENT:
        keywords["jac"] = True
    if name in _BY_PRODUCTS | _BY_MATRICES:
        how = hessian or ("product" if name in _BY_PRODUCTS else "matrix")
        if how not in ("product", "matrix", "sparse"):
            raise ValueError(
                f"hessian must be 'product', 'matrix', 'sparse' or None, not {hessian!r}"
            )
        if how == "product" and name in _BY_MATRICES:
            raise ValueError(f"method {chosen!r} needs the whole Hessian: pass hessian='matrix'")
        if how == "sparse" and name not in _SPARSE:
            raise ValueError(
                f"method {chosen!r} takes no sparse Hessian: use trust-constr or Newton-CG"
            )
        if how == "product":
            keywords["hessp"] = problem.product
        else:
            keywords["hess"] = problem.sparse if how == "sparse" else problem.matrix
    elif hessian is not None:
        raise ValueError(f"method {chosen!r} does not use second derivatives: leave hessian out")
    watch = _Watch(problem, callback, progress)
    result = optimize.minimize(
        problem.both if "jac" in keywords else problem.value,
        space.start,
        method=chosen,
        bounds=bounds,
        constraints=[_constraint(rule, space, chosen) for rule in rules],
        tol=tol,
        options=options,
        callback=watch,
        **keywords,
    )
    watch.finish(result)
    result.x = space.structure(result.x)
    if getattr(result, "jac", None) is not None and np.shape(result.jac) == space.start.shape:
        result.jac = space.structure(result.jac)
    return result


class _Problem:
    """The function to minimise and its derivatives, as functions of a vector."""

    def __init__(self, fun: AnyFunction, args: tuple[Any, ...], space: Space) -> None:
        self.space = space
        self.fun: AnyFunction = lambda x: fun(x, *args)
        self._both: AnyFunction = func.value_and_grad(self.fun)

        # Without `self`, which would be a cycle of references that keeps the user's data alive.
        def of_vector(vector: Any) -> Any:
            return fun(space.within(vector), *args)

        self._matrix: Any = func.hessian(of_vector)
        self._sparse: Any = func.hessian(of_vector, sparse=True)
        self.last: tuple[float, float] = (math.nan, math.nan)

    def value(self, vector: Any) -> float:
        value = self.fun(self.space.structure(vector))
        self.last = (float(value), math.nan)
        return self.last[0]

    def both(self, vector: Any) -> tuple[float, Any]:
        value, gradient = compute(*self._both(self.space.structure(vector)))
        flat = self.space.vector(gradient)
        self.last = (float(value), float(np.linalg.norm(flat)))
        return self.last[0], flat

    def product(self, vector: Any, direction: Any) -> Any:
        at, along = self.space.structure(vector), self.space.structure(direction)
        return self.space.vector(func.hvp(self.fun, (at,), (along,)))

    def matrix(self, vector: Any) -> Any:
        return np.asarray(self._matrix(np.asarray(vector, np.float64)))

    def sparse(self, vector: Any) -> Any:
        return self._sparse(np.asarray(vector, np.float64))


def _constraint(rule: Any, space: Space, method: str) -> Any:
    """A constraint on vectors in SciPy's form, with its derivatives."""
    scipy = scipy_optimize("minimize")
    if isinstance(rule, scipy.LinearConstraint):
        return rule
    if isinstance(rule, scipy.NonlinearConstraint):
        value, jacobian, hessian = _derivatives(rule.fun, (), space)
        if callable(rule.jac):
            jacobian = _on_structures(rule.jac, space)
        if callable(rule.hess):
            hessian = _on_structures(rule.hess, space)
        second = {"hess": hessian} if method.lower() == "trust-constr" else {}
        return scipy.NonlinearConstraint(
            value, rule.lb, rule.ub, jac=jacobian, keep_feasible=rule.keep_feasible, **second
        )
    if not isinstance(rule, dict) or rule.get("type") not in ("eq", "ineq") or "fun" not in rule:
        raise TypeError(
            "a constraint must be a dict {'type': 'eq' or 'ineq', 'fun': function of x}, a "
            f"NonlinearConstraint or a LinearConstraint, got {rule!r}"
        )
    value, jacobian, hessian = _derivatives(rule["fun"], rule.get("args", ()), space)
    if callable(rule.get("jac")):
        jacobian = _on_structures(rule["jac"], space, rule.get("args", ()))
    if method.lower() != "trust-constr":
        return {"type": rule["type"], "fun": value, "jac": jacobian}
    high = 0.0 if rule["type"] == "eq" else np.inf
    return scipy.NonlinearConstraint(value, 0.0, high, jac=jacobian, hess=hessian)


def _derivatives(fun: AnyFunction, more: Sequence[Any], space: Space) -> tuple[Any, Any, Any]:
    """The value of a constraint, its Jacobian and its weighted Hessian, as functions of vectors."""

    def of_vector(vector: Any) -> Any:
        return as_vector(fun(space.within(vector), *more))

    first: AnyFunction = func.jacobian(of_vector)

    def value(vector: Any) -> Any:
        return np.asarray(of_vector(np.asarray(vector, np.float64)))

    def jacobian(vector: Any) -> Any:
        return np.asarray(first(np.asarray(vector, np.float64)))

    def hessian(vector: Any, weights: Any) -> Any:
        second: Any = func.hessian(lambda v: ops.sum(of_vector(v) * weights))
        return np.asarray(second(np.asarray(vector, np.float64)))

    return value, jacobian, hessian


def _on_structures(function: AnyFunction, space: Space, more: Sequence[Any] = ()) -> AnyFunction:
    """A derivative that the user gave, as a function of vectors."""
    return lambda vector, *rest: function(space.structure(vector), *rest, *more)


class _Watch:
    """Runs after each iteration: calls the user's callback, and prints a line of progress."""

    def __init__(self, problem: _Problem, callback: AnyFunction | None, progress: bool) -> None:
        self.problem = problem
        self.callback = callback
        self.progress = progress
        self.count = 0
        self.shown = -math.inf

    def __call__(self, vector: Any, *more: Any) -> None:
        self.count += 1
        if self.progress and time.monotonic() - self.shown > 0.1:  # not faster than one can read
            self.show(self.count, *self.problem.last)
        if self.callback is not None and self.callback(self.problem.space.structure(vector)):
            raise StopIteration

    def show(self, count: int, value: float, size: float) -> None:
        self.shown = time.monotonic()
        gradient = "" if math.isnan(size) else f"  gradient {size:.3e}"
        sys.stderr.write(f"iteration {count:5d}  value {value:.10g}{gradient}\n")

    def finish(self, result: Any) -> None:
        if self.progress:
            gradient = getattr(result, "jac", None)
            size = math.nan if gradient is None else float(np.linalg.norm(gradient))
            self.show(self.count, float(result.fun), size)
            sys.stderr.write(f"{result.message}\n")
