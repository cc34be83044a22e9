"""`scipy.spatial`: its module `distance` has derivatives, all other names are SciPy's own."""

from __future__ import annotations

from ..names import others_from
from . import distance

__all__ = ["distance"]

__getattr__ = others_from("scipy.spatial")


def __dir__() -> list[str]:
    return __all__
