"""Tuples, lists and dicts with arrays in them: taken apart, and put together again.

HIPS autograd puts whole containers into boxes. Here a container stays what it is, and the arrays
in it are boxes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.array import Array

__all__ = [
    "CONTAINERS", "SEQUENCES", "Hole", "filled", "holds_boxes", "leaves_like", "mapped", "taken",
]  # fmt: skip


SEQUENCES = (list, tuple)
CONTAINERS = (dict, list, tuple)


class Hole:
    """The place of an array that was taken out of a structure."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


def mapped(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """The structure with `function` of each leaf, and of the same leaf of the others."""
    if not isinstance(tree, CONTAINERS):
        return function(tree, *others)
    if isinstance(tree, dict):
        return {k: mapped(function, v, *(o[k] for o in others)) for k, v in tree.items()}
    if others:
        items = [mapped(function, *parts) for parts in zip(tree, *others, strict=True)]
    else:
        items = [mapped(function, part) for part in tree]
    return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)


def taken(tree: Any, wanted: Callable[[Any], bool], found: list[Any]) -> Any:
    """The structure with a `Hole` for each leaf that is wanted. The leaves go to `found`."""

    def take(leaf: Any) -> Any:
        if not wanted(leaf):
            return leaf
        found.append(leaf)
        return Hole(len(found) - 1)

    return mapped(take, tree)


def filled(tree: Any, values: Any, other: Callable[[Any], Any] = lambda leaf: leaf) -> Any:
    """The structure with values in its holes, and `other` of all other leaves."""
    return mapped(lambda x: values[x.index] if type(x) is Hole else other(x), tree)


def leaves_like(value: Any, tree: Any, name: str) -> list[Any]:
    """The leaves of a value that has the structure of `tree`.

    A list may stand for a tuple, and an array for a sequence of the arrays along its first axis.
    """
    if not isinstance(tree, CONTAINERS):
        return [value]
    found: list[Any] = []

    def walk(part: Any, like: Any) -> None:
        if isinstance(like, dict):
            if not isinstance(part, dict) or part.keys() != like.keys():
                raise ValueError(f"{name} must be a dict with the keys {list(like)}, not {part!r}")
            for key, item in like.items():
                walk(part[key], item)
        elif isinstance(like, SEQUENCES):
            if _length(part) != len(like):
                what = type(like).__name__
                raise ValueError(f"{name} must be a {what} of {len(like)} items, not {part!r}")
            for item, other in zip(part, like, strict=True):
                walk(item, other)
        else:
            found.append(part)

    walk(value, tree)
    return found


def _length(part: Any) -> int | None:
    """The number of items of a sequence or array; None for anything else."""
    if isinstance(part, SEQUENCES):
        return len(part)
    return part.shape[0] if isinstance(part, Array | np.ndarray) and part.ndim else None


def holds_boxes(value: Any) -> bool:
    """Whether a value is an array that is differentiated, or has one in it."""
    if isinstance(value, Array):
        return True
    if not isinstance(value, CONTAINERS):
        return False
    return any(map(holds_boxes, value.values() if isinstance(value, dict) else value))
