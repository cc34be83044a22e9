"""Small helpers: sequences with other values at some places, and nodes in order."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

__all__ = ["func", "subval", "subvals", "toposort"]


def subvals(x: Sequence[Any], pairs: Iterable[tuple[int, Any]]) -> tuple[Any, ...]:
    """The items of `x` as a tuple, with other values at some places."""
    items = list(x)
    for place, value in pairs:
        items[place] = value
    return tuple(items)


def subval(x: Sequence[Any], i: int, v: Any) -> tuple[Any, ...]:
    """The items of `x` as a tuple, with another value at place `i`."""
    return subvals(x, [(i, v)])


def func(f: Any) -> Any:
    """The function itself."""
    return f


def toposort(
    end_node: Any, parents: Callable[[Any], Iterable[Any]] = operator.attrgetter("parents")
) -> Iterator[Any]:
    """The nodes that `end_node` depends on, each after all nodes that depend on it."""
    uses: dict[Any, int] = {}
    waiting = [end_node]
    while waiting:
        node = waiting.pop()
        uses[node] = uses.get(node, 0) + 1
        if uses[node] == 1:
            waiting.extend(parents(node))
    ready = [end_node]
    while ready:
        node = ready.pop()
        yield node
        for parent in parents(node):
            uses[parent] -= 1
            if not uses[parent]:
                ready.append(parent)
