"""`torch.utils._pytree`: structures of tensors, taken apart and put together by optree."""

from __future__ import annotations

from functools import partial
from typing import Any

import optree

__all__ = ["tree_flatten", "tree_leaves", "tree_map", "tree_unflatten"]

tree_flatten = partial(optree.tree_flatten, none_is_leaf=True)
tree_leaves = partial(optree.tree_leaves, none_is_leaf=True)
tree_map = partial(optree.tree_map, none_is_leaf=True)


def tree_unflatten(leaves: Any, treespec: Any) -> Any:
    """A structure from its leaves."""
    return optree.tree_unflatten(treespec, leaves)
