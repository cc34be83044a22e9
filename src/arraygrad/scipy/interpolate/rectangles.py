"""Splines of two variables through values on a grid: a B-spline along each axis."""

from __future__ import annotations

from typing import Any

from ...core.array import plain
from ...ops import clip, reshape, swapaxes
from ..twins import double, has_values, refuse
from .also_of_tensors import AlsoOfTensors
from .bsplines import TensorSpline, basis, make_interp_spline
from .grids import tensor_product
from .piecewise import SCIPY, check_rising

__all__ = ["RectBivariateSpline"]


class _Surface:
    """Like SciPy's `RectBivariateSpline` without smoothing, of tensors."""

    def __init__(
        self,
        x: Any,
        y: Any,
        z: Any,
        bbox: Any = (None,) * 4,
        kx: int = 3,
        ky: int = 3,
        s: float = 0,
        maxit: int = 20,
    ) -> None:
        refuse("RectBivariateSpline", bbox=(list(bbox), [None] * 4), s=(s, 0))
        self.along_x = make_interp_spline(x, z, kx)
        self.along_y = make_interp_spline(y, swapaxes(double(self.along_x.c), 0, 1), ky)

    def __call__(self, x: Any, y: Any, dx: int = 0, dy: int = 0, grid: bool = True) -> Any:
        """The values on a grid, or at points; or those of a derivative."""
        x, y = double(x), double(y)
        if grid:
            for name, line in (("x", x), ("y", y)):
                if has_values(line) and plain(line).size > 1:
                    check_rising(line, name, strictly=False)
            x, y = reshape(x, (-1, 1)), reshape(y, (1, -1))
        rows = TensorSpline(self.along_x.t, swapaxes(self.along_y.c, 0, 1), self.along_x.k)
        rows = rows.derivative(dx)
        columns = TensorSpline(self.along_y.t, swapaxes(rows.c, 0, 1), self.along_y.k)
        columns = columns.derivative(dy)
        elements = swapaxes(columns.c, 0, 1)
        return tensor_product(elements, [_inside(rows, x), _inside(columns, y)])

    def ev(self, xi: Any, yi: Any, dx: int = 0, dy: int = 0) -> Any:
        """The values at points."""
        return self(xi, yi, dx, dy, grid=False)


def _inside(spline: TensorSpline, x: Any) -> tuple[Any, Any]:
    """The basis functions at points; beyond the range, those at its end."""
    t, k = spline.t, spline.k
    return basis(t, clip(x, t[k], t[t.shape[0] - k - 1]), k)


class RectBivariateSpline(AlsoOfTensors, SCIPY.RectBivariateSpline):  # type: ignore[misc]
    """SciPy's class, which can also be made of tensors and called with tensors."""

    of_tensors = _Surface
