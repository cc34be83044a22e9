"""`autograd.numpy.fft`: NumPy's Fourier transforms, with derivatives."""

from __future__ import annotations

import numpy.fft as _fft

from .numpy_wrapper import wrap_namespace

wrap_namespace(vars(_fft), globals())
