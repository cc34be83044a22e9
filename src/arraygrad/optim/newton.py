"""L-BFGS: Newton's method, with the curvature estimated from the last steps; with a line search."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import ops
from ..arrays.tensor import Tensor
from ..func import value_and_grad
from ..func.trees import arrays_of, flatten, item_of

State = dict[str, Any]
# The loss and the gradient at a distance along a direction from where the step started.
Along = Callable[[float], tuple[float, Any]]


def lbfgs(
    function: Callable[[Any], Any],
    params: Any,
    *,
    lr: float = 1.0,
    max_iter: int = 20,
    max_eval: int | None = None,
    tolerance_grad: float = 1e-7,
    tolerance_change: float = 1e-9,
    history_size: int = 100,
    line_search: str | None = "strong_wolfe",
    state: State | None = None,
) -> tuple[Any, State]:
    """Go down to a minimum of a function by L-BFGS.

    Parameters
    ----------
    function : callable
        Gives a number for a structure like `params`.
    params : any structure
        Where to start: real or complex arrays.
    lr : float
        The first length of a step, relative to Newton's.
    max_iter, max_eval : int
        The largest number of steps, and of calls of the function.
    tolerance_grad : float
        The largest element of a gradient that is taken for zero.
    tolerance_change : float
        The smallest change, of the parameters or of the value, that is gone on for.
    history_size : int
        The number of steps that are remembered.
    line_search : {"strong_wolfe", None}
        How the length of a step is found; None takes `lr`.
    state : dict, optional
        What an earlier call gave, to go on from there.

    Returns
    -------
    params, state
        The parameters at the end, and what is remembered. `state["loss"]` is the last value.

    Examples
    --------
    >>> import numpy as np
    >>> import arraygrad as ag
    >>> def valley(x):
    ...     return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
    >>> found, state = ag.optim.lbfgs(valley, np.zeros(2), max_iter=100)
    >>> found.round(5)
    array([1., 1.])
    """
    leaves, unflatten = arrays_of(params, item_of("params"))
    shapes = [(tuple(x.shape), x.dtype) for x in leaves]
    derive = value_and_grad(function)
    now = [leaves]

    def evaluate(x: Any) -> tuple[float, Any]:
        now[0] = split(x, shapes)
        loss, grads = derive(unflatten(now[0]))
        return float(loss), joined(flatten(grads)[0])

    state = {} if state is None else {**state}
    options = {
        "lr": lr,
        "max_iter": max_iter,
        "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
        "tolerance_grad": tolerance_grad,
        "tolerance_change": tolerance_change,
        "history_size": history_size,
        "line_search_fn": line_search,
    }
    x = descend(evaluate, joined(leaves), state, options)
    found = split(x, shapes)
    pairs = zip(leaves, found, strict=True)
    return unflatten([Tensor(x) if isinstance(leaf, Tensor) else x for leaf, x in pairs]), state


def joined(arrays: list[Any]) -> Any:
    """Arrays as one vector of real numbers."""
    parts = []
    for x in arrays:
        x = x.detach().array if isinstance(x, Tensor) else x
        if "complex" in str(x.dtype):
            x = ops.stack((ops.real(x), ops.imag(x)), axis=-1)
        parts.append(ops.reshape(x, (-1,)))
    return ops.concat(parts)


def split(vector: Any, shapes: list[tuple[tuple[int, ...], Any]]) -> list[Any]:
    """A vector as arrays of the given shapes and dtypes."""
    arrays, at = [], 0
    for shape, dtype in shapes:
        is_complex = "complex" in str(dtype)
        full = (*shape, 2) if is_complex else shape
        size = math.prod(full)
        part = ops.reshape(vector[at : at + size], full)
        arrays.append(ops.astype(part[..., 0] + 1j * part[..., 1] if is_complex else part, dtype))
        at += size
    return arrays


def descend(
    evaluate: Callable[[Any], tuple[float, Any]], x: Any, state: State, options: dict[str, Any]
) -> Any:
    """Take up to `max_iter` steps from a vector; `state` is changed. Give the vector at the end.

    `evaluate` gives the loss and its gradient at a vector.
    """
    if options["line_search_fn"] not in (None, "strong_wolfe"):
        raise RuntimeError("only 'strong_wolfe' is supported as a line search")
    loss, g = evaluate(x)
    calls = 1
    state.setdefault("n_iter", 0)
    state["first_loss"] = state["loss"] = loss
    for taken in range(1, options["max_iter"] + 1):
        if _largest(g) <= options["tolerance_grad"]:
            break
        state["n_iter"] += 1
        direction = _direction(g, state, options["history_size"])
        length = options["lr"]
        if state["n_iter"] == 1:
            length *= min(1.0, 1.0 / float(ops.sum(ops.abs(g))))
        slope = _dot(g, direction)
        state["before"] = g
        state["step"] = direction * 0
        if slope > -options["tolerance_change"]:
            break
        previous = loss
        if options["line_search_fn"] is None:
            if taken < options["max_iter"]:
                loss, g = evaluate(x + length * direction)
                calls += 1
        else:
            start, here = x, direction
            searched = _strong_wolfe(
                lambda t: evaluate(start + t * here),  # noqa: B023  (used at once)
                here,
                length,
                (loss, g, slope),
                options["max_eval"] - calls,
                options["tolerance_change"],
            )
            length, loss, g, used = searched
            calls += used
        state["step"] = length * direction
        x = x + state["step"]
        state["loss"] = loss
        if (
            calls >= options["max_eval"]
            or _largest(state["step"]) <= options["tolerance_change"]
            or abs(loss - previous) < options["tolerance_change"]
        ):
            break
    return x


def _dot(a: Any, b: Any) -> float:
    return float(ops.sum(a * b))


def _largest(a: Any) -> float:
    return float(ops.max(ops.abs(a)))


def _direction(g: Any, state: State, history: int) -> Any:
    """The gradient times an estimate of the inverse of the Hessian, downwards."""
    pairs = state.setdefault("pairs", [])  # changes of the gradient, and the steps
    if state["n_iter"] > 1:
        change, step = g - state["before"], state["step"]
        curvature = _dot(change, step)
        if curvature > 1e-10:
            pairs = state["pairs"] = [*pairs, (change, step, 1.0 / curvature)][-history:]
            state["scale"] = curvature / _dot(change, change)
    q = -g
    weights = []
    for change, step, inverse in reversed(pairs):
        weights.append(inverse * _dot(step, q))
        q = q - weights[-1] * change
    q = q * state.setdefault("scale", 1.0)
    for (change, step, inverse), weight in zip(pairs, reversed(weights), strict=True):
        q = q + step * (weight - inverse * _dot(change, q))
    return q


Point = tuple[float, float, Any, float]  # a distance, and the loss, gradient and slope there


def _strong_wolfe(
    along: Along,
    direction: Any,
    t: float,
    start: tuple[float, Any, float],
    most: int,
    tolerance: float,
) -> tuple[float, float, Any, int]:
    """A distance at which the loss is low enough and the slope flat enough.

    First the distance grows until such a point, or two points around it, are found. Then the
    interval between these two shrinks.
    """
    f, g, slope = start

    def at(distance: float) -> Point:
        value, gradient = along(distance)
        return distance, value, gradient, _dot(gradient, direction)

    def high(point: Point) -> bool:
        return not point[1] <= f + 1e-4 * point[0] * slope

    def flat(point: Point) -> bool:
        return abs(point[3]) <= -0.9 * slope

    before: Point = (0.0, f, g, slope)
    now, calls, rounds = at(t), 1, 0
    while rounds < most:
        if high(now) or (rounds > 1 and now[1] >= before[1]) or (not flat(now) and now[3] >= 0):
            break
        if flat(now):
            return now[0], now[1], now[2], calls
        t = _interpolated(before, now, (now[0] + 0.01 * (now[0] - before[0]), now[0] * 10))
        before, now = now, at(t)
        calls, rounds = calls + 1, rounds + 1
    else:
        before = (0.0, f, g, slope)
    low, top = (before, now) if before[1] <= now[1] else (now, before)
    slow = False
    while rounds < most and abs(top[0] - low[0]) * _largest(direction) >= tolerance:
        ends = sorted((low[0], top[0]))
        first, second = (low, top) if low is before or top is now else (top, low)
        t = _interpolated(first, second, (ends[0], ends[1]))
        margin = 0.1 * (ends[1] - ends[0])
        is_near = min(ends[1] - t, t - ends[0]) < margin
        if is_near and (slow or not ends[0] < t < ends[1]):
            t = ends[1] - margin if abs(t - ends[1]) < abs(t - ends[0]) else ends[0] + margin
            is_near = False
        slow = is_near
        point = at(t)
        calls, rounds = calls + 1, rounds + 1
        if high(point) or point[1] >= low[1]:
            low, top = (low, point) if low[1] <= point[1] else (point, low)
            continue
        if flat(point):
            low = point
            break
        low, top = point, low if point[3] * (top[0] - low[0]) >= 0 else top
    return low[0], low[1], low[2], calls


def _interpolated(a: Point, b: Point, bounds: tuple[float, float]) -> float:
    """Where the cubic through two points, with their slopes, is lowest between the bounds."""
    (x1, f1, _, g1), (x2, f2, _, g2) = (a, b) if a[0] <= b[0] else (b, a)
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1**2 - g1 * g2
    if not square >= 0:
        return (bounds[0] + bounds[1]) / 2
    d2 = math.sqrt(square)
    found = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    return min(max(found, bounds[0]), bounds[1])
