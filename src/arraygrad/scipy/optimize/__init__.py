"""`scipy.optimize` with derivatives: roots, minima and fits as functions of their parameters.

SciPy finds the solution. Its derivatives, by all arrays that the user's functions depend on, are
those of an implicit function (see `scipy.implicit`), not those of the steps of the solver. Where a
solver did not find a solution, differentiating raises an error.

`minimize`, `root`, `least_squares` and `curve_fit` give SciPy's methods exact derivatives of the
user's functions, where the user gives none (see `exact`). `arraygrad.optimize` has them for any
structure of arrays.
"""

from ..names import others_from
from . import fits, minima, programs, roots
from .fits import *
from .minima import *
from .programs import *
from .roots import *

__all__ = [
    *fits.__all__,
    *minima.__all__,
    *programs.__all__,
    *roots.__all__,
]

__getattr__ = others_from("scipy.optimize")


def __dir__() -> list[str]:
    return __all__
