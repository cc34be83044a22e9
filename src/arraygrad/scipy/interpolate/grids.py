"""Interpolation on a line and on regular grids: `interp1d` and `RegularGridInterpolator`."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arrays.creation import asarray
from ...arrays.tensor import Tensor
from ...core.array import plain
from ...func import vmap
from ...ops import (
    clip,
    expand_dims,
    flip,
    greater,
    less,
    logical_or,
    moveaxis,
    reshape,
    searchsorted,
    stack,
    take,
    where,
)
from ..twins import (
    array_like,
    double,
    floating,
    in_precision_of,
    twin,
)
from .also_of_tensors import AlsoOfTensors
from .bsplines import basis, make_interp_spline
from .cubic import PchipInterpolator
from .piecewise import SCIPY, TensorPPoly, along, arranged, check_rising, outside, taken, wide

__all__ = ["RegularGridInterpolator", "interp1d", "interpn"]

# --- one dimension -------------------------------------------------------------------------------

_OF_ONE_NODE = ("nearest", "nearest-up", "previous", "next")
_DEGREES = {"zero": 0, "slinear": 1, "quadratic": 2, "cubic": 3}


class _TensorInterp1d:
    """`interp1d` of tensors."""

    def __init__(
        self,
        x: Any,
        y: Any,
        kind: Any = "linear",
        axis: int = -1,
        copy: bool = True,
        bounds_error: bool | None = None,
        fill_value: Any = math.nan,
        assume_sorted: bool = False,
    ) -> None:
        x, y = floating(x), floating(y)
        self._made_of = x, y
        y, self.axis = along(y, axis)
        if x.ndim != 1 or x.shape[0] != y.shape[0]:
            raise ValueError("x and y arrays must be equal in length along interpolation axis.")
        if not assume_sorted:
            order = np.argsort(plain(x), axis=-1, kind="mergesort")
            if order.ndim > 1 and (order != np.arange(order.shape[-1])).any():
                raise NotImplementedError("the nodes of a batch must be in ascending order")
            if order.ndim == 1 and (np.diff(order) < 0).any():
                x, y = take(x, order, axis=0), take(y, order, axis=0)
        self.x, self.y, self.kind = x, y, kind
        self._extrapolates = isinstance(fill_value, str) and fill_value == "extrapolate"
        self.bounds_error = not self._extrapolates if bounds_error is None else bounds_error
        self.fill_value = fill_value
        self._curve = self._made()

    def _made(self) -> Any:
        x, y, kind = self.x, self.y, self.kind
        if kind in ("linear", "slinear"):
            slope = (y[1:] - y[:-1]) / wide(x[1:] - x[:-1], y.ndim - 1)
            return TensorPPoly(stack((slope, y[:-1])), x)
        if kind in _OF_ONE_NODE:
            return self._chosen
        degree = _DEGREES.get(kind, kind)
        if not isinstance(degree, int):
            raise NotImplementedError(
                f"{kind} is unsupported: Use fitpack routines for other types."
            )
        if degree == 0:
            return self._chosen
        return make_interp_spline(x, y, k=degree)

    def _chosen(self, at: Any) -> Any:
        x, kind = self.x, self.kind
        count = x.shape[0]
        if kind in ("nearest", "nearest-up"):
            middle = (x[1:] + x[:-1]) * 0.5
            side = "left" if kind == "nearest" else "right"
            index = searchsorted(middle, at, side=side)
        elif kind == "next":
            index = clip(searchsorted(x, at, side="left"), 0, count - 1)
        else:
            index = clip(searchsorted(x, at, side="right") - 1, 0, count - 1)
        return taken(self.y, index)

    def __call__(self, x: Any) -> Any:
        """The values at `x`."""
        at = floating(x)
        out = self._curve(at)
        if self._extrapolates:  # beyond the nodes, there is none before, or after
            if self.kind == "previous":
                out = where(wide(self._below(at), self.y.ndim - 1), math.nan, out)
            elif self.kind == "next":
                out = where(wide(self._above(at), self.y.ndim - 1), math.nan, out)
        else:
            beyond = outside(self.x, at)
            if self.bounds_error and plain(beyond).any():
                raise ValueError("A value in x_new is outside of the interpolation range.")
            out = self._filled(out, at)
        if self.kind in _OF_ONE_NODE:
            out = in_precision_of(out, self._made_of[1])
        elif self.kind == "linear":  # others are splines, which have double precision
            out = in_precision_of(out, at, *self._made_of)
        return arranged(out, at.ndim, self.axis)

    def _filled(self, out: Any, at: Any) -> Any:
        ends = self.fill_value if isinstance(self.fill_value, tuple) else (self.fill_value,) * 2
        below, above = (wide(c(at), self.y.ndim - 1) for c in (self._below, self._above))
        out = where(below, array_like(ends[0]), out)
        return where(above, array_like(ends[1]), out)

    def _below(self, at: Any) -> Any:
        return less(at, self.x[0])

    def _above(self, at: Any) -> Any:
        return greater(at, self.x[-1])


class interp1d(AlsoOfTensors, SCIPY.interp1d):  # type: ignore[misc]  # noqa: N801  (SciPy's name)
    """SciPy's class, which can also be made of tensors and called with tensors."""

    of_tensors = _TensorInterp1d


# --- regular grids -------------------------------------------------------------------------------


def as_rows(args: tuple[Any, ...], dimension: int) -> Any:
    """Points with their components in the last axis: one array, or one for each component."""
    if len(args) == 1 and isinstance(args[0], tuple):
        args = args[0]
    if len(args) == 1:
        x = floating(args[0])
        if x.ndim == 1:
            x = reshape(x, (-1, 1) if dimension == 1 else (1, -1))
    else:
        parts = [floating(a) for a in args]
        shape = np.broadcast_shapes(*(tuple(p.shape) for p in parts))
        x = stack([p + np.zeros(shape) for p in parts], axis=-1)
    if x.shape[-1] != dimension:
        raise ValueError(
            f"number of dimensions in xi ({x.shape[-1]}) does not match that of the points "
            f"({dimension})"
        )
    return x


_SPLINES = {"slinear": 1, "cubic": 3, "quintic": 5}  # and their degrees


class _TensorGrid:
    """`RegularGridInterpolator` of tensors."""

    def __init__(
        self,
        points: Any,
        values: Any,
        method: str = "linear",
        bounds_error: bool = True,
        fill_value: Any = math.nan,
        *,
        solver: Any = None,  # this and its arguments are not needed: the equations are sparse
        solver_args: Any = None,
    ) -> None:
        grid, values = [floating(p) for p in points], floating(values)
        for axis, nodes in enumerate(grid):
            if axis >= values.ndim or values.shape[axis] != nodes.shape[0]:
                raise ValueError(
                    f"There are {nodes.shape[0]} points in dimension {axis} of values of the shape "
                    f"{tuple(values.shape)}"
                )
            if (np.diff(plain(nodes), axis=-1) < 0).all() and nodes.shape[0] > 1:
                grid[axis], values = flip(nodes, axis=0), flip(values, axis=axis)
            check_rising(grid[axis], f"The points in dimension {axis}, or their reverse,")
        self.grid, self.values, self.method = tuple(grid), values, method
        self.bounds_error, self.fill_value = bounds_error, fill_value

    def __call__(self, xi: Any, method: str | None = None, *, nu: Any = None) -> Any:
        """The values at points, which are in the last axis of `xi`; derivatives for `nu` > 0."""
        method = self.method if method is None else method
        if method not in (*_SPLINES, "linear", "nearest", "pchip"):
            raise ValueError(f"Method {method!r} is not defined")
        if nu is not None and method not in _SPLINES:
            raise ValueError(f"Can only compute derivatives for methods {list(_SPLINES)}")
        count = len(self.grid)
        xi = as_rows((xi,), count)
        trail = self.values.shape[count:]
        at = [xi[..., k] for k in range(count)]
        beyond = functools.reduce(logical_or, map(outside, self.grid, at))
        if self.bounds_error and plain(beyond).any():
            raise ValueError("One of the requested xi is out of bounds")
        total = (
            self._pchip(xi) if method == "pchip" else self._product(at, method, nu or (0,) * count)
        )
        if not self.bounds_error and self.fill_value is not None:
            total = where(wide(beyond, len(trail)), array_like(self.fill_value), total)
        return total

    def _product(self, at: list[Any], method: str, orders: Sequence[int]) -> Any:
        """The values by the functions along each axis that are not zero at a point."""
        factors = list(map(_shares, self.grid, at))
        if method == "nearest":
            nearest = [first + (shares[..., 1:] > 0.5).sum(-1) for first, shares in factors]
            return self.values[tuple(nearest)]
        degree = _SPLINES.get(method, 1)
        if degree == 1 and not any(orders):
            return tensor_product(double(self.values), factors)
        elements, factors = self.values, []
        for axis, (nodes, x) in enumerate(zip(self.grid, at, strict=True)):
            spline = make_interp_spline(nodes, moveaxis(elements, axis, 0), degree)
            spline = spline.derivative(orders[axis])
            elements = moveaxis(spline.c, 0, axis)
            factors.append(basis(double(spline.t), double(x), spline.k))
        return tensor_product(elements, factors)

    def _pchip(self, xi: Any) -> Any:
        """The values point by point: along the last axis, then along the one before."""

        def at_point(x: Any) -> Any:
            out = self.values
            for k in reversed(range(len(self.grid))):
                out = PchipInterpolator(self.grid[k], out, axis=k)(x[k])
            return out

        rows = vmap(at_point)(reshape(xi, (-1, xi.shape[-1])))
        rows = asarray(rows) if isinstance(self.values, Tensor) else rows
        rows = in_precision_of(rows, self.values)
        return reshape(rows, (*xi.shape[:-1], *rows.shape[1:]))


def _shares(nodes: Any, x: Any) -> tuple[Any, Any]:
    """The first of the two nodes around each point, and the shares of both, or of a single one."""
    count = nodes.shape[0]
    if count == 1:
        return searchsorted(nodes, x) * 0, expand_dims(x * 0 + 1, axis=-1)
    index = clip(searchsorted(nodes, x, side="right") - 1, 0, count - 2)
    low, high = taken(nodes, index), taken(nodes, index + 1)
    share = (x - low) / (high - low)
    return index, stack((1 - share, share), axis=-1)


def tensor_product(elements: Any, factors: Sequence[tuple[Any, Any]]) -> Any:
    """The sum of elements around each point, times the products of factors along the axes.

    For each axis, `factors` has the first place that a point depends on, and the factors of this
    and the next places, in the last axis.
    """
    count = len(factors)
    sizes, trail = elements.shape[:count], elements.shape[count:]
    strides = [math.prod(sizes[k + 1 :]) for k in range(count)]
    flat = reshape(elements, (math.prod(sizes), *trail))
    total: Any = 0.0
    for corner in itertools.product(*(range(shares.shape[-1]) for _, shares in factors)):
        place = sum((f + i) * n for (f, _), i, n in zip(factors, corner, strides, strict=True))
        weight: Any = 1.0
        for (_, shares), i in zip(factors, corner, strict=True):
            weight = weight * shares[..., i]
        total = total + wide(weight, len(trail)) * taken(flat, place)
    return total


class RegularGridInterpolator(AlsoOfTensors, SCIPY.RegularGridInterpolator):  # type: ignore[misc]
    """SciPy's class, which can also be made of tensors and called with tensors."""

    of_tensors = _TensorGrid

    def again(self) -> Any:
        """The same object, for tensors; SciPy does not copy the values."""
        return _TensorGrid(self.grid, self.values, self.method, self.bounds_error, self.fill_value)


@twin(SCIPY.interpn)
def interpn(
    points: Any, values: Any, xi: Any, method: str, bounds_error: bool, fill_value: Any
) -> Any:
    """The interpolation on a grid, by the values, the points and the nodes."""
    if method == "splinef2d":
        if len(points) != 2 or np.ndim(values) != 2 or fill_value is None:
            raise ValueError("splinef2d interpolates values on two axes, and not outside of them")
        spline = _TensorGrid(points, values, "cubic", bounds_error, fill_value)
        return in_precision_of(spline(xi), as_rows((xi,), 2))
    return _TensorGrid(points, values, method, bounds_error, fill_value)(xi)
