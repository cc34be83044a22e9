"""The methods of SciPy's distributions as functions, with derivatives from `arraygrad.scipy`."""

from __future__ import annotations

from typing import Any

from .....scipy import stats
from .....scipy.names import scipy_module
from ...numpy.numpy_wrapper import wrapped

__all__ = ["methods_of"]


def methods_of(distribution: str, names: str) -> list[Any]:
    """Some methods of a distribution, for boxes, too."""
    raw, own = getattr(scipy_module("scipy.stats"), distribution), getattr(stats, distribution)
    return [wrapped(getattr(raw, name), getattr(own, name)) for name in names.split()]
