"""`lucid.fft`: arraygrad's Fourier transforms on Lucid's tensors, with Lucid's keywords."""

from __future__ import annotations

from typing import Any

from ... import fft as transforms  # the name is that of a function, too
from .names import adapted

__all__ = transforms.__all__


def __getattr__(name: str) -> Any:
    return adapted(transforms, name, __name__)
