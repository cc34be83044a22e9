"""`minimize`: SciPy's methods with arraygrad's derivatives. The methods themselves are SciPy's.

SciPy is imported when it is first used.
"""

from __future__ import annotations

import importlib
import math
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import func, ops
from .arrays.creation import from_sequence
from .backends import backend_of
from .core.array import AnyFunction, Array
from .func.trees import flatten
from .interop.lazy import compute

__all__ = ["minimize"]


def __dir__() -> list[str]:
    return __all__


# Which derivatives SciPy's methods use: no gradients, products with the Hessian, or the Hessian.
_WITHOUT_GRADIENT = {"nelder-mead", "powell", "cobyla", "cobyqa"}
_BY_PRODUCTS = {"newton-cg", "trust-ncg", "trust-krylov", "trust-constr"}
_BY_MATRICES = {"dogleg", "trust-exact"}


def minimize(
    fun: AnyFunction,
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str | None = None,
    lower: Any = None,
    upper: Any = None,
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
        knows.
    args : tuple
        More arguments of `fun`, which stay fixed.
    method : str, optional
        One of SciPy's methods. By default BFGS; L-BFGS-B with bounds, SLSQP with constraints.
    lower, upper : number, or structure like that of `x0`, optional
        Bounds. A structure contains numbers or arrays, or None where there is no bound.
    constraints : dict, or sequence of dicts
        As in SciPy, ``{"type": "eq" or "ineq", "fun": g}``: ``g(x)`` must be zero, or not negative.
        `g` takes `x` in the structure of `x0`. Jacobians need not be given.
    hessian : "product", "matrix" or None
        How methods that use second derivatives get them. By default, as products with vectors, if
        the method can use them.
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
    optimize = _scipy()
    space = _Space(x0)
    problem = _Problem(fun, args, space)
    bounds = None if lower is None and upper is None else space.bounds(lower, upper)
    rules = [constraints] if isinstance(constraints, dict) else list(constraints)
    chosen = method or ("SLSQP" if rules else "L-BFGS-B" if bounds else "BFGS")
    name = chosen.lower()
    keywords: dict[str, Any] = {}
    if name not in _WITHOUT_GRADIENT:
        keywords["jac"] = True
    if name in _BY_PRODUCTS | _BY_MATRICES:
        how = hessian or ("product" if name in _BY_PRODUCTS else "matrix")
        if how not in ("product", "matrix"):
            raise ValueError(f"hessian must be 'product', 'matrix' or None, not {hessian!r}")
        if how == "product" and name in _BY_MATRICES:
            raise ValueError(f"method {chosen!r} needs the whole Hessian: pass hessian='matrix'")
        keywords |= {"hessp": problem.product} if how == "product" else {"hess": problem.matrix}
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


def _scipy() -> Any:
    try:
        return importlib.import_module("scipy.optimize")
    except ImportError:
        raise ImportError(
            "minimize() uses SciPy's methods: install it, pip install 'arraygrad[scipy]'"
        ) from None


class _Space:
    """Converts between the structure of `x0` and one vector of numbers."""

    def __init__(self, x0: Any) -> None:
        leaves, self.unflatten = flatten(x0)
        self.leaves = [self._checked(leaf, i) for i, leaf in enumerate(leaves)]
        if not self.leaves:
            raise ValueError("x0 has no arrays or numbers in it")
        self.sizes = [math.prod(leaf.shape) for leaf in self.leaves]
        self.ends = np.cumsum(self.sizes)[:-1]
        self.start = self.vector(self.unflatten(self.leaves))

    def _checked(self, leaf: Any, i: int) -> Any:
        leaf = leaf.detach() if isinstance(leaf, Array) else leaf
        leaf = leaf.array if hasattr(leaf, "array") else leaf
        array = leaf if hasattr(leaf, "dtype") else np.asarray(leaf)
        kind = backend_of(array).kind(array.dtype)
        if kind in "bi":
            return backend_of(array).xp.astype(array, backend_of(array).xp.float64)
        if kind != "f":
            hint = ": take the real and the imaginary part apart" if kind == "c" else ""
            raise TypeError(f"x0 must be real numbers, but leaf {i} has dtype {array.dtype}{hint}")
        return array

    def vector(self, tree: Any) -> Any:
        """The numbers of a structure as one vector."""
        parts = [np.ravel(backend_of(a).to_numpy(a)) for a in flatten(compute(tree))[0]]
        return np.concatenate([np.asarray(p, np.float64) for p in parts])

    def structure(self, vector: Any) -> Any:
        """The numbers of a vector in the structure of `x0`, with its dtypes and libraries."""
        parts = np.split(np.asarray(vector), self.ends)
        return self.unflatten(
            [
                backend_of(leaf).xp.asarray(part.reshape(leaf.shape), dtype=leaf.dtype)
                for part, leaf in zip(parts, self.leaves, strict=True)
            ]
        )

    def within(self, vector: Any) -> Any:
        """`structure`, made of ops, for a vector that is being differentiated."""
        parts = ops.array_split(vector, [int(end) for end in self.ends])
        return self.unflatten(
            [
                ops.astype(ops.reshape(part, leaf.shape), leaf.dtype, copy=False)
                for part, leaf in zip(parts, self.leaves, strict=True)
            ]
        )

    def bounds(self, lower: Any, upper: Any) -> list[tuple[Any, Any]]:
        """A pair of bounds for each number of the vector."""
        low = self._bound(lower, "lower", -np.inf)
        high = self._bound(upper, "upper", np.inf)
        return list(zip(low.tolist(), high.tolist(), strict=True))

    def _bound(self, given: Any, name: str, none: float) -> Any:
        if given is None or isinstance(given, int | float):
            value = none if given is None else given
            return np.full(self.start.shape, value, np.float64)
        import optree

        model = self.unflatten(self.leaves)
        leaves, spec = optree.tree_flatten(given, none_is_leaf=True)
        wanted = optree.tree_structure(model, none_is_leaf=True)
        if spec != wanted:
            raise ValueError(f"{name} must be a number or have the structure of x0, {wanted}")
        return np.concatenate(
            [
                np.ravel(np.broadcast_to(none if bound is None else np.asarray(bound), leaf.shape))
                for bound, leaf in zip(leaves, self.leaves, strict=True)
            ]
        ).astype(np.float64)


class _Problem:
    """The function to minimise and its derivatives, as functions of a vector."""

    def __init__(self, fun: AnyFunction, args: tuple[Any, ...], space: _Space) -> None:
        self.space = space
        self.fun: AnyFunction = lambda x: fun(x, *args)
        self._both: AnyFunction = func.value_and_grad(self.fun)
        # Without `self`, which would be a cycle of references that keeps the user's data alive.
        self._matrix: Any = func.hessian(lambda vector: fun(space.within(vector), *args))
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


def _constraint(rule: Any, space: _Space, method: str) -> Any:
    """A constraint on vectors in SciPy's form, with its derivatives."""
    if not isinstance(rule, dict) or rule.get("type") not in ("eq", "ineq") or "fun" not in rule:
        raise TypeError(
            "a constraint must be a dict {'type': 'eq' or 'ineq', 'fun': function of x}, got "
            f"{rule!r}"
        )
    more: Sequence[Any] = rule.get("args", ())

    def of_vector(vector: Any) -> Any:
        return ops.ravel(_array(rule["fun"](space.within(vector), *more)))

    first: AnyFunction = func.jacobian(of_vector)

    def value(vector: Any) -> Any:
        return np.asarray(of_vector(np.asarray(vector, np.float64)))

    def jacobian(vector: Any) -> Any:
        return np.asarray(first(np.asarray(vector, np.float64)))

    if method.lower() != "trust-constr":
        return {"type": rule["type"], "fun": value, "jac": jacobian}

    def hessian(vector: Any, weights: Any) -> Any:
        second: Any = func.hessian(lambda v: ops.sum(of_vector(v) * weights))
        return np.asarray(second(np.asarray(vector, np.float64)))

    high = 0.0 if rule["type"] == "eq" else np.inf
    return _scipy().NonlinearConstraint(value, 0.0, high, jac=jacobian, hess=hessian)


def _array(x: Any) -> Any:
    return x if hasattr(x, "dtype") else from_sequence(x)


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
