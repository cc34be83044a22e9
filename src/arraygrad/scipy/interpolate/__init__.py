"""`scipy.interpolate` with derivatives: by values, by nodes, and by the points asked for.

Objects made of plain arrays are SciPy's, and can be called with tensors. Names that have no
derivatives here are SciPy's own.

>>> import arraygrad as ag, numpy as np
>>> from arraygrad.scipy.interpolate import CubicSpline
>>> y = ag.tensor([0.0, 1.0, 4.0, 9.0], requires_grad=True)
>>> curve = CubicSpline(np.arange(4.0), y)
>>> round(curve(1.5).item(), 6)
2.25
>>> ag.grad(curve(1.5), y)
tensor([-0.0625,  0.5625,  0.5625, -0.0625])
"""

from __future__ import annotations

from ..names import others_from
from .bsplines import BSpline, make_interp_spline, make_lsq_spline
from .cubic import Akima1DInterpolator, CubicSpline, PchipInterpolator
from .fitpack import (
    InterpolatedUnivariateSpline,
    UnivariateSpline,
    splantider,
    splder,
    splev,
    splint,
    splrep,
)
from .grids import RegularGridInterpolator, interp1d, interpn
from .piecewise import CubicHermiteSpline, PPoly
from .polynomials import (
    BarycentricInterpolator,
    KroghInterpolator,
    barycentric_interpolate,
    krogh_interpolate,
)
from .radial import RBFInterpolator
from .rectangles import RectBivariateSpline
from .scattered import LinearNDInterpolator, NearestNDInterpolator, griddata
from .smoothing import make_smoothing_spline

__all__ = [
    "Akima1DInterpolator",
    "BSpline",
    "BarycentricInterpolator",
    "CubicHermiteSpline",
    "CubicSpline",
    "InterpolatedUnivariateSpline",
    "KroghInterpolator",
    "LinearNDInterpolator",
    "NearestNDInterpolator",
    "PPoly",
    "PchipInterpolator",
    "RBFInterpolator",
    "RectBivariateSpline",
    "RegularGridInterpolator",
    "UnivariateSpline",
    "barycentric_interpolate",
    "griddata",
    "interp1d",
    "interpn",
    "krogh_interpolate",
    "make_interp_spline",
    "make_lsq_spline",
    "make_smoothing_spline",
    "splantider",
    "splder",
    "splev",
    "splint",
    "splrep",
]

__getattr__ = others_from("scipy.interpolate")


def __dir__() -> list[str]:
    return __all__
