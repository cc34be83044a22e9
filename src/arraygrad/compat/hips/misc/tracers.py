"""`autograd.misc.tracers`: the graph of a function, to run again or to look at."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..helpers import subvals, toposort
from ..tracer import Node, trace
from ..wrap_util import wraps

__all__ = ["ConstGraphNode", "FullGraphNode", "const_graph", "const_graph_unary", "full_graph"]

AnyFunction = Callable[..., Any]


class ConstGraphNode(Node):
    """A node that can run its operation again, on other values."""

    __slots__ = ("parents", "partial_fun")

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        fixed = subvals(args, ((i, None) for i in parent_argnums))

        def partial_fun(values: Any) -> Any:
            return fun(*subvals(fixed, zip(parent_argnums, values, strict=True)), **kwargs)

        self.parents = parents
        self.partial_fun = partial_fun

    def initialize_root(self) -> None:
        self.parents = ()


def const_graph_unary(fun: AnyFunction) -> AnyFunction:
    """A function that runs the operations of `fun`'s first call again, without calling it."""
    graph: list[Any] = []
    waiting = [fun]  # which is let go of after the first call

    def run(x: Any) -> Any:
        if not graph:
            value, end = trace(ConstGraphNode.new_root(), waiting.pop(), x)
            if end is None:
                raise ValueError("Output is independent of input")
            graph.extend(reversed(list(toposort(end))))
            return value
        values = {graph[0]: x}
        for node in graph[1:]:
            values[node] = node.partial_fun([values[parent] for parent in node.parents])
        return values[graph[-1]]

    return run


def const_graph(fun: AnyFunction, *args: Any, **kwargs: Any) -> AnyFunction:
    """`const_graph_unary` for a function of several arguments, some of which are given here."""
    given = functools.partial(fun, *args, **kwargs)
    run = const_graph_unary(lambda values: given(*values))

    @wraps(fun)
    def again(*values: Any) -> Any:
        return run(values)

    return again


class FullGraphNode(Node):
    """A node that keeps all of its operation."""

    __slots__ = ("recipe", "value")

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        self.value = value
        self.recipe: Any = (fun, args, kwargs, list(zip(parent_argnums, parents, strict=True)))

    def initialize_root(self) -> None:
        self.value = None
        self.recipe = (lambda x: x, (), {}, [])


def full_graph(fun: AnyFunction, *args: Any, **kwargs: Any) -> Any:
    """The last node of a run of `fun`, with all nodes before it."""
    _, end = trace(FullGraphNode.new_root(), lambda values: fun(*values, **kwargs), args)
    return end
