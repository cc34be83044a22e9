"""`lucid.autograd.grad`: returns plain arrays, and the cotangents of outputs default to ones.

>>> import arraygrad.compat.lucid as lucid
>>> x = lucid.tensor([1.0, 2.0], requires_grad=True)
>>> lucid.autograd.grad(lucid.sum(x**3), x)
array([ 3., 12.])
"""

from ...arrays.creation import tensor
from ...arrays.tensor import Tensor
from ...ops import sum
from . import autograd

__all__ = ["Tensor", "autograd", "sum", "tensor"]


def __dir__() -> list[str]:
    return __all__
