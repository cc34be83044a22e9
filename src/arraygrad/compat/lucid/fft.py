"""`lucid.fft`: arraygrad's Fourier transforms on Lucid's tensors, with Lucid's keywords."""

from __future__ import annotations

import functools

from ... import fft as transforms  # the name is that of a function, too
from .names import adapted

__all__ = transforms.__all__
__getattr__ = functools.partial(adapted, transforms)
