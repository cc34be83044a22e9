"""The names of FITPACK: splines through points, and what is made of them.

Splines that smooth the data have no derivatives here: `make_smoothing_spline` has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import plain
from ...ops import clip, concat, where
from ..twins import Extended, any_arrays, array_like, floating, has_arrays, refuse, twin
from .bsplines import TensorSpline, make_interp_spline
from .piecewise import SCIPY, outside, wide

__all__ = [
    "InterpolatedUnivariateSpline",
    "UnivariateSpline",
    "splantider",
    "splder",
    "splev",
    "splint",
    "splrep",
]

_BEYOND = {"extrapolate": 0, "zeros": 1, "raise": 2, "const": 3}


def _spline(tck: Any) -> TensorSpline:
    """A spline from a tuple, whose coefficients have zeros at the end, or from an object."""
    if hasattr(tck, "t"):
        return TensorSpline(tck.t, tck.c, tck.k, tck.extrapolate, tck.axis)
    t, c, k = tck
    if isinstance(c, list | tuple):
        raise NotImplementedError("splines of tensors take one array of coefficients, not a list")
    t, c = floating(t), floating(c)
    return TensorSpline(t, c[: t.shape[0] - k - 1], k)


def _tuple(spline: TensorSpline) -> tuple[Any, Any, int]:
    """As FITPACK has it: as many coefficients as knots."""
    zeros = np.zeros((spline.k + 1, *spline.c.shape[1:]))
    return spline.t, concat((spline.c, zeros), axis=0), spline.k


def _like(tck: Any, spline: TensorSpline) -> Any:
    return spline if hasattr(tck, "t") else _tuple(spline)


def _at(spline: TensorSpline, x: Any, nu: int, ext: int) -> Any:
    x = floating(x)
    n = spline.t.shape[0] - spline.k - 1
    ends = spline.t[spline.k : n + 1]
    if ext == 3 and not nu:  # FITPACK does so for values, and extrapolates derivatives
        x = clip(x, ends[0], ends[-1])
    out = spline(x, nu, extrapolate=True)
    if ext not in (1, 2):
        return out
    beyond = outside(ends, x)
    if ext == 2 and plain(beyond).any():
        raise ValueError("A value in x is outside of the range of the spline.")
    return where(wide(beyond, out.ndim - x.ndim), 0.0, out)


@twin(SCIPY.splrep)
def splrep(x: Any, y: Any, k: int, s: Any) -> Any:
    """The spline through points, by nodes and values."""
    refuse("splrep", s=(s or 0, 0))
    return _tuple(make_interp_spline(_one(x), _one(y), k))


def _one(x: Any) -> Any:
    return array_like(x)


@twin(SCIPY.splev)
def splev(x: Any, tck: Any, der: int, ext: int) -> Any:
    """The values of a spline, or of its derivative, at points."""
    if ext not in (0, 1, 2, 3):
        raise ValueError(f"ext = {ext} not in (0, 1, 2, 3) ")
    return _at(_spline(tck), x, der, ext)


@twin(SCIPY.splint)
def splint(a: Any, b: Any, tck: Any) -> Any:
    """The integral of a spline between two points; it is zero outside of its range."""
    return _spline(tck).integrate(a, b, extrapolate=False)


@twin(SCIPY.splder)
def splder(tck: Any, n: int) -> Any:
    """The derivative of a spline, as a spline."""
    return _like(tck, _spline(tck).derivative(n))


@twin(SCIPY.splantider)
def splantider(tck: Any, n: int) -> Any:
    """The integral of a spline, as a spline."""
    return _like(tck, _spline(tck).antiderivative(n))


class _TensorUnivariate:
    """`InterpolatedUnivariateSpline` of tensors."""

    def __init__(
        self, x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: int = 3, ext: Any = 0
    ) -> None:
        if w is not None or any(end is not None for end in bbox):
            raise NotImplementedError("splines of tensors take no w and no bbox")
        self._ext = _BEYOND.get(ext, ext)
        self._spline = make_interp_spline(_one(x), _one(y), k)

    def __call__(self, x: Any, nu: int = 0, ext: Any = None) -> Any:
        """The values, or those of a derivative."""
        return _at(self._spline, x, nu, self._ext if ext is None else _BEYOND.get(ext, ext))

    def integral(self, a: Any, b: Any) -> Any:
        """The integral between two points."""
        return self._spline.integrate(a, b, extrapolate=False)

    def derivative(self, n: int = 1) -> Any:
        """The derivative, as a spline."""
        return self._spline.derivative(n)

    def antiderivative(self, n: int = 1) -> Any:
        """The integral, as a spline."""
        return self._spline.antiderivative(n)


class InterpolatedUnivariateSpline(SCIPY.InterpolatedUnivariateSpline, metaclass=Extended):  # type: ignore[misc]
    """SciPy's class, which can also be made of tensors and called with tensors."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """A spline of tensors if they are among the arguments, else SciPy's object."""
        if any_arrays(args, kwargs):
            return _TensorUnivariate(*args, **kwargs)
        return super().__new__(cls)

    def __call__(self, x: Any, nu: int = 0, ext: Any = None) -> Any:
        if has_arrays((x,)):
            return _at(_spline(self._eval_args), x, nu, self.ext if ext is None else ext)
        return super().__call__(x, nu, ext)


class UnivariateSpline(SCIPY.UnivariateSpline, metaclass=Extended):  # type: ignore[misc]
    """SciPy's class, which can also be called with tensors. It smooths: data are constants."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """SciPy's object; tensors among the arguments are refused."""
        if any_arrays(args, kwargs):
            raise NotImplementedError(
                "UnivariateSpline has no derivatives by the data: use make_smoothing_spline with "
                "lam=, or InterpolatedUnivariateSpline"
            )
        return super().__new__(cls)

    def __call__(self, x: Any, nu: int = 0, ext: Any = None) -> Any:
        if has_arrays((x,)):
            return _at(_spline(self._eval_args), x, nu, self.ext if ext is None else ext)
        return super().__call__(x, nu, ext)
