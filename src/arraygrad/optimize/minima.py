"""`minimize` of a function of any structure of arrays."""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import numpy as np

from ..core.array import AnyFunction, plain
from .space import Space, solvers


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
    optimize = solvers()
    space = Space(x0)
    watch = _Watch(space, callback, progress)
    if hessian not in (None, "product", "matrix", "sparse"):
        raise ValueError(f"hessian must be 'product', 'matrix', 'sparse' or None, not {hessian!r}")
    kinds = dict | optimize.NonlinearConstraint | optimize.LinearConstraint
    rules = [constraints] if isinstance(constraints, kinds) else list(constraints)
    result = optimize.minimize(
        watch.noting(space.of_vectors(fun)) if progress else space.of_vectors(fun),
        space.start,
        args,
        method=method,
        hess=hessian,
        bounds=space.either(lower, upper, bounds),
        constraints=[_of_vectors(rule, space) for rule in rules],
        tol=tol,
        options=options,
        callback=watch if progress or callback is not None else None,
    )
    watch.finish(result)
    result.x = space.restored(result.x)
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
        self.progress = progress
        self.count = 0
        self.value: Any = math.nan
        self.shown = -math.inf
        self.bar: Any = _bar() if progress else None

    def noting(self, function: AnyFunction) -> AnyFunction:
        """A function whose last value is known here."""

        def noted(*args: Any) -> Any:
            self.value = function(*args)
            return self.value

        return noted

    def __call__(self, vector: Any, *more: Any) -> None:
        self.count += 1
        if self.progress and time.monotonic() - self.shown > 0.1:  # not faster than one can read
            self.show(plain(self.value))
        if self.callback is not None and self.callback(self.space.structure(vector)):
            raise StopIteration

    def show(self, value: Any) -> None:
        self.shown = time.monotonic()
        if self.bar is None:
            sys.stderr.write(f"iteration {self.count:5d}  value {float(value):.10g}\n")
        else:
            self.bar.set_postfix_str(f"value {float(value):.10g}", refresh=False)
            self.bar.update(self.count - self.bar.n)

    def finish(self, result: Any) -> None:
        if self.progress:
            self.show(plain(result.fun))
            if self.bar is not None:
                self.bar.close()
            sys.stderr.write(f"{result.message}\n")


def _bar() -> Any:
    """A bar of tqdm; None if tqdm is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(desc="minimize", unit=" iterations")
