"""Nested containers of tensors: taking them apart and putting them together again."""

from __future__ import annotations

import copy
from collections import ChainMap, UserDict
from collections.abc import Callable, Iterator, KeysView, Mapping, Sequence, ValuesView
from types import MappingProxyType
from typing import Any

from ..arrays.tensor import Tensor
from ..core.nodes import GradientEdge

Rebuild = Callable[[list[Any]], Any]


_SINGLE = (Tensor, GradientEdge)


def is_single(x: Any) -> bool:
    """Whether `x` is one thing to differentiate, not a container of them."""
    return isinstance(x, _SINGLE)


def flatten(tree: Any) -> tuple[list[Any], Rebuild]:
    """The leaves of a structure in order, and a function that puts values in their places.

    Mappings come back as mappings with the same keys; sequences, iterators and views of
    dictionaries as tuples; named tuples, and what is registered with optree, as what they were.
    Anything else is a leaf.
    """
    try:
        return _flatten(tree)
    except RecursionError:
        raise ValueError(
            "the structure is nested too deeply to be taken apart: does it contain itself?"
        ) from None


def _flatten(tree: Any) -> tuple[list[Any], Rebuild]:
    if is_single(tree):
        return [tree], lambda values: values[0]
    if _is_sequence(tree):
        items = list(tree)
        if all(map(is_single, items)):
            return items, tuple
        return _join([_flatten(item) for item in items], tuple)
    if isinstance(tree, Mapping):
        keys = list(tree)
        return _join(
            [_flatten(tree[key]) for key in keys],
            lambda values: _mapping(tree, dict(zip(keys, values, strict=True))),
        )
    return _registered(tree)


def place(rebuild: Rebuild, count: int, index: int) -> str:
    """Where a leaf sits in the structure that `rebuild` puts together, as one would write it.

    >>> _, rebuild = flatten({"a": 1, "b": (2, 3)})
    >>> place(rebuild, 3, 2)
    "['b'][1]"
    """
    return _path(rebuild(list(range(count))), index) or f"[{index}]"


def _path(tree: Any, wanted: int) -> str:
    """The way to the number `wanted` in a structure of numbers; empty if there is none."""
    steps: list[tuple[str, Any]] = []
    if isinstance(tree, Mapping):
        steps = [(f"[{key!r}]", value) for key, value in tree.items()]
    elif isinstance(tree, tuple):
        names = getattr(tree, "_fields", None)
        steps = [(f".{names[i]}" if names else f"[{i}]", v) for i, v in enumerate(tree)]
    for step, value in steps:
        if value == wanted and type(value) is int:
            return step
        rest = _path(value, wanted)
        if rest:
            return step + rest
    return ""


def _is_sequence(tree: Any) -> bool:
    """Whether `tree` is to be read item by item. Arrays, text and named tuples are not."""
    if isinstance(tree, list | tuple | Iterator):
        return not hasattr(tree, "_fields")
    if isinstance(tree, str | bytes | bytearray | memoryview) or hasattr(tree, "dtype"):
        return False
    return isinstance(tree, Sequence | ValuesView | KeysView)


def _join(parts: list[tuple[list[Any], Rebuild]], build: Rebuild) -> tuple[list[Any], Rebuild]:
    """The flattened parts of a container as one."""
    leaves = [leaf for part, _ in parts for leaf in part]

    def rebuild(values: list[Any]) -> Any:
        rest = iter(values)
        return build([again([next(rest) for _ in part]) for part, again in parts])

    return leaves, rebuild


def _mapping(like: Mapping[Any, Any], values: dict[Any, Any]) -> Mapping[Any, Any]:
    """A mapping of the type of `like`, where that can be made from a dict; else a dict."""
    if type(like) is dict:
        return values
    if isinstance(like, dict | UserDict | ChainMap):
        same = copy.copy(like)  # keeps what a subclass carries, say a defaultdict its factory
        for key, value in values.items():  # update() would add to a Counter
            same[key] = value
        return same
    return MappingProxyType(values) if isinstance(like, MappingProxyType) else values


def _registered(tree: Any) -> tuple[list[Any], Rebuild]:
    """Named tuples, and containers that someone registered with optree."""
    import optree

    children, spec = optree.tree_flatten(
        tree, is_leaf=lambda node: node is not tree, none_is_leaf=True
    )
    if len(children) == 1 and children[0] is tree:
        return [tree], lambda values: values[0]
    return _join([_flatten(child) for child in children], lambda v: optree.tree_unflatten(spec, v))
