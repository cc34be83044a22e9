"""The nodes of HIPS's two modes, which `register_notrace` and `trace` take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .derivatives import make_jvp, make_vjp
from .helpers import subvals, toposort
from .rules import add_outgrads
from .tracer import Node

__all__ = ["JVPNode", "VJPNode", "backward_pass"]


class VJPNode(Node):
    """A node of reverse mode: it knows how to pull cotangents back through its operation."""

    __slots__ = ("parents", "vjp")

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        self.parents = parents
        run, moving = _of_parents(fun, args, kwargs, parent_argnums)
        self.vjp: Callable[[Any], Any] = make_vjp(run, moving)[0]

    def initialize_root(self) -> None:
        self.parents = ()
        self.vjp = lambda g: ()


class JVPNode(Node):
    """A node of forward mode: it has the tangent of its result."""

    __slots__ = ("g",)

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        run, moving = _of_parents(fun, args, kwargs, parent_argnums)
        self.g = make_jvp(run, moving)(tuple(parent.g for parent in parents))[1]

    def initialize_root(self, g: Any) -> None:
        self.g = g


def _of_parents(fun: Any, args: Any, kwargs: Any, argnums: Any) -> tuple[Any, tuple[Any, ...]]:
    """An operation as a function of the arguments in boxes alone, and these arguments."""

    def run(values: Any) -> Any:
        return fun(*subvals(args, zip(argnums, values, strict=True)), **kwargs)

    return run, tuple(args[i] for i in argnums)


def backward_pass(g: Any, end_node: Any) -> Any:
    """The cotangent of the first node of a trace, from that of the last one."""
    cotangents: dict[Any, Any] = {end_node: (g, False)}
    total = g
    for node in toposort(end_node):
        total = cotangents.pop(node)[0]
        for parent, part in zip(node.parents, node.vjp(total), strict=True):
            cotangents[parent] = add_outgrads(cotangents.get(parent), part)
    return total
