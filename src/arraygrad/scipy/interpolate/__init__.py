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
from . import (
    bsplines,
    cubic,
    fitpack,
    grids,
    piecewise,
    polynomials,
    radial,
    rectangles,
    scattered,
    smoothing,
)
from .bsplines import *
from .cubic import *
from .fitpack import *
from .grids import *
from .piecewise import *
from .polynomials import *
from .radial import *
from .rectangles import *
from .scattered import *
from .smoothing import *

__all__ = [
    *bsplines.__all__,
    *cubic.__all__,
    *fitpack.__all__,
    *grids.__all__,
    *piecewise.__all__,
    *polynomials.__all__,
    *radial.__all__,
    *rectangles.__all__,
    *scattered.__all__,
    *smoothing.__all__,
]

__getattr__ = others_from("scipy.interpolate")


def __dir__() -> list[str]:
    return __all__
