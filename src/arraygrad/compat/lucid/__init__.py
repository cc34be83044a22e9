"""Lucid: `grad` returns plain arrays, and the cotangents of outputs default to ones.

>>> import arraygrad.compat.lucid as lucid
>>> x = lucid.tensor([1.0, 2.0], requires_grad=True)
>>> lucid.autograd.grad(lucid.sum(x**3), x)
array([ 3., 12.], dtype=float32)

With `create_graph=True`, as in Lucid 3, gradients are tensors in a tuple:

>>> (g,) = lucid.autograd.grad(lucid.sum(x**3), x, create_graph=True)
>>> lucid.autograd.grad(g.sum(), x)
array([ 6., 12.], dtype=float32)
"""

from typing import Any

from ...autograd import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from ..showing import show_public_names as _show_public_names
from . import autograd, fft, linalg, nn, optim, tensors, utils
from .draws import manual_seed
from .tensors import *

_FUNCTIONS = {
    name: tensors.Tensor._lifted(function) for name, function in tensors.Tensor._methods.items()
}
sum = _FUNCTIONS["sum"]

__all__ = [
    "autograd", "enable_grad", "fft", "inference_mode", "is_grad_enabled", "linalg", "manual_seed",
    "nn", "no_grad", "optim", "set_grad_enabled", "sum", "utils",
]  # fmt: skip
__all__ += tensors.__all__


__all__ += [name for name in _FUNCTIONS if name not in __all__]
_show_public_names(__name__)


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
