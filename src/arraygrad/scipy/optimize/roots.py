"""Roots and fixed points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.array import AnyFunction, Array
from ..checking import verified
from ..implicit import implicit
from ..names import scipy_module
from ..values import Runs, on_values


def solution(runs: Runs, residual: AnyFunction, x: Any) -> Any:
    """A solution that SciPy found, with derivatives if an array that took part has any."""
    if runs.has_derivatives:
        x = implicit(residual, x if isinstance(x, Array) else np.asarray(x))
    return runs.as_given(x)


def as_tuple(args: Any) -> tuple[Any, ...]:
    """More arguments of a function, as SciPy takes them."""
    return args if isinstance(args, tuple) else (args,)


def _scipy(name: str) -> Callable[..., Any]:
    return getattr(scipy_module("scipy.optimize"), name)  # type: ignore[no-any-return]


@verified("scipy.optimize.root")
def root(
    fun: AnyFunction,
    x0: Any,
    args: Any = (),
    method: str = "hybr",
    jac: Any = None,
    tol: float | None = None,
    callback: Any = None,
    options: Any = None,
) -> Any:
    """`scipy.optimize.root`; `x` of the result has derivatives, as an implicit function.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> def circle(r):
    ...     return ag.scipy.optimize.root(lambda x: [x[0] - x[1], x @ x - r**2], [1.0, 1.0]).x
    >>> np.round(ag.func.jacrev(circle)(np.array(2.0)), 6)
    array([0.707107, 0.707107])
    """

    def run(fun: Any, x0: Any, args: Any, jac: Any, callback: Any) -> Any:
        return _scipy("root")(fun, x0, args, method, jac, tol, callback, options)

    runs = on_values(run, fun, x0, args, jac, callback)
    result = runs.join(runs.results)
    result.x = solution(runs, _first_of(fun, args, jac is True), result.x)
    return result


def _first_of(fun: AnyFunction, args: Any, with_derivative: bool) -> AnyFunction:
    """A function of x alone, without the derivative that it may return, too."""
    more = as_tuple(args)
    return lambda x: fun(x, *more)[0] if with_derivative else fun(x, *more)


@verified("scipy.optimize.root_scalar")
def root_scalar(
    f: AnyFunction,
    args: Any = (),
    method: str | None = None,
    bracket: Any = None,
    fprime: Any = None,
    fprime2: Any = None,
    x0: Any = None,
    x1: Any = None,
    **options: Any,
) -> Any:
    """`scipy.optimize.root_scalar`; `root` of the result has derivatives."""

    def run(f: Any, args: Any, bracket: Any, fprime: Any, fprime2: Any, x0: Any, x1: Any) -> Any:
        more = {"fprime": fprime, "fprime2": fprime2, "x0": x0, "x1": x1}
        return _scipy("root_scalar")(
            f, as_tuple(args), method=method, bracket=bracket, **more, **options
        )

    runs = on_values(run, f, args, bracket, fprime, fprime2, x0, x1)
    result = runs.join(runs.results)
    with_derivative = fprime is True or fprime2 is True
    result.root = solution(runs, _first_of(f, args, with_derivative), result.root)
    return result


def _bracketed(name: str) -> Callable[..., Any]:
    def find(f: AnyFunction, a: Any, b: Any, args: Any = (), *more: Any, **options: Any) -> Any:
        def run(f: Any, a: Any, b: Any, args: Any) -> Any:
            return _scipy(name)(f, a, b, args, *more, **options)

        runs = on_values(run, f, a, b, args)
        result, residual = runs.join(runs.results), _first_of(f, args, False)
        if not isinstance(result, tuple):
            return solution(runs, residual, result)
        x, report = result
        report.root = x = solution(runs, residual, x)
        return x, report

    find.__name__ = find.__qualname__ = name
    find.__doc__ = f"`scipy.optimize.{name}`; the root has derivatives, as an implicit function."
    return verified(f"scipy.optimize.{name}")(find)


bisect = _bracketed("bisect")
brenth = _bracketed("brenth")
brentq = _bracketed("brentq")
ridder = _bracketed("ridder")
toms748 = _bracketed("toms748")


@verified("scipy.optimize.newton")
def newton(
    func: AnyFunction,
    x0: Any,
    fprime: Any = None,
    args: Any = (),
    tol: float = 1.48e-8,
    maxiter: int = 50,
    fprime2: Any = None,
    x1: Any = None,
    rtol: float = 0.0,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """`scipy.optimize.newton`; the roots have derivatives, as implicit functions."""

    def run(func: Any, x0: Any, fprime: Any, args: Any, fprime2: Any, x1: Any) -> Any:
        more = {"rtol": rtol, "full_output": full_output, "disp": disp}
        return _scipy("newton")(func, x0, fprime, args, tol, maxiter, fprime2, x1, **more)

    runs = on_values(run, func, x0, fprime, args, fprime2, x1)
    result, residual = runs.join(runs.results), _first_of(func, args, False)
    if not isinstance(result, tuple):
        return solution(runs, residual, result)
    x = solution(runs, residual, result[0])
    if hasattr(result[1], "root"):
        result[1].root = x
    return type(result)(x, *result[1:]) if hasattr(result, "_fields") else (x, *result[1:])


@verified("scipy.optimize.fsolve")
def fsolve(
    func: AnyFunction, x0: Any, args: Any = (), fprime: Any = None, *more: Any, **options: Any
) -> Any:
    """`scipy.optimize.fsolve`; the roots have derivatives, as implicit functions."""

    def run(func: Any, x0: Any, args: Any, fprime: Any) -> Any:
        return _scipy("fsolve")(func, x0, args, fprime, *more, **options)

    runs = on_values(run, func, x0, args, fprime)
    result, residual = runs.join(runs.results), _first_of(func, args, False)
    if isinstance(result, tuple):
        return solution(runs, residual, result[0]), *result[1:]
    return solution(runs, residual, result)


@verified("scipy.optimize.fixed_point")
def fixed_point(
    func: AnyFunction,
    x0: Any,
    args: Any = (),
    xtol: float = 1e-8,
    maxiter: int = 500,
    method: str = "del2",
) -> Any:
    """`scipy.optimize.fixed_point`; the derivatives are those of the root of ``x - func(x)``."""

    def run(func: Any, x0: Any, args: Any) -> Any:
        return _scipy("fixed_point")(func, x0, args, xtol, maxiter, method)

    runs = on_values(run, func, x0, args)
    more = as_tuple(args)
    return solution(runs, lambda x: x - func(x, *more), runs.join(runs.results))
