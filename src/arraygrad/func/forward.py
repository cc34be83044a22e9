"""Forward mode as a transform of functions: `jvp`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import ops
from ..arrays.dual import dual_type
from ..levels import new_level
from .reverse import split_aux
from .trees import as_array, flatten, flatten_like, tree_map

Function = Callable[..., Any]


def push(
    function: Function, primals: tuple[Any, ...], tangents: list[Any], *, has_aux: bool = False
) -> tuple[Any, Any, Any]:
    """Run a function on dual arrays; returns its value, its tangents structured alike, and aux.

    Tangents may carry an axis of their own in a batched array: the primals are computed once.
    """
    flat, unflatten = flatten(primals)
    arrays = [as_array(leaf, "primals") for leaf in flat]
    # Infinities and NaN in a tangent are results like any other.
    with new_level() as level, np.errstate(all="ignore"):
        make = dual_type(level)
        duals = [make(p, t) for p, t in zip(arrays, tangents, strict=True)]
        result, aux = split_aux(function(*unflatten(duals)), has_aux)

    def primal(value: Any) -> Any:
        return value.primal if isinstance(value, make) else value

    def tangent(value: Any) -> Any:
        return value.tangent if isinstance(value, make) else _zero(value)

    return tree_map(primal, result), tree_map(tangent, result), tree_map(primal, aux)


def _zero(value: Any) -> Any:
    return ops.zeros_like(value) if hasattr(value, "dtype") else 0.0


def jvp(
    function: Function,
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    has_aux: bool = False,
) -> Any:
    """A function's value and its derivative along tangents.

    Parameters
    ----------
    function : callable
    primals : tuple
        The arguments; each may be any structure of arrays.
    tangents : tuple
        The directions, structured like `primals`.

    Returns
    -------
    (value, tangent) or (value, tangent, aux)

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.func.jvp(ag.sin, (np.array(0.0),), (np.array(2.0),))
    (np.float64(0.0), np.float64(2.0))
    """
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        raise TypeError("primals and tangents must be tuples with one entry per argument")
    primals, tangents = tuple(primals), tuple(tangents)
    flat = flatten_like(tangents, primals, "tangents", "primals")
    arrays, _ = flatten(primals)
    for i, (p, t) in enumerate(zip(arrays, flat, strict=True)):
        if tuple(getattr(t, "shape", ())) != tuple(getattr(p, "shape", ())):
            raise ValueError(
                f"tangent {i} has shape {tuple(getattr(t, 'shape', ()))}, its primal has "
                f"{tuple(getattr(p, 'shape', ()))}"
            )
    directions = [
        t if hasattr(t, "dtype") else np.asarray(t, getattr(p, "dtype", float))
        for p, t in zip(arrays, flat, strict=True)
    ]
    value, tangent, aux = push(function, primals, directions, has_aux=has_aux)
    return (value, tangent, aux) if has_aux else (value, tangent)
