"""`scipy.special` with derivatives: by the argument always, by parameters where a formula exists.

A parameter without a formula is refused: a gradient by it raises an error that names it. Names that
have no derivatives here are SciPy's own.

>>> import arraygrad as ag
>>> from arraygrad.scipy import special
>>> x = ag.tensor([0.5, 2.0], requires_grad=True)
>>> ag.grad(special.j0(x).sum(), x)  # -j1(x)
tensor([-0.24226846, -0.57672481])
"""

from __future__ import annotations

from ..names import others_from
from . import (
    bessel,
    carlson,
    distributions,
    elementary,
    elliptic,
    hypergeometric,
    integrals,
    kelvins,
    polynomials,
)
from .bessel import *
from .carlson import *
from .distributions import *
from .elementary import *
from .elliptic import *
from .hypergeometric import *
from .integrals import *
from .kelvins import *
from .polynomials import *

__all__ = [
    *bessel.__all__,
    *carlson.__all__,
    *distributions.__all__,
    *elementary.__all__,
    *elliptic.__all__,
    *hypergeometric.__all__,
    *integrals.__all__,
    *kelvins.__all__,
    *polynomials.__all__,
]

__getattr__ = others_from("scipy.special")


def __dir__() -> list[str]:
    return __all__
