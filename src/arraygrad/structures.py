"""Nested containers of tensors: taking them apart and putting them together again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .graph import GradientEdge
from .tensor import Tensor

Rebuild = Callable[[list[Any]], Any]


def is_single(x: Any) -> bool:
    """Whether `x` is one thing to differentiate, not a container of them."""
    return isinstance(x, Tensor | GradientEdge)


def flatten(tree: Any) -> tuple[list[Any], Rebuild]:
    """The leaves of a structure in order, and a function that puts values in their places.

    Mappings come back as mappings with the same keys; sequences and iterators as tuples; what is
    registered with optree as what it was. Anything else is a leaf.
    """
    if is_single(tree):
        return [tree], lambda values: values[0]
    if isinstance(tree, list | tuple | Iterator) and not hasattr(tree, "_fields"):
        items = list(tree)
        if all(map(is_single, items)):
            return items, tuple
        return _join([flatten(item) for item in items], tuple)
    if isinstance(tree, Mapping):
        keys = list(tree)
        return _join(
            [flatten(tree[key]) for key in keys],
            lambda values: _mapping(tree, dict(zip(keys, values, strict=True))),
        )
    return _registered(tree)


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
    if isinstance(like, dict):
        copy = like.copy()  # keeps what a subclass carries, say a defaultdict its factory
        copy.update(values)
        return copy
    return values


def _registered(tree: Any) -> tuple[list[Any], Rebuild]:
    """Named tuples, and containers that someone registered with optree."""
    import optree

    children, spec = optree.tree_flatten(
        tree, is_leaf=lambda node: node is not tree, none_is_leaf=True
    )
    if len(children) == 1 and children[0] is tree:
        return [tree], lambda values: values[0]
    return _join([flatten(child) for child in children], lambda v: optree.tree_unflatten(spec, v))
