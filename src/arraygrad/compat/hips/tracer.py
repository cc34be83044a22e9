"""`autograd.tracer`: boxes, primitives, and runs of functions that write down what they did.

`trace` runs a function with a type of `Node` of your own, which is told about every operation. The
operations are those of arraygrad.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from ...arrays.methods import TransformMethods
from ...core.array import Array
from ...core.levels import new_level
from ...ops.define.op import Op
from .boxes import ArrayBox, Box, getval, isbox, number
from .helpers import subvals, toposort
from .primitives import (
    notrace_primitive,
    notrace_primitives,
    primitive,
    register_notrace,
)
from .structures import Hole, filled, leaves_like, taken

__all__ = [
    "Box",
    "Node",
    "getval",
    "isbox",
    "new_box",
    "notrace_primitive",
    "notrace_primitives",
    "primitive",
    "register_notrace",
    "subvals",
    "toposort",
    "trace",
]

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


class NodeBox(ArrayBox, TransformMethods, Array):
    """A box with a node of any type."""

    __slots__ = ("_array", "_node")

    def __init__(self, array: Any, node: Any) -> None:
        self._array = array
        self._node = node

    @classmethod
    def apply(cls, op: Op, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        places = tuple(i for i, a in enumerate(arrays) if type(a) is cls)
        values = tuple(a._array if type(a) is cls else a for a in arrays)
        out = op.function(*values, **params)
        if not any(op.input_name(i) in op.rules for i in places):
            return tuple(map(number, out)) if op.multiple else number(out)
        parents = tuple(arrays[i]._node for i in places)
        node = type(parents[0])(out, op.function, values, params, places, parents)
        if not op.multiple:
            return cls(out, node)
        return tuple(
            cls(part, type(node)(part, _item, (out, i), {}, (0,), (node,)))
            for i, part in enumerate(out)
        )

    def over(self, function: AnyFunction) -> Any:
        return type(self)(function(self._array), self._node)

    def detach(self) -> Any:
        """The values, constant for every derivative in flight."""
        return getval(self)

    def __repr__(self) -> str:
        return f"<{self}>"


def _item(container: Any, index: Any) -> Any:
    return container[index]


def _structure(tree: Any, *leaves: Any) -> Any:
    return filled(tree, leaves)


@functools.cache
def _node_box(level: float) -> type[NodeBox]:
    members = {"__slots__": (), "level": level, "__module__": ArrayBox.__module__}
    return type("ArrayBox", (NodeBox,), members)


def trace(start_node: Any, fun: AnyFunction, x: Any) -> tuple[Any, Any]:
    """The value of a function, and the node of its last operation; None if it depends on nothing.

    The arrays in `x`, if it is a structure, are nodes that take a part out of `start_node`.
    """
    with new_level() as level:
        make = _node_box(level)
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
    if isinstance(x, dict):
        parts: Any = x.items()
    elif isinstance(x, list | tuple):
        parts = enumerate(x)
    else:
        array = x if isinstance(x, Array) else np.asarray(x)
        return make(array, root)
    boxes = {}
    for key, part in parts:
        node = type(root)(part, _item, (x, key), {}, (0,), (root,))
        boxes[key] = _boxed(part, make, node)
    if isinstance(x, dict):
        return boxes
    items = list(boxes.values())
    return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)


def new_box(value: Any, trace: float, node: Any) -> Any:
    """A box around a value, for the trace of a level, with a node."""
    leaves = leaves_like(value, value, "value")
    if len(leaves) != 1 or not isinstance(value, Array | np.ndarray | np.inexact | float | complex):
        raise TypeError(f"Can't differentiate w.r.t. type {type(value)}")
    return _node_box(trace)(value if isinstance(value, Array) else np.asarray(value), node)
