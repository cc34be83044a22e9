"""`autograd.scipy`: some of SciPy's functions, with derivatives."""

from . import integrate, linalg, signal, special, stats

__all__ = ["integrate", "linalg", "signal", "special", "stats"]
