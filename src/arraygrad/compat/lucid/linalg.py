"""`lucid.linalg`: arraygrad's linear algebra on Lucid's tensors, with Lucid's keywords."""

from __future__ import annotations

import functools

from ... import linalg
from .names import adapted

__all__ = linalg.__all__
__getattr__ = functools.partial(adapted, linalg)
