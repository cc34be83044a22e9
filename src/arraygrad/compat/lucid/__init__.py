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
from . import autograd, fft, linalg, nn, optim, utils
from .draws import manual_seed
from .tensors import (
    Tensor,
    arange,
    bool_,
    complex64,
    complex128,
    device,
    empty,
    empty_like,
    eye,
    float16,
    float32,
    float64,
    from_numpy,
    full,
    full_like,
    int8,
    int16,
    int32,
    int64,
    linspace,
    ones,
    ones_like,
    rand,
    rand_like,
    randn,
    randn_like,
    tensor,
    zeros,
    zeros_like,
)

_FUNCTIONS = {name: Tensor._lifted(function) for name, function in Tensor._methods.items()}
sum = _FUNCTIONS["sum"]

__all__ = [
    "Tensor", "arange", "autograd", "bool_", "complex64", "complex128", "device", "empty",
    "empty_like", "enable_grad", "eye", "fft", "float16", "float32", "float64", "from_numpy",
    "full", "full_like", "inference_mode", "int8", "int16", "int32", "int64", "is_grad_enabled",
    "linalg", "linspace", "manual_seed", "nn", "no_grad", "ones", "ones_like", "optim", "rand",
    "rand_like", "randn", "randn_like", "set_grad_enabled", "sum", "tensor", "utils", "zeros",
    "zeros_like",
]  # fmt: skip


__all__ += [name for name in _FUNCTIONS if name not in __all__]
_show_public_names(__name__)


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
