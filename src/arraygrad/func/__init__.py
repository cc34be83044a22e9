"""Transforms of functions: derivatives and vectorisation, which compose in any order.

Derivatives of tensors that have been computed already are in `autograd`.
"""

from .custom_rules import custom
from .forward import jvp
from .jacobians import hessian, hvp, jacfwd, jacobian, jacrev
from .recompute import checkpoint
from .reverse import grad, linearize, value_and_grad, vjp
from .sparse import sparsity
from .vectorize import vmap

__all__ = [
    "checkpoint",
    "custom",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linearize",
    "sparsity",
    "value_and_grad",
    "vjp",
    "vmap",
]


def __dir__() -> list[str]:
    return __all__
