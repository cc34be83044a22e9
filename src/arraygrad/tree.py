"""Structures of arrays: what transforms, optimisers and `compile` take and give.

A structure is a list, tuple, named tuple or dict, a dataclass, a DataArray or Dataset of xarray, a
type that was registered, or any of these inside each other. None has no leaves. Anything else is a
leaf.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import ops
from .core.describing import describe as _describe
from .core.structures import register
from .func.trees import as_array, flatten, flatten_like

__all__ = ["flatten", "leaves", "map", "ravel", "register"]


def leaves(tree: Any, /) -> list[Any]:
    """The leaves of a structure, in order. The keys of a dict are sorted.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.tree.leaves({"b": [1, 2], "a": 3})
    [3, 1, 2]
    """
    return flatten(tree)[0]


def map(function: Callable[..., Any], tree: Any, /, *others: Any) -> Any:
    """A structure of what a function gives for each leaf.

    Parameters
    ----------
    function : callable
    tree : any structure
    *others : structures like `tree`
        Their leaves are the function's further arguments.

    Examples
    --------
    >>> import arraygrad as ag
    >>> params, steps = {"w": 2.0, "b": [1.0]}, {"w": 0.5, "b": [0.25]}
    >>> ag.tree.map(lambda p, step: p - step, params, steps)
    {'w': 1.5, 'b': [0.75]}
    """
    own, unflatten = flatten(tree)
    rest = [flatten_like(t, tree, f"structure {i}", "the first") for i, t in enumerate(others, 1)]
    return unflatten([function(*values) for values in zip(own, *rest, strict=True)])


def ravel(tree: Any, /) -> tuple[Any, Callable[[Any], Any]]:
    """All numbers of a structure as one vector, and a function that makes a structure of a vector.

    Both are made of ops, and can be differentiated. The function gives each leaf the dtype it had.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> vector, unravel = ag.tree.ravel({"a": np.ones((2, 2)), "b": 3.0})
    >>> vector
    array([1., 1., 1., 1., 3.])
    >>> unravel(2 * vector)["b"]
    array(6.)
    """
    found, unflatten = flatten(tree)
    arrays = [as_array(leaf, f"leaf {i}") for i, leaf in enumerate(found)]
    shapes = [tuple(array.shape) for array in arrays]
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    dtypes = [array.dtype for array in arrays]

    def unravel(vector: Any) -> Any:
        if not ends.size or tuple(vector.shape) != (ends[-1],):
            size = ends[-1] if ends.size else 0
            raise ValueError(f"the vector must have shape ({size},), not {tuple(vector.shape)}")
        starts = [0, *ends[:-1]]
        parts = [vector[start:end] for start, end in zip(starts, ends, strict=True)]
        return unflatten(
            [
                ops.astype(ops.reshape(part, shape), dtype, copy=False)
                for part, shape, dtype in zip(parts, shapes, dtypes, strict=True)
            ]
        )

    parts = [ops.reshape(array, (-1,)) for array in arrays]
    return (ops.concat(parts) if parts else np.zeros(0)), unravel


def __dir__() -> list[str]:
    return __all__


_describe(
    (flatten, leaves, map, ravel, register),
    {"tree": "any structure | The structure."},
    {
        "Any": "structure | Like `tree`.",
        "flatten": "tuple | The leaves in a list, and the function.",
        "list[Any]": "list | The leaves.",
        "ravel": "tuple | The vector, and the function.",
    },
    {},
)
