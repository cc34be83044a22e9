"""`autograd.scipy.linalg`: the functions of `scipy.linalg`, with derivatives."""

from __future__ import annotations

from .twins import lazily

__getattr__ = lazily("linalg", globals())
