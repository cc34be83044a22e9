"""Lines with mean zero and variance one, as in layer normalisation, in one op."""

from __future__ import annotations

import math
from typing import Any

from ...core.axes import count, many_axes
from ...core.kinds import AlongAxis
from ..define.library import declare
from ..elementwise import sqrt
from ..reductions import _mean, _sum
from ..shape import broadcast_arrays

Axes = tuple[int, ...]


def _of(xp: Any, x: Any, axis: Axes, eps: float) -> Any:
    centred = x - xp.mean(x, axis=axis, keepdims=True)
    return centred * (1 / xp.sqrt(xp.mean(centred * centred, axis=axis, keepdims=True) + eps))


def _pullback_of(xp: Any, v: Any, x: Any, axis: Axes, eps: float) -> Any:
    if v.ndim != x.ndim:  # one is a batch, which `axis` is for
        v, x = xp.broadcast_arrays(v, x)
    centred = x - xp.mean(x, axis=axis, keepdims=True)
    scale = 1 / xp.sqrt(xp.mean(centred * centred, axis=axis, keepdims=True) + eps)
    y = centred * scale
    dot = xp.mean(v * y, axis=axis, keepdims=True)
    return (v - xp.mean(v, axis=axis, keepdims=True) - y * dot) * scale


def _by_x(g: Any, v: Any, x: Any, axis: Axes, eps: float) -> Any:
    """The derivative of the pullback: from it as a polynomial in `x` and one over the scale."""
    if v.ndim != x.ndim:  # one is a batch, which `axis` is for
        v, x = broadcast_arrays(v, x)
    n = count(x.shape, axis)
    centred = x - _mean(x, axis=axis, keepdims=True)
    r = 1 / sqrt(_mean(centred * centred, axis=axis, keepdims=True) + eps)
    along = _sum(g * (v - _mean(v, axis=axis, keepdims=True)), axis=axis, keepdims=True)
    across = _sum(g * centred, axis=axis, keepdims=True)
    share = _mean(v * centred, axis=axis, keepdims=True)
    out = (along - 3 * r * r * across * share) * centred / n + g * share + v * across / n
    out = out * (-r * r * r)
    return out - _mean(out, axis=axis, keepdims=True)


# The derivative is a symmetric matrix for each line.
_pullback = declare(
    "standardize_pullback",
    "v",
    "x",
    compute=_pullback_of,
    vjp_v=lambda g, x, axis, eps: _pullback(g, x, axis=axis, eps=eps),
    vjp_x=_by_x,
    kind=AlongAxis(),
)
_standardize = declare(
    "standardize",
    "x",
    compute=_of,
    vjp=lambda g, x, axis, eps: _pullback(g, x, axis=axis, eps=eps),
    kind=AlongAxis(symmetric=True),
)


def standardize(x: Any, axis: Any = -1, eps: float = 0.0) -> Any:
    """`x` minus its mean, divided by the square root of its variance plus `eps`, along axes."""
    if not math.isfinite(eps):
        raise ValueError(f"eps must be a finite number, not {eps!r}")
    axes = many_axes(axis, x.ndim)
    return _standardize(x, axis=tuple(range(x.ndim)) if axes is None else axes, eps=float(eps))
