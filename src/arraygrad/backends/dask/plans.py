"""Indices of Dask arrays in normal form, and how their positions lie in blocks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.indices import Index, Template
from .blocks import constant_values, da

Axes = tuple[int, ...]


class Plan(NamedTuple):
    """An index in normal form: slices first, then positions along some axes of the sliced array.

    Attributes
    ----------
    slices : tuple of slice
        One for each axis of the array.
    places : tuple
        The positions, one for each of `axes`: an integer, or a Dask array of integers.
    axes : tuple of int
        The axes that are indexed by positions.
    rest : tuple of int
        The other axes.
    order : tuple
        The axes of the result: a number for an axis in `rest`, `...` for the axes of the positions,
        None for a new axis.
    """

    slices: tuple[slice, ...]
    places: tuple[Any, ...]
    axes: Axes
    rest: Axes
    order: tuple[Any, ...]

    @property
    def ndim(self) -> int:
        """The number of axes of the positions, after broadcasting."""
        return max((p.ndim for p in self.places if isinstance(p, da.Array)), default=0)


def plan_of(template: Template, indices: tuple[Any, ...], shape: tuple[int, ...]) -> Plan:
    """The normal form of an index for an array of some shape."""
    index = Index(template, indices, shape, _nonzero)
    slices: list[slice] = []
    places: list[Any] = []
    axes: list[int] = []
    rest: list[int] = []
    order: list[Any] = []
    for part in index.parts:
        if part.new:
            order.append(None)
            continue
        axis = len(slices)
        if isinstance(part.value, slice):
            slices.append(part.value)
            rest.append(axis)
            order.append(axis)
            continue
        slices.append(slice(None))
        places.append(_within(part.value, shape[axis], axis))
        axes.append(axis)
        if ... not in order:
            order.append(...)
    if index.is_apart:  # as in NumPy, the axes of the positions come first
        order = [..., *(part for part in order if part is not ...)]
    return Plan(tuple(slices), tuple(places), tuple(axes), tuple(rest), tuple(order))


def basic(template: Template, shape: tuple[int, ...]) -> Template:
    """An index of slices and integers, with slices that Dask takes for what they are.

    Dask takes ``slice(-4, None, -1)`` of an axis of length 3 for all of it.
    """
    return tuple(None if p.new else p.value for p in Index(template, (), shape).parts)


def _nonzero(mask: Any) -> list[Any] | None:
    if mask.dtype.kind != "b":
        return None
    values = constant_values(mask)
    if values is not None:
        return [da.from_array(places, chunks=-1) for places in np.nonzero(values)]
    return list(da.nonzero(mask))


def _within(part: Any, length: int, axis: int) -> Any:
    """The positions; raises if they are known and out of range."""
    values = part if isinstance(part, int) else constant_values(part)
    if values is not None:
        _check(np.asarray(values), length, axis)
    return part


def _check(places: Any, length: int, axis: int) -> None:
    outside = (places < -length) | (places >= length)
    if outside.any():
        worst = places[outside].reshape(-1)[0]
        raise IndexError(f"index {worst} is out of range for axis {axis} with length {length}")


def local_places(
    places: tuple[Any, ...], ranges: tuple[Any, ...], lengths: tuple[int, ...], axes: Axes
) -> tuple[tuple[Any, ...], Any]:
    """Positions relative to one block, and a mask of those inside the block; None for all."""
    local = []
    for place, span, length, axis in zip(places, ranges, lengths, axes, strict=True):
        place = np.asarray(place)
        _check(place, length, axis)
        local.append(np.where(place < 0, place + length, place) - (span[0] if span.size else 0))
    if all(span.size == length for span, length in zip(ranges, lengths, strict=True)):
        return tuple(local), None
    local = list(np.broadcast_arrays(*local))
    inside = np.ones(local[0].shape, bool)
    for place, span in zip(local, ranges, strict=True):
        inside &= (place >= 0) & (place < span.size)
    return tuple(local), inside


def labelled_places(plan: Plan, labels: Axes) -> list[Any]:
    """The positions with their labels, as `blockwise` takes them."""
    pairs: list[Any] = []
    for place in plan.places:
        lazy = isinstance(place, da.Array)
        pairs += [place, labels[len(labels) - place.ndim :] if lazy else None]
    return pairs


def labelled_ranges(x: Any, along: Axes) -> list[Any]:
    """For each of the first axes, an array of the positions in each chunk, and its label."""
    pairs: list[Any] = []
    for chunks, label in zip(x.chunks, along, strict=False):
        pairs += [da.arange(sum(chunks), chunks=(chunks,), dtype=np.intp), (label,)]
    return pairs
