"""Writing to Dask arrays: a new array replaces the array that is written to.

The new values are placed in an array of zeros, and `where` chooses between them and the old values.
A write to a view becomes, step by step, a write to the array under the view.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.array import plain
from ...core.indices import HOLE
from ...core.kinds import Moves
from ...errors import LazyError
from .blocks import broadcast, constant_values, da, filled
from .indexing import getitem, index_add
from .plans import plan_of
from .shapes import ChunkedShape

if TYPE_CHECKING:
    from ...ops.define import Op


def put(x: Any, value: Any, region: Any) -> Any:
    """The op `put`: the array with new values in a region."""
    views = [x]
    for function, keywords in region.steps:
        views.append(function(views[-1], **keywords))
    part = _assigned(views.pop(), region.index, value)
    for function, keywords in reversed(region.steps):
        part = _put_back(function.op, keywords, views.pop(), part)
    return part


def _put_back(op: Op, keywords: dict[str, Any], whole: Any, part: Any) -> Any:
    """The array under a view, after a write to the view. `part` holds the view's new values."""
    if op.is_library and op.name in _SPECIAL:
        return _SPECIAL[op.name](whole, part, **keywords)
    if not op.rules:  # the same elements, as constants
        return part
    kind, pullback = op.kind, op.pullback((0,))
    one_for_one = isinstance(kind, Moves) and kind.inputs != "broadcast"
    if pullback is None or not pullback.rules or not one_for_one:
        raise LazyError(
            f"a view made by {op.name} of a Dask array cannot be written to: write to the array "
            "itself"
        )
    saved = pullback.keep((whole,), part, keywords)

    def back(elements: Any) -> Any:
        """Zeros with the view's elements at their places in the array: the op's reverse rule."""
        rule = pullback.rules[0]
        return elements if rule is None else plain(rule(elements, saved))

    if part.size == whole.size:
        return back(part)
    return _where(back(filled(part, ChunkedShape.of(part), True, bool)), back(part), whole)


def _on_diagonal(whole: Any, part: Any, offset: int) -> Any:
    places = np.arange(part.shape[-1])
    rows, columns = places + max(-offset, 0), places + max(offset, 0)
    return _assigned(whole, ((Ellipsis, HOLE, HOLE), (rows, columns)), part)


def _as_real_part(whole: Any, part: Any) -> Any:
    return part + da.imag(whole) * np.complex64(1j) if whole.dtype.kind == "c" else part


def _as_imaginary_part(whole: Any, part: Any) -> Any:
    return da.real(whole) + part * np.complex64(1j)


# Views of a part of each element, and views whose reverse rule would merge axes.
_SPECIAL: dict[str, Callable[..., Any]] = {
    "diagonal": _on_diagonal,
    "real": _as_real_part,
    "imag": _as_imaginary_part,
}


def _where(condition: Any, x: Any, y: Any) -> Any:
    """`x` where a condition holds, else `y`, which may be a number."""
    return broadcast(np.where, (condition, x, y), "where", x.dtype)


def _assigned(x: Any, index: Any, value: Any) -> Any:
    """An array with new values at an index, which holds NumPy arrays; None for all elements."""
    lazy = isinstance(value, da.Array)
    if index is None:
        if not lazy and not np.ndim(value):
            return filled(x, ChunkedShape.of(x), value, x.dtype)
        value = value if lazy else da.from_array(np.asarray(value))
        return da.broadcast_to(value.astype(x.dtype), x.shape).rechunk(x.chunks)
    template = index[0]
    indices = tuple(da.from_array(np.asarray(i), chunks=-1) for i in index[1])
    shape = ChunkedShape.of(x)
    plan = plan_of(template, indices, shape)
    there = filled(x, shape, True, bool)
    mask = getitem(there, *indices, template=template)  # True everywhere, in the part's shape
    value = value if lazy else da.from_array(np.asarray(value, x.dtype))
    value = da.broadcast_to(value.astype(x.dtype), mask.shape).rechunk(mask.chunks)
    if index[1]:
        last = _last_of_each(plan, shape)
        if last is not None:
            value = _where(da.from_array(last), value, np.zeros((), x.dtype).item())
    placed = index_add(value, *indices, template=template, shape=shape)
    return _where(index_add(mask, *indices, template=template, shape=shape), placed, x)


def _last_of_each(plan: Any, shape: tuple[int, ...]) -> Any:
    """Which values of an assignment stay, if several go to the same place; None if all stay."""
    places = [p if isinstance(p, int) else constant_values(p) for p in plan.places]
    lengths = [shape[axis] for axis in plan.axes]
    whole = [np.where(np.less(p, 0), np.add(p, n), p) for p, n in zip(places, lengths, strict=True)]
    flat = np.ravel_multi_index(np.broadcast_arrays(*whole), lengths)
    _, backwards = np.unique(flat.reshape(-1)[::-1], return_index=True)
    if backwards.size == flat.size:
        return None
    keep = np.zeros(flat.size, bool)
    keep[flat.size - 1 - backwards] = True
    wide: list[int] = []
    for part in plan.order:
        wide += flat.shape if part is Ellipsis else (1,)
    return keep.reshape(wide)


def survivors(region: Any) -> Any:
    """`region.survivors()`, without a temporary array of the size of the whole array."""
    if region.index is None or not region.index[1]:
        return None
    shape = region.view(np.broadcast_to(False, region.shape)).shape
    indices = tuple(da.from_array(np.asarray(i), chunks=-1) for i in region.index[1])
    return _last_of_each(plan_of(region.index[0], indices, shape), shape)
