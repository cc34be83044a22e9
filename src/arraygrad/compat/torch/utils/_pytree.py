"""`torch.utils._pytree`: structures of tensors, taken apart and put together by optree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import optree

__all__ = ["tree_flatten", "tree_leaves", "tree_map", "tree_unflatten"]


def tree_flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves, and what the structure is."""
    return optree.tree_flatten(tree, none_is_leaf=True)


def tree_leaves(tree: Any) -> list[Any]:
    """The leaves."""
    return tree_flatten(tree)[0]


def tree_unflatten(leaves: Any, treespec: Any) -> Any:
    """A structure from its leaves."""
    return optree.tree_unflatten(treespec, leaves)


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any) -> Any:
    """The structure with a function applied to each leaf."""
    return optree.tree_map(func, tree, *rests, none_is_leaf=True)
