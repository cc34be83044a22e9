"""`autograd.numpy.linalg`: NumPy's linear algebra, with derivatives."""

from __future__ import annotations

from functools import partial as _partial
from typing import Any

import numpy as _np
import numpy.linalg as _linalg

from ..structures import holds_boxes
from .numpy_wrapper import wrap_namespace, wrapped

wrap_namespace(vars(_linalg), globals())

_eigh = wrapped(_linalg.eigh)


def eigh(x: Any, UPLO: str = "L") -> Any:
    """`numpy.linalg.eigh`. Its derivative is by one triangle of the matrix, as it reads no other.

    >>> from arraygrad.compat.hips import grad
    >>> import arraygrad.compat.hips.numpy as np
    >>> grad(lambda x: np.linalg.eigh(x)[0][1])(np.array([[2.0, 1.0], [1.0, 2.0]]))
    array([[0.5, 0. ],
           [1. , 0.5]])
    """
    if not holds_boxes(x):
        return _eigh(x, UPLO)
    if UPLO.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    below = _np.tril(x, -1) if UPLO.upper() == "L" else _np.triu(x, 1)
    diagonal = x * _np.eye(x.shape[-1])
    other = _np.conj(_np.swapaxes(below, -1, -2))
    return _eigh(_np.real(diagonal) + below + other, UPLO)


def T(x: Any) -> Any:  # noqa: N802  (HIPS's name)
    """The array with its last two axes swapped."""
    return _np.swapaxes(x, -1, -2)


_dot = wrapped(_np.matmul)

# NumPy's own value, for names without a function of their own.
__getattr__ = _partial(getattr, _linalg)
