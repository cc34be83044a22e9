"""HIPS autograd on arraygrad's engine: change the import, and programs run.

>>> import arraygrad.compat.hips.numpy as np
>>> from arraygrad.compat.hips import grad
>>> grad(np.tanh)(0.0)
np.float64(1.0)

`install` puts it in the place of `autograd` in this process, so that packages that import autograd
run on it unchanged.
"""

from collections.abc import Sequence

from . import differential_operators
from .builtins import dict, isinstance, list, tuple, type
from .core import primitive
from .differential_operators import *
from .installing import install

__all__ = [
    "dict", "install", "isinstance", "list", "primitive", "tuple", "type",
]  # fmt: skip
__all__ += differential_operators.__all__


def __dir__() -> Sequence[str]:
    return __all__
