"""Interpolation between scattered points by radial functions: `RBFInterpolator`.

With `neighbors`, each point has equations of its own. Values decide which points are near.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from ... import linalg
from ...backends.filled import zeros_like
from ...core.array import plain
from ...core.kinds import Opaque
from ...ops import (
    concat,
    equal,
    exp,
    expand_dims,
    log,
    matmul,
    matrix_transpose,
    reshape,
    sqrt,
    stack,
    sum,
    where,
)
from ...ops.define.library import constant
from ..names import scipy_module
from ..twins import by_scipy, floating
from .also_of_tensors import AlsoOfTensors
from .piecewise import SCIPY, taken

__all__ = ["RBFInterpolator"]


def _neighbors_of(y: Any, x: Any, *, count: int) -> Any:
    found = scipy_module("scipy.spatial").cKDTree(y).query(x, count)[1]
    return found.reshape(len(x), count).astype(np.int64)


_neighbors = constant(
    "scipy.interpolate.neighbors", "y", "x", kind=Opaque(), compute=by_scipy(_neighbors_of)
)


def _over_zero(r2: Any, function: Any) -> Any:
    """A function of squared distances that is zero, with all derivatives, at zero."""
    zero = equal(r2, 0)
    return where(zero, 0, function(where(zero, 1, r2)))


_KERNELS = {
    "linear": lambda r2: -_over_zero(r2, sqrt),
    "thin_plate_spline": lambda r2: _over_zero(r2, lambda s: s * log(s) * 0.5),
    "cubic": lambda r2: _over_zero(r2, lambda s: s * sqrt(s)),
    "quintic": lambda r2: -_over_zero(r2, lambda s: s * s * sqrt(s)),
    "multiquadric": lambda r2: -sqrt(r2 + 1),
    "inverse_multiquadric": lambda r2: 1 / sqrt(r2 + 1),
    "inverse_quadratic": lambda r2: 1 / (r2 + 1),
    "gaussian": lambda r2: exp(-r2),
}
_DEGREE = {"multiquadric": 0, "linear": 0, "thin_plate_spline": 1, "cubic": 1, "quintic": 2}
_WITHOUT_SCALE = ("linear", "thin_plate_spline", "cubic", "quintic")


class _TensorRBF:
    """`RBFInterpolator` of tensors."""

    def __init__(
        self,
        y: Any,
        d: Any,
        neighbors: Any = None,
        smoothing: Any = 0.0,
        kernel: str = "thin_plate_spline",
        epsilon: Any = None,
        degree: int | None = None,
    ) -> None:
        if kernel not in _KERNELS:
            raise ValueError(f"`kernel` must be one of {set(_KERNELS)}.")
        if epsilon is None:
            if kernel not in _WITHOUT_SCALE:
                raise ValueError(
                    f"`epsilon` must be specified if `kernel` is not one of {set(_WITHOUT_SCALE)}."
                )
            epsilon = 1.0
        self.y, self.kernel, self.epsilon = floating(y), kernel, epsilon
        d = floating(d)
        count, dimension = self.y.shape
        degree = max(_DEGREE.get(kernel, -1), 0) if degree is None else degree
        self.powers = [
            power
            for power in itertools.product(range(degree + 1), repeat=dimension)
            if int(np.sum(power)) <= degree
        ]
        self.neighbors = None if neighbors is None else min(int(neighbors), count)
        least = len(self.powers)
        if least > (count if self.neighbors is None else self.neighbors):
            raise ValueError(
                f"At least {least} data points are required when `degree` is {degree} and the "
                f"number of dimensions is {dimension}."
            )
        # Centred and scaled coordinates give polynomials of a similar size; constants will do.
        nodes = plain(self.y).reshape(-1, dimension)
        low, high = nodes.min(axis=0), nodes.max(axis=0)
        self.shift = (high + low) / 2
        self.scale = np.where(high > low, (high - low) / 2, 1.0)
        self.trail = d.shape[1:]
        self.values = reshape(d, (count, -1)) if d.ndim != 2 else d
        smoothing = floating(smoothing)
        self.smoothing = smoothing + np.zeros(count) if smoothing.ndim == 0 else smoothing
        if self.neighbors is None:
            self.coefficients = self._solved(self.y, self.values, self.smoothing)

    def _solved(self, y: Any, values: Any, smoothing: Any) -> Any:
        """The coefficients of kernels and polynomials; there may be axes in front."""
        kernels = self._kernels(y, y) + np.eye(y.shape[-2]) * expand_dims(smoothing, axis=-1)
        terms = self._terms(y)
        lead, size = tuple(y.shape[:-2]), len(self.powers)
        matrix = concat(
            (
                concat((kernels, terms), axis=-1),
                concat((matrix_transpose(terms), np.zeros((*lead, size, size))), axis=-1),
            ),
            axis=-2,
        )
        below = np.zeros((*lead, size, values.shape[-1]))
        return linalg.solve(matrix, concat((values, below), axis=-2))

    def _kernels(self, x: Any, y: Any) -> Any:
        difference = (expand_dims(x, axis=-2) - expand_dims(y, axis=-3)) * self.epsilon
        return _KERNELS[self.kernel](sum(difference**2, axis=-1))

    def _terms(self, x: Any) -> Any:
        at = (x - self.shift) / self.scale
        columns = []
        for power in self.powers:
            term: Any = at[..., 0] * 0 + 1
            for k, p in enumerate(power):
                for _ in range(p):
                    term = term * at[..., k]
            columns.append(term)
        return stack(columns, axis=-1) if columns else zeros_like(at, (*at.shape[:-1], 0))

    def __call__(self, x: Any) -> Any:
        """The values at points, one in each row."""
        x = floating(x)
        if self.neighbors is None:
            y, at, coefficients = self.y, x, self.coefficients
        else:
            near = _neighbors(self.y, x, count=self.neighbors)
            y, at = taken(self.y, near), expand_dims(x, axis=-2)
            coefficients = self._solved(y, taken(self.values, near), taken(self.smoothing, near))
        design = concat((self._kernels(at, y), self._terms(at)), axis=-1)
        return reshape(matmul(design, coefficients), (x.shape[0], *self.trail))


class RBFInterpolator(AlsoOfTensors, SCIPY.RBFInterpolator):  # type: ignore[misc]
    """SciPy's class, which can also be made of tensors and called with tensors."""

    of_tensors = _TensorRBF

    def __reduce__(self) -> Any:  # SciPy's has a state of its own
        args, kwargs = self._given
        return functools.partial(type(self), *args, **kwargs), ()
