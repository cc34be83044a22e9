"""`scipy.ndimage` with derivatives. Names that have none here are SciPy's own.

>>> import arraygrad as ag
>>> from arraygrad.scipy import ndimage
>>> x = ag.tensor([0.0, 1.0, 0.0], requires_grad=True)
>>> ag.grad(ndimage.laplace(x)[1], x)
tensor([ 1., -2.,  1.])
"""

from __future__ import annotations

from ..names import others_from
from . import filters, gauss, interpolation, measurements, ranks
from .filters import *
from .gauss import *
from .interpolation import *
from .measurements import *
from .ranks import *

__all__ = [
    *filters.__all__,
    *gauss.__all__,
    *interpolation.__all__,
    *measurements.__all__,
    *ranks.__all__,
]

__getattr__ = others_from("scipy.ndimage")


def __dir__() -> list[str]:
    return __all__
