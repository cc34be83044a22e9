"""Exact derivatives for SciPy's methods, where the user gave none.

A function that arraygrad cannot differentiate is left to SciPy's differences.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import func, ops
from ...core.array import AnyFunction, Array
from ...interop.lazy import compute
from ..formula import as_array
from ..names import scipy_module

SCIPY = scipy_module("scipy.optimize")

# Which derivatives SciPy's methods use: no gradients, products with the Hessian, or the Hessian.
_WITHOUT_GRADIENT = {"nelder-mead", "powell", "cobyla", "cobyqa"}
_BY_PRODUCTS = {"newton-cg", "trust-ncg", "trust-krylov", "trust-constr"}
_BY_MATRICES = {"dogleg", "trust-exact"}
_SPARSE = {"newton-cg", "trust-constr"}
# What a function raises that cannot compute with tensors, or that writes to its argument. If the
# fault is another one, SciPy's own run of the function raises it again.
_CANNOT = (RuntimeError, TypeError, AttributeError)


def as_tuple(args: Any) -> tuple[Any, ...]:
    """More arguments of a function, as SciPy takes them."""
    return args if isinstance(args, tuple) else (args,)


def first_of(fun: AnyFunction, args: Any, with_derivative: bool = False) -> AnyFunction:
    """A function of x alone, without the derivative that it may return, too."""
    more = as_tuple(args)
    return lambda x: fun(x, *more)[0] if with_derivative else fun(x, *more)


def as_number(x: Any) -> Any:
    """What a function to minimise returned, as an array without axes."""
    x = as_array(x)
    if x.size != 1:
        raise ValueError(f"fun must return one real number, not an array of shape {x.shape}")
    return ops.reshape(x, ()) if x.ndim else x


COMPILED = "compiled"  # for `jac`: exact derivatives, computed by compiled code


class Exact:
    """The derivatives of a function that `on_values` gives to SciPy, as plain arrays.

    All methods take a vector, and then the further arguments of the function.
    """

    def __init__(self, function: AnyFunction, is_compiled: bool = False) -> None:
        # What calls the function looks for values that it keeps: compiled code keeps none.
        raw: AnyFunction = function._function if is_compiled else function.__wrapped__  # type: ignore[attr-defined]
        made: AnyFunction = _compiled if is_compiled else (lambda f: f)
        self._value: Callable[[Any], Any] = function.value_of  # type: ignore[attr-defined]

        def number(x: Any, *args: Any) -> Any:
            out = _following(x, raw(x, *args))
            if out.size != 1:
                raise TypeError(f"fun must return one number, not an array of shape {out.shape}")
            return as_number(out)

        def vector(x: Any, *args: Any, **kwargs: Any) -> Any:
            return ops.ravel(_following(x, raw(x, *args, **kwargs)))

        def product(x: Any, along: Any, *args: Any) -> Any:
            return func.hvp(lambda x: number(x, *args), (x,), (along,))

        def weighted(x: Any, weights: Any) -> Any:
            return ops.sum(vector(x) * weights)

        self._last: tuple[Any, Any] | None = None  # an Exact serves `both` or `jacobian`
        self._both: Any = made(func.value_and_grad(number))
        self._matrix: Any = made(func.hessian(number))
        self._product: Any = made(product)
        self._sparse: Any = func.hessian(number, sparse=True)
        self._jacobian: Any = made(func.jacobian(vector))
        self._sparse_jacobian: Any = func.jacobian(vector, sparse=True)
        self._weighted: Any = func.hessian(weighted)

    def _plain(self, x: Any) -> Any:
        return self._value(x) if isinstance(x, Array) else np.asarray(x)

    def both(self, x: Any, *args: Any) -> tuple[Any, Any]:
        """The value and the gradient; those of the last x are known."""
        x = np.array(x, float)
        if self._last is None or not np.array_equal(self._last[0], x):
            value, slope = compute(*self._both(x, *args))
            number, slope = float(self._plain(value)), self._plain(slope)
            # Where the value is NaN, a gradient of zero would pass for a minimum.
            self._last = x, (number, slope if number == number else slope + np.nan)
        return self._last[1]

    def product(self, x: Any, along: Any, *args: Any) -> Any:
        """The product of the Hessian with a vector."""
        return self._plain(self._product(np.asarray(x, float), np.asarray(along, float), *args))

    def matrix(self, x: Any, *args: Any) -> Any:
        """The Hessian."""
        return self._plain(self._matrix(np.asarray(x, float), *args))

    def sparse(self, x: Any, *args: Any) -> Any:
        """The Hessian as a sparse array."""
        return self._sparse(np.asarray(x, float), *args)

    def jacobian(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """The Jacobian; that of the last x is known, for which SciPy asks several times."""
        x = np.array(x, float)
        if self._last is None or not np.array_equal(self._last[0], x):
            self._last = x, self._plain(self._jacobian(x, *args, **kwargs))
        return self._last[1].copy()

    def sparse_jacobian(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """The Jacobian as a sparse array."""
        return self._sparse_jacobian(np.asarray(x, float), *args, **kwargs)

    def weighted_hessian(self, x: Any, weights: Any) -> Any:
        """The sum of the Hessians of all values, with weights."""
        return self._plain(self._weighted(np.asarray(x, float), weights))


def _following(x: Any, result: Any) -> Any:
    """A result of a function of x, as an array; raises if it does not follow x.

    Either it is a constant, or the function keeps values, and returned one that it had computed.
    """
    result = as_array(result)
    if isinstance(x, Array) and not isinstance(result, Array):
        raise TypeError("the result of a function does not depend on its argument")
    return result


def _compiled(derivative: AnyFunction) -> AnyFunction:
    from ...compiler.call.compiled import compile  # which is imported when it is first used

    return compile(derivative)


def _is_compiled(given: dict[str, Any]) -> bool:
    """Whether the derivatives shall be compiled; SciPy itself takes no such `jac`."""
    is_compiled = isinstance(given.get("jac"), str) and given["jac"] == COMPILED
    if is_compiled:
        del given["jac"]
    return is_compiled


def _at_start(derivative: AnyFunction, x0: Any, *args: Any, **kwargs: Any) -> Any:
    """A derivative at the starting point; None if it cannot be computed."""
    try:
        return derivative(np.atleast_1d(x0), *args, **kwargs)
    except _CANNOT:
        return None
    except ValueError as error:  # NumPy's, for a tensor that is written to one of its arrays
        if not isinstance(error.__cause__, _CANNOT):
            raise
        return None


# --- minima ---------------------------------------------------------------------------------------


def minimized(given: dict[str, Any]) -> tuple[Any, None]:
    """`scipy.optimize.minimize` of plain values, with exact derivatives."""
    given = dict(given)
    method, bounds, hess = (given.get(name) for name in ("method", "bounds", "hess"))
    if callable(method):  # the user's own, which may take anything
        return SCIPY.minimize(**given), None
    rules = rules_of(given.get("constraints", ()))
    args = as_tuple(given.get("args", ()))
    name = method or ("SLSQP" if rules else "L-BFGS-B" if bounds is not None else "BFGS")
    if not isinstance(name, str):
        raise TypeError(
            f"method must be the name of one of SciPy's methods, not {type(name).__name__}"
        )
    lower = name.lower()
    _check_hessian(lower, name, hess)
    is_compiled = _is_compiled(given)
    if lower not in _WITHOUT_GRADIENT and given.get("jac") is None:
        exact = Exact(given["fun"], is_compiled)
        if is_compiled or _at_start(exact.both, given["x0"], *args) is not None:
            given["fun"], given["jac"] = exact.both, True
            if given.get("hessp") is None and not callable(hess):
                given.update(_second(exact, lower, hess))
    given["constraints"] = [_with_slopes(rule, lower, given["x0"]) for rule in rules]
    return SCIPY.minimize(**given), None


_EXACT_HESSIANS = ("product", "matrix", "sparse")


def _check_hessian(lower: str, name: Any, hess: Any) -> None:
    """Raise if a method cannot take the Hessian in the form that the user wants."""
    if hess in _EXACT_HESSIANS and lower not in _BY_PRODUCTS | _BY_MATRICES:
        raise ValueError(f"method {name!r} does not use second derivatives: leave hess out")
    if hess == "product" and lower in _BY_MATRICES:
        raise ValueError(f"method {name!r} needs the whole Hessian: pass hess='matrix'")
    if hess == "sparse" and lower not in _SPARSE:
        raise ValueError(f"method {name!r} takes no sparse Hessian: use trust-constr or Newton-CG")


def _second(exact: Exact, lower: str, hess: Any) -> dict[str, Any]:
    """The second derivatives that a method takes; those that the user asked for."""
    if lower not in _BY_PRODUCTS | _BY_MATRICES or hess not in (None, *_EXACT_HESSIANS):
        return {}
    how = hess or ("product" if lower in _BY_PRODUCTS else "matrix")
    if how == "product":
        return {"hess": None, "hessp": exact.product}
    return {"hess": exact.sparse if how == "sparse" else exact.matrix}


def rules_of(constraints: Any) -> list[Any]:
    """Constraints as a list of those that SciPy knows."""
    kinds = (dict, SCIPY.NonlinearConstraint, SCIPY.LinearConstraint)
    rules = [constraints] if isinstance(constraints, kinds) else list(constraints or ())
    for rule in rules:
        if not isinstance(rule, kinds) or (isinstance(rule, dict) and not _is_complete(rule)):
            raise TypeError(
                "a constraint must be a dict {'type': 'eq' or 'ineq', 'fun': function of x}, a "
                f"NonlinearConstraint or a LinearConstraint, got {rule!r}"
            )
    return rules


def _is_complete(rule: dict[str, Any]) -> bool:
    return str(rule.get("type")).lower() in ("eq", "ineq") and "fun" in rule


def _with_slopes(rule: Any, lower: str, x0: Any) -> Any:
    """A constraint with exact derivatives, where the user gave none."""
    if isinstance(rule, dict):
        exact, args = Exact(rule["fun"]), as_tuple(rule.get("args", ()))
        if callable(rule.get("jac")) or not _has_slopes(exact, x0, *args):
            return rule
        if lower != "trust-constr" or args:
            return rule | {"jac": exact.jacobian}
        high = 0.0 if rule["type"] == "eq" else np.inf
        second = {"jac": exact.jacobian, "hess": exact.weighted_hessian}
        return SCIPY.NonlinearConstraint(rule["fun"], 0.0, high, **second)
    if isinstance(rule, SCIPY.NonlinearConstraint):
        exact = Exact(rule.fun)
        if _has_slopes(exact, x0):
            rule.jac = rule.jac if callable(rule.jac) else exact.jacobian
            if lower == "trust-constr" and not callable(rule.hess):
                rule.hess = exact.weighted_hessian
    return rule


def _has_slopes(exact: Exact, x0: Any, *args: Any) -> bool:
    """Whether all constraints have a derivative at the start that is not zero.

    From a start where the slope of a constraint is zero, only differences lead away.
    """
    slopes = _at_start(exact.jacobian, x0, *args)
    return slopes is not None and bool(np.all(np.any(slopes, axis=-1)))


# --- equations ------------------------------------------------------------------------------------


def solved(given: dict[str, Any]) -> tuple[Any, None]:
    """`scipy.optimize.root` of plain values, with an exact Jacobian where the method takes one."""
    given = dict(given)
    is_compiled = _is_compiled(given)
    if given.get("jac") is None and str(given.get("method", "hybr")).lower() in ("hybr", "lm"):
        exact = Exact(given["fun"], is_compiled)
        args = as_tuple(given.get("args", ()))
        if is_compiled or _at_start(exact.jacobian, given["x0"], *args) is not None:
            given = given | {"jac": exact.jacobian}
    return SCIPY.root(**given), None


def fitted(given: dict[str, Any]) -> tuple[Any, None]:
    """`scipy.optimize.least_squares` of plain values, with an exact Jacobian."""
    given = dict(given)
    is_compiled = _is_compiled(given)
    if given.get("jac", "sparse") == "sparse" and given.get("jac_sparsity") is None:
        exact, keywords = Exact(given["fun"], is_compiled), given.get("kwargs") or {}
        slope = exact.sparse_jacobian if "jac" in given else exact.jacobian
        args = as_tuple(given.get("args", ()))
        if is_compiled or _at_start(slope, given["x0"], *args, **keywords) is not None:
            given = given | {"jac": slope}
    return SCIPY.least_squares(**given), None


def curve_fitted(given: dict[str, Any]) -> tuple[Any, None]:
    """`scipy.optimize.curve_fit` of plain values, with an exact Jacobian."""
    given = dict(given)
    is_compiled = _is_compiled(given)
    start = given.get("p0")
    if start is None and "bounds" not in given:
        names = inspect.signature(given["f"]).parameters.values()
        start = np.ones(sum(p.kind <= p.POSITIONAL_OR_KEYWORD for p in names) - 1)
    if given.get("jac") is None and start is not None:
        f, value_of = given["f"], given["f"].value_of
        raw = f._function if is_compiled else f.__wrapped__
        slopes: Any = func.jacobian(lambda p, x: ops.ravel(as_array(raw(x, *p))))
        slopes = _compiled(slopes) if is_compiled else slopes

        def jacobian(x: Any, *p: Any) -> Any:
            found = slopes(np.asarray(p, float), x)
            return value_of(found) if isinstance(found, Array) else np.asarray(found)

        if is_compiled or _at_start(lambda p: jacobian(given["xdata"], *p), start) is not None:
            given = given | {"jac": jacobian}
            if given.get("sigma") is not None:  # beside a Jacobian, SciPy takes no single number
                given["sigma"] = _broadcast(given["sigma"], given["ydata"])
    return SCIPY.curve_fit(**given), None


def _broadcast(sigma: Any, ydata: Any) -> Any:
    return np.full(np.shape(ydata), sigma) if np.ndim(sigma) == 0 else sigma
