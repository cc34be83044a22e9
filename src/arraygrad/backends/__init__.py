"""Array libraries: which one an array belongs to, and what that library does in its own way.

`numpy.py` is the default. A library that needs more than the standard offers has a file of its own
here; any other that follows the standard needs none. For arrays that are not known here, anyone can
`register` a `Backend`, without a change to this package: `docs/backends.md` shows how.
"""

from .base import Backend, Kernel, is_short_float
from .registry import backend_of, backend_of_type, common_backend, default, register

__all__ = [
    "Backend",
    "Kernel",
    "backend_of",
    "backend_of_type",
    "common_backend",
    "default",
    "is_short_float",
    "register",
]
