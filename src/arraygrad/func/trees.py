"""Structures of arrays, as arguments and results of transformed functions.

Structures are taken apart by optree's rules: a list stays a list. `autograd.structures` has the
rules for `grad`, where a sequence of tensors becomes a tuple.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from numbers import Number
from typing import Any

import numpy as np

from .. import ops
from ..arrays.dual import Dual
from ..arrays.tensor import Tensor, tensor_type_at
from ..backends import backend_of
from ..backends.arraylikes import values_of
from ..core.array import Array
from ..core.structures import taken_apart

Unflatten = Callable[[Sequence[Any]], Any]
Path = tuple[Any, ...]


def flatten(tree: Any) -> tuple[list[Any], Unflatten]:
    """The leaves of a structure, and a function that builds the structure from other leaves.

    Examples
    --------
    >>> import arraygrad as ag
    >>> leaves, build = ag.tree.flatten({"a": 1, "b": (2, 3)})
    >>> leaves, build(["x", "y", "z"])
    ([1, 2, 3], {'a': 'x', 'b': ('y', 'z')})
    """
    if _is_array(tree):
        return [tree], lambda leaves: leaves[0]
    if type(tree) is tuple and all(map(_is_array, tree)):  # the arguments of most functions
        return list(tree), tuple
    import optree

    leaves, spec = taken_apart(tree)
    return leaves, lambda values: optree.tree_unflatten(spec, values)


def _is_array(value: Any) -> bool:
    return isinstance(value, Array) or hasattr(value, "__array_namespace__")


def tree_map(function: Callable[[Any], Any], tree: Any) -> Any:
    """The structure with `function` applied to every leaf."""
    leaves, unflatten = flatten(tree)
    return unflatten([function(leaf) for leaf in leaves])


def flatten_like(tree: Any, model: Any, name: str, what: str) -> list[Any]:
    """The leaves of `tree`, which must have the structure of `model`."""
    if _is_array(tree) and _is_array(model):
        return [tree]
    if type(tree) is type(model) is tuple and len(tree) == len(model):
        if all(map(_is_array, tree)) and all(map(_is_array, model)):
            return list(tree)
    leaves, spec = taken_apart(tree)
    _, wanted = taken_apart(model)
    if spec != wanted:
        raise ValueError(f"{name} must have the structure of {what}, {wanted}, but has {spec}")
    return leaves


def item_of(name: str) -> Callable[[Path], str]:
    """A function that writes the path to a leaf of the structure called `name`."""
    return lambda path: name + "".join(f"[{key!r}]" for key in path)


def arrays_of(tree: Any, name: Callable[[Path], str]) -> tuple[list[Any], Unflatten]:
    """The leaves of a structure as arrays to differentiate with respect to.

    Parameters
    ----------
    tree : any structure
    name : callable
        Gives the name of the leaf at a path, for errors.
    """
    leaves, unflatten = flatten(tree)
    arrays = []
    for i, leaf in enumerate(leaves):
        try:
            arrays.append(as_array(leaf, ""))
        except TypeError:  # only an error needs the name, which takes time to find
            import optree

            as_array(leaf, name(tuple(optree.treespec_paths(taken_apart(tree)[1])[i])))
            raise
    return arrays, unflatten


def as_array(leaf: Any, name: str) -> Any:
    """A leaf of an argument as an array to differentiate with respect to."""
    leaf = values_of(leaf)
    if not hasattr(leaf, "dtype"):
        if not isinstance(leaf, Number):
            raise TypeError(
                f"{name} is of type {type(leaf).__name__}: only arrays and numbers can be "
                "differentiated with respect to"
            )
        leaf = np.asarray(leaf)
    if backend_of(leaf).kind(leaf.dtype) not in "fc":
        raise TypeError(
            f"{name} has dtype {leaf.dtype}: only floating-point and complex numbers can be "
            "differentiated with respect to; convert it first"
        )
    return leaf


def vector_like(given: Any, like: Any, name: str, what: str) -> Any:
    """A cotangent or tangent with the dtype of `like`. Its shape must be that of `like`.

    `name` and `what` are the names of `given` and `like` in errors.
    """
    shape = tuple(getattr(like, "shape", ()))
    found = tuple(getattr(given, "shape", ()))
    if not hasattr(given, "dtype") and not isinstance(given, Number):
        raise TypeError(f"{name} must be an array or a number, not {type(given).__name__}")
    if found != shape:
        raise ValueError(f"{name} has shape {found}, but {what} has shape {shape}")
    if not hasattr(like, "dtype"):
        like = np.asarray(like)
    kind = backend_of(like).kind(like.dtype)
    is_complex = ops.is_complex(given) or isinstance(given, complex)
    if is_complex and kind != "c":
        raise TypeError(f"{name} is complex, but {what} is real: pass real numbers")
    if kind not in "fc":
        return given  # `like` has no derivative, so the values do not matter
    if not hasattr(given, "dtype"):
        return backend_of(like).full(ops.plain(like), (), given, like.dtype)
    return given if given.dtype == like.dtype else ops.astype(given, like.dtype)


def check_result(leaves: list[Any]) -> None:
    """Raise unless a function returned only arrays and numbers."""
    for i, leaf in enumerate(leaves):
        if not hasattr(leaf, "dtype") and not isinstance(leaf, Number):
            raise TypeError(
                f"the function must return arrays and numbers, but result {i} is of type "
                f"{type(leaf).__name__}: return it as aux, with has_aux=True"
            )


def lowered(value: Any, level: float) -> Any:
    """A result without the tensors that were made by hand inside the transform of a level.

    A tensor over a plain array stays one: `Given` says whether the caller should see it.
    """
    inner = value
    while isinstance(inner, Tensor) and inner.level > level:
        inner = inner.array
    if isinstance(inner, Array) and inner.level >= level + 1:
        raise RuntimeError(
            f"a result is a {type(inner).__name__} array of another transform, which is not around "
            "this one: it was kept from a transform further inside, or this one was started in a "
            "thread without the context of the transform that it belongs to. Start the thread's "
            "work by contextvars.copy_context().run()"
        )
    return inner if inner is value or isinstance(inner, Array) else Tensor(inner)


def unrecorded(value: Any) -> Any:
    """A value without its nodes. Tangents stay: `no_grad` does not affect forward mode."""
    if isinstance(value, Tensor):
        return tensor_type_at(value.level)(unrecorded(value.array))
    return value.over(unrecorded) if isinstance(value, Array) else value


def unwrapped(value: Any) -> Any:
    """A value without the tensors around it that have no node, and so only hold an array."""
    while isinstance(value, Tensor) and value._node is None:
        value = value.array
    return value


class Given:
    """The arguments of a transform, which decide whether its results are tensors.

    Arrays in, arrays out. A function may compute with tensors that it made itself. The caller gets
    a tensor only if an argument is one, or if the result depends on a tensor from outside that
    requires gradients.
    """

    def __init__(self, *arguments: Any) -> None:
        self._arguments = arguments

    @functools.cached_property
    def has_tensors(self) -> bool:
        """Whether the arguments contain a tensor, by itself or inside an array of a transform."""
        return any(map(_is_over_tensor, flatten(self._arguments)[0]))

    def result(self, value: Any) -> Any:
        """A result as the caller gets it."""
        if isinstance(value, Tensor) and not self.has_tensors:
            return unwrapped(value)
        return value


def _is_over_tensor(value: Any) -> bool:
    while isinstance(value, Array) and not isinstance(value, Tensor):
        if isinstance(value, Dual) and _is_over_tensor(value.tangent):
            return True
        value = value._array
    return isinstance(value, Tensor)


def like_given(result: Any, given: Any) -> Any:
    """A result as a tensor, if what it belongs to is one: constants come out as plain arrays."""
    if hasattr(result, "dtype") and not isinstance(result, Array) and _is_over_tensor(given):
        return given.like(result) if isinstance(given, Tensor) else Tensor(result)
    return result


def as_function(function: Any, transform: str) -> Any:
    """The function that a transform was given. Raise if it cannot be called."""
    if not callable(function):
        raise TypeError(f"{transform}() takes a function, not {type(function).__name__}")
    return function
