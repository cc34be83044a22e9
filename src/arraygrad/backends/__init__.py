"""Array libraries: which one an array belongs to, and what that library does in its own way.

`numpy.py` is the default. A library that needs more than the standard offers has a file of its own
here; any other that follows the standard needs none. For arrays that are not known here, anyone can
`register` a `Backend`, without a change to this package: `docs/backends.md` shows how.
"""

from .base import Backend
from .base import Kernel as Kernel
from .base import is_short_float as is_short_float
from .registry import backend_of, register
from .registry import backend_of_type as backend_of_type
from .registry import common_backend as common_backend
from .registry import default as default

__all__ = ["Backend", "backend_of", "register"]


def __dir__() -> list[str]:
    return __all__
