"""`scipy.integrate` with derivatives: differential equations and integrals."""

from ..names import others_from
from . import boundary, equations, quadrature, samples
from .boundary import *
from .equations import *
from .quadrature import *
from .samples import *

__all__ = [
    *boundary.__all__,
    *equations.__all__,
    *quadrature.__all__,
    *samples.__all__,
]

__getattr__ = others_from("scipy.integrate")


def __dir__() -> list[str]:
    return __all__
