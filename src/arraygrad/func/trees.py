"""Structures of arrays as the arguments and results of transformed functions.

Unlike `structures`, which knows tensors only, this takes structures apart by optree's rules: what
goes in as a list comes out as a list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ops.op import Array
from ..tensor import check_differentiable

Unflatten = Callable[[Sequence[Any]], Any]


def flatten(tree: Any) -> tuple[list[Any], Unflatten]:
    """The leaves of a structure and a function that puts others in their places."""
    if isinstance(tree, Array) or hasattr(tree, "__array_namespace__"):
        return [tree], lambda leaves: leaves[0]
    import optree

    leaves, spec = optree.tree_flatten(tree)
    return leaves, lambda values: optree.tree_unflatten(spec, values)


def tree_map(function: Callable[[Any], Any], tree: Any) -> Any:
    """`function` of every leaf, in the same structure."""
    leaves, unflatten = flatten(tree)
    return unflatten([function(leaf) for leaf in leaves])


def flatten_like(tree: Any, model: Any, name: str, what: str) -> list[Any]:
    """The leaves of `tree`, which must have the structure of `model`."""
    if isinstance(model, Array) or hasattr(model, "__array_namespace__"):
        return [tree]
    import optree

    leaves, spec = optree.tree_flatten(tree)
    wanted = optree.tree_structure(model)
    if spec != wanted:
        raise ValueError(f"{name} must have the structure of {what}, {wanted}, but has {spec}")
    return leaves


def as_array(leaf: Any, name: str) -> Any:
    """A leaf of an argument as an array to differentiate with respect to."""
    if not isinstance(leaf, Array):
        if isinstance(leaf, bool | int | float | complex):
            leaf = np.asarray(leaf)
        if not hasattr(leaf, "dtype"):
            raise TypeError(f"{name} must hold arrays and numbers only, got {type(leaf).__name__}")
    check_differentiable(leaf)
    return leaf
