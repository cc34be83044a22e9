"""`autograd.tracer`: boxes, primitives, and runs of functions that write down what they did.

`trace` runs a function with a type of `Node` of your own, which is told about every operation. The
operations are those of arraygrad.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

from ...core.levels import new_level
from .boxes import ArrayBox, Box, NodeBox, getval, isbox, node_box, part_of
from .builtins import DictBox, SequenceBox
from .helpers import subvals, toposort
from .primitives import notrace_primitive, notrace_primitives, primitive, register_notrace
from .structures import CONTAINERS, Hole, filled, taken

__all__ = [
    "Box", "Node", "TraceStack", "getval", "isbox", "new_box", "notrace_primitive",
    "notrace_primitives", "primitive", "register_notrace", "subvals", "toposort", "trace",
    "trace_stack",
]  # fmt: skip

AnyFunction = Callable[..., Any]


class Node:
    """One operation in a trace. Subclasses keep what they need of it.

    Parameters
    ----------
    value : array
        The result of the operation.
    fun : callable
    args, kwargs : tuple, dict
        The arguments, without their boxes.
    parent_argnums, parents : tuple
        The places of the arguments that were in boxes, and their nodes.
    """

    __slots__ = ()

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        raise NotImplementedError

    def initialize_root(self, *args: Any, **kwargs: Any) -> None:
        """Set up the node of the function's argument."""
        raise NotImplementedError

    @classmethod
    def new_root(cls, *args: Any, **kwargs: Any) -> Self:
        """The node of a function's argument."""
        root = cls.__new__(cls)
        root.initialize_root(*args, **kwargs)
        return root


def _structure(tree: Any, *leaves: Any) -> Any:
    return filled(tree, leaves)


def trace(start_node: Any, fun: AnyFunction, x: Any) -> tuple[Any, Any]:
    """The value of a function, and the node of its last operation; None if it depends on nothing.

    The arrays in `x`, if it is a structure, are nodes that take a part out of `start_node`.
    """
    with new_level() as level:
        make = node_box(level)
        result = fun(_boxed(x, make, start_node))
    found: list[Any] = []
    tree = taken(result, lambda leaf: isinstance(leaf, make), found)
    if not found:
        warnings.warn("Output seems independent of input.", stacklevel=2)
        return result, None
    if type(tree) is Hole:
        return found[0]._value, found[0]._node
    values = tuple(box._value for box in found)
    nodes = tuple(box._node for box in found)
    value = filled(tree, values)
    numbers = tuple(range(1, len(found) + 1))
    return value, type(start_node)(value, _structure, (tree, *values), {}, numbers, nodes)


def _boxed(x: Any, make: type[NodeBox], root: Any) -> Any:
    if not isinstance(x, CONTAINERS):
        return make(x, make.level, root)
    parts: Any = x.items() if isinstance(x, dict) else enumerate(x)
    boxes = {}
    for key, part in parts:
        node = type(root)(part, part_of, (x, key), {}, (0,), (root,))
        boxes[key] = _boxed(part, make, node)
    if isinstance(x, dict):
        return boxes
    items = list(boxes.values())
    return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)


def new_box(value: Any, trace: float, node: Any) -> Any:
    """A box around a value, for the trace of a level, with a node."""
    if isinstance(value, CONTAINERS):
        boxes = _boxed(value, node_box(trace), node)
        box: Any = DictBox(boxes) if isinstance(value, dict) else SequenceBox(boxes)
        box._trace, box._node = trace, node
        return box
    maker = Box.type_mappings.get(type(value), ArrayBox)
    return maker(value, trace, node)


class TraceStack:
    """The traces in flight. ``with new_trace() as trace`` starts one, which `new_box` takes."""

    new_trace = staticmethod(new_level)


trace_stack = TraceStack()
