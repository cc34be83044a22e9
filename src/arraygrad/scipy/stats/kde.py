"""`gaussian_kde`: a density estimated by a normal kernel around each point of the data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import linalg
from ... import special as ours
from ...ops import diagonal, exp, expand_dims, log, matmul, matrix_transpose, reshape
from ...ops import sum as _sum
from ..linalg import solve_triangular
from ..twins import Extended, any_arrays, double, has_arrays
from .distribution import SCIPY

__all__ = ["gaussian_kde"]


class _TensorKde:
    """`gaussian_kde` of tensors."""

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        data = double(dataset)
        self.dataset = reshape(data, (1, -1)) if data.ndim == 1 else data
        self.d, self.n = self.dataset.shape
        w = np.full(self.n, 1.0) if weights is None else double(weights)
        self.weights = w / _sum(w)
        squares = _sum(self.weights**2)
        self.neff = 1 / squares
        if bw_method in (None, "scott"):
            self.factor: Any = self.scotts_factor()
        elif bw_method == "silverman":
            self.factor = self.silverman_factor()
        elif isinstance(bw_method, str):
            raise ValueError("`bw_method` should be 'scott', 'silverman', a scalar or a callable.")
        elif callable(bw_method):
            self.factor = double(bw_method(self))
        else:
            self.factor = double(bw_method)
        mean = _sum(self.dataset * self.weights, axis=-1, keepdims=True)
        centred = self.dataset - mean
        spread = matmul(centred * self.weights, matrix_transpose(centred)) / (1 - squares)
        self.covariance = spread * self.factor**2
        self._root = linalg.cholesky(self.covariance)

    def scotts_factor(self) -> Any:
        """The width by Scott's rule."""
        return self.neff ** (-1.0 / (self.d + 4))

    def silverman_factor(self) -> Any:
        """The width by Silverman's rule."""
        return (self.neff * (self.d + 2.0) / 4.0) ** (-1.0 / (self.d + 4))

    def integrate_box_1d(self, low: Any, high: Any) -> Any:
        """The probability between two points of the line."""
        if self.d != 1:
            raise ValueError("integrate_box_1d() only handles 1D pdfs")
        width = self._root[0, 0]
        above, below = (ours.ndtr((double(x) - self.dataset[0]) / width) for x in (high, low))
        return _sum(self.weights * (above - below))

    def __getattr__(self, name: str) -> Any:
        if hasattr(SCIPY.gaussian_kde, name):
            raise NotImplementedError(f"gaussian_kde of tensors has no {name} here")
        raise AttributeError(name)

    def _logs(self, points: Any) -> Any:
        points = double(points)
        points = reshape(points, (1, -1)) if points.ndim < 2 else points
        if points.shape[0] != self.d:
            if points.shape[0] == 1 and points.shape[1] == self.d:
                points = reshape(points, (self.d, 1))
            else:
                raise ValueError(
                    f"points have dimension {points.shape[0]}, dataset has dimension {self.d}"
                )
        near = solve_triangular(self._root, self.dataset, lower=True)
        at = solve_triangular(self._root, points, lower=True)
        gaps = expand_dims(at, axis=-1) - expand_dims(near, axis=-2)
        size = 0.5 * self.d * math.log(2 * math.pi)
        size = size + _sum(log(diagonal(self._root, axis1=-2, axis2=-1)))
        return _sum(gaps * gaps, axis=0) * -0.5 - size

    def evaluate(self, points: Any) -> Any:
        """The density at points."""
        return _sum(exp(self._logs(points)) * self.weights, axis=-1)

    __call__ = pdf = evaluate

    def logpdf(self, x: Any) -> Any:
        """The logarithm of the density at points."""
        return ours.logsumexp(self._logs(x), axis=-1, b=self.weights)


class gaussian_kde(SCIPY.gaussian_kde, metaclass=Extended):  # type: ignore[misc]  # noqa: N801  (SciPy's name)
    """SciPy's class, which can also be made of tensors and called with tensors."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """An estimate of tensors if they are among the arguments, else SciPy's object."""
        if any_arrays(args, kwargs):
            return _TensorKde(*args, **kwargs)
        return super().__new__(cls)

    def evaluate(self, points: Any) -> Any:
        """The density at points."""
        if has_arrays((points,)):
            return _TensorKde(self.dataset, self.factor, self.weights).evaluate(points)
        return super().evaluate(points)

    __call__ = evaluate

    def logpdf(self, x: Any) -> Any:
        """The logarithm of the density at points."""
        if has_arrays((x,)):
            return _TensorKde(self.dataset, self.factor, self.weights).logpdf(x)
        return super().logpdf(x)
