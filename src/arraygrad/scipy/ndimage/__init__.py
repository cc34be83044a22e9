"""`scipy.ndimage` with derivatives. Names that have none here are SciPy's own.

>>> import arraygrad as ag
>>> from arraygrad.scipy import ndimage
>>> x = ag.tensor([0.0, 1.0, 0.0], requires_grad=True)
>>> ag.grad(ndimage.laplace(x)[1], x)
tensor([ 1., -2.,  1.])
"""

from __future__ import annotations

from ..names import others_from
from .filters import (
    convolve,
    convolve1d,
    correlate,
    correlate1d,
    laplace,
    prewitt,
    sobel,
    uniform_filter,
    uniform_filter1d,
)
from .gauss import (
    gaussian_filter,
    gaussian_filter1d,
    gaussian_gradient_magnitude,
    gaussian_laplace,
)
from .interpolation import (
    affine_transform,
    map_coordinates,
    rotate,
    shift,
    spline_filter,
    spline_filter1d,
    zoom,
)
from .ranks import (
    grey_closing,
    grey_dilation,
    grey_erosion,
    grey_opening,
    maximum_filter,
    maximum_filter1d,
    median_filter,
    minimum_filter,
    minimum_filter1d,
    percentile_filter,
    rank_filter,
)

__all__ = [
    "affine_transform",
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
    "grey_closing",
    "grey_dilation",
    "grey_erosion",
    "grey_opening",
    "laplace",
    "map_coordinates",
    "maximum_filter",
    "maximum_filter1d",
    "median_filter",
    "minimum_filter",
    "minimum_filter1d",
    "percentile_filter",
    "prewitt",
    "rank_filter",
    "rotate",
    "shift",
    "sobel",
    "spline_filter",
    "spline_filter1d",
    "uniform_filter",
    "uniform_filter1d",
    "zoom",
]

__getattr__ = others_from("scipy.ndimage")


def __dir__() -> list[str]:
    return __all__
