"""`autograd.core`: derivatives in both modes, rules for primitives, and vector spaces."""

from .boxes import Box, getval, isbox
from .derivatives import make_jvp, make_vjp
from .helpers import func, subval, toposort
from .nodes import JVPNode, VJPNode, backward_pass
from .primitives import SparseObject, primitive_jvps, primitive_vjps
from .rules import (
    add_outgrads,
    def_linear,
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
    primitive_with_deprecation_warnings,
    sum_outgrads,
)
from .spaces import VSpace, vspace
from .tracer import Node, trace

primitive = primitive_with_deprecation_warnings

__all__ = [
    "Box", "JVPNode", "Node", "SparseObject", "VJPNode", "VSpace", "add_outgrads", "backward_pass",
    "def_linear", "defjvp", "defjvp_argnum", "defjvp_argnums", "defvjp", "defvjp_argnum",
    "defvjp_argnums", "func", "getval", "isbox", "make_jvp", "make_vjp", "primitive",
    "primitive_jvps", "primitive_vjps", "primitive_with_deprecation_warnings", "subval",
    "sum_outgrads", "toposort", "trace", "vspace",
]  # fmt: skip
