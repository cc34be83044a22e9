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
from .decompositions import (
    eigh,
    eigvalsh,
    null_space,
    orth,
    orthogonal_procrustes,
    polar,
    qr,
    svd,
    svdvals,
)
from .eigenvalues import eig, eigvals
from .equations import (
    solve_continuous_are,
    solve_continuous_lyapunov,
    solve_discrete_are,
    solve_discrete_lyapunov,
    solve_sylvester,
)
from .factors import cho_factor, cho_solve, cholesky, lu, lu_factor, lu_solve
from .functions import (
    coshm,
    cosm,
    expm,
    expm_frechet,
    fractional_matrix_power,
    funm,
    logm,
    sinhm,
    sinm,
    sqrtm,
    tanhm,
    tanm,
)
from .indefinite import ldl
from .schur_form import schur
from .structured import (
    block_diag,
    circulant,
    companion,
    convolution_matrix,
    hankel,
    khatri_rao,
    leslie,
    solve_banded,
    solve_circulant,
    solve_toeplitz,
    solveh_banded,
    toeplitz,
)
from .systems import det, inv, lstsq, norm, pinv, pinvh, solve, solve_triangular

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "circulant",
    "companion",
    "convolution_matrix",
    "coshm",
    "cosm",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "expm_frechet",
    "fractional_matrix_power",
    "funm",
    "hankel",
    "inv",
    "khatri_rao",
    "ldl",
    "leslie",
    "logm",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "norm",
    "null_space",
    "orth",
    "orthogonal_procrustes",
    "pinv",
    "pinvh",
    "polar",
    "qr",
    "schur",
    "sinhm",
    "sinm",
    "solve",
    "solve_banded",
    "solve_circulant",
    "solve_continuous_are",
    "solve_continuous_lyapunov",
    "solve_discrete_are",
    "solve_discrete_lyapunov",
    "solve_sylvester",
    "solve_toeplitz",
    "solve_triangular",
    "solveh_banded",
    "sqrtm",
    "svd",
    "svdvals",
    "tanhm",
    "tanm",
    "toeplitz",
]

__getattr__ = others_from("scipy.linalg")


def __dir__() -> list[str]:
    return __all__
