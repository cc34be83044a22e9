"""`scipy.sparse` with derivatives: products with tensors, and matrices whose elements are tensors.

With this module imported, operators such as ``A @ x`` and ``x * A`` work for SciPy's own sparse
arrays `A` and tensors `x`. Constructors with tensors give a `SparseTensor`. Names that have no
derivatives here are SciPy's own.

>>> import arraygrad as ag, numpy as np
>>> from arraygrad.scipy import sparse
>>> data = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
>>> a = sparse.coo_array((data, ([0, 1, 1], [0, 0, 1])))
>>> ag.grad((a @ np.array([1.0, 10.0])).sum(), data)
tensor([ 1.,  1., 10.])
"""

from __future__ import annotations

from ..names import others_from
from . import arrays, building, linalg
from .arrays import *
from .building import *
from .operators import teach

__all__ = [
    "linalg",
    *arrays.__all__,
    *building.__all__,
]

__getattr__ = others_from("scipy.sparse")
teach()


def __dir__() -> list[str]:
    return __all__
