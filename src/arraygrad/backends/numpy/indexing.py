"""Kernels for NumPy that read and add at index arrays, and that sort, faster than NumPy's own."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...core.indices import HOLE, fill
from .scipy import scipy_part

Template = tuple[Any, ...]

# From this number of elements on, the methods here are faster than NumPy's own.
_MANY = 1000


def getitem(x: Any, *indices: Any, template: Template) -> Any:
    """`x[key]`, where the key is the template with `indices` in its holes."""
    if not indices:
        return x[template]
    if len(template) == 1 and _is_list(indices[0]) and x.flags.c_contiguous:
        return np.take(x, indices[0], axis=0)
    return x[fill(template, indices)]


def take_along_axis(x: Any, indices: Any, axis: int) -> Any:
    """For each of `indices`, the element of `x` at this index along an axis."""
    if not _can_flatten(x, indices, axis):
        return np.take_along_axis(x, indices, axis)
    return np.take(x.reshape(-1), _flat_places(indices, axis, x.shape[axis]))


def _can_flatten(x: Any, indices: Any, axis: int) -> bool:
    """Whether indices along an axis can become places in the flat array cheaply."""
    others = x.shape[:axis] + x.shape[axis + 1 :]
    return (
        _is_list(indices)
        and x.flags.c_contiguous
        and indices.shape[:axis] + indices.shape[axis + 1 :] == others
        and not _any_outside(indices, x.shape[axis])
    )


def _any_outside(indices: Any, n: int) -> bool:
    """Whether any index is negative or too large; then NumPy's own function handles it."""
    return indices.size > 0 and bool(indices.min() < 0 or indices.max() >= n)


def _flat_places(indices: Any, axis: int, n: int) -> Any:
    """The places in the flat array of the elements at `indices` along an axis of length `n`."""
    before, after = indices.shape[:axis], indices.shape[axis + 1 :]
    first = np.arange(math.prod(before)).reshape(*before, 1, *(1 for _ in after))
    last = np.arange(math.prod(after)).reshape(after)
    return (first * n + indices) * math.prod(after) + last


def _is_list(index: Any) -> bool:
    """Whether an index is an array of many (signed) integers."""
    return type(index) is np.ndarray and index.dtype.kind == "i" and index.size >= _MANY


# --- adding ------------------------------------------------------------------------------------


def index_add(x: Any, *indices: Any, template: Template, shape: tuple[int, ...]) -> Any:
    """Zeros with `x` added at an index; repeated places get the sum."""
    rows = _rows(x, indices, template, shape) if x.size >= _MANY else None
    if rows is not None and rows.are_many():
        return rows.summed().reshape(shape)
    out = np.zeros(shape, x.dtype)
    add_at(out, x, indices, template)
    return out


def add_at(out: Any, x: Any, indices: tuple[Any, ...], template: Template) -> None:
    """Add `x` to an array at an index; repeated places get the sum."""
    if all(i.dtype.kind == "b" for i in indices):
        out[fill(template, indices)] += x
        return
    rows = _rows(x, indices, template, out.shape) if out.ndim > 1 else None
    if rows is None or not out.flags.c_contiguous:
        np.add.at(out, fill(template, indices), x)
    elif rows.are_many() and x.size >= _MANY:
        out += rows.summed().reshape(out.shape)
    else:
        rows.add_to(out.reshape(-1))


class _Rows(NamedTuple):
    """Rows to add to an array of `number` rows, and the place of each row in this array."""

    values: Any
    places: Any
    number: int

    def are_many(self) -> bool:
        """Whether to sum the rows in a new array first: cheap if there are many of them."""
        return 4 * len(self.places) >= self.number

    def summed(self) -> Any:
        """For each place, the sum of the rows that go there."""
        values, places, number = self
        if values.shape[1] == 1 and values.dtype.char in "fd":
            return np.bincount(places, values[:, 0], number).astype(values.dtype, copy=False)
        sparse = scipy_part("sparse") if values.dtype.char in "fdFD" else None
        if sparse is None:
            out = np.zeros((number, values.shape[1]), values.dtype)
            self.add_to(out.reshape(-1))
            return out
        ones, ends = np.ones(len(places), values.dtype), np.arange(len(places) + 1)
        return sparse.csc_array((ones, places, ends), shape=(number, len(places))) @ values

    def add_to(self, flat: Any) -> None:
        """Add the rows to the flattened array: NumPy is slow with several axes."""
        width = self.values.shape[1]
        elements = self.places[:, None] * width + np.arange(width)
        np.add.at(flat, elements.reshape(-1), self.values.reshape(-1))


def _rows(x: Any, indices: tuple[Any, ...], template: Template, shape: tuple[int, ...]) -> Any:
    """The `_Rows` to add, if the index is for the first axes, or for one axis; else None."""
    if any(type(i) is not np.ndarray or i.dtype.kind != "i" for i in indices):
        return None
    axes = len(template)
    if all(part is HOLE for part in template):
        places = _from_start(indices[0], shape[0])
        for index, n in zip(indices[1:], shape[1:axes], strict=True):
            places = places * n + _from_start(index, n)
    elif template[-1] is HOLE and all(part == slice(None) for part in template[:-1]):
        (index,) = indices
        before = shape[: axes - 1]
        starts = np.arange(math.prod(before)).reshape(*before, *(1 for _ in index.shape))
        places = starts * shape[axes - 1] + _from_start(index, shape[axes - 1])
    else:
        return None
    values = np.broadcast_to(x, places.shape + shape[axes:])
    values = values.reshape(places.size, math.prod(shape[axes:]))
    return _Rows(values, places.reshape(-1), math.prod(shape[:axes]))


def _from_start(index: Any, n: int) -> Any:
    """Indices that count from the start of an axis of length `n`, also the negative ones."""
    return np.where(index < 0, index + n, index) if index.size and index.min() < 0 else index


# --- writing -----------------------------------------------------------------------------------


def put(x: Any, value: Any, region: Any) -> Any:
    """A copy of an array with new values in a region."""
    out = np.array(x)
    region.assign(out, value)
    return out


# --- sorting -----------------------------------------------------------------------------------


def argsort(x: Any, axis: int, descending: bool, stable: bool) -> Any:
    """The indices that sort an array; if `stable`, equal elements keep their order."""
    if not descending:
        return _stable_argsort(x, axis) if stable else np.argsort(x, axis=axis)
    # Flip before and after, so that equal elements stay in their order.
    turned = argsort(np.flip(x, axis=axis), axis, False, stable)
    return x.shape[axis] - 1 - np.flip(turned, axis=axis)


def _stable_argsort(x: Any, axis: int) -> Any:
    if x.size < _MANY or x.dtype.kind != "f" or x.shape[axis] < 2:
        return np.argsort(x, axis=axis, kind="stable")
    # NumPy's default sort is faster. Its result is the same for lines without equal elements and
    # without NaN; only the other lines need the stable sort.
    lines = np.moveaxis(x, axis, -1)
    order = np.argsort(lines)
    ordered = take_along_axis(lines, order, x.ndim - 1)
    equal = ~(ordered[..., 1:] > ordered[..., :-1]).all(axis=-1)
    if equal.any():
        order[equal] = np.argsort(lines[equal], kind="stable")
    return np.moveaxis(order, -1, axis)


def sort(x: Any, axis: int, descending: bool, stable: bool) -> Any:
    """An array sorted along an axis."""
    # Flipping changes the order of equal elements. It matters only for zeros of different signs.
    ordered = np.sort(x, axis=axis, kind="stable" if stable else None)
    return np.flip(ordered, axis=axis) if descending else ordered
