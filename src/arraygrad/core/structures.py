"""Structures of arrays, taken apart by optree: which other types are structures, too.

optree knows Python's containers, and what is registered with it. Dataclasses and the labelled
arrays of xarray are registered when the first of a type is met. What is done with structures is in
`autograd.structures` and `func.trees`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from . import upward

NAMESPACE = "arraygrad"  # of optree, where these types are structures

# Types of most leaves, which are no structures.
_LEAVES = {np.ndarray, np.float64, bool, int, float, complex, str, type(None)}


def taken_apart(
    tree: Any, *, none_is_leaf: bool = False, one_level: bool = False
) -> tuple[list[Any], Any]:
    """The leaves of a structure, and optree's description of the structure.

    With `one_level`, the leaves are the parts of the structure, which may be structures themselves.
    """
    import optree

    is_leaf = (lambda node: node is not tree) if one_level else None
    options: Any = {"is_leaf": is_leaf, "none_is_leaf": none_is_leaf, "namespace": NAMESPACE}
    try:
        while True:
            leaves, spec = optree.tree_flatten(tree, **options)
            met = [leaf for leaf in leaves if leaf is tree] if one_level else leaves
            types = set(map(type, met))
            if types <= _LEAVES or not sum(map(_is_new, types)):
                return leaves, spec
    except RecursionError:
        raise ValueError(
            "the structure is nested too deeply to be taken apart: does it contain itself?"
        ) from None


def register(
    kind: type, flatten: Callable[[Any], tuple[Any, Any]], unflatten: Callable[[Any, Any], Any]
) -> None:
    """Make a type a structure.

    Parameters
    ----------
    kind : type
    flatten : callable
        ``flatten(instance)`` returns its parts, and the rest of it, which can be hashed and
        compared.
    unflatten : callable
        ``unflatten(rest, parts)`` returns an instance.

    Examples
    --------
    >>> import arraygrad as ag
    >>> class Ellipse:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> ag.tree.register(Ellipse, lambda e: ((e.a, e.b), None), lambda _, axes: Ellipse(*axes))
    >>> ag.func.grad(lambda e: e.a * e.b)(Ellipse(2.0, 3.0)).a
    array(3.)
    """
    import optree

    optree.register_pytree_node(kind, flatten, unflatten, namespace=NAMESPACE)


def _is_new(kind: type) -> bool:
    """Whether leaves of a type are structures. The type is registered then."""
    if hasattr(kind, "__array_namespace__"):
        return False
    if any(str(base.__module__).startswith("xarray.") for base in kind.__mro__):
        found = upward.xarray_structure(kind)
    else:
        found = _of_dataclass(kind) if hasattr(kind, "__dataclass_fields__") else None
    if found is None:
        return False
    with contextlib.suppress(ValueError):  # another thread was faster
        register(kind, *found)
    return True


def _of_dataclass(kind: Any) -> tuple[Any, Any]:
    """How to take a dataclass apart: by its fields, without those that are marked as static."""
    import dataclasses

    fields = {f.name: bool(f.metadata.get("static")) for f in dataclasses.fields(kind)}
    parts = [name for name, is_static in fields.items() if not is_static]
    others = [name for name, is_static in fields.items() if is_static]

    def flatten(instance: Any) -> tuple[Any, Any]:
        of = [getattr(instance, name) for name in parts]
        return of, tuple(getattr(instance, name) for name in others)

    def unflatten(rest: Any, values: Any) -> Any:
        made = object.__new__(kind)  # without its checks, which may ask for values
        for name, value in zip([*parts, *others], [*values, *rest], strict=True):
            object.__setattr__(made, name, value)
        return made

    return flatten, unflatten
