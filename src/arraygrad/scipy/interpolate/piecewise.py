"""Piecewise polynomials whose coefficients, break points and arguments can be tensors.

Which piece a point belongs to is decided by the values.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.array import AnyFunction, plain
from ...ops import (
    concat,
    cumulative_sum,
    expand_dims,
    floor,
    greater,
    less,
    logical_or,
    moveaxis,
    permute_dims,
    reshape,
    searchsorted,
    stack,
    take,
    where,
)
from ..names import scipy_module
from ..twins import Extended, any_arrays, array_like, double, has_arrays, has_values

__all__ = ["CubicHermiteSpline", "PPoly"]

SCIPY = scipy_module("scipy.interpolate")


def piece(breaks: Any, x: Any) -> Any:
    """The number of the interval between break points that each element of `x` belongs to."""
    inner = breaks[1:-1]
    if not inner.shape[0]:
        return searchsorted(breaks[:1], x, side="right") * 0
    return searchsorted(inner, x, side="right")


def taken(x: Any, index: Any) -> Any:
    """The elements along the first axis at indices of any shape."""
    flat = take(x, reshape(index, (-1,)), axis=0)
    return reshape(flat, (*index.shape, *x.shape[1:]))


def wide(x: Any, ndim: int) -> Any:
    """A vector, with axes of length one after it."""
    return reshape(x, (*x.shape, *(1,) * ndim))


def outside(breaks: Any, x: Any) -> Any:
    """Whether elements are outside of all intervals."""
    return logical_or(less(x, breaks[0]), greater(x, breaks[-1]))


def wrapped(breaks: Any, x: Any) -> Any:
    """The arguments of a periodic function, in the first period."""
    period = breaks[-1] - breaks[0]
    return x - period * floor((x - breaks[0]) / period)


def arranged(out: Any, x_ndim: int, axis: int) -> Any:
    """The axes of the result: those of `x` take the place of the interpolated axis."""
    if not axis:
        return out
    order = list(range(out.ndim))
    return permute_dims(
        out, order[x_ndim : x_ndim + axis] + order[:x_ndim] + order[x_ndim + axis :]
    )


def along(y: Any, axis: int) -> tuple[Any, int]:
    """An array with the interpolated axis in front, and the number of this axis."""
    y = double(y)
    axis = axis % y.ndim
    return moveaxis(y, axis, 0), axis


class TensorPPoly:
    """A piecewise polynomial: on interval `i`, the sum of ``c[k, i] (x - x[i])**(n - k)``.

    As SciPy's class of the same name, for tensors.
    """

    def __init__(self, c: Any, x: Any, extrapolate: Any = None, axis: int = 0) -> None:
        self.c, self.x, self.axis = double(c), double(x), axis
        check_rising(self.x, "the break points of tensors")
        self.extrapolate = True if extrapolate is None else extrapolate

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """The values at `x`, or of the derivative of order `nu`."""
        x = double(x)
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        at = wrapped(self.x, x) if extrapolate == "periodic" else x
        index = piece(self.x, at)
        trail = self.c.ndim - 2
        step = wide(at - taken(self.x, index), trail)
        order = self.c.shape[0]
        parts = take(self.c, reshape(index, (-1,)), axis=1)
        parts = reshape(parts, (order, *index.shape, *self.c.shape[2:]))
        out: Any = None
        for k in range(order - nu):
            power = order - 1 - k
            part = parts[k]
            if nu:
                part = part * math.perm(power, nu)
            out = part if out is None else out * step + part
        if out is None:
            out = parts[0] * 0
        if not extrapolate:
            out = where(wide(outside(self.x, x), trail), math.nan, out)
        return arranged(out, x.ndim, self.axis)

    def derivative(self, nu: int = 1) -> TensorPPoly:
        """The derivative of order `nu`, as a piecewise polynomial."""
        if nu < 0:
            return self.antiderivative(-nu)
        order = self.c.shape[0]
        if order <= nu:
            c = self.c[:1] * 0
        else:
            factors = np.array([math.perm(order - 1 - k, nu) for k in range(order - nu)], float)
            c = self.c[: order - nu] * wide(factors, self.c.ndim - 1)
        return TensorPPoly(c, self.x, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> TensorPPoly:
        """The integral of order `nu` from the first break point, as a piecewise polynomial."""
        if nu <= 0:
            return self.derivative(-nu)
        result = self
        for _ in range(nu):
            order = result.c.shape[0]
            factors = 1 / np.arange(order, 0, -1.0)
            c = result.c * wide(factors, self.c.ndim - 1)
            step = wide(self.x[1:] - self.x[:-1], self.c.ndim - 2)
            total: Any = 0.0
            for k in range(order):
                total = (total + c[k]) * step
            before = cumulative_sum(total, axis=0)[:-1]
            constant = concat((total[:1] * 0, before), axis=0)
            c = concat((c, expand_dims(constant, axis=0)), axis=0)
            result = TensorPPoly(c, self.x, result.extrapolate, self.axis)
        return result

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """The integral from `a` to `b`."""
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        primitive = TensorPPoly(self.antiderivative().c, self.x, extrapolate is not False, 0)
        if extrapolate == "periodic":
            whole = primitive(self.x[-1])
            period = self.x[-1] - self.x[0]

            def up_to(x: Any) -> Any:
                return primitive(wrapped(self.x, x)) + whole * floor((x - self.x[0]) / period)

            return up_to(double(b)) - up_to(double(a))
        a, b = double(a), double(b)
        out = primitive(b) - primitive(a)
        if extrapolate is False:
            out = where(logical_or(outside(self.x, a), outside(self.x, b)), math.nan, out)
        return out


def _ours(spline: Any) -> TensorPPoly:
    return TensorPPoly(spline.c, spline.x, spline.extrapolate, spline.axis)


def twin_class(original: Any, make: AnyFunction, ours: AnyFunction = _ours) -> Any:
    """A class of splines of SciPy that also takes tensors.

    Made of plain arrays, an object is SciPy's, and `ours` makes it one for tensors. Made of
    tensors, it is what `make` returns.
    """

    class Twin(original, metaclass=Extended):  # type: ignore[misc]
        """SciPy's class, which can also be called with tensors."""

        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            if any_arrays(args, kwargs):
                return make(*args, **kwargs)
            return super().__new__(cls)

        def __call__(self, x: Any, *args: Any, **kwargs: Any) -> Any:
            if has_arrays((x,)):
                return ours(self)(x, *args, **kwargs)
            return super().__call__(x, *args, **kwargs)

        def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
            if has_arrays((a, b)):
                return ours(self).integrate(a, b, extrapolate)
            return super().integrate(a, b, extrapolate)

    Twin.__name__ = Twin.__qualname__ = original.__name__
    Twin.__module__ = make.__module__  # where pickle finds it
    return Twin


PPoly = twin_class(SCIPY.PPoly, TensorPPoly)

# --- by values and slopes ------------------------------------------------------------------------


def hermite(x: Any, y: Any, slopes: Any, extrapolate: Any, axis: int) -> TensorPPoly:
    """The cubic pieces with given values and slopes at the nodes, in the first axis."""
    dx = wide(x[1:] - x[:-1], y.ndim - 1)
    mean = (y[1:] - y[:-1]) / dx
    excess = (slopes[:-1] + slopes[1:] - 2 * mean) / dx
    c = stack((excess / dx, (mean - slopes[:-1]) / dx - excess, slopes[:-1], y[:-1]))
    return TensorPPoly(c, x, extrapolate, axis)


def check_rising(x: Any, name: str, strictly: bool = True) -> None:
    """Raise if nodes, or knots, do not rise."""
    steps = np.diff(plain(x), axis=-1)
    if not (steps > 0 if strictly else steps >= 0).all():
        kind = "strictly increasing" if strictly else "non-decreasing"
        raise ValueError(f"{name} must be a {kind} sequence.")


def nodes_and_values(
    x: Any, y: Any, axis: int, name: str, least: int = 2, strictly: bool = True
) -> tuple[Any, Any, int]:
    """Checked nodes, and values with the interpolated axis in front."""
    x = double(x)
    y, axis = along(array_like(y), axis)
    if x.ndim != 1 or x.shape[0] != y.shape[0] or x.shape[0] < least:
        raise ValueError(
            f"{name}: x must be a vector of {least} or more nodes, as many as y has along the "
            f"axis; got {tuple(x.shape)} and {tuple(y.shape)}"
        )
    check_rising(x, f"{name}: x", strictly)
    for array, what in ((x, "x"), (y, "y")):
        if has_values(array) and not np.isfinite(plain(array)).all():
            raise ValueError(f"{name}: {what} must contain only finite values.")
    return x, y, axis


def _cubic_hermite(
    x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None
) -> TensorPPoly:
    x, y, place = nodes_and_values(x, y, axis, "CubicHermiteSpline")
    slopes, _ = along(array_like(dydx), axis)
    return hermite(x, y, slopes, extrapolate, place)


CubicHermiteSpline = twin_class(SCIPY.CubicHermiteSpline, _cubic_hermite)
