"""`vmap`: a function of one example becomes a function of many, without a loop."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import ops
from ..arrays.batched import Batched, batched_type
from ..levels import new_level
from ..ops.axes import one_axis
from ..ops.batching import WARN_FALLBACK
from ..tensor import Tensor
from .trees import flatten

Function = Callable[..., Any]


def vmap(
    function: Function,
    in_axes: Any = 0,
    out_axes: Any = 0,
    *,
    chunk_size: int | None = None,
    warn_fallback: bool = False,
) -> Function:
    """Map a function over an axis of its arguments, all at once.

    Parameters
    ----------
    function : callable
        Written for one example.
    in_axes : int, None, or structure of them
        For each argument, or each array in it: the axis to map over; None to pass it whole.
    out_axes : int, None or structure of them
        Where the mapped axis goes in each result; None for a result that is the same for all.
    chunk_size : int, optional
        Map over this many examples at a time, to bound memory.
    warn_fallback : bool
        Warn of each op that has no batched kernel and so runs once for each example.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.func.vmap(lambda x, y: x @ y, in_axes=(0, None))(np.eye(3), np.array([1.0, 2.0, 3.0]))
    array([1., 2., 3.])
    """
    if chunk_size is not None and chunk_size < 1:
        raise ValueError(f"chunk_size must be at least 1, not {chunk_size}")

    @functools.wraps(function)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, unflatten = flatten((args, kwargs))
        axes = broadcast_axes(in_axes, args, "in_axes")
        axes += [0] * (len(leaves) - len(axes))  # keywords are mapped over their first axis
        front = [
            leaf if axis is None else _to_front(leaf, axis, i)
            for i, (leaf, axis) in enumerate(zip(leaves, axes, strict=True))
        ]
        size = _common_size(front, axes)
        step = max(1, size if chunk_size is None else chunk_size)
        chunks = []
        for start in range(0, max(size, 1), step):
            piece = [
                leaf if axis is None or step >= size else leaf[start : start + step]
                for leaf, axis in zip(front, axes, strict=True)
            ]
            token = WARN_FALLBACK.set(warn_fallback or WARN_FALLBACK.get())
            try:
                chunks.append(_run(function, piece, axes, unflatten))
            finally:
                WARN_FALLBACK.reset(token)
        sizes = [min(step, size - start) for start in range(0, max(size, 1), step)]
        (first, rebuild), *_ = chunks
        places = broadcast_axes(out_axes, rebuild([value for value, _ in first]), "out_axes")
        return rebuild(
            [
                _collect([values[k] for values, _ in chunks], sizes, axis)
                for k, axis in enumerate(places)
            ]
        )

    return mapped


def _to_front(leaf: Any, axis: int, position: int) -> Any:
    """An array with the axis to map over in front."""
    ndim = getattr(leaf, "ndim", None)
    if not ndim:
        what = "a 0-d array" if ndim == 0 else f"a {type(leaf).__name__}"
        raise ValueError(
            f"in_axes says to map over axis {axis} of argument leaf {position}, which is {what}: "
            "use None to pass it whole"
        )
    return ops.moveaxis(leaf, one_axis(axis, ndim, "in_axes:"), 0)


def _common_size(leaves: list[Any], axes: list[int | None]) -> int:
    sizes = {leaf.shape[0] for leaf, axis in zip(leaves, axes, strict=True) if axis is not None}
    if len(sizes) != 1:
        problem = f"have lengths {sorted(sizes)}" if sizes else "are none"
        raise ValueError(f"the axes to map over must have one length in common; there {problem}")
    return int(sizes.pop())


def _run(
    function: Function, leaves: list[Any], axes: list[int | None], unflatten: Any
) -> tuple[list[tuple[Any, bool]], Any]:
    """One run: the results leaf by leaf, each with whether it has the mapped axis in front."""
    with new_level() as level:
        make = batched_type(level)
        args, kwargs = unflatten(
            [leaf if axis is None else make(leaf) for leaf, axis in zip(leaves, axes, strict=True)]
        )
        results, rebuild = flatten(function(*args, **kwargs))
    return [_leave(value, make) for value in results], rebuild


def _leave(value: Any, make: type[Batched]) -> tuple[Any, bool]:
    """A result without what belongs to this run, and whether it was batched by it."""
    while isinstance(value, Tensor) and value.level > make.level:
        value = value.array  # a tensor made inside: its graph ends here
    return (value._array, True) if isinstance(value, make) else (value, False)


def _collect(values: list[tuple[Any, bool]], sizes: list[int], axis: int | None) -> Any:
    """One result of all chunks, with the mapped axis where it belongs."""
    if axis is None:
        if values[0][1]:
            raise ValueError("out_axes is None for a result that differs over the mapped axis")
        return values[0][0]
    arrays = [
        value if batched else ops.broadcast_to(_array(value), (size, *_array(value).shape))
        for (value, batched), size in zip(values, sizes, strict=True)
    ]
    joined = arrays[0] if len(arrays) == 1 else ops.concat(arrays, axis=0)
    return ops.moveaxis(joined, 0, one_axis(axis, joined.ndim, "out_axes:"))


def _array(value: Any) -> Any:
    return value if hasattr(value, "shape") else np.asarray(value)


_WHOLE: Any = object()


def broadcast_axes(axes: Any, tree: Any, name: str) -> list[int | None]:
    """For each leaf of `tree`, its axis: `axes` may stop short of the leaves."""
    if axes is None or isinstance(axes, int):
        return [axes] * len(flatten(tree)[0])
    import optree

    marked = optree.tree_map(lambda a: _WHOLE if a is None else a, axes, none_is_leaf=True)
    try:
        found = optree.broadcast_prefix(marked, tree)
    except ValueError as error:
        raise ValueError(f"{name} does not fit the structure it is for: {error}") from None
    return [None if axis is _WHOLE else axis for axis in found]
