"""`scipy.sparse.linalg` with derivatives. Names that have none here are SciPy's own.

>>> import arraygrad as ag
>>> from arraygrad.scipy import sparse
>>> from arraygrad.scipy.sparse.linalg import spsolve
>>> d = ag.tensor([2.0, 4.0], requires_grad=True)
>>> ag.grad(spsolve(sparse.diags_array(d), [1.0, 1.0]).sum(), d)  # -1 / d**2
tensor([-0.25  , -0.0625])
"""

from __future__ import annotations

from ...names import others_from
from . import functions, operators, solvers
from .functions import *
from .operators import *
from .solvers import *

__all__ = [
    *functions.__all__,
    *operators.__all__,
    *solvers.__all__,
]

__getattr__ = others_from("scipy.sparse.linalg")


def __dir__() -> list[str]:
    return __all__
