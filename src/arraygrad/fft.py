"""`arraygrad.fft`: discrete Fourier transforms, with the Array API's names.

This module only collects the names; the ops are in `ops.fft`.
"""

from .arrays import frequencies
from .arrays.frequencies import *
from .ops import fft as _transforms
from .ops.docs import describe as _describe
from .ops.fft import *

__all__ = [
    *frequencies.__all__,
    *_transforms.__all__,
]

_describe(map(globals().get, __all__), "ag.fft")


def __dir__() -> list[str]:
    return __all__
