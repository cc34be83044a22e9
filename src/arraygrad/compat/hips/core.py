"""`autograd.core`: derivatives in both modes, rules for primitives, and vector spaces."""

from . import rules
from .boxes import Box, getval, isbox
from .derivatives import make_jvp, make_vjp
from .helpers import func, subval, toposort
from .nodes import JVPNode, VJPNode, backward_pass
from .primitives import SparseObject, primitive_jvps, primitive_vjps
from .rules import *
from .rules import primitive_with_deprecation_warnings
from .spaces import VSpace, vspace
from .tracer import Node, trace

primitive = primitive_with_deprecation_warnings

__all__ = [
    "Box", "JVPNode", "Node", "SparseObject", "VJPNode", "VSpace", "backward_pass", "func",
    "getval", "isbox", "make_jvp", "make_vjp", "primitive", "primitive_jvps", "primitive_vjps",
    "subval", "toposort", "trace", "vspace",
]  # fmt: skip
__all__ += rules.__all__
