"""`sorix.utils`."""

from . import math

__all__ = ["math"]


def __dir__() -> list[str]:
    return __all__
