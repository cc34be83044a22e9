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
from ..formula import as_array, by_ops
from ..solving import solver
from ..twins import floating
from ..values import Ragged, attach, refusing
from .exact import SCIPY, curve_fitted, first_of, fitted
from .minima import minimum

__all__ = ["curve_fit", "isotonic_regression", "least_squares", "leastsq", "lsq_linear", "nnls"]


@solver(SCIPY.least_squares, fitted)
def least_squares(
    runs: Any,
    result: Any,
    fun: Any,
    bounds: Any,
    loss: Any,
    f_scale: Any,
    args: Any,
    kwargs: Any,
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
    keywords = {} if kwargs is None else kwargs
    residuals = by_ops(lambda x: ops.ravel(as_array(fun(x, *args, **keywords))), result.x)

    def cost(x: Any) -> Any:
        return 0.5 * f_scale**2 * ops.sum(rho((residuals(x) / f_scale) ** 2))

    rho = _loss(loss)
    result.x = minimum(cost, result.x, _broadcast(bounds, result.x.shape))
    result.fun = attach(result.fun, residuals(result.x))
    result.cost = attach(_array(result.cost), cost(result.x))
    result.grad = attach(result.grad, func.grad(cost)(result.x))
    known = ["x", "fun", "cost", "grad"]
    if isinstance(loss, str) and loss == "linear" and isinstance(result.jac, np.ndarray | Array):
        result.jac, known = attach(result.jac, func.jacfwd(residuals)(result.x)), [*known, "jac"]
    refusing(result, result.x, "least_squares()", known)
    return result


@solver(SCIPY.leastsq)
def leastsq(runs: Any, result: Any, func: Any, args: Any) -> Any:
    """`scipy.optimize.leastsq`; the solution has derivatives."""
    residuals = by_ops(lambda x: ops.ravel(as_array(first_of(func, args)(x))), result[0])
    x = minimum(lambda x: 0.5 * ops.sum(residuals(x) ** 2), result[0], None)
    names = ("cov_x", "infodict", "mesg") if len(result) > 2 else ()
    rest = dict(zip((*names, "ier"), result[1:], strict=True))
    refusing(rest, x, "leastsq()", ())
    return x, *rest.values()


def _array(x: Any) -> Any:
    return x if isinstance(x, Array) else np.asarray(x)


def _broadcast(bounds: Any, shape: tuple[int, ...]) -> tuple[Any, Any] | None:
    """Bounds as arrays of the shape of x; None if there are none."""
    limits = (bounds.lb, bounds.ub) if isinstance(bounds, SCIPY.Bounds) else bounds
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


@solver(SCIPY.curve_fit, curve_fitted)
def curve_fit(
    runs: Any,
    result: Any,
    f: Any,
    xdata: Any,
    ydata: Any,
    sigma: Any,
    absolute_sigma: bool,
    bounds: Any,
    nan_policy: str | None,
    **options: Any,
) -> Any:
    """`scipy.optimize.curve_fit`; the parameters and their covariance have derivatives.

    They are functions of `xdata`, `ydata`, `sigma`, of the bounds that are active, and of the
    arrays that `f` closes over.
    """
    popt, pcov, *rest = result
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
    loss, scale = options.get("loss", "linear"), options.get("f_scale", 1.0)
    rho = _loss(loss)

    def cost(p: Any) -> Any:
        return 0.5 * scale**2 * ops.sum(rho((residuals(p) / scale) ** 2))

    p = minimum(cost, popt, _broadcast(bounds, popt.shape))
    for infodict in rest[:1]:
        refusing(infodict, p, "infodict", ())
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


@solver(SCIPY.lsq_linear)
def lsq_linear(runs: Any, result: Any, A: Any, b: Any, bounds: Any) -> Any:
    """`scipy.optimize.lsq_linear`; `x`, `fun` and `cost` have derivatives by `A`, `b`, `bounds`."""
    matrix, right = _matrix(A, "lsq_linear"), as_array(b)

    def residuals(x: Any) -> Any:
        return ops.matmul(matrix, x) - right

    def cost(x: Any) -> Any:
        return 0.5 * ops.sum(residuals(x) ** 2)

    result.x = minimum(cost, result.x, _broadcast(bounds, result.x.shape))
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


@solver(SCIPY.nnls)
def nnls(runs: Any, result: Any, A: Any, b: Any) -> Any:
    """`scipy.optimize.nnls`; the solution and the norm of the residual have derivatives."""
    x, norm = result
    matrix, right = as_array(A), as_array(b)

    def residuals(x: Any) -> Any:
        return ops.matmul(matrix, x) - right

    bounds = np.zeros(x.shape), np.full(x.shape, np.inf)
    x = minimum(lambda x: 0.5 * ops.sum(residuals(x) ** 2), x, bounds)
    return x, attach(_array(norm), linalg.vector_norm(residuals(x)))


@solver(SCIPY.isotonic_regression)
def isotonic_regression(runs: Any, result: Any, y: Any, weights: Any) -> Any:
    """`scipy.optimize.isotonic_regression`; `x` and `weights` have derivatives.

    The solution is the mean of each block, and smooth until the blocks change.
    """
    y = as_array(y)
    w = ops.ones_like(y) if weights is None else as_array(weights)
    blocks = [np.repeat(np.arange(len(f.weights)), np.diff(f.blocks)) for f in runs.results]
    same = runs.join([1.0 * (own[:, None] == own) for own in blocks])
    sums = ops.matmul(same, w)
    result.x = attach(_array(result.x), ops.matmul(same, w * y) / sums)
    first = runs.join([found.blocks[:-1] for found in runs.results])
    if isinstance(first, Ragged):
        result.weights = list(result.weights)
        refusing(result, result.x, "isotonic_regression()", ("x",))
    else:
        result.weights = attach(_array(result.weights), ops.take(sums, first, axis=0))
    return result
