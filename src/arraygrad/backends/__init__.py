"""Array libraries: which library an array belongs to, and how this library computes ops.

NumPy is the default. A library that differs from the Array API standard has its own module here;
`standard` serves all libraries that follow the standard. For other array types, users `register` a
`Backend` without a change to this package: `docs/backends.md` shows how. What an op means, and its
derivatives, are in `ops`.
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
