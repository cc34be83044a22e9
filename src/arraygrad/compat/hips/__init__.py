"""HIPS autograd on arraygrad's engine: change the import, and programs run.

>>> import arraygrad.compat.hips.numpy as np
>>> from arraygrad.compat.hips import grad
>>> grad(np.tanh)(0.0)
np.float64(1.0)

`install` puts it in the place of `autograd` in this process, so that packages that import autograd
run on it unchanged.
"""

from collections.abc import Sequence

from .builtins import dict, isinstance, list, tuple, type
from .core import primitive
from .differential_operators import (
    checkpoint,
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)
from .installing import install

__all__ = [
    "checkpoint", "deriv", "dict", "elementwise_grad", "grad", "grad_and_aux", "grad_named",
    "hessian", "hessian_tensor_product", "hessian_vector_product", "holomorphic_grad", "install",
    "isinstance", "jacobian", "list", "make_ggnvp", "make_hvp", "make_jvp", "make_vjp",
    "multigrad_dict", "primitive", "tensor_jacobian_product", "tuple", "type", "value_and_grad",
    "vector_jacobian_product",
]  # fmt: skip


def __dir__() -> Sequence[str]:
    return __all__
