"""B-splines: by coefficients, knots and arguments. Interpolation solves a sparse system.

At each point, `k + 1` basis functions of degree `k` are not zero. They follow by the recurrence of
Cox and de Boor, made of ops.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.array import plain
from ...ops import (
    clip,
    concat,
    cumulative_sum,
    equal,
    expand_dims,
    reshape,
    searchsorted,
    stack,
    where,
)
from ..sparse.arrays import from_places
from ..sparse.linalg.solvers import solve as sparse_solve
from ..twins import double, has_arrays, refuse
from .piecewise import (
    SCIPY,
    along,
    arranged,
    check_rising,
    nodes_and_values,
    outside,
    taken,
    twin_class,
    wide,
    wrapped,
)

__all__ = ["BSpline", "make_interp_spline", "make_lsq_spline"]


def basis(t: Any, x: Any, k: int) -> tuple[Any, Any]:
    """The first coefficient that each point depends on, and its `k + 1` basis functions.

    The basis functions are in the last axis.
    """
    n = t.shape[0] - k - 1
    inner = t[k + 1 : n] if n > k + 1 else t[:1]
    interval = clip(searchsorted(inner, x, side="right"), 0, n - k - 1) + k

    def knot(shift: int) -> Any:
        return taken(t, interval + shift)

    values: list[Any] = [x * 0 + 1]
    for degree in range(1, k + 1):
        following: list[Any] = [0.0] * (degree + 1)
        for j, value in enumerate(values):
            low, high = knot(j - degree + 1), knot(j + 1)
            gap = high - low
            empty = equal(gap, 0)
            share = where(empty, 0, value / where(empty, 1, gap))
            following[j] = following[j] + share * (high - x)
            following[j + 1] = following[j + 1] + share * (x - low)
        values = following
    return interval - k, stack(values, axis=-1)


class TensorSpline:
    """A B-spline whose coefficients, knots or arguments are tensors; like SciPy's `BSpline`.

    The interpolated axis of the coefficients is the first; `axis` is its place in the results.
    """

    def __init__(self, t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> None:
        self.t, self.c, self.k = double(t), double(c), int(k)
        self.extrapolate, self.axis = extrapolate, axis

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """The values at `x`, or of the derivative of order `nu`."""
        if nu:
            return self.derivative(nu)(x, extrapolate=self._extrapolate(extrapolate))
        x = double(x)
        extrapolate = self._extrapolate(extrapolate)
        n = self.t.shape[0] - self.k - 1
        ends = self.t[self.k : n + 1]
        at = wrapped(ends, x) if extrapolate == "periodic" else x
        first, values = basis(self.t, at, self.k)
        out: Any = 0.0
        trail = self.c.ndim - 1
        for j in range(self.k + 1):
            out = out + wide(values[..., j], trail) * taken(self.c, first + j)
        if not extrapolate:
            out = where(wide(outside(ends, x), trail), math.nan, out)
        return arranged(out, x.ndim, self.axis)

    def _extrapolate(self, given: Any) -> Any:
        return self.extrapolate if given is None else given

    def derivative(self, nu: int = 1) -> TensorSpline:
        """The derivative of order `nu`, as a B-spline."""
        t, c, k = self.t, self.c, self.k
        for _ in range(nu):
            if not k:
                return TensorSpline(t, c * 0, 0, self.extrapolate, self.axis)
            n = t.shape[0] - k - 1
            gap = t[k + 1 : n + k] - t[1:n]
            empty = equal(gap, 0)
            factor = where(empty, 0, k / where(empty, 1, gap))
            c = (c[1:n] - c[: n - 1]) * wide(factor, c.ndim - 1)
            t, k = t[1:-1], k - 1
        return TensorSpline(t, c, k, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> TensorSpline:
        """The integral of order `nu` from the first knot of the range, as a B-spline."""
        t, c, k = self.t, self.c, self.k
        for _ in range(nu):
            n = t.shape[0] - k - 1
            gap = wide((t[k + 1 : n + k + 1] - t[:n]) / (k + 1), c.ndim - 1)
            sums = cumulative_sum(c[:n] * gap, axis=0)
            zero = sums[:1] * 0
            c = concat((zero, sums, *[sums[-1:]] * (k + 2)), axis=0)
            t, k = concat((t[:1], t, t[-1:]), axis=0), k + 1
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        return TensorSpline(t, c, k, extrapolate, self.axis)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """The integral from `a` to `b`; without extrapolation, that of its part in the range."""
        extrapolate = self._extrapolate(extrapolate)
        refuse("integrate", extrapolate=(extrapolate == "periodic", False))
        a, b = double(a), double(b)
        if not extrapolate:
            n = self.t.shape[0] - self.k - 1
            a, b = (clip(end, self.t[self.k], self.t[n]) for end in (a, b))
        whole = TensorSpline(self.t, self.c, self.k).antiderivative()
        return whole(b) - whole(a)


def _of_tensors(t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> TensorSpline:
    c, place = along(c, axis)
    t = double(t)
    check_rising(t, "Knots", strictly=False)
    if t.shape[0] < 2 * k + 2 or c.shape[0] < t.shape[0] - k - 1:
        raise ValueError(
            f"a spline of degree {k} needs at least {2 * k + 2} knots, and a coefficient for each "
            f"but {k + 1} of them; got {t.shape[0]} knots and {c.shape[0]} coefficients"
        )
    return TensorSpline(t, c, k, extrapolate, place)


def _ours(spline: Any) -> TensorSpline:
    return TensorSpline(spline.t, spline.c, spline.k, spline.extrapolate, spline.axis)


BSpline = twin_class(SCIPY.BSpline, _of_tensors, _ours)

# --- fits ----------------------------------------------------------------------------------------


def _default_knots(x: Any, k: int) -> Any:
    """The knots of interpolation: those nodes that are not near the ends, or points between."""
    if not k:  # steps, from each node to the next
        return concat((x, x[-1:]), axis=0)
    inner: Any
    if k % 2:
        half = (k + 1) // 2
        inner = x[half:-half]
    else:
        half = k // 2
        between = (x[1:] + x[:-1]) * 0.5
        inner = between[half : between.shape[0] - half]
    many = np.zeros(k + 1)
    return concat((x[:1] + many, inner, x[-1:] + many), axis=0)


def _design(knots: Any, x: Any, k: int, weights: Any = 1.0) -> Any:
    """The sparse matrix from coefficients to values at `x`, times a column of weights."""
    first, values = basis(knots, x, k)
    n, start = x.shape[0], plain(first)
    if start.ndim > 1:  # a batch of nodes: the same intervals, or none
        start = start.reshape(-1, n)
        if (start != start[:1]).any():
            raise NotImplementedError("nodes of a batch must lie in the same intervals of knots")
        start = start[0]
    rows = np.repeat(np.arange(n), k + 1)
    columns = (start[:, None] + np.arange(k + 1)).reshape(-1)
    elements = reshape(values * weights, (n * (k + 1),))
    return from_places(elements, rows, columns, (n, knots.shape[0] - k - 1), "csr")


def as_bspline(spline: Any) -> Any:
    """SciPy's spline, as one that can also be called with tensors."""
    return BSpline.construct_fast(spline.t, spline.c, spline.k, spline.extrapolate, spline.axis)


def make_interp_spline(
    x: Any,
    y: Any,
    k: int = 3,
    t: Any = None,
    bc_type: Any = None,
    axis: int = 0,
    check_finite: bool = True,
) -> Any:
    """The B-spline through points, by nodes and values."""
    if not has_arrays((x, y, t)):
        return as_bspline(SCIPY.make_interp_spline(x, y, k, t, bc_type, axis, check_finite))
    if bc_type not in (None, "not-a-knot"):
        raise NotImplementedError(
            f"make_interp_spline of tensors has no bc_type={bc_type!r}: use CubicSpline"
        )
    x, y, place = nodes_and_values(x, y, axis, "make_interp_spline", least=k + 1)
    knots = _default_knots(x, k) if t is None else double(t)
    n = x.shape[0]
    if knots.shape[0] != n + k + 1:
        raise ValueError("The number of derivatives at boundaries does not match: expected 0")
    if k == 0:
        return TensorSpline(knots, y, 0, True, place)
    right = reshape(y, (n, -1)) if y.ndim != 2 else y
    c = sparse_solve(_design(knots, x, k), right)
    return TensorSpline(knots, reshape(c, y.shape), k, True, place)


def make_lsq_spline(
    x: Any,
    y: Any,
    t: Any,
    k: int = 3,
    w: Any = None,
    axis: int = 0,
    check_finite: bool = True,
    *,
    method: str = "qr",
) -> Any:
    """The B-spline with given knots that fits points best, by all arguments."""
    if not has_arrays((x, y, t, w)):
        options = {} if method == "qr" else {"method": method}
        return as_bspline(SCIPY.make_lsq_spline(x, y, t, k, w, axis, check_finite, **options))
    x, y, place = nodes_and_values(x, y, axis, "make_lsq_spline", strictly=False)
    knots = double(t)
    count = knots.shape[0] - k - 1
    right = reshape(y, (x.shape[0], -1)) if y.ndim != 2 else y
    w = 1.0 if w is None else expand_dims(double(w), axis=-1)
    design, right = _design(knots, x, k, w), right * w
    c = sparse_solve(design.T @ design, design.T @ right)
    return TensorSpline(knots, reshape(c, (count, *y.shape[1:])), k, True, place)
