"""`arraygrad.linalg`: linear algebra, with the Array API's names.

This module only collects the names; the ops are in `ops`.

>>> import arraygrad as ag
>>> a = ag.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)
>>> ag.grad(ag.linalg.slogdet(a).logabsdet, a)
tensor([[ 0.6, -0.2],
        [-0.2,  0.4]])
"""

from .ops.contractions import matmul, tensordot, vecdot
from .ops.decompositions import QRResult, cholesky, pinv, qr
from .ops.least_squares import LstsqResult, lstsq
from .ops.linalg import (
    SlogdetResult,
    cross,
    det,
    inv,
    matrix_power,
    matrix_rank,
    outer,
    slogdet,
    solve,
    trace,
)
from .ops.matrices import diagonal
from .ops.norms import matrix_norm, vector_norm
from .ops.shape import matrix_transpose
from .ops.spectra import (
    EighResult,
    EigResult,
    SVDResult,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    svd,
    svdvals,
)

__all__ = [
    "EigResult",
    "EighResult",
    "LstsqResult",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


def __dir__() -> list[str]:
    return __all__
