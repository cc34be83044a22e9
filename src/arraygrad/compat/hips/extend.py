"""`autograd.extend`: what programs need to add functions of their own.

>>> from arraygrad.compat.hips import grad
>>> from arraygrad.compat.hips.extend import defvjp, primitive
>>> @primitive
... def cube(x):
...     return x**3
>>> defvjp(cube, lambda ans, x: lambda g: g * 3 * x**2)
>>> grad(grad(cube))(2.0)
np.float64(12.0)
"""

from .boxes import Box
from .nodes import JVPNode, VJPNode
from .primitives import SparseObject, notrace_primitive, primitive, register_notrace
from .rules import (
    def_linear,
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
)
from .spaces import VSpace, vspace

__all__ = [
    "Box", "JVPNode", "SparseObject", "VJPNode", "VSpace", "def_linear", "defjvp", "defjvp_argnum",
    "defjvp_argnums", "defvjp", "defvjp_argnum", "defvjp_argnums", "notrace_primitive", "primitive",
    "register_notrace", "vspace",
]  # fmt: skip
