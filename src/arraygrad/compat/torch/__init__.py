"""`torch.autograd.grad`, with all of PyTorch's parameters.

Three things stay better than in PyTorch: gradients share no memory, a constant gradient can be
differentiated under `create_graph`, and a batch of length zero works.

>>> import arraygrad.compat.torch as torch
>>> x = torch.tensor([1.0, 2.0], requires_grad=True)
>>> torch.autograd.grad((x**3).sum(), x)
(tensor([ 3., 12.], dtype=float32),)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays.tensor import Tensor
from ...autograd import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from ..arguments import single_precision_tensor
from . import autograd

__all__ = [
    "Tensor",
    "autograd",
    "complex64",
    "complex128",
    "enable_grad",
    "float16",
    "float32",
    "float64",
    "inference_mode",
    "int64",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
    "tensor",
]


def __dir__() -> list[str]:
    return __all__


float16, float32, float64 = map(np.dtype, (np.float16, np.float32, np.float64))
complex64, complex128, int64 = map(np.dtype, (np.complex64, np.complex128, np.int64))


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A new leaf tensor. Python floats become float32, complex numbers complex64.

    >>> import arraygrad.compat.torch as torch
    >>> torch.tensor([1.0, 2.0])
    tensor([1., 2.], dtype=float32)
    """
    return single_precision_tensor(data, dtype, device, requires_grad)
