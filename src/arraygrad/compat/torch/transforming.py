"""Functions of tensors as functions of arrays, and the checks that transforms share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import optree

from ...arrays.batched import Batched
from ...arrays.dual import Dual
from ...arrays.writes.transforms import refresh_views
from ...core.array import Array
from .handles import Tensor, wrap
from .inside import transforming
from .wording import reword


def leaves_of(tree: Any, none_is_leaf: bool = False) -> list[Any]:
    """The leaves of a structure."""
    return list(optree.tree_leaves(tree, none_is_leaf=none_is_leaf))


def arrays_of(tree: Any) -> Any:
    """A structure with arrays in the place of tensors."""
    return optree.tree_map(lambda v: v._t if isinstance(v, Tensor) else v, tree, none_is_leaf=True)


def tensors_of(tree: Any) -> Any:
    """A structure with tensors in the place of arrays."""
    return optree.tree_map(_tensor, tree, none_is_leaf=True)


def _tensor(value: Any) -> Any:
    is_array = isinstance(value, Array) or hasattr(value, "__array_interface__")
    return wrap(value) if is_array else value


class Call:
    """A function of tensors as one of arrays. It remembers what the function raised.

    `api` is how PyTorch names the call in errors.
    """

    def __init__(
        self, function: Callable[..., Any], api: str, has_aux: bool = False, checked: bool = False
    ) -> None:
        self._function, self._api, self._has_aux, self._checked = function, api, has_aux, checked
        self.raised: BaseException | None = None
        self.ran = False
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.ran = True
        given = [
            (leaf, leaf._array)
            for leaf in leaves_of((args, kwargs))
            if isinstance(leaf, Batched | Dual)
        ]
        try:
            with transforming():
                result = self._function(*tensors_of(args), **tensors_of(kwargs))
        except BaseException as error:
            self.raised = error
            raise
        for leaf, array in given:  # a write to an argument is one to the tensor that was given
            if leaf._array is not array and hasattr(array, "copy_"):
                array.copy_(leaf._array)
                _point_to(leaf, array)
        if self._has_aux and not (isinstance(result, tuple) and len(result) == 2):
            raise RuntimeError(
                f"{self._api}: output of function f should be a tuple (output, aux) if has_aux is "
                "True"
            )
        if self._has_aux:
            check_tensors(result[1], f"{self._api}: aux", "Expected tensors")
        if self._checked:
            output = result[0] if self._has_aux else result
            if not leaves_of(output):
                raise RuntimeError(
                    f"{self._api}: Expected f to be a function that has non-empty output: it "
                    "returned no Tensor"
                )
            check_tensors(output, self._api, "expected f(*primals) to return only tensors")
        return arrays_of(result)

    def run(self, transformed: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call the transformed function; its own complaints are PyTorch's RuntimeErrors."""
        try:
            return named(transformed(*arrays_of(args), **arrays_of(kwargs)), (args, kwargs))
        except (ValueError, TypeError) as error:
            if error is self.raised:
                raise
            raise RuntimeError(str(error)) from error
        except RuntimeError as error:
            reword(error)
            raise


def _point_to(leaf: Any, array: Any) -> None:
    """Have an array of a transform, and its views, hold an array with the same values."""
    leaf._array = array
    refresh_views(leaf)


def check_tensors(tree: Any, api: str, what: str) -> None:
    """Raise unless a structure has tensors in it, and nothing else: `what` was expected."""
    leaves = leaves_of(tree, none_is_leaf=True)
    if not leaves:
        raise RuntimeError(f"{api}: Expected at least one Tensor, got none")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            kind = type(leaf).__name__
            raise RuntimeError(f"{api}: {what}, got unsupported type {kind}")


def named(result: Any, given: Any) -> Any:
    """A result as tensors, which are views of the tensors that were given if their arrays are."""
    known: dict[int, Tensor] = {}
    for leaf in leaves_of(given):
        while isinstance(leaf, Tensor):  # and the tensors that it is a view of
            known.setdefault(id(leaf._t), leaf)
            leaf = getattr(leaf, "_of", None)

    def shown(value: Any) -> Any:
        same = known.get(id(value))
        return _tensor(value) if same is None else same

    found = optree.tree_map(shown, result, none_is_leaf=True)
    tensors = [v for v in leaves_of(found) if isinstance(v, Tensor)]
    views = [v for v in tensors if getattr(v._t, "_view", None) is not None]
    if views:
        for view in views:
            base = known.get(id(view._t._view.base))
            if base is not None:
                view._of = base
    return found
