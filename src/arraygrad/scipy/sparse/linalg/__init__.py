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
from .functions import eigs, eigsh, expm, expm_multiply, inv, norm, svds
from .operators import jacobian_operator
from .solvers import (
    bicg,
    bicgstab,
    cg,
    cgs,
    factorized,
    gcrotmk,
    gmres,
    lgmres,
    lsmr,
    lsqr,
    minres,
    qmr,
    splu,
    spsolve,
    spsolve_triangular,
    tfqmr,
)

__all__ = [
    "bicg",
    "bicgstab",
    "cg",
    "cgs",
    "eigs",
    "eigsh",
    "expm",
    "expm_multiply",
    "factorized",
    "gcrotmk",
    "gmres",
    "inv",
    "jacobian_operator",
    "lgmres",
    "lsmr",
    "lsqr",
    "minres",
    "norm",
    "qmr",
    "splu",
    "spsolve",
    "spsolve_triangular",
    "svds",
    "tfqmr",
]

__getattr__ = others_from("scipy.sparse.linalg")


def __dir__() -> list[str]:
    return __all__
