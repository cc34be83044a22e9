"""`scipy.signal` with derivatives. Names that have none here are SciPy's own.

>>> import arraygrad as ag
>>> from arraygrad.scipy import signal
>>> b = ag.tensor([1.0, 0.5], requires_grad=True)
>>> ag.grad(signal.lfilter(b, [1.0], [1.0, 2.0, 3.0]).sum(), b)
tensor([6., 3.])
"""

from __future__ import annotations

from ..names import others_from
from . import convolution, design, filters, rates, smoothing, spectra, systems
from .convolution import *
from .design import *
from .filters import *
from .rates import *
from .smoothing import *
from .spectra import *
from .systems import *

__all__ = [
    *convolution.__all__,
    *design.__all__,
    *filters.__all__,
    *rates.__all__,
    *smoothing.__all__,
    *spectra.__all__,
    *systems.__all__,
]

__getattr__ = others_from("scipy.signal")


def __dir__() -> list[str]:
    return __all__
