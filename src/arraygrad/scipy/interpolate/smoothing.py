"""Smoothing splines, by nodes, values, weights and the penalty.

The penalty that is best in cross-validation is an implicit function of all others: there, the slope
of the score is zero.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backends.filled import ones_like, zeros_like
from ...core.array import plain
from ...errors import NotASolutionError
from ...func import jvp
from ...ops import concat, log, reshape, stack, sum
from ..implicit import implicit
from ..linalg.structured import banded
from ..names import scipy_module
from ..twins import array_like, double, has_arrays
from ..values import attach, on_values
from .bsplines import as_bspline
from .cubic import slopes
from .piecewise import SCIPY, hermite, nodes_and_values, wide

__all__ = ["make_smoothing_spline"]


class _System:
    """The equations (R + lam Qᵀ W⁻¹ Q) b = Qᵀ y for the bends b at the inner nodes.

    They have five diagonals: Qᵀ takes differences of slopes, and R integrates products of bends.
    """

    def __init__(self, x: Any, weights: Any, lam: Any) -> None:
        h = x[1:] - x[:-1]
        self.steps, self.count, self.spread = h, x.shape[0] - 2, 1 / weights
        # The columns of Q have three elements: at the node before, at the node, and after it.
        self.before, self.after = before, after = 1 / h[:-1], 1 / h[1:]
        self.at = at = -(before + after)
        left, middle, right = self.spread[:-2], self.spread[1:-1], self.spread[2:]
        on = before**2 * left + at**2 * middle + after**2 * right
        first = at[:-1] * middle[:-1] * before[1:] + after[:-1] * right[:-1] * at[1:]
        second = after[:-2] * self.spread[2:-2] * before[2:]
        self.energies = (h[:-1] + h[1:]) / 3, h[1:-1] / 6  # the diagonals of R
        on, first = lam * on + self.energies[0], lam * first + self.energies[1]
        second = lam * second
        rows = [self._filled(second, 2), self._filled(first, 1), self._filled(on, 0)]
        rows += [self._filled(first, 0), self._filled(second, 0)]
        self.diagonals = concat(rows, axis=0)

    def _filled(self, row: Any, start: int) -> Any:
        pads = zeros_like(row, (start,)), zeros_like(row, (self.count - start - row.shape[0],))
        return reshape(concat((pads[0], row, pads[1]), axis=0), (1, self.count))

    def solve(self, right: Any) -> Any:
        """The solution for one or more right-hand sides."""
        flat = reshape(right, (self.count, -1)) if right.ndim != 2 else right
        return reshape(banded((2, 2), self.diagonals, flat), right.shape)

    def residual(self, y: Any) -> Any:
        """What the spline leaves of the data at the nodes, over the penalty: W⁻¹ Q b."""
        axes = y.ndim - 1
        slopes_ = (y[1:] - y[:-1]) / wide(self.steps, axes)
        bends = self.solve(slopes_[1:] - slopes_[:-1])
        zero = zeros_like(bends, (1, *bends.shape[1:]))
        back = (
            concat((wide(self.before, axes) * bends, zero, zero), axis=0)
            + concat((zero, wide(self.at, axes) * bends, zero), axis=0)
            + concat((zero, zero, wide(self.after, axes) * bends), axis=0)
        )
        return wide(self.spread, axes) * back

    def freedom(self) -> Any:
        """The number of nodes less the trace of the matrix from data to values: tr(1 - H)."""
        on, beside = self.energies
        energies = (
            np.eye(self.count) * reshape(on, (1, -1))
            + np.eye(self.count, k=-1) * self._filled(beside, 0)
            + np.eye(self.count, k=1) * self._filled(beside, 1)
        )
        return self.count - sum(self.solve(energies) * np.eye(self.count))


def _score(lam: Any, x: Any, y: Any, weights: Any) -> Any:
    """The logarithm of the score of generalised cross-validation, but for a constant."""
    system = _System(x, weights, lam)
    rest = lam * system.residual(y)
    return log(sum(rest * rest)) - 2 * log(system.freedom())


def _best_of(x: Any, y: Any, weights: Any) -> tuple[Any, Any, bool]:
    """The penalty that SciPy finds for a vector of data, the minimum near it, and if it is free.

    SciPy looks between zero and the number of nodes, to five digits after the point.
    """
    n = len(x)
    spline = SCIPY.make_smoothing_spline(x, y, weights)
    unit = _System(x, weights, 1.0)
    bends = spline(x, 2)[1:-1]
    back = np.zeros(n)
    for k, part in enumerate((unit.before, unit.at, unit.after)):
        back[k : n - 2 + k] += part * bends
    back *= unit.spread
    found = float(np.sum(back * (y - spline(x))) / np.sum(back * back))
    if found > n * (1 - 1e-5):  # at the end of the range: a constant
        return found, found, False
    low, high = 0.99 * found, 1.01 * found
    minimize = scipy_module("scipy.optimize").minimize_scalar
    best = minimize(
        lambda lam: float(_score(lam, x, y, weights)),
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-9 * found},
    ).x
    is_minimum = low + 1e-3 * found < best < high - 1e-3 * found
    return found, float(best) if is_minimum else math.nan, True


def _best_penalty(x: Any, y: Any, weights: Any) -> Any:
    """The penalty by cross-validation of one vector of data, as a function of all arguments."""
    runs = on_values(_best_of, x, y, weights)
    found, best = (array_like(runs.join([r[k] for r in runs.results])) for k in (0, 1))
    free = [is_free for _, _, is_free in runs.results]
    if not runs.has_derivatives or not any(free):
        return found
    if np.isnan(plain(best)).any():
        raise NotASolutionError(
            "make_smoothing_spline: the penalty that SciPy found is not a minimum of the score of "
            "cross-validation, so it has no derivative. SciPy looks for a penalty of the order of "
            "one: use another unit of x, or pass lam"
        )
    if not all(free):
        raise NotImplementedError(
            "make_smoothing_spline: of some members of a batch, the best penalty is at the end of "
            "the range that SciPy looks at, and a constant: run them one by one, or pass lam"
        )

    def slope(lam: Any) -> Any:
        return jvp(lambda lam: _score(lam, x, y, weights), (lam,), (ones_like(lam),))[1]

    return attach(found, implicit(slope, best))


def make_smoothing_spline(x: Any, y: Any, w: Any = None, lam: Any = None, *, axis: int = 0) -> Any:
    """The smoothing spline, by nodes, values, weights and the penalty `lam`.

    Without `lam`, it is the best one in cross-validation, and depends on all other arguments.
    """
    if not has_arrays((x, y, w, lam)):
        options = {"axis": axis} if axis else {}  # SciPy has axes since 1.15
        return as_bspline(SCIPY.make_smoothing_spline(x, y, w, lam, **options))
    if lam is not None and (np.asarray(plain(lam)) < 0).any():
        raise ValueError("Regularization parameter should be non-negative")
    x, y, place = nodes_and_values(x, y, axis, "make_smoothing_spline", least=5)
    weights = np.ones(x.shape[0]) if w is None else double(w)
    if (plain(weights) <= 0).any():
        raise ValueError("Invalid vector of weights")
    if lam is not None:
        lam = lam if isinstance(lam, float | int) else array_like(lam)
        values = y - lam * _System(x, weights, lam).residual(y)
    else:  # each column has its own penalty
        columns = []
        flat = reshape(y, (x.shape[0], -1))
        for k in range(flat.shape[1]):
            best = _best_penalty(x, flat[:, k], weights)
            columns.append(flat[:, k] - best * _System(x, weights, best).residual(flat[:, k]))
        values = reshape(stack(columns, axis=1), y.shape)
    return hermite(x, values, slopes(x, values, "natural"), True, place)
