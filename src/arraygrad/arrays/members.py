"""The members of a batch one by one, for functions that cannot take batched arrays.

A structure consists of tuples, lists and dictionaries. With `deep`, batched arrays count that are
inside the arrays of other transforms, which are then left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import ops
from ..core.array import Array
from .batched import Batched


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """The structure with a function of each part; anything else as it is."""
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*map(function, tree))
    if isinstance(tree, list | tuple):
        return type(tree)(map(function, tree))
    if isinstance(tree, dict):
        return {key: function(item) for key, item in tree.items()}
    return tree


def _parts(tree: Any) -> list[Any]:
    return list(tree.values() if isinstance(tree, dict) else tree) if _is_whole(tree) else []


def _is_whole(tree: Any) -> bool:
    return isinstance(tree, list | tuple | dict)


def batch_in(tree: Any, deep: bool = False) -> type[Batched] | None:
    """The type of the arrays of the innermost batch in a structure; None without."""
    while deep and isinstance(tree, Array) and not isinstance(tree, Batched):
        tree = tree._array
    if isinstance(tree, Batched):
        return type(tree)
    found = [kind for part in _parts(tree) if (kind := batch_in(part, deep)) is not None]
    return max(found, key=lambda kind: kind.level, default=None)


def _batch(x: Any, kind: type[Batched], deep: bool) -> Any:
    """The array over all members of a batch that an array belongs to; None if to none."""
    while deep and isinstance(x, Array) and type(x) is not kind:
        x = x._array
    return x._array if type(x) is kind else None


def members(tree: Any, kind: type[Batched], deep: bool = False) -> tuple[list[Any], int]:
    """The structure for each member of a batch, and how many there are.

    For an empty batch there is one structure, with zeros.
    """

    def count(tree: Any) -> int:
        if _is_whole(tree):
            return max(map(count, _parts(tree)), default=0)
        batch = _batch(tree, kind, deep)
        return 0 if batch is None else int(batch.shape[0])

    def member(tree: Any, index: int | None) -> Any:
        if _is_whole(tree):
            return mapped(lambda part: member(part, index), tree)
        batch = _batch(tree, kind, deep)
        if batch is None:
            return tree
        return ops.zeros_like(batch, tuple(batch.shape[1:])) if index is None else batch[index]

    number = count(tree)
    return [member(tree, i if number else None) for i in range(max(number, 1))], number


def joined(results: list[Any], kind: type[Batched], count: int, other: Callable[..., Any]) -> Any:
    """One result for a batch, from those for its members.

    `other` makes one of results that are neither arrays nor sequences.
    """
    first = results[0]
    if isinstance(first, list | tuple):
        columns = zip(*results, strict=True)
        return mapped(lambda _: joined(list(next(columns)), kind, count, other), first)
    if isinstance(first, type) or not hasattr(first, "dtype"):
        return other(results)
    arrays = [np.asarray(a) if isinstance(a, np.generic) else a for a in results]
    return kind(ops.stack(arrays)[:count])
