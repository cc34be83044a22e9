"""Forward mode as a transform of functions: `jvp`. `func.jacobians` has `jacfwd`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np

from .. import ops
from ..arrays.creation import operand
from ..arrays.dual import Dual, dual_type
from ..core.array import AnyFunction
from ..core.levels import new_level
from .reverse import split_aux
from .signatures import R, S, Ts
from .trees import (
    Given,
    Path,
    arrays_of,
    as_function,
    check_result,
    flatten,
    flatten_like,
    item_of,
    like_given,
    lowered,
    tree_map,
    vector_like,
)

_PRIMALS = item_of("primals")


def push(
    function: AnyFunction,
    primals: tuple[Any, ...],
    tangents: list[Any] | Callable[[int], list[Any]],
    *,
    has_aux: bool = False,
    strict: bool = False,
    name: Callable[[Path], str] = _PRIMALS,
    given: Given | None = None,
    kind: Callable[[float], type[Dual]] = dual_type,
) -> tuple[Any, Any, Any]:
    """Run a function on dual arrays; return its value, its tangents in the same structure, and aux.

    Tangents may carry an axis of their own in a batched array: the primals are computed once. That
    must be of a level above the dual arrays', so that `tangents` may also be a function of theirs.
    `given` is what the caller of the transform gave, if that is more; `kind` gives the type of the
    dual arrays of a level.
    """
    arrays, unflatten = arrays_of(primals, name)
    # Infinity and NaN in a tangent are results, not errors.
    with new_level() as level, np.errstate(all="ignore"):
        make = kind(level)
        moved = tangents(level) if callable(tangents) else tangents
        pairs = zip(map(operand, arrays), map(operand, moved), strict=True)
        duals = [make(primal, tangent) for primal, tangent in pairs]
        result, aux = split_aux(function(*unflatten(duals)), has_aux)

    leaves, rebuild = flatten(result)
    check_result(leaves)
    leaves = [lowered(leaf, level) for leaf in leaves]
    for i, leaf in enumerate(leaves):
        if strict and not isinstance(leaf, make):
            raise ValueError(
                f"result {i} does not depend on the primals, which strict=True does not allow"
            )
    result = rebuild(leaves)
    caller = given or Given(primals, moved)

    def primal(value: Any) -> Any:
        value = lowered(value, level)
        return caller.result(value.primal if isinstance(value, make) else value)

    def tangent(value: Any) -> Any:
        return caller.result(value.tangent if isinstance(value, make) else _zero(value))

    return tree_map(primal, result), tree_map(tangent, result), tree_map(primal, aux)


def _zero(value: Any) -> Any:
    return ops.zeros_like(value) if hasattr(value, "dtype") else 0.0


@overload
def jvp(
    function: Callable[[*Ts], R],
    primals: tuple[*Ts],
    tangents: tuple[Any, ...],
    *,
    strict: bool = False,
    has_aux: Literal[False] = False,
) -> tuple[R, R]: ...
@overload
def jvp(
    function: Callable[[*Ts], tuple[R, S]],
    primals: tuple[*Ts],
    tangents: tuple[Any, ...],
    *,
    strict: bool = False,
    has_aux: Literal[True],
) -> tuple[R, R, S]: ...
def jvp(
    function: AnyFunction,
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    strict: bool = False,
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
    strict : bool
        Whether to raise if a result does not depend on the primals, instead of giving zeros.

    Returns
    -------
    (value, tangent) or (value, tangent, aux)

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.func.jvp(ag.sin, (np.array(0.0),), (np.array(2.0),))
    (np.float64(0.0), np.float64(2.0))
    """
    as_function(function, "jvp")
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        raise TypeError("primals and tangents must be tuples with one entry per argument")
    primals, tangents = tuple(primals), tuple(tangents)
    flat = flatten_like(tangents, primals, "tangents", "primals")
    arrays, _ = flatten(primals)
    directions = [
        vector_like(t, p, f"tangent {i}", "its primal")
        for i, (p, t) in enumerate(zip(arrays, flat, strict=True))
    ]
    value, tangent, aux = push(function, primals, directions, has_aux=has_aux, strict=strict)
    found, rebuild = flatten(tangent)
    tangent = rebuild([like_given(*pair) for pair in zip(found, flatten(value)[0], strict=True)])
    return (value, tangent, aux) if has_aux else (value, tangent)
