"""Cubic splines and their relatives: the slopes at the nodes follow from nodes and values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import linalg
from ...backends.filled import zeros_like
from ...core.array import plain
from ...ops import (
    abs,
    concat,
    greater,
    less_equal,
    logical_and,
    max,
    not_equal,
    reshape,
    sign,
    where,
)
from ..linalg.structured import banded
from ..twins import array_like
from .constant_nodes import CONDITIONS, Nodes, coefficients
from .piecewise import SCIPY, TensorPPoly, hermite, nodes_and_values, twin_class, wide

__all__ = ["Akima1DInterpolator", "CubicSpline", "PchipInterpolator"]

# --- CubicSpline ---------------------------------------------------------------------------------

_NAMED = {"natural": (2, 0.0), "clamped": (1, 0.0)}


def _end(bc: Any, shape: tuple[int, ...]) -> tuple[int, Any] | str:
    """A condition at one end: "not-a-knot", or the order of a derivative and its value."""
    if isinstance(bc, str):
        if bc == "not-a-knot":
            return bc
        if bc not in _NAMED:
            raise ValueError(f"bc_type={bc} is not allowed.")
        return _NAMED[bc]
    order, value = bc
    if order not in (1, 2):
        raise ValueError("The specified derivative order must be 1 or 2.")
    value = array_like(value)
    if tuple(value.shape) != shape:
        raise ValueError(
            f"`deriv_value` shape {tuple(value.shape)} is not the expected one {shape}."
        )
    return order, value


def slopes(x: Any, y: Any, bc_type: Any) -> Any:
    """The slopes at the nodes of the cubic spline through points."""
    n, trail = x.shape[0], y.shape[1:]
    dx = x[1:] - x[:-1]
    step = wide(dx, y.ndim - 1)
    mean = (y[1:] - y[:-1]) / step
    if isinstance(bc_type, str) and bc_type == "periodic":
        return _periodic(dx, step, mean)
    both = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    first, last = (_end(bc, tuple(trail)) for bc in both)
    if n == 2:
        first, last = ((1, mean[0]) if end == "not-a-knot" else end for end in (first, last))
    if n == 3 and first == last == "not-a-knot":
        return _parabola(dx, mean)
    zero = zeros_like(dx, (1,))
    inner = 3 * (step[1:] * mean[:-1] + step[:-1] * mean[1:])
    # Rows of the equations, by the diagonals above, on and below the main one.
    top = _end_row(first, dx[0], dx[1] if n > 2 else None, mean[:1], mean[1:2], step[:1], step[1:2])
    bottom = _end_row(
        last,
        dx[-1],
        dx[-2] if n > 2 else None,
        mean[-1:],
        mean[-2:-1],
        step[-1:],
        step[-2:-1],
        -1,
    )
    on = concat((_one(top[0]), 2 * (dx[:-1] + dx[1:]), _one(bottom[0])), axis=0)
    above = concat((zero, _one(top[1]), dx[:-1]), axis=0)
    below = concat((dx[1:], _one(bottom[1]), zero), axis=0)
    diagonals = concat([reshape(row, (1, n)) for row in (above, on, below)], axis=0)
    right = concat((top[2], inner, bottom[2]), axis=0)
    flat = reshape(right, (n, -1)) if right.ndim != 2 else right
    return reshape(banded((1, 1), diagonals, flat), (n, *trail))


def _one(value: Any) -> Any:
    return reshape(array_like(value), (1,))


def _end_row(
    end: Any,
    near: Any,
    next_: Any,
    mean: Any,
    mean_next: Any,
    step: Any,
    step_next: Any,
    side: int = 1,
) -> tuple[Any, Any, Any]:
    """The element on the diagonal, the one beside it, and the right-hand side, at one end."""
    if end == "not-a-knot":
        d = near + next_
        wide_d = step + step_next
        right = (step + 2 * wide_d) * step_next * mean + step**2 * mean_next
        return next_, d, right / wide_d
    order, value = end
    if order == 1:
        return near * 0 + 1, near * 0, value + 0 * mean
    return 2 * near, near, 3 * step * mean - side * 0.5 * value * step**2


def _parabola(dx: Any, mean: Any) -> Any:
    """The slopes of the parabola through three points."""
    h0, h1 = (wide(dx[k : k + 1], mean.ndim - 1) for k in (0, 1))
    bend = (mean[1:] - mean[:1]) / (h0 + h1)
    return concat((mean[:1] - bend * h0, mean[:1] + bend * h0, mean[1:] + bend * h1), axis=0)


def _periodic(dx: Any, step: Any, mean: Any) -> Any:
    """The slopes of a periodic spline: the last node is the first one again."""
    n = dx.shape[0]
    if n == 1:
        return concat((mean * 0, mean * 0), axis=0)
    if n == 2:
        t = (mean / step).sum(axis=0, keepdims=True) / (1 / step).sum(axis=0, keepdims=True)
        return concat((t, t, t), axis=0)
    before = concat((dx[-1:], dx[:-1]), axis=0)
    matrix = (
        np.eye(n) * reshape(2 * (before + dx), (n, 1))
        + np.roll(np.eye(n), 1, axis=1) * reshape(before, (n, 1))
        + np.roll(np.eye(n), -1, axis=1) * reshape(dx, (n, 1))
    )
    step_before = concat((step[-1:], step[:-1]), axis=0)
    mean_before = concat((mean[-1:], mean[:-1]), axis=0)
    right = 3 * (step * mean_before + step_before * mean)
    out = reshape(linalg.solve(matrix, reshape(right, (n, -1))), right.shape)
    return concat((out, out[:1]), axis=0)


def _cubic_spline(
    x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None
) -> TensorPPoly:
    x, y, place = nodes_and_values(x, y, axis, "CubicSpline")
    periodic = isinstance(bc_type, str) and bc_type == "periodic"
    if extrapolate is None:
        extrapolate = "periodic" if periodic else True
    if periodic and not np.allclose(plain(y[0]), plain(y[-1]), rtol=1e-15, atol=1e-15):
        raise ValueError(
            f"CubicSpline: with bc_type='periodic', the first and the last value along axis {axis} "
            "must be identical"
        )
    if isinstance(x, np.ndarray) and isinstance(bc_type, str) and bc_type in CONDITIONS:
        if x.shape[0] > 3:
            c = coefficients(y, nodes=Nodes(x, bc_type))
            return TensorPPoly(c, x, extrapolate, place)
    return hermite(x, y, slopes(x, y, bc_type), extrapolate, place)


CubicSpline = twin_class(SCIPY.CubicSpline, _cubic_spline)

# --- Pchip ---------------------------------------------------------------------------------------


def _pchip_end(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    """A one-sided slope that keeps the shape of the data."""
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    steep = logical_and(not_equal(sign(m0), sign(m1)), greater(abs(d), 3 * abs(m0)))
    return where(not_equal(sign(d), sign(m0)), 0, where(steep, 3 * m0, d))


def _pchip(x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> TensorPPoly:
    x, y, place = nodes_and_values(x, y, axis, "PchipInterpolator")
    h = wide(x[1:] - x[:-1], y.ndim - 1)
    m = (y[1:] - y[:-1]) / h
    if x.shape[0] == 2:
        return hermite(x, y, concat((m, m), axis=0), extrapolate, place)
    flat = less_equal(m[1:] * m[:-1], 0)
    w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    left, right = where(flat, 1, m[:-1]), where(flat, 1, m[1:])
    inner = where(flat, 0, (w1 + w2) / (w1 / left + w2 / right))
    first = _pchip_end(h[:1], h[1:2], m[:1], m[1:2])
    last = _pchip_end(h[-1:], h[-2:-1], m[-1:], m[-2:-1])
    return hermite(x, y, concat((first, inner, last), axis=0), extrapolate, place)


PchipInterpolator = twin_class(SCIPY.PchipInterpolator, _pchip)

# --- Akima ---------------------------------------------------------------------------------------


def _akima(
    x: Any, y: Any, axis: int = 0, *, method: str = "akima", extrapolate: Any = None
) -> TensorPPoly:
    if method not in ("akima", "makima"):
        raise NotImplementedError(f"`method`={method} is unsupported.")
    x, y, place = nodes_and_values(x, y, axis, "Akima1DInterpolator")
    m = (y[1:] - y[:-1]) / wide(x[1:] - x[:-1], y.ndim - 1)
    extrapolate = False if extrapolate is None else extrapolate
    if x.shape[0] == 2:
        return hermite(x, y, concat((m, m), axis=0), extrapolate, place)
    before = 2 * m[:1] - m[1:2]
    after = 2 * m[-1:] - m[-2:-1]
    m = concat((2 * before - m[:1], before, m, after, 2 * after - m[-1:]), axis=0)
    change = abs(m[1:] - m[:-1])
    if method == "makima":
        change = change + 0.5 * abs(m[1:] + m[:-1])
    right, left = change[2:], change[:-2]
    total = right + left
    known = greater(total, 1e-9 * max(total))
    share = where(known, left / where(known, total, 1), 0.5)
    weighted = m[1:-2] + share * (m[2:-1] - m[1:-2])
    return hermite(x, y, where(known, weighted, 0.5 * (m[3:] + m[:-3])), extrapolate, place)


Akima1DInterpolator = twin_class(SCIPY.Akima1DInterpolator, _akima)
