"""Cubic splines on constant nodes: the coefficients are linear in the values, so this is one op.

SciPy computes them. The adjoint runs through the same steps backwards. `cubic` has splines that can
also be differentiated by their nodes.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...core.kinds import Opaque
from ...ops import moveaxis
from ...ops.define.library import declare
from ...ops.define.op import Own
from ..names import scipy_module
from ..twins import by_scipy
from .piecewise import SCIPY

_LINALG = scipy_module("scipy.linalg")
CONDITIONS = ("not-a-knot", "natural", "clamped")


class Nodes:
    """Nodes and the condition at both ends."""

    def __init__(self, x: Any, condition: str) -> None:
        self.x, self.condition = np.asarray(x, float), condition

    @functools.cached_property
    def steps(self) -> Any:
        """The distances between nodes."""
        return np.diff(self.x)

    @functools.cached_property
    def turned(self) -> Any:
        """The diagonals of the transposed system for the slopes."""
        h, n = self.steps, len(self.x)
        rows = np.zeros((3, n))
        rows[1, 1:-1] = 2 * (h[:-1] + h[1:])
        # Above the diagonal of the transposed system is what was below it: h[1:], and the last row.
        rows[0, 1:-1] = h[1:]
        rows[2, 1:-1] = h[:-1]
        if self.condition == "not-a-knot":
            rows[1, [0, -1]] = h[1], h[-2]
            rows[2, 0], rows[0, -1] = h[0] + h[1], h[-1] + h[-2]
        elif self.condition == "natural":
            rows[1, [0, -1]] = 2 * h[0], 2 * h[-1]
            rows[2, 0], rows[0, -1] = h[0], h[-1]
        else:
            rows[1, [0, -1]] = 1.0
        return rows


def _coefficients_of(y: Any, *, nodes: Nodes) -> Any:
    return SCIPY.CubicSpline(nodes.x, y, axis=0, bc_type=nodes.condition).c


def _adjoint_of(g: Any, *, nodes: Nodes) -> Any:
    n, trail = len(nodes.x), g.shape[2:]
    g = g.reshape(4, n - 1, -1)
    h = nodes.steps[:, None]
    # From the coefficients to slopes at the nodes and mean slopes between them.
    excess = g[0] / h - g[1]
    mean = (g[1] - 2 * excess) / h
    slopes = np.zeros((n, g.shape[2]), g.dtype)
    slopes[:-1] = g[2] - (g[1] - excess) / h
    slopes[1:] += excess / h
    w = _LINALG.solve_banded((1, 1), nodes.turned, slopes, check_finite=False)
    # From the right-hand side of the system to mean slopes.
    mean[:-1] += 3 * h[1:] * w[1:-1]
    mean[1:] += 3 * h[:-1] * w[1:-1]
    if nodes.condition == "not-a-knot":
        for end, near, far in ((0, 0, 1), (-1, -1, -2)):
            d = h[near] + h[far]
            mean[near] += w[end] * ((h[near] + 2 * d) * h[far] / d)
            mean[far] += w[end] * (h[near] ** 2 / d)
    elif nodes.condition == "natural":
        mean[0] += 3 * h[0] * w[0]
        mean[-1] += 3 * h[-1] * w[-1]
    out = np.zeros((n, g.shape[2]), g.dtype)
    mean /= h
    out[1:] = mean
    out[:-1] += g[3] - mean
    return out.reshape(n, *trail)


def _batched(op: Any, arrays: Any, flags: Any, params: Any) -> Any:
    # A batch is one more axis of values, after those of the nodes.
    (x,) = arrays
    place = 1 if op.name.endswith("coefficients") else 2
    return moveaxis(op.function(moveaxis(x, 0, place), **params), 3 - place, 0)


coefficients = declare(
    "scipy.interpolate.coefficients",
    "y",
    kind=Opaque(linear=True),
    compute=by_scipy(_coefficients_of),
    vjp=lambda g, nodes: _adjoint(g, nodes=nodes),
    own=Own(batch=_batched),
)
_adjoint = declare(
    "scipy.interpolate.adjoint",
    "c",
    kind=Opaque(linear=True),
    compute=by_scipy(_adjoint_of),
    vjp=lambda g, nodes: coefficients(g, nodes=nodes),
    own=Own(batch=_batched),
)
