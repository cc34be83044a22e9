"""`minimize` of a function of any structure of arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import ops
from ..core.array import AnyFunction, plain
from ..func import grad
from ..func import hessian as hessian_of
from ..scipy.progress import Progress
from .results import Found
from .space import Space, as_array, solvers
from .uncertainty import fit


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
    compile: bool = False,
) -> Found:
    """Minimise a function of any structure of arrays, by `scipy.optimize.minimize`.

    Automatic differentiation of `fun` gives the gradients, the Hessians and their products with
    vectors. Automatic differentiation of the constraints gives their Jacobians. The minimum has
    derivatives by the arrays that `fun`, bounds and constraints depend on. For vectors, this is
    `arraygrad.scipy.optimize.minimize`.

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
        Whether to show the number and the value of each iteration: as a bar, if tqdm is installed;
        else by lines on the standard error stream.
    compile : bool
        Whether to compile the derivatives, as `arraygrad.compile` does. This takes some time once,
        and pays for many iterations. Progress then shows no values.

    Returns
    -------
    scipy.optimize.OptimizeResult
        Its `x` and `jac` have the structure of `x0`. Its `covariance` is the inverse Hessian at
        `x`, and `standard_errors` has the roots of its diagonal in the structure of `x0`: they are
        those of `x` if `fun` is a negative logarithm of a likelihood. They are computed when they
        are asked for.

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
    optimize = solvers()
    space = Space(x0)
    watch = _Watch(space, callback, progress)
    if hessian not in (None, "product", "matrix", "sparse"):
        raise ValueError(f"hessian must be 'product', 'matrix', 'sparse' or None, not {hessian!r}")
    kinds = dict | optimize.NonlinearConstraint | optimize.LinearConstraint
    rules = [constraints] if isinstance(constraints, kinds) else list(constraints)
    function = space.of_vectors(fun)
    result: Found = optimize.minimize(
        watch.noting(function) if progress and not compile else function,
        space.start,
        args,
        method=method,
        jac="compiled" if compile else None,
        hess=hessian,
        bounds=space.either(lower, upper, bounds),
        constraints=[_of_vectors(rule, space) for rule in rules],
        tol=tol,
        options=options,
        callback=watch if progress or callback is not None else None,
    )
    watch.finish(result)

    def derivatives(x: Any) -> tuple[Any, Any]:
        def value(x: Any) -> Any:
            return ops.reshape(as_array(function(x, *args)), ())

        return grad(value)(x), hessian_of(value)(x)

    result = fit(result, space, derivatives)
    if result.get("jac") is not None and np.shape(result.jac) == space.start.shape:
        result.jac = space.restored(result.jac)
    return result


def _of_vectors(rule: Any, space: Space) -> Any:
    """A constraint on structures as one on vectors."""
    if isinstance(rule, dict):
        functions = {k: space.of_vectors(v) for k, v in rule.items() if callable(v)}
        return rule | functions
    if hasattr(rule, "fun"):
        functions = {k: space.of_vectors(v) for k, v in vars(rule).items() if callable(v)}
        return type(rule)(**vars(rule) | functions)
    return rule


class _Watch:
    """Runs after each iteration: calls the user's callback, and shows progress."""

    def __init__(self, space: Space, callback: AnyFunction | None, progress: bool) -> None:
        self.space = space
        self.callback = callback
        self.count = 0
        self.value: Any = math.nan
        self.progress = Progress("minimize", "iteration") if progress else None

    def noting(self, function: AnyFunction) -> AnyFunction:
        """A function whose last value is known here."""

        def noted(*args: Any) -> Any:
            self.value = function(*args)
            return self.value

        return noted

    def __call__(self, vector: Any, *more: Any) -> None:
        self.count += 1
        if self.progress is not None:
            self.progress.show(self.count, _text(self.value))
        if self.callback is not None and self.callback(self.space.structure(vector)):
            raise StopIteration

    def finish(self, result: Any) -> None:
        if self.progress is not None:
            self.progress.show(self.count, _text(result.fun), is_last=True)
            self.progress.close(result.message)


def _text(value: Any) -> str:
    number = float(plain(value))  # compiled code does not tell it
    return "" if math.isnan(number) else f"value {number:.10g}"
