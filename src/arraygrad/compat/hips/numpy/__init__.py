"""`autograd.numpy`: NumPy, with functions that can be differentiated.

>>> from arraygrad.compat.hips import grad
>>> import arraygrad.compat.hips.numpy as np
>>> grad(lambda x: np.sum(np.sin(x)))(np.zeros(2))
array([1., 1.])
"""

from __future__ import annotations

from typing import Any

import numpy as _np

from . import fft, linalg, numpy_boxes, numpy_vjps, numpy_vspaces, numpy_wrapper, random
from . import namespace as _namespace

__version__ = _np.__version__
__all__ = [
    "fft",
    "linalg",
    "numpy_boxes",
    "numpy_vjps",
    "numpy_vspaces",
    "numpy_wrapper",
    "random",
]
globals().update({n: f for n, f in vars(_namespace).items() if not n.startswith("_")})


def __getattr__(name: str) -> Any:
    """NumPy's own value, for names without a function of their own."""
    return getattr(_np, name)
