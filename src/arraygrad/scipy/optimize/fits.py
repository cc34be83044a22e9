"""Least squares: the derivatives of a fit, by data and by whatever else it depends on.

At the fit, the full gradient of the cost is zero, with bounds held that are active. (The method of
Gauss and Newton leaves out the curvature of the residuals. That is fine for finding the fit, but
not for its derivative.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import func, linalg, ops
from ...core.array import AnyFunction, Array
from ..checking import verified
from ..formula import as_array, by_ops
from ..names import scipy_module
from ..twins import floating
from ..values import attach, on_values, refusing
from .minima import minimum


@verified("scipy.optimize.least_squares")
def least_squares(
    fun: AnyFunction,
    x0: Any,
    jac: Any = "2-point",
    bounds: Any = (-np.inf, np.inf),
    method: str = "trf",
    *more: Any,
    loss: Any = "linear",
    f_scale: Any = 1.0,
    args: Any = (),
    kwargs: Any = None,
    **options: Any,
) -> Any:
    """`scipy.optimize.least_squares`; `x`, `fun` and `cost` of the result have derivatives.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> t = np.array([0.0, 1.0, 2.0])
    >>> def rate(y):
    ...     return ag.scipy.optimize.least_squares(lambda k: np.exp(-k * t) - y, [1.0]).x[0]
    >>> np.round(ag.func.grad(rate)(np.exp(-t)), 4) + 0.0
    array([ 0.    , -1.7636, -1.2976])
    """
    scipy = scipy_module("scipy.optimize")
    keywords = {} if kwargs is None else kwargs

    def run(fun: Any, x0: Any, jac: Any, bounds: Any, given: Any) -> Any:
        return scipy.least_squares(fun, x0, jac, bounds, method, *more, **given, **options)

    limits = _pair(bounds, scipy)
    given = {"loss": loss, "f_scale": f_scale, "args": args, "kwargs": keywords}
    runs = on_values(run, fun, x0, jac, limits, given)
    result = runs.join(runs.results)
    if not runs.has_derivatives:
        result.x = runs.as_given(result.x)
        return result

    residuals = by_ops(lambda x: ops.ravel(as_array(fun(x, *args, **keywords))), result.x)

    def cost(x: Any) -> Any:
        return 0.5 * f_scale**2 * ops.sum(rho((residuals(x) / f_scale) ** 2))

    rho = _loss(loss)
    result.x = minimum(cost, result.x, _broadcast(limits, result.x.shape))
    result.fun = attach(result.fun, residuals(result.x))
    result.cost = attach(_array(result.cost), cost(result.x))
    result.grad = attach(result.grad, func.grad(cost)(result.x))
    known = ["x", "fun", "cost", "grad"]
    if isinstance(loss, str) and loss == "linear" and isinstance(result.jac, np.ndarray | Array):
        result.jac, known = attach(result.jac, func.jacfwd(residuals)(result.x)), [*known, "jac"]
    refusing(result, result.x, "least_squares()", known)
    return result


def _array(x: Any) -> Any:
    return x if isinstance(x, Array) else np.asarray(x)


def _pair(bounds: Any, scipy: Any) -> Any:
    return (bounds.lb, bounds.ub) if isinstance(bounds, scipy.Bounds) else bounds


def _broadcast(limits: Any, shape: tuple[int, ...]) -> tuple[Any, Any] | None:
    """Bounds as arrays of the shape of x; None if there are none."""
    low, high = map(as_array, limits)
    if not isinstance(low, Array) and not isinstance(high, Array):
        if np.all(np.isinf(low)) and np.all(np.isinf(high)):
            return None
    return ops.broadcast_to(low, shape), ops.broadcast_to(high, shape)


def _loss(loss: Any) -> AnyFunction:
    """The function ρ of squared residuals."""
    known: dict[str, AnyFunction] = {
        "linear": lambda z: z,
        "soft_l1": lambda z: 2 * (ops.sqrt(1 + z) - 1),
        "huber": lambda z: ops.where(z <= 1, z, 2 * ops.sqrt(ops.where(z <= 1, 1.0, z)) - 1),
        "cauchy": ops.log1p,
        "arctan": ops.atan,
    }
    if callable(loss):
        return lambda z: loss(z)[0]
    return known[loss]


@verified("scipy.optimize.curve_fit")
def curve_fit(
    f: AnyFunction,
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: bool = False,
    check_finite: bool | None = None,
    bounds: Any = (-np.inf, np.inf),
    method: str | None = None,
    jac: Any = None,
    *,
    full_output: bool = False,
    nan_policy: str | None = None,
    **kwargs: Any,
) -> Any:
    """`scipy.optimize.curve_fit`; the parameters and their covariance have derivatives.

    They are functions of `xdata`, `ydata`, `sigma`, of the bounds that are active, and of the
    arrays that `f` closes over.
    """
    scipy = scipy_module("scipy.optimize")

    def run(f: Any, xdata: Any, ydata: Any, p0: Any, sigma: Any, bounds: Any, jac: Any) -> Any:
        return scipy.curve_fit(
            f,
            xdata,
            ydata,
            p0,
            sigma,
            absolute_sigma,
            check_finite,
            bounds,
            method,
            jac,
            full_output=full_output,
            nan_policy=nan_policy,
            **kwargs,
        )

    limits = _pair(bounds, scipy)
    runs = on_values(run, f, xdata, ydata, p0, sigma, limits, jac)
    popt, pcov, *rest = runs.join(runs.results)
    if not runs.has_derivatives:
        return runs.as_given(popt), runs.as_given(pcov), *rest
    if nan_policy == "omit":
        raise ValueError(
            "curve_fit: with nan_policy='omit', the fit has no derivatives: leave out the points "
            "that are NaN first"
        )

    # As SciPy does: what is not an array stays what it is.
    x = floating(xdata) if isinstance(xdata, list | tuple | np.ndarray | Array) else xdata

    def weighted(p: Any) -> Any:
        errors = ops.ravel(as_array(f(x, *p)) - as_array(ydata))
        if sigma is None:
            return errors
        weights = as_array(sigma)
        if weights.ndim < 2:
            return errors / weights
        return linalg.solve(linalg.cholesky(weights), errors)

    residuals = by_ops(weighted, popt)
    loss, scale = kwargs.get("loss", "linear"), kwargs.get("f_scale", 1.0)
    rho = _loss(loss)

    def cost(p: Any) -> Any:
        return 0.5 * scale**2 * ops.sum(rho((residuals(p) / scale) ** 2))

    p = minimum(cost, popt, _broadcast(limits, popt.shape))
    if loss != "linear":  # SciPy's covariance is that of weighted residuals
        found = {"the covariance": pcov}
        refusing(found, p, "curve_fit(loss=...)", ())
        return p, found["the covariance"], *rest
    jacobian: Any = func.jacfwd(residuals)(p)
    covariance = linalg.inv(ops.matmul(ops.matrix_transpose(jacobian), jacobian))
    if not absolute_sigma:
        errors = residuals(p)
        covariance = covariance * (ops.sum(errors**2) / (errors.size - p.size))
    return p, attach(pcov, covariance), *rest


@verified("scipy.optimize.lsq_linear")
def lsq_linear(A: Any, b: Any, bounds: Any = (-np.inf, np.inf), *more: Any, **options: Any) -> Any:
    """`scipy.optimize.lsq_linear`; `x`, `fun` and `cost` have derivatives by `A`, `b`, `bounds`."""
    scipy = scipy_module("scipy.optimize")
    limits = _pair(bounds, scipy)
    runs = on_values(
        lambda A, b, bounds: scipy.lsq_linear(A, b, bounds, *more, **options),
        A,
        b,
        limits,
    )
    result = runs.join(runs.results)
    if not runs.has_derivatives:
        result.x = runs.as_given(result.x)
        return result
    matrix, right = _matrix(A, "lsq_linear"), as_array(b)

    def residuals(x: Any) -> Any:
        return ops.matmul(matrix, x) - right

    def cost(x: Any) -> Any:
        return 0.5 * ops.sum(residuals(x) ** 2)

    result.x = minimum(cost, result.x, _broadcast(limits, result.x.shape))
    result.fun = attach(result.fun, residuals(result.x))
    result.cost = attach(_array(result.cost), cost(result.x))
    refusing(result, result.x, "lsq_linear()", ("x", "fun", "cost"))
    return result


def _matrix(matrix: Any, name: str) -> Any:
    if hasattr(matrix, "toarray"):
        return matrix.toarray()
    if hasattr(matrix, "matvec"):
        raise TypeError(
            f"{name}: a LinearOperator hides its matrix, so the solution has no derivatives: pass "
            "an array or a sparse array"
        )
    return as_array(matrix)


@verified("scipy.optimize.nnls")
def nnls(A: Any, b: Any, *more: Any, **options: Any) -> Any:
    """`scipy.optimize.nnls`; the solution and the norm of the residual have derivatives."""
    scipy = scipy_module("scipy.optimize")
    runs = on_values(lambda A, b: scipy.nnls(A, b, *more, **options), A, b)
    x, norm = runs.join(runs.results)
    if not runs.has_derivatives:
        return runs.as_given(x), norm
    matrix, right = as_array(A), as_array(b)

    def residuals(x: Any) -> Any:
        return ops.matmul(matrix, x) - right

    bounds = np.zeros(x.shape), np.full(x.shape, np.inf)
    x = minimum(lambda x: 0.5 * ops.sum(residuals(x) ** 2), x, bounds)
    return x, attach(_array(norm), linalg.vector_norm(residuals(x)))
