"""`vmap`: turns a function of one example into a function of many examples, without a loop.

How each op runs on a batch is in `ops.batching`.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Hashable
from contextlib import nullcontext
from numbers import Number
from typing import Any, TypeVar, cast

import numpy as np

from .. import ops
from ..arrays.batched import Batched, batched_type
from ..backends import backend_of
from ..backends.arraylikes import values_of
from ..core.array import AnyFunction, plain
from ..core.levels import new_level
from ..core.structures import NAMESPACE, taken_apart
from ..ops.padding import WARN_FALLBACK
from .collectives import named
from .trees import Given, as_function, flatten, lowered

F = TypeVar("F", bound=AnyFunction)


def vmap(
    function: F,
    in_axes: Any = 0,
    out_axes: Any = 0,
    *,
    chunk_size: int | None = None,
    warn_fallback: bool = False,
    axis_name: Hashable = None,
) -> F:
    """Map a function over an axis of its arguments, for all members of the axis at once.

    Parameters
    ----------
    function : callable
        Written for one example.
    in_axes : int, None, or structure of them
        For each argument, or each array in it: the axis to map over; None to pass it whole.
    out_axes : int, None or structure of them
        The place of the mapped axis in each result; None for a result that is the same for all
        examples.
    chunk_size : int, optional
        Map over this many examples at a time, to bound memory.
    warn_fallback : bool
        Warn of each op that cannot run on a batch and so runs once for each example.
    axis_name : hashable, optional
        A name for the mapped axis. With it, `psum`, `pmean`, `pmax`, `pmin` and `axis_index` see
        all examples. Not together with `chunk_size`.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.func.vmap(lambda x, y: x @ y, in_axes=(0, None))(np.eye(3), np.array([1.0, 2.0, 3.0]))
    array([1., 2., 3.])
    """
    as_function(function, "vmap")
    if chunk_size is not None and chunk_size < 1:
        raise ValueError(f"chunk_size must be at least 1, not {chunk_size}")
    if chunk_size is not None and axis_name is not None:
        raise ValueError("with axis_name, a function sees all examples: leave out chunk_size")
    if isinstance(in_axes, list):  # one entry for each argument, as in a tuple
        in_axes = tuple(in_axes)

    @functools.wraps(function)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, unflatten = flatten((args, kwargs))
        axes = broadcast_axes(in_axes, args, "in_axes", "the arguments")
        axes += [0] * (len(leaves) - len(axes))  # keywords are mapped over their first axis

        def name(position: int) -> str:
            return _argument((args, kwargs), position)

        front = [
            leaf if axis is None else _to_front(leaf, axis, functools.partial(name, i))
            for i, (leaf, axis) in enumerate(zip(leaves, axes, strict=True))
        ]
        size = _common_size(front, axes, name)
        step = max(1, size if chunk_size is None else chunk_size)
        chunks = []
        for start in range(0, max(size, 1), step):
            piece = [
                leaf if axis is None or step >= size else leaf[start : start + step]
                for leaf, axis in zip(front, axes, strict=True)
            ]
            before = WARN_FALLBACK.get()
            try:
                WARN_FALLBACK.set(warn_fallback or before)
                chunks.append(_run(function, piece, axes, unflatten, axis_name))
            finally:
                WARN_FALLBACK.set(before)
        sizes = [min(step, size - start) for start in range(0, max(size, 1), step)]
        (first, rebuild), *_ = chunks
        if type(out_axes) is int:  # the common case
            places: list[int | None] = [out_axes] * len(first)
        else:
            results = rebuild([value for value, _ in first])
            places = broadcast_axes(out_axes, results, "out_axes", "the results")
        given = Given(args, kwargs)
        return rebuild(
            [
                given.result(_collect([values[k] for values, _ in chunks], sizes, axis, k))
                for k, axis in enumerate(places)
            ]
        )

    return cast("F", mapped)


def _argument(arguments: Any, position: int) -> str:
    """The name of a leaf of the arguments, for errors."""
    import optree

    (kind, key, *rest) = optree.treespec_paths(taken_apart(arguments)[1])[position]
    first = f"argument {key}" if kind == 0 else f"argument {key!r}"
    return first + "".join(f"[{step!r}]" for step in rest)


def _to_front(leaf: Any, axis: int, name: Callable[[], str]) -> Any:
    """An array with the axis to map over in front."""
    leaf = values_of(leaf)
    ndim = getattr(leaf, "ndim", None)
    if not ndim:
        what = "a 0-d array" if ndim == 0 else f"of type {type(leaf).__name__}"
        raise ValueError(
            f"in_axes says to map over axis {axis} of {name()}, which is {what}: use None to pass "
            "it whole"
        )
    if not -ndim <= axis < ndim:
        raise IndexError(
            f"in_axes says to map over axis {axis} of {name()}, which has shape {tuple(leaf.shape)}"
        )
    return ops.moveaxis(leaf, axis, 0) if axis else leaf


def _common_size(leaves: list[Any], axes: list[int | None], name: Callable[[int], str]) -> int:
    sizes = {i: leaf.shape[0] for i, leaf in enumerate(leaves) if axes[i] is not None}
    if not sizes:
        raise ValueError("in_axes names no axis of any argument: there is nothing to map over")
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{size} in {name(i)}" for i, size in sizes.items())
        raise ValueError(f"the axes to map over have different lengths: {found}")
    return int(next(iter(sizes.values())))


def _run(
    function: AnyFunction,
    leaves: list[Any],
    axes: list[int | None],
    unflatten: Any,
    axis_name: Hashable,
) -> tuple[list[tuple[Any, bool]], Any]:
    """Run the function once. For each leaf of the result, also whether it is batched."""
    with new_level() as level:
        make = batched_type(level)
        arguments: list[Any] = []
        for leaf, axis in zip(leaves, axes, strict=True):
            arguments.append(leaf if axis is None else make(leaf))
            if axis:
                arguments[-1]._given_axis = axis % leaf.ndim
        args, kwargs = unflatten(arguments)
        with nullcontext() if axis_name is None else _named(axis_name, arguments, make):
            results, rebuild = flatten(function(*args, **kwargs))
    return [_leave(value, make) for value in results], rebuild


def _named(axis_name: Hashable, arguments: list[Any], make: type[Batched]) -> Any:
    array = next(x._array for x in arguments if isinstance(x, make))
    indices = backend_of(array).integers(plain(array), list(range(array.shape[0])))
    return named(axis_name, make(indices))


def _leave(value: Any, make: type[Batched]) -> tuple[Any, bool]:
    """A result without the arrays of this run's level, and whether it was batched."""
    value = lowered(value, make.level)
    return (value._array, True) if isinstance(value, make) else (value, False)


def _collect(
    values: list[tuple[Any, bool]], sizes: list[int], axis: int | None, position: int
) -> Any:
    """One result, joined from all chunks, with the mapped axis at its place."""
    if axis is None:
        if any(batched for _, batched in values):
            raise ValueError(
                f"out_axes is None for result {position}, which differs over the mapped axis"
            )
        return values[0][0]
    arrays = [
        value if batched else _repeated(value, size, position)
        for (value, batched), size in zip(values, sizes, strict=True)
    ]
    joined = arrays[0] if len(arrays) == 1 else ops.concat(arrays, axis=0)
    if not -joined.ndim <= axis < joined.ndim:
        raise IndexError(
            f"out_axes puts the mapped axis of result {position} at {axis}, but it has "
            f"{joined.ndim} axes with it"
        )
    return ops.moveaxis(joined, 0, axis) if axis else joined


def _repeated(value: Any, size: int, position: int) -> Any:
    """A result that is the same for all examples, repeated along the mapped axis."""
    if not hasattr(value, "dtype"):
        if not isinstance(value, Number):
            raise TypeError(
                f"the function must return arrays and numbers, but result {position} is of type "
                f"{type(value).__name__}: use None in out_axes to pass it on as it is"
            )
        value = np.asarray(value)
    return ops.copy(ops.broadcast_to(value, (size, *value.shape)))


_WHOLE: Any = object()


def broadcast_axes(axes: Any, tree: Any, name: str, what: str) -> list[int | None]:
    """The axis of each leaf of `tree`. An axis in `axes` may stand for a whole subtree."""
    if axes is None or isinstance(axes, int):
        found = [axes] * len(flatten(tree)[0])
    elif _is_one_each(axes, tree):
        return [axis for axis, part in zip(axes, tree, strict=True) for _ in flatten(part)[0]]
    else:
        import optree

        given, spec = taken_apart(axes, none_is_leaf=True)
        marked = spec.unflatten([_WHOLE if a is None else a for a in given])
        try:
            found = optree.broadcast_prefix(marked, tree, namespace=NAMESPACE)
        except ValueError:
            raise ValueError(
                f"{name} must have the structure of {what}, {taken_apart(tree)[1]}, or stop "
                f"short of it; got {axes!r}"
            ) from None
    for axis in found:
        wrong = not hasattr(axis, "__index__") or isinstance(axis, bool)
        if wrong and axis is not None and axis is not _WHOLE:
            raise TypeError(f"{name} must consist of integers and None, not {axis!r}")
    return [None if axis is None or axis is _WHOLE else operator.index(axis) for axis in found]


def _is_one_each(axes: Any, tree: Any) -> bool:
    """Whether `axes` has one axis for each argument: the common case."""
    return (
        type(axes) is type(tree) is tuple
        and len(axes) == len(tree)
        and all(axis is None or type(axis) is int for axis in axes)
    )
