"""sorix: tensors on NumPy arrays, `grad` that returns a tuple and keeps the graph.

Two differences are intended. A graph that was freed cannot be differentiated again: here that is an
error, and sorix gives wrong numbers. And nothing is recursive, so long chains of ops work.

>>> import arraygrad.compat.sorix as sorix
>>> x = sorix.tensor([1.0, 2.0], requires_grad=True)
>>> sorix.grad((x**3).sum(), x)
(tensor([ 3., 12.]),)
>>> x.data
array([1., 2.], dtype=float32)
"""

from ..showing import show_public_names as _show_public_names
from . import autograd, nn, optim, utils  # noqa: F401
from .autograd import grad
from .functions import *
from .functions import __all__ as _functions
from .kinds import Device as device  # noqa: N813  (sorix has this name)
from .kinds import bool_, float16, float32, float64, int16, int32, int64, uint8
from .tensor import Tensor, get_xp, is_grad_enabled, no_grad, set_grad_enabled, tensor

float, double, half = float32, float64, float16
int, long, short, byte, bool = int32, int64, int16, uint8, bool_

__all__ = [
    "Tensor", "autograd", "bool", "bool_", "byte", "device", "double", "float", "float16",
    "float32", "float64", "get_xp", "grad", "half", "int", "int16", "int32", "int64",
    "is_grad_enabled", "long", "nn", "no_grad", "optim", "set_grad_enabled", "short", "tensor",
    "uint8",
    *_functions,
]  # fmt: skip
_show_public_names(__name__)
