"""Structures of arrays whose form must not change: the state of a loop, the results of branches."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any

from ..core.structures import taken_apart


class Form:
    """A structure, and the shape and dtype of each array in it.

    A number has the shape of a 0-d array, and the dtype of the first array that takes its place.

    Parameters
    ----------
    tree : any structure of arrays and numbers
    caller : str
        The public function that needs the form, for errors.
    owner : str
        What the structure is, for errors.
    """

    def __init__(self, tree: Any, caller: str, owner: str = "init") -> None:
        self.leaves, self.spec = taken_apart(tree)
        self._caller, self._owner = caller, owner
        for i, leaf in enumerate(self.leaves):
            if not hasattr(leaf, "dtype") and not isinstance(leaf, Number):
                raise TypeError(
                    f"{caller}(): {self._name(i)} is of type {type(leaf).__name__}: only arrays "
                    "and numbers are possible"
                )
        self._shapes = [tuple(getattr(leaf, "shape", ())) for leaf in self.leaves]
        self._dtypes = [getattr(leaf, "dtype", None) for leaf in self.leaves]

        self._is_array = len(self.leaves) == 1 and self.leaves[0] is tree

    def tree(self, leaves: Sequence[Any]) -> Any:
        """The structure with other leaves."""
        if self._is_array:
            return leaves[0]
        import optree

        return optree.tree_unflatten(self.spec, leaves)

    def leaves_of(self, tree: Any, function: str) -> list[Any]:
        """The leaves of a structure that `function` returned, which must have this form."""
        if self._is_array and hasattr(tree, "dtype"):  # without the time to take it apart
            if tree.dtype == self._dtypes[0] and tuple(tree.shape) == self._shapes[0]:
                return [tree]
        leaves, spec = taken_apart(tree)
        if spec != self.spec:
            raise TypeError(
                f"{self._caller}(): {function} returned the structure {spec}, but {self._owner} "
                f"has the structure {self.spec}: both must be the same"
            )
        for i, leaf in enumerate(leaves):
            dtype = getattr(leaf, "dtype", None)
            if dtype is None and not isinstance(leaf, Number):
                raise TypeError(
                    f"{self._caller}(): {function} returned a {type(leaf).__name__} for "
                    f"{self._name(i)}: only arrays and numbers are possible"
                )
            if self._dtypes[i] is None:
                self._dtypes[i] = dtype
            shape = tuple(getattr(leaf, "shape", ()))
            is_other = dtype is not None and dtype != self._dtypes[i]
            if shape != self._shapes[i] or is_other:
                raise TypeError(
                    f"{self._caller}(): {self._name(i)} has shape {self._shapes[i]} and dtype "
                    f"{self._dtypes[i]}, but {function} returned shape {shape} and dtype {dtype} "
                    "for it: both must be the same. Broadcast or convert one of them"
                )
        return leaves

    def _name(self, position: int) -> str:
        """What errors call a leaf."""
        import optree

        path = optree.treespec_paths(self.spec)[position]
        return self._owner + "".join(f"[{key!r}]" for key in path)
