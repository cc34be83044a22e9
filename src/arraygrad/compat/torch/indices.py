"""`x[key]` and `x[key] = value`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import ops
from ...arrays.batched import Batched
from ...arrays.creation import asarray
from ...core.array import Array
from .handles import Tensor, attach, lift, new, note_birth, origin_of, unwrap, wrap
from .inside import INSIDE
from .publish import METHODS
from .views import check_written, not_written, note_view, write_through


def _key(key: Any) -> Any:
    """An index as arraygrad takes it. PyTorch's slices have no negative steps."""
    kind = type(key)
    if kind is int or kind is slice or key is None or key is Ellipsis:
        if kind is slice and key.step is not None and key.step <= 0:
            raise ValueError("the step of a slice must be greater than zero")
        return unwrap(key) if kind is slice else key
    if kind is tuple:
        return tuple(map(_key, key))
    if kind is Tensor and key._t.dtype == np.uint8:
        return key._t != 0
    if kind is list and any(
        isinstance(item, slice | list | tuple | Tensor) or item is Ellipsis or item is None
        for item in key
    ):
        return tuple(map(_key, key))
    key = unwrap(key)
    return np.asarray(key, np.int64) if isinstance(key, list) and not key else key


def _getitem(self: Tensor, key: Any) -> Tensor:
    array = self._t
    if type(key) is int:
        found = array[(key, Ellipsis)]  # PyTorch's items are views
    else:
        place = _key(key)
        parts = place if type(place) is tuple else (place,)
        if len(parts) == array.ndim and all(isinstance(p, int) or _is_item(p) for p in parts):
            place = (*parts, Ellipsis)
        found = array[place]
    made = new(Tensor)
    made._t = found
    if origin_of(found) is not None:
        note_view(made, self)
    elif INSIDE:
        note_birth(found, (self,))
    return made


def _is_item(part: Any) -> bool:
    return hasattr(part, "ndim") and not part.ndim


def _setitem(self: Tensor, key: Any, value: Any) -> None:
    value = unwrap(value)
    check_written(self, value)
    if isinstance(value, Array):
        lift(self, value)
        if value.dtype != self._t.dtype:
            value = ops.astype(value, self._t.dtype)
    place = _key(key)
    parts = place if type(place) is tuple else (place,)
    own = [p for p in parts if isinstance(p, Batched) and p.dtype.kind in "iu"]
    if own:
        if len(own) == len(parts):
            index_put_(self, tuple(map(wrap, parts)), wrap(value))
            return
        axis = _differing_axis(parts, self.ndim)
        if axis is not None:
            _put_along(self, axis, own[0], value)
            return
    if isinstance(value, Array) and value.ndim:
        # PyTorch drops axes of length one in front, as in `x[0] = row` with a row of shape (1, n).
        extra = value.ndim - self._t[place].ndim
        if extra > 0 and set(value.shape[:extra]) == {1}:
            value = ops.reshape(value, value.shape[extra:])
    if isinstance(value, float) and math.isfinite(value) and self._t.dtype.kind in "iu":
        value = int(value)  # as PyTorch does
    try:
        self._t[place] = value
    except (ValueError, TypeError, RuntimeError) as error:
        raise not_written(self, "x[...] = value", error) from error
    write_through(self)


def _differing_axis(parts: tuple[Any, ...], ndim: int) -> int | None:
    """The axis of the one index that differs over a batch, if all others are whole slices."""
    full = [i for i, p in enumerate(parts) if isinstance(p, slice) and p == slice(None)]
    own = [i for i, p in enumerate(parts) if isinstance(p, Batched) and p.dtype.kind in "iu"]
    rest = [i for i, p in enumerate(parts) if p is Ellipsis]
    if len(own) != 1 or len(rest) > 1 or len(full) + len(own) + len(rest) != len(parts):
        return None
    return own[0] if not rest or own[0] < rest[0] else own[0] - len(parts) + ndim


def _put_along(self: Tensor, axis: int, index: Any, value: Any) -> None:
    """Write slices along an axis at places that differ over a batch."""
    shape = tuple(self.shape)
    count = index.ndim
    values = ops.broadcast_to(
        value if isinstance(value, Array) else asarray(value, dtype=self._t.dtype),
        (*shape[:axis], *index.shape, *shape[axis + 1 :]),
    )
    values = ops.moveaxis(values, tuple(range(axis, axis + count)), tuple(range(count)))
    index_put_(self.movedim(axis, 0), (wrap(index),), wrap(values))


def index_put_(self: Tensor, indices: Any, values: Any) -> None:
    """Write at places that differ over a batch."""
    METHODS["index_put_"](self, indices, values)


attach(__getitem__=_getitem, __setitem__=_setitem)
