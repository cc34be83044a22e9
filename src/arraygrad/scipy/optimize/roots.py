"""Roots and fixed points."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import AnyFunction, Array
from ..implicit import implicit
from ..solving import solver
from ..values import refusing
from .exact import SCIPY, as_tuple, first_of, solved

__all__ = [
    "bisect",
    "brenth",
    "brentq",
    "fixed_point",
    "fsolve",
    "newton",
    "ridder",
    "root",
    "root_scalar",
    "toms748",
]


def solution(residual: AnyFunction, x: Any, formula: Any = None) -> Any:
    """A solution that SciPy found, with derivatives."""
    x = x if isinstance(x, Array) else np.asarray(x)
    is_same = formula is not None and formula.shape == x.shape
    return implicit(residual, x, formula=formula if is_same else None)


@solver(SCIPY.root, solved)
def root(runs: Any, result: Any, fun: Any, args: Any, jac: Any) -> Any:
    """`scipy.optimize.root`; `x` of the result has derivatives, as an implicit function.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> def circle(r):
    ...     return ag.scipy.optimize.root(lambda x: [x[0] - x[1], x @ x - r**2], [1.0, 1.0]).x
    >>> np.round(ag.func.jacrev(circle)(np.array(2.0)), 6)
    array([0.707107, 0.707107])
    """
    result.x = solution(first_of(fun, args, jac is True), result.x, runs.formula())
    refusing(result, result.x, "root()", ("x",))
    return result


@solver(SCIPY.root_scalar)
def root_scalar(runs: Any, result: Any, f: Any, args: Any, fprime: Any, fprime2: Any) -> Any:
    """`scipy.optimize.root_scalar`; `root` of the result has derivatives."""
    with_derivative = fprime is True or fprime2 is True
    result.root = solution(first_of(f, args, with_derivative), result.root)
    return result


def _with_root(result: Any, residual: AnyFunction, formula: Any) -> Any:
    """A root with derivatives, alone or as the first of several results."""
    if not isinstance(result, tuple):
        return solution(residual, result, formula)
    x = solution(residual, result[0], formula)
    if hasattr(result[1], "root"):
        result[1].root = x
    elif isinstance(result[1], dict):
        refusing(result[1], x, "infodict", ())
    return type(result)(x, *result[1:]) if hasattr(result, "_fields") else (x, *result[1:])


def _bracketed(name: str) -> AnyFunction:
    def find(runs: Any, result: Any, f: Any, args: Any) -> Any:
        return _with_root(result, first_of(f, args), runs.formula())

    find.__doc__ = f"`scipy.optimize.{name}`; the root has derivatives, as an implicit function."
    return solver(getattr(SCIPY, name))(find)


bisect, brenth, brentq = map(_bracketed, ("bisect", "brenth", "brentq"))
ridder, toms748 = map(_bracketed, ("ridder", "toms748"))


@solver(SCIPY.newton)
def newton(runs: Any, result: Any, func: Any, args: Any) -> Any:
    """`scipy.optimize.newton`; the roots have derivatives, as implicit functions."""
    return _with_root(result, first_of(func, args), runs.formula())


@solver(SCIPY.fsolve)
def fsolve(runs: Any, result: Any, func: Any, args: Any) -> Any:
    """`scipy.optimize.fsolve`; the roots have derivatives, as implicit functions."""
    return _with_root(result, first_of(func, args), runs.formula())


@solver(SCIPY.fixed_point)
def fixed_point(runs: Any, result: Any, func: Any, args: Any) -> Any:
    """`scipy.optimize.fixed_point`; the derivatives are those of the root of ``x - func(x)``."""
    more = as_tuple(args)
    return solution(lambda x: x - func(x, *more), result)
