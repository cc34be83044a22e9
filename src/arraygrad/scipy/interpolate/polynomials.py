"""One polynomial through all points: `BarycentricInterpolator` and `KroghInterpolator`.

It is a sum of Lagrange's polynomials, which are one at a node and zero at the others. As products,
they can be differentiated everywhere, also at the nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import plain
from ...func import jvp
from ...ops import expand_dims, matmul, moveaxis, ones_like, prod, reshape, where
from ..twins import double, refuse, twin
from .also_of_tensors import AlsoOfTensors
from .piecewise import SCIPY

__all__ = [
    "BarycentricInterpolator",
    "KroghInterpolator",
    "barycentric_interpolate",
    "krogh_interpolate",
]


class _Polynomial:
    """A polynomial of tensors. SciPy takes the nodes in a random order, which is of no use here."""

    def __init__(
        self, xi: Any, yi: Any = None, axis: int = 0, *, wi: Any = None, **seeds: Any
    ) -> None:
        refuse("BarycentricInterpolator", wi=(wi, None))
        if yi is None:
            raise TypeError("a polynomial of tensors needs its values: pass yi")
        self.x, values = double(xi), double(yi)
        nodes = np.ravel(plain(self.x))
        if len(np.unique(nodes)) < len(nodes):
            raise NotImplementedError(
                "a node of tensors that is given twice, for a derivative there, has no derivative "
                "here: detach() the arrays, or use CubicHermiteSpline"
            )
        self.axis = axis % values.ndim
        values = moveaxis(values, self.axis, 0)
        self.trail, self.y = tuple(values.shape[1:]), reshape(values, (values.shape[0], -1))

    def __call__(self, x: Any) -> Any:
        """The values at points."""
        x = double(x)
        own = np.eye(self.x.shape[0], dtype=bool)
        apart = where(own, 1.0, expand_dims(self.x, axis=1) - self.x)
        away = reshape(x, (-1, 1, 1)) - self.x
        factors = where(own, 1.0, away / apart)
        out = reshape(matmul(prod(factors, axis=-1), self.y), (*x.shape, *self.trail))
        places = range(x.ndim)
        return moveaxis(out, tuple(places), tuple(self.axis + i for i in places))

    def derivative(self, x: Any, der: int = 1) -> Any:
        """A derivative by x at points."""
        if der == 0:
            return self(x)
        x = double(x)
        return jvp(lambda x: self.derivative(x, der - 1), (x,), (ones_like(x),))[1]


class BarycentricInterpolator(AlsoOfTensors, SCIPY.BarycentricInterpolator):  # type: ignore[misc]
    """SciPy's class, which can also be made of tensors and called with tensors."""

    of_tensors = _Polynomial

    def again(self) -> Any:
        """The same object, for tensors; it may have other nodes and values than at first."""
        if self.yi is None:
            return _Polynomial(self.xi)  # raises
        values = self.yi.reshape(len(self.xi), *self._y_extra_shape)
        return _Polynomial(self.xi, np.moveaxis(values, 0, self._y_axis), self._y_axis)


class KroghInterpolator(AlsoOfTensors, SCIPY.KroghInterpolator):  # type: ignore[misc]
    """SciPy's class, which can also be made of tensors and called with tensors."""

    of_tensors = _Polynomial


def _interpolated(xi: Any, yi: Any, x: Any, axis: int, der: Any) -> Any:
    return _Polynomial(xi, yi, axis).derivative(x, int(der))


@twin(SCIPY.barycentric_interpolate)
def barycentric_interpolate(
    xi: Any, yi: Any, x: Any, axis: int, der: Any = 0, rng: Any = None
) -> Any:
    """The polynomial through points, or one of its derivatives, at other points."""
    return _interpolated(xi, yi, x, axis, der)


@twin(SCIPY.krogh_interpolate)
def krogh_interpolate(xi: Any, yi: Any, x: Any, der: Any, axis: int) -> Any:
    """The polynomial through points, or one of its derivatives, at other points."""
    return _interpolated(xi, yi, x, axis, der)
