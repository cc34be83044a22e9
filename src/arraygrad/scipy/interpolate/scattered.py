"""Interpolation between scattered points: linear in triangles, or the nearest point.

Which triangle, or which point, is decided by the values.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import linalg
from ...core.array import plain
from ...core.kinds import Opaque
from ...ops import all as all_of
from ...ops import (
    concat,
    expand_dims,
    greater,
    greater_equal,
    is_complex,
    matrix_transpose,
    max,
    maximum,
    min,
    reshape,
    stack,
    sum,
    where,
)
from ...ops.define.library import constant
from ..names import scipy_module
from ..twins import array_like, by_scipy, double, floating, refuse, twin
from .also_of_tensors import AlsoOfTensors
from .grids import as_rows, interp1d
from .piecewise import SCIPY, taken, wide

__all__ = ["LinearNDInterpolator", "NearestNDInterpolator", "griddata"]


def _corners_of(points: Any, xi: Any) -> Any:
    """The numbers of the corners of the triangle that each point is in; -1 outside."""
    mesh = scipy_module("scipy.spatial").Delaunay(points)
    found = mesh.find_simplex(xi)
    return np.where(found[:, None] < 0, -1, mesh.simplices[found]).astype(np.int64)


def _nearest_of(points: Any, xi: Any) -> Any:
    return scipy_module("scipy.spatial").cKDTree(points).query(xi)[1].astype(np.int64)


_corners = constant(
    "scipy.interpolate.corners", "points", "xi", kind=Opaque(), compute=by_scipy(_corners_of)
)
_nearest = constant(
    "scipy.interpolate.nearest", "points", "xi", kind=Opaque(), compute=by_scipy(_nearest_of)
)


def _rescaled(points: Any, xi: Any) -> tuple[Any, Any]:
    """Points that fill a unit cube, in which distances are compared, and others with them."""
    low = min(points, axis=0)
    size = max(points, axis=0) - low
    size = where(greater(size, 0), size, 1.0)
    return (points - low) / size, (xi - low) / size


class _TensorLinear:
    """`LinearNDInterpolator` of tensors."""

    def __init__(
        self, points: Any, values: Any, fill_value: Any = math.nan, rescale: bool = False
    ) -> None:
        self.rescale = bool(rescale)
        self.points, self.values = _mesh_points(points), floating(values)
        self.fill_value = fill_value

    def __call__(self, *args: Any) -> Any:
        """The values at points."""
        d = self.points.shape[-1]
        xi = as_rows(args, d)
        flat = reshape(xi, (-1, d))
        places = _corners(*(_rescaled(self.points, flat) if self.rescale else (self.points, flat)))
        inside = all_of(greater_equal(places, 0), axis=-1)
        places = maximum(places, 0)
        corners = taken(self.points, places)
        last = corners[:, -1, :]
        edges = matrix_transpose(corners[:, :-1, :] - expand_dims(last, axis=-2))
        # Outside, all corners are the same point: any matrix will do.
        edges = where(reshape(inside, (-1, 1, 1)), edges, np.eye(d))
        shares = linalg.solve(edges, expand_dims(flat - last, axis=-1))[..., 0]
        shares = concat((shares, 1 - sum(shares, axis=-1, keepdims=True)), axis=-1)
        trail = self.values.ndim - 1
        out = sum(wide(shares, trail) * taken(self.values, places), axis=1)
        out = where(wide(inside, trail), out, array_like(self.fill_value))
        return reshape(out, (*xi.shape[:-1], *self.values.shape[1:]))


class _TensorNearest:
    """`NearestNDInterpolator` of tensors."""

    def __init__(self, x: Any, y: Any, rescale: bool = False, tree_options: Any = None) -> None:
        self.rescale = bool(rescale)
        refuse("NearestNDInterpolator", tree_options=(tree_options, None))
        # SciPy has real values in double precision, and complex ones as they are.
        self.points, values = _mesh_points(x), floating(y)
        self.values = values if is_complex(values) else double(values)

    def __call__(self, *args: Any) -> Any:
        """The values at points."""
        d = self.points.shape[-1]
        xi = as_rows(args, d)
        flat = reshape(xi, (-1, d))
        places = _nearest(*(_rescaled(self.points, flat) if self.rescale else (self.points, flat)))
        out = taken(self.values, places)
        return reshape(out, (*xi.shape[:-1], *self.values.shape[1:]))


def _mesh_points(points: Any) -> Any:
    if hasattr(points, "simplices"):  # a Delaunay triangulation
        return points.points
    if isinstance(points, tuple):
        return stack([floating(p) for p in points], axis=-1)
    points = floating(points)
    return expand_dims(points, axis=-1) if points.ndim == 1 else points


class LinearNDInterpolator(AlsoOfTensors, SCIPY.LinearNDInterpolator):  # type: ignore[misc]
    """SciPy's class, which can also be made of tensors and called with tensors."""

    of_tensors = _TensorLinear


class NearestNDInterpolator(AlsoOfTensors, SCIPY.NearestNDInterpolator):  # type: ignore[misc]
    """SciPy's class, which can also be made of tensors and called with tensors."""

    of_tensors = _TensorNearest


@twin(SCIPY.griddata)
def griddata(points: Any, values: Any, xi: Any, method: str, fill_value: Any, rescale: bool) -> Any:
    """Interpolation between scattered points, by the points, the values and where it is wanted."""
    points = _mesh_points(points)
    if points.shape[-1] == 1:
        ends = "extrapolate" if method == "nearest" else fill_value
        at = xi[0] if isinstance(xi, tuple) else xi
        at = floating(at)
        order = np.argsort(plain(points)[..., 0], axis=-1)
        if order.ndim > 1:
            raise NotImplementedError("griddata takes no batch of points in one dimension")
        line, sorted_values = taken(points[:, 0], order), taken(floating(values), order)
        curve = interp1d(
            line, sorted_values, kind=method, axis=0, bounds_error=False, fill_value=ends
        )
        return curve(at[..., 0] if at.ndim > 1 and at.shape[-1] == 1 else at)
    if method == "nearest":
        return _TensorNearest(points, values, rescale)(xi)
    if method == "linear":
        return _TensorLinear(points, values, fill_value, rescale)(xi)
    raise NotImplementedError(
        f"griddata of tensors has the methods linear and nearest in several dimensions, not "
        f"{method!r}"
    )
