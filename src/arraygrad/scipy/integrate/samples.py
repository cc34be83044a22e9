"""Integrals of sampled functions. All of them are linear in the samples, and made of ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ops
from ...core.array import AnyFunction, Array
from ..formula import as_array
from ..names import scipy_module
from ..solving import solver
from ..values import attach

__all__ = ["cumulative_simpson", "cumulative_trapezoid", "romb", "simpson", "trapezoid"]

SCIPY = scipy_module("scipy.integrate")


def _integrated(own: AnyFunction, value: Any, y: Any, x: Any, dx: Any, axis: int) -> Any:
    """SciPy's value, if there is one, with the derivatives of our own formula.

    The formula takes samples, and the lengths of intervals, along the last axis.
    """
    y = as_array(y)
    count = y.shape[axis]
    if x is None:
        h = as_array(dx)
    else:
        x = as_array(x)
        h = x[1:] - x[:-1] if x.ndim == 1 else ops.diff(ops.moveaxis(x, axis, -1), axis=-1)
    h = ops.broadcast_to(h, (*h.shape[:-1], count - 1))
    found = own(ops.moveaxis(y, axis, -1), h)
    if value is None:
        return found
    return attach(value if isinstance(value, Array) else np.asarray(value), found)


def _trapezoids(y: Any, h: Any) -> Any:
    """The integral over each interval, of straight lines."""
    return h * (y[..., 1:] + y[..., :-1]) / 2


def _parabolas(y: Any, h: Any) -> Any:
    """The integral over each interval, of the parabola through its pair of intervals."""
    count = h.shape[-1]
    if count < 2:
        return _trapezoids(y, h)

    def first(y: Any, h: Any) -> Any:
        """The integrals over the first interval of each pair."""
        left, right = h[..., :-1], h[..., 1:]
        slope = (y[..., 1:-1] - y[..., :-2]) / left
        bend = ((y[..., 2:] - y[..., 1:-1]) / right - slope) / (left + right)
        return left * y[..., :-2] + slope * left**2 / 2 - bend * left**3 / 6

    forward = first(y, h)
    backward = ops.flip(first(ops.flip(y, axis=-1), ops.flip(h, axis=-1)), axis=-1)
    # By its number, an interval is the first or the second of a pair. The last one is a second.
    ahead = ops.concat([forward, forward[..., -1:]], axis=-1)
    back = ops.concat([backward[..., :1], backward], axis=-1)
    is_first = (np.arange(count) % 2 == 0) & (np.arange(count) < count - 1)
    return ops.where(is_first, ahead, back)


@solver(SCIPY.trapezoid, is_whole=True)
def trapezoid(runs: Any, value: Any, **given: Any) -> Any:
    """`scipy.integrate.trapezoid`, differentiable by `y`, `x` and `dx`."""
    return _integrated(lambda y, h: ops.sum(_trapezoids(y, h), axis=-1), value, **given)


@solver(SCIPY.simpson, is_whole=True)
def simpson(runs: Any, value: Any, **given: Any) -> Any:
    """`scipy.integrate.simpson`, differentiable by `y`, `x` and `dx`."""
    return _integrated(lambda y, h: ops.sum(_parabolas(y, h), axis=-1), value, **given)


def _running(intervals: AnyFunction, initial: Any, axis: int) -> AnyFunction:
    def own(y: Any, h: Any) -> Any:
        sums = ops.cumulative_sum(intervals(y, h), axis=-1)
        if initial is not None:
            first = ops.broadcast_to(as_array(initial), (*sums.shape[:-1], 1))
            sums = ops.concat([first, sums], axis=-1)
        return ops.moveaxis(sums, -1, axis)

    return own


@solver(SCIPY.cumulative_trapezoid, is_whole=True)
def cumulative_trapezoid(runs: Any, value: Any, axis: int, initial: Any, **given: Any) -> Any:
    """`scipy.integrate.cumulative_trapezoid`, differentiable by `y`, `x` and `dx`."""
    return _integrated(_running(_trapezoids, initial, axis), value, axis=axis, **given)


@solver(SCIPY.cumulative_simpson, is_whole=True)
def cumulative_simpson(runs: Any, value: Any, axis: int, initial: Any, **given: Any) -> Any:
    """`scipy.integrate.cumulative_simpson`, differentiable by `y`, `x`, `dx` and `initial`."""

    def own(y: Any, h: Any) -> Any:
        if initial is None:
            return _running(_parabolas, None, axis)(y, h)
        start = as_array(initial)
        start = start if not start.ndim else ops.moveaxis(start, axis, -1)
        sums = start + ops.cumulative_sum(_parabolas(y, h), axis=-1)
        first = ops.broadcast_to(start, (*sums.shape[:-1], 1))
        return ops.moveaxis(ops.concat([first, sums], axis=-1), -1, axis)

    return _integrated(own, value, axis=axis, **given)


@solver(SCIPY.romb, is_whole=True)
def romb(runs: Any, value: Any, y: Any, dx: Any, axis: int) -> Any:
    """`scipy.integrate.romb`, differentiable by `y` and `dx`."""

    def own(y: Any, h: Any) -> Any:
        count = h.shape[-1]
        width = h[..., 0] * count
        row = [width * (y[..., 0] + y[..., -1]) / 2]
        step = count
        while step > 1:
            half = step // 2
            width = width / 2
            refined = [row[0] / 2 + width * ops.sum(y[..., half::step], axis=-1)]
            for k, before in enumerate(row):
                refined.append(refined[k] + (refined[k] - before) / (4 ** (k + 1) - 1))
            row, step = refined, half
        return row[-1]

    return _integrated(own, value, y, None, dx, axis)
