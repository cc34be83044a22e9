"""Transforms of functions: derivatives and vectorisation, which compose in any order; and loops.

Derivatives of tensors that have been computed already are in `autograd`.
"""

from .associative import associative_scan
from .custom_rules import custom
from .forward import jvp
from .jacobians import hessian, hvp, jacfwd, jacobian, jacrev
from .loops import cond, fori_loop, map, scan, switch, while_loop
from .recompute import checkpoint
from .reverse import grad, linear_transpose, linearize, stop_gradient, value_and_grad, vjp
from .shapes import eval_shape
from .sparse import sparsity
from .vectorize import vmap

__all__ = [
    "associative_scan",
    "checkpoint",
    "cond",
    "custom",
    "eval_shape",
    "fori_loop",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linear_transpose",
    "linearize",
    "map",
    "scan",
    "sparsity",
    "stop_gradient",
    "switch",
    "value_and_grad",
    "vjp",
    "vmap",
    "while_loop",
]


def __dir__() -> list[str]:
    return __all__
