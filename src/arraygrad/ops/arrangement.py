"""Grids, borders, splits, stacks and diagonals, with NumPy's names.

The functions are made of the ops in `shape` and `indexing`. They have no derivative rules.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np

from ..backends import backend_of
from ..core.array import plain
from ..core.axes import one_axis, shape_tuple
from ..core.indices import HOLE
from .define.arguments import naming
from .define.signatures import A, joining, one_array
from .indexing import _index_add, take
from .matrices import check_matrices
from .matrices import diagonal as matrix_diagonal
from .reductions import _sum
from .shape import (
    _reshape,
    astype,
    broadcast_to,
    concat,
    copy,
    counts_tuple,
    expand_dims,
    flip,
    moveaxis,
    ravel,
    swapaxes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "column_stack", "diag", "diagonal",
    "dstack", "hstack", "meshgrid", "pad", "repeat", "rot90", "split", "trace", "vstack",
]  # fmt: skip


@overload
def meshgrid(*arrays: NDArray[Any], indexing: str = "xy") -> tuple[NDArray[Any], ...]: ...
@overload
def meshgrid(*arrays: A, indexing: str = "xy") -> tuple[A, ...]: ...
@naming("*arrays")
def meshgrid(*arrays: Any, indexing: str = "xy") -> tuple[Any, ...]:
    """The coordinates of a grid, from the coordinates along each of its axes.

    Parameters
    ----------
    *arrays : arrays
        One-dimensional.
    indexing : "xy" or "ij"
        Whether the first array varies along the second axis of the results, or along the first.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x, y = ag.meshgrid(ag.tensor([1.0, 2.0]), ag.tensor([5.0, 6.0, 7.0]))
    >>> x.shape
    (3, 2)
    """
    return tuple(map(copy, grid_views(*arrays, indexing=indexing)))


def grid_views(*arrays: Any, indexing: str) -> list[Any]:
    """The results of `meshgrid` as views."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij', not {indexing!r}")
    for i, array in enumerate(arrays):
        if array.ndim > 1:
            raise ValueError(f"arrays[{i}] must be one-dimensional, got shape {array.shape}")
    ndim = len(arrays)
    order = list(range(ndim))
    if indexing == "xy" and ndim > 1:
        order[:2] = [1, 0]
    lines = {axis: atleast_1d(array) for axis, array in zip(order, arrays, strict=True)}
    shape = tuple(lines[axis].shape[0] for axis in range(ndim))
    return [
        broadcast_to(expand_dims(line, axis=tuple(range(1, ndim - axis))), shape)
        for axis, line in lines.items()
    ]


class AtLeast(Protocol):
    """A function that maps one array to one array, and several arrays to a tuple of arrays."""

    @overload
    def __call__(self, x: NDArray[Any], /) -> NDArray[Any]: ...
    @overload
    def __call__(self, x: A, /) -> A: ...
    @overload
    def __call__(self, *arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]: ...
    @overload
    def __call__(self, *arrays: A) -> tuple[A, ...]: ...


def _at_least(function: Callable[..., Any]) -> AtLeast:
    """Say that a function takes one array, or several."""
    return naming("*arrays")(function)


@_at_least
def atleast_1d(*arrays: Any) -> Any:
    """Arrays with at least one axis: numbers become vectors with one element.

    >>> ag.atleast_1d(ag.tensor(1.0))
    tensor([1.])
    """
    return _each(arrays, lambda x: _reshape(x, shape=(1,)) if x.ndim == 0 else x)


@_at_least
def atleast_2d(*arrays: Any) -> Any:
    """Arrays with at least two axes: vectors become rows.

    >>> ag.atleast_2d(ag.tensor([1.0, 2.0]))
    tensor([[1., 2.]])
    """
    return _each(
        arrays,
        lambda x: _reshape(x, shape=(1,) * (2 - x.ndim) + tuple(x.shape)) if x.ndim < 2 else x,
    )


@_at_least
def atleast_3d(*arrays: Any) -> Any:
    """Arrays with at least three axes: the axis of a vector becomes the middle one.

    >>> ag.atleast_3d(ag.tensor([1.0, 2.0])).shape
    (1, 2, 1)
    """

    def widened(x: Any) -> Any:
        shape = tuple(x.shape)
        if x.ndim < 2:
            return _reshape(x, shape=(1, *(shape or (1,)), 1))
        return _reshape(x, shape=(*shape, 1)) if x.ndim == 2 else x

    return _each(arrays, widened)


def _each(arrays: tuple[Any, ...], function: Any) -> Any:
    results = tuple(function(a) for a in arrays)
    return results[0] if len(results) == 1 else results


@joining
def hstack(arrays: Any, /) -> Any:
    """Join arrays side by side: along the second axis; vectors along their only axis.

    >>> ag.hstack([ag.tensor([1.0, 2.0]), ag.tensor([3.0])])
    tensor([1., 2., 3.])
    """
    parts = [atleast_1d(a) for a in arrays]
    return concat(parts, axis=0 if parts and parts[0].ndim == 1 else 1)


@joining
def vstack(arrays: Any, /) -> Any:
    """Join arrays one below the other; vectors are rows.

    >>> ag.vstack([ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0])])
    tensor([[1., 2.],
            [3., 4.]])
    """
    return concat([atleast_2d(a) for a in arrays], axis=0)


@joining
def dstack(arrays: Any, /) -> Any:
    """Join arrays along the third axis.

    >>> ag.dstack([ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0])]).shape
    (1, 2, 2)
    """
    return concat([atleast_3d(a) for a in arrays], axis=2)


@joining
def column_stack(arrays: Any, /) -> Any:
    """Join arrays side by side; vectors are columns.

    >>> ag.column_stack([ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0])])
    tensor([[1., 3.],
            [2., 4.]])
    """
    return concat([expand_dims(ravel(a), axis=1) if a.ndim < 2 else a for a in arrays], axis=1)


@overload
def array_split(
    x: NDArray[Any], indices_or_sections: Any, /, axis: int = 0
) -> list[NDArray[Any]]: ...
@overload
def array_split(x: A, indices_or_sections: Any, /, axis: int = 0) -> list[A]: ...
@naming("x")
def array_split(x: Any, indices_or_sections: Any, /, axis: int = 0) -> list[Any]:
    """Split an array along an axis: into nearly equal parts, or at indices.

    Examples
    --------
    >>> import arraygrad as ag
    >>> [part.shape[0] for part in ag.array_split(ag.arange(5), 3)]
    [2, 2, 1]
    """
    axis = one_axis(axis, x.ndim)
    n = x.shape[axis]
    if hasattr(indices_or_sections, "__index__") and not getattr(indices_or_sections, "ndim", 0):
        parts = operator.index(indices_or_sections)
        if parts < 1:
            raise ValueError(f"indices_or_sections must be positive, got {parts}")
        each, more = divmod(n, parts)
        ends = [(i + 1) * each + min(i + 1, more) for i in range(parts)]
        places = [0, *ends]
    else:
        places = [0, *shape_tuple(indices_or_sections, "indices_or_sections"), n]
    lead = (slice(None),) * axis
    return [x[(*lead, slice(start, stop), ...)] for start, stop in itertools.pairwise(places)]


@overload
def split(x: NDArray[Any], indices_or_sections: Any, /, axis: int = 0) -> list[NDArray[Any]]: ...
@overload
def split(x: A, indices_or_sections: Any, /, axis: int = 0) -> list[A]: ...
@naming("x")
def split(x: Any, indices_or_sections: Any, /, axis: int = 0) -> list[Any]:
    """Split an array along an axis: into equal parts, or at indices.

    >>> [part.shape for part in ag.split(ag.ones((4, 2)), 2)]
    [(2, 2), (2, 2)]
    """
    if hasattr(indices_or_sections, "__index__") and not getattr(indices_or_sections, "ndim", 0):
        parts, n = operator.index(indices_or_sections), x.shape[one_axis(axis, x.ndim)]
        if parts < 1 or n % parts:
            raise ValueError(
                f"an axis of length {n} cannot be split in {parts} equal parts: use array_split()"
            )
    return array_split(x, indices_or_sections, axis=axis)


@one_array
def rot90(x: Any, /, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """Rotate an array by `k` right angles, from the first of two axes towards the second.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.rot90(ag.tensor([[1, 2], [3, 4]]))
    tensor([[2, 4],
            [1, 3]])
    """
    first, second = (one_axis(a, x.ndim, "axes") for a in axes)
    if first == second:
        raise ValueError(f"axes must be two different ones, got {tuple(axes)}")
    turns = operator.index(k) % 4
    if turns == 2:
        return flip(x, axis=(first, second))
    if turns == 1:
        return swapaxes(flip(x, axis=second), first, second)
    return flip(swapaxes(x, first, second), axis=second) if turns == 3 else flip(x, axis=())


@one_array
def repeat(x: Any, repeats: Any, /, axis: int | None = None) -> Any:
    """Repeat each element: all the same number of times, or each its own number of times.

    >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
    >>> ag.grad(ag.repeat(x, 3).sum(), x)
    tensor([3., 3.])
    """
    if axis is None:
        x, axis = ravel(x), 0
    axis = one_axis(axis, x.ndim)
    if hasattr(repeats, "__index__") and not getattr(repeats, "ndim", 0):
        (n,) = counts_tuple(repeats, "repeats")
        shape = tuple(x.shape)
        apart = _reshape(x, shape=(*shape[: axis + 1], 1, *shape[axis + 1 :]))
        repeated = broadcast_to(apart, (*shape[: axis + 1], n, *shape[axis + 1 :]))
        merged = (*shape[:axis], shape[axis] * n, *shape[axis + 1 :])
        return _reshape(repeated, shape=merged, copy=True)
    counts = counts_tuple(repeats, "repeats")
    if len(counts) == 1:
        return repeat(x, counts[0], axis=axis)
    if len(counts) != x.shape[axis]:
        raise ValueError(f"repeats has length {len(counts)}, axis {axis} has {x.shape[axis]}")
    places = [i for i, n in enumerate(counts) for _ in range(n)]
    return take(x, backend_of(x).integers(x, places), axis=axis)


# --- diagonals -----------------------------------------------------------------------------------


@one_array
def diagonal(x: Any, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """A diagonal in the plane of two axes, as the last axis of the result.

    This is NumPy's function. The standard's function, `linalg.diagonal`, uses the last two axes.

    >>> ag.diagonal(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 4.])
    """
    check_matrices(x, "diagonal")
    if (axis1, axis2) not in ((-2, -1), (x.ndim - 2, x.ndim - 1)):
        x = moveaxis(x, (axis1, axis2), (-2, -1))
    return matrix_diagonal(x, offset=offset)


@one_array
def trace(x: Any, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The sum of a diagonal in the plane of two axes.

    This is NumPy's function. The standard's function, `linalg.trace`, uses the last two axes.

    >>> ag.trace(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor(5.)
    """
    line = diagonal(x, offset, axis1, axis2)
    return _sum(line, axis=(line.ndim - 1,), keepdims=False)


@one_array
def diag(x: Any, /, k: int = 0) -> Any:
    """A diagonal of a matrix; for a vector, the matrix with this vector on a diagonal.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.diag(ag.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise ValueError(f"diag is for vectors and matrices, got shape {tuple(x.shape)}")
    k, n = operator.index(k), x.shape[0]
    size = n + abs(k)
    rows = backend_of(x).integers(plain(x), [i + max(-k, 0) for i in range(n)])
    columns = backend_of(x).integers(plain(x), [i + max(k, 0) for i in range(n)])
    return _index_add(x, rows, columns, template=(HOLE, HOLE), shape=(size, size))


# --- borders -------------------------------------------------------------------------------------

_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


@one_array
def pad(
    x: Any, /, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0, **keywords: Any
) -> Any:
    """An array with a border.

    Parameters
    ----------
    x : array
    pad_width : int, pair or sequence of pairs
        How much to add before and after, along all axes or along each.
    mode : "constant", "edge", "reflect", "symmetric" or "wrap"
        The content of the border. "constant": one value. "edge": the outermost element. "reflect":
        the array mirrored at its outermost element, "symmetric": also repeating this element.
        "wrap": the array again, from its other end.
    constant_values : number, pair or sequence of pairs
        The values of a constant border.
    **keywords
        NumPy's ``reflect_type="even"``. Others are not supported.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> ag.pad(x, (2, 1), mode="reflect").detach()
    tensor([3., 2., 1., 2., 3., 2.])
    >>> ag.grad(ag.pad(x, (2, 1), mode="reflect").sum(), x)
    tensor([1., 3., 2.])
    """
    if mode not in _MODES:
        raise ValueError(f"mode must be one of {', '.join(_MODES)}, not {mode!r}")
    if keywords.pop("reflect_type", "even") != "even" or keywords:
        raise TypeError(f"pad() does not support {', '.join(keywords) or 'reflect_type'}")
    if isinstance(pad_width, dict):
        chosen = {one_axis(a, x.ndim, "pad_width"): w for a, w in pad_width.items()}
        pad_width = [chosen.get(axis, 0) for axis in range(x.ndim)]
        pad_width = [(w, w) if isinstance(w, int) else tuple(w) for w in pad_width]
    try:
        widths = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2))
    except ValueError:
        raise ValueError(
            f"pad_width must be an integer, a pair, or a pair for each of {x.ndim} axes, got "
            f"{pad_width!r}"
        ) from None
    if widths.dtype.kind not in "iu" or (widths < 0).any():
        raise ValueError(f"pad_width must be integers that are not negative, got {pad_width!r}")
    if not widths.any():
        return copy(x)
    for axis, (before, after) in enumerate(widths.tolist()):
        if not before and not after:
            continue
        if mode == "constant":
            first, last = _border_values(constant_values, axis, x.ndim)
            x = _with_constants(x, axis, (first, before), (last, after))
            continue
        if not x.shape[axis]:
            raise ValueError(f"mode {mode!r} cannot extend axis {axis}, which is empty")
        places = np.pad(np.arange(x.shape[axis]), (before, after), mode=mode)  # type: ignore[call-overload]
        x = take(x, backend_of(x).integers(plain(x), places.tolist()), axis=axis)
    return x


def _border_values(values: Any, axis: int, ndim: int) -> tuple[Any, Any]:
    """The values before and after an array along an axis."""
    if not isinstance(values, tuple | list | np.ndarray) or getattr(values, "ndim", 1) == 0:
        return values, values
    entry = values
    if isinstance(values[0], tuple | list | np.ndarray):
        entry = values[axis if len(values) > 1 else 0]
    return (entry[0], entry[-1])


def _with_constants(x: Any, axis: int, *ends: tuple[Any, int]) -> Any:
    parts = []
    for value, width in ends:
        shape = (*x.shape[:axis], width, *x.shape[axis + 1 :])
        if hasattr(value, "dtype") and hasattr(value, "shape"):
            parts.append(broadcast_to(astype(value, x.dtype, copy=False), shape))
        else:
            parts.append(backend_of(x).full(plain(x), shape, value, x.dtype))
    return concat((parts[0], x, parts[1]), axis=axis)
