"""`root`, `least_squares` and `curve_fit` of functions of any structure of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops
from ..core.array import AnyFunction
from ..func import jacfwd
from .results import Found
from .space import Space, as_vector, is_numbers, solvers
from .uncertainty import fit


def root(
    fun: AnyFunction,
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str = "hybr",
    tol: float | None = None,
    options: dict[str, Any] | None = None,
    callback: AnyFunction | None = None,
    compile: bool = False,
) -> Found:
    """Solve equations in any structure of arrays, by `scipy.optimize.root`.

    Automatic differentiation gives the Jacobian, to the methods that use one: hybr and lm. The
    solution has derivatives by the arrays that `fun` depends on.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args)`` returns any structure with as many numbers as `x` has: they shall be zero.
    x0 : array, number, or nested structure of them
        The starting point. A list of numbers is one array, as for SciPy.
    args : tuple
        More arguments of `fun`, which stay fixed.
    method, tol, options, callback
        Passed on to SciPy.
    compile : bool
        Whether to compile the Jacobian, as `arraygrad.compile` does.

    Returns
    -------
    scipy.optimize.OptimizeResult
        Its `x` has the structure of `x0`.

    Examples
    --------
    >>> import arraygrad as ag
    >>> found = ag.optimize.root(
    ...     lambda at: [at["x"] ** 2 + at["y"] ** 2 - 2.0, at["x"] - at["y"]], {"x": 2.0, "y": 1.0}
    ... )
    >>> round(float(found.x["x"]), 6), round(float(found.x["y"]), 6)
    (1.0, 1.0)
    """
    optimize = solvers()
    space = Space(x0)
    given = {"method": method, "tol": tol, "options": options, "callback": callback}
    given["jac"] = "compiled" if compile else None
    result: Found = optimize.root(space.of_vectors(fun, as_vector), space.start, args, **given)
    result.x = space.restored(result.x)
    return result


def least_squares(
    fun: AnyFunction,
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    lower: Any = None,
    upper: Any = None,
    bounds: Any = None,
    sparse: bool = False,
    compile: bool = False,
    **options: Any,
) -> Found:
    """Fit any structure of arrays by least squares, by `scipy.optimize.least_squares`.

    Automatic differentiation gives the Jacobian. The fit has derivatives by the arrays that `fun`
    depends on.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args)`` returns the residuals, in any structure.
    x0 : array, number, or nested structure of them
        The starting point. A list of numbers is one array, as for SciPy.
    args : tuple
        More arguments of `fun`, which stay fixed.
    lower, upper : number, or structure like that of `x0`, optional
        Bounds. A structure contains numbers or arrays, or None where there is no bound.
    bounds : scipy.optimize.Bounds, or pair of arrays, optional
        Bounds in SciPy's form, in place of `lower` and `upper`.
    sparse : bool
        Whether the Jacobian has few entries other than zero: then it is a sparse array.
    compile : bool
        Whether to compile the Jacobian, as `arraygrad.compile` does.
    **options
        Passed on to SciPy.

    Returns
    -------
    scipy.optimize.OptimizeResult
        Its `x` and `grad` have the structure of `x0`. Its `covariance` is that of the numbers of
        `x`, by the variance of the residuals, and `standard_errors` has the roots of its diagonal
        in the structure of `x0`. They are computed when they are asked for.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> t, y = np.array([0.0, 1.0, 2.0]), np.array([3.0, 1.4, 0.75])
    >>> def misfit(p):
    ...     return p["start"] * np.exp(-p["rate"] * t) - y
    >>> found = ag.optimize.least_squares(misfit, {"start": 1.0, "rate": 1.0})
    >>> round(float(found.x["rate"]), 3), round(float(found.standard_errors["rate"]), 3)
    (0.725, 0.038)
    """
    optimize = solvers()
    if "jac" in options:
        raise TypeError("least_squares() takes no jac: automatic differentiation gives it")
    space = Space(x0)
    if sparse and compile:
        raise ValueError("a sparse Jacobian cannot be compiled: pass sparse or compile")
    if sparse or compile:
        options["jac"] = "sparse" if sparse else "compiled"
    if lower is not None or upper is not None:
        pairs = space.either(lower, upper, bounds)
        bounds = tuple(np.array(side) for side in zip(*pairs, strict=True))
    if bounds is not None:
        options["bounds"] = bounds
    function = space.of_vectors(fun, as_vector)
    result: Found = optimize.least_squares(function, space.start, args=args, **options)

    def derivatives(x: Any) -> tuple[Any, Any]:
        if options.get("loss", "linear") != "linear":
            raise ValueError("the covariance is that of least squares: it is not known with a loss")
        residuals, slopes = function(x, *args), jacfwd(lambda x: function(x, *args))(x)
        variance = ops.sum(residuals**2) / (residuals.size - x.size)
        adjoint = ops.matrix_transpose(slopes)
        return ops.matmul(adjoint, residuals) / variance, ops.matmul(adjoint, slopes) / variance

    result = fit(result, space, derivatives)
    result.grad = space.restored(result.grad)
    return result


def curve_fit(
    f: AnyFunction,
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: bool = False,
    compile: bool = False,
    **options: Any,
) -> tuple[Any, ...]:
    """Fit the parameters of a curve to data, by `scipy.optimize.curve_fit`.

    Automatic differentiation gives the Jacobian. The parameters and their covariance have
    derivatives by the data.

    Parameters
    ----------
    f : callable
        ``f(xdata, *p)`` as in SciPy, if `p0` is None or a list or vector of numbers; else
        ``f(xdata, p)`` with `p` in the structure of `p0`.
    xdata, ydata, sigma, absolute_sigma
        As in SciPy.
    p0 : array, list, or nested structure of arrays and numbers, optional
        The starting point.
    compile : bool
        Whether to compile the Jacobian, as `arraygrad.compile` does.
    **options
        Passed on to SciPy.

    Returns
    -------
    tuple
        As SciPy's: the parameters, in the structure of `p0`, and their covariance.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> t = np.array([0.0, 1.0, 2.0, 3.0])
    >>> popt, pcov = ag.optimize.curve_fit(lambda t, a, b: a * np.exp(-b * t), t, 3 * 0.5**t)
    >>> popt.round(6)
    array([3.      , 0.693147])
    """
    optimize = solvers()
    if "jac" in options:
        raise TypeError("curve_fit() takes no jac: automatic differentiation gives it")
    if compile:
        options["jac"] = "compiled"
    given = xdata, ydata
    if not _is_structure(p0):
        return tuple(optimize.curve_fit(f, *given, p0, sigma, absolute_sigma, **options))
    space = Space(p0)
    of_vector = space.of_vectors(lambda p, x: f(x, p))

    def curve(x: Any, *p: Any) -> Any:
        return of_vector(space.joined(p), x)

    found = optimize.curve_fit(curve, *given, space.start, sigma, absolute_sigma, **options)
    return space.restored(found[0]), *found[1:]


def _is_structure(p0: Any) -> bool:
    """Whether the parameters are not simply a vector, or a number for all of them."""
    if p0 is None or is_numbers(p0):
        return False
    return not (hasattr(p0, "ndim") and p0.ndim < 2) and not isinstance(p0, int | float)
