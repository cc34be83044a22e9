"""`autograd.numpy.fft`: NumPy's Fourier transforms, with derivatives."""

from __future__ import annotations

from functools import partial as _partial

import numpy.fft as _fft

from .numpy_wrapper import wrap_namespace

wrap_namespace(vars(_fft), globals())

# NumPy's own value, for names without a function of their own.
__getattr__ = _partial(getattr, _fft)
