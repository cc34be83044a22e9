"""`scipy.linalg` with derivatives. Names that have none here are SciPy's own.

Leading axes are stacks of matrices. Of a Hermitian matrix, SciPy reads one triangle, and only this
triangle has a gradient.

>>> import arraygrad as ag
>>> from arraygrad.scipy import linalg
>>> a = ag.tensor([[0.0, 1.0], [0.0, 0.0]], requires_grad=True)
>>> ag.grad(linalg.expm(a)[0, 1], a)
tensor([[0.5       , 1.        ],
        [0.16666667, 0.5       ]])
"""

from __future__ import annotations

from ..names import others_from
from . import (
    decompositions,
    eigenvalues,
    equations,
    factors,
    functions,
    indefinite,
    schur_form,
    structured,
    systems,
)
from .decompositions import *
from .eigenvalues import *
from .equations import *
from .factors import *
from .functions import *
from .indefinite import *
from .schur_form import *
from .structured import *
from .systems import *

__all__ = [
    *decompositions.__all__,
    *eigenvalues.__all__,
    *equations.__all__,
    *factors.__all__,
    *functions.__all__,
    *indefinite.__all__,
    *schur_form.__all__,
    *structured.__all__,
    *systems.__all__,
]

__getattr__ = others_from("scipy.linalg")


def __dir__() -> list[str]:
    return __all__
