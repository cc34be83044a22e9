"""Nested containers of tensors, as arguments and results of `grad`: flatten them and rebuild them.

Transforms of functions use `func.trees`.
"""

from __future__ import annotations

import copy
from collections import ChainMap, UserDict
from collections.abc import Callable, Iterator, KeysView, Mapping, Sequence, ValuesView
from types import MappingProxyType
from typing import Any

from ..arrays.tensor import Tensor
from ..core.nodes import GradientEdge
from ..core.structures import taken_apart

Rebuild = Callable[[list[Any]], Any]


_SINGLE = (Tensor, GradientEdge)


def is_single(x: Any) -> bool:
    """Whether `x` is a tensor or a gradient edge, not a container of them."""
    return isinstance(x, _SINGLE)


def flatten(tree: Any) -> tuple[list[Any], Rebuild]:
    """The leaves of a structure in order, and a function that builds it from other leaves.

    The function builds mappings with the same keys; tuples for sequences, iterators and views of
    dictionaries; and the same type for named tuples, dataclasses and registered types. Anything
    else is a leaf.
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
    if isinstance(tree, dict):  # optree would sort its keys
        return _keyed(tree)
    children, spec = taken_apart(tree, none_is_leaf=True, one_level=True)
    if len(children) == 1 and children[0] is tree:
        return _keyed(tree) if isinstance(tree, Mapping) else ([tree], lambda values: values[0])
    return _join([_flatten(child) for child in children], spec.unflatten)


def _keyed(tree: Mapping[Any, Any]) -> tuple[list[Any], Rebuild]:
    keys = list(tree)
    return _join(
        [_flatten(tree[key]) for key in keys],
        lambda values: _mapping(tree, dict(zip(keys, values, strict=True))),
    )


def place(rebuild: Rebuild, count: int, index: int) -> str:
    """The place of a leaf in the structure that `rebuild` builds, written as Python code.

    >>> _, rebuild = flatten({"a": 1, "b": (2, 3)})
    >>> place(rebuild, 3, 2)
    "['b'][1]"
    """
    return _path(rebuild(list(range(count))), index) or f"[{index}]"


def _path(tree: Any, wanted: int) -> str:
    """The path to the number `wanted` in a structure of numbers; empty if it is not there."""
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
    """Whether `tree` is read item by item. Arrays, text and named tuples are not."""
    if isinstance(tree, list | tuple | Iterator):
        return not hasattr(tree, "_fields")
    if isinstance(tree, str | bytes | bytearray | memoryview) or hasattr(tree, "dtype"):
        return False
    return isinstance(tree, Sequence | ValuesView | KeysView)


def _join(parts: list[tuple[list[Any], Rebuild]], build: Rebuild) -> tuple[list[Any], Rebuild]:
    """Join the flattened parts of a container."""
    leaves = [leaf for part, _ in parts for leaf in part]

    def rebuild(values: list[Any]) -> Any:
        rest = iter(values)
        return build([again([next(rest) for _ in part]) for part, again in parts])

    return leaves, rebuild


def _mapping(like: Mapping[Any, Any], values: dict[Any, Any]) -> Mapping[Any, Any]:
    """A mapping of the type of `like` if that can be made from a dict, else a dict."""
    if type(like) is dict:
        return values
    if isinstance(like, dict | UserDict | ChainMap):
        same = copy.copy(like)  # keeps attributes of a subclass, such as a defaultdict's factory
        for key, value in values.items():  # update() would add to a Counter
            same[key] = value
        return same
    return MappingProxyType(values) if isinstance(like, MappingProxyType) else values
