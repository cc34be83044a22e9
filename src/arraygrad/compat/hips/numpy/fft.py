"""`autograd.numpy.fft`: NumPy's Fourier transforms, with derivatives."""

from __future__ import annotations

from typing import Any

import numpy.fft as _fft

from .numpy_wrapper import wrap_namespace

wrap_namespace(vars(_fft), globals())


def __getattr__(name: str) -> Any:
    """NumPy's own value, for names without a function of their own."""
    return getattr(_fft, name)
