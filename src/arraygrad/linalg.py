"""`arraygrad.linalg`: linear algebra, with the Array API's names.

This module only collects the names; the ops are in `ops`, whose modules say
which of their names are public.

>>> import arraygrad as ag
>>> a = ag.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)
>>> ag.grad(ag.linalg.slogdet(a).logabsdet, a)
tensor([[ 0.6, -0.2],
        [-0.2,  0.4]])
"""

from functools import partial as _partial
from typing import TYPE_CHECKING

from .core.upward import numpy_attribute as _numpy_attribute
from .ops import decompositions, least_squares, linalg, matrices, norms, spectra
from .ops.contractions import matmul, tensordot, vecdot
from .ops.decompositions import *
from .ops.docs import describe as _describe
from .ops.least_squares import *
from .ops.linalg import *
from .ops.matrices import *
from .ops.norms import *
from .ops.shape import matrix_transpose
from .ops.spectra import *

__all__ = [
    "matmul",
    "matrix_transpose",
    "tensordot",
    "vecdot",
    *decompositions.__all__,
    *least_squares.__all__,
    *linalg.__all__,
    *matrices.__all__,
    *norms.__all__,
    *spectra.__all__,
]

_describe(map(globals().get, __all__), "ag.linalg")

if not TYPE_CHECKING:  # which would otherwise accept every misspelt name
    __getattr__ = _partial(_numpy_attribute, __name__)  # our functions under NumPy's names


def __dir__() -> list[str]:
    return __all__
