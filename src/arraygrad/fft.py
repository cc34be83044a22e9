"""`arraygrad.fft`: discrete Fourier transforms, with the Array API's names.

This module only collects the names; the ops are in `ops.fft`.
"""

from functools import partial as _partial
from typing import TYPE_CHECKING

from .arrays import frequencies
from .arrays.frequencies import *
from .core.upward import numpy_attribute as _numpy_attribute
from .ops import fft as _transforms
from .ops.docs import describe as _describe
from .ops.fft import *

__all__ = [
    *frequencies.__all__,
    *_transforms.__all__,
]

_describe(map(globals().get, __all__), "ag.fft")

if not TYPE_CHECKING:  # which would otherwise accept every misspelt name
    __getattr__ = _partial(_numpy_attribute, __name__)  # our functions under NumPy's names


def __dir__() -> list[str]:
    return __all__
