"""Indices of R: they count from one, ranges have both ends, and vectors choose row by row.

An index arrives as one part for each dimension, a tuple of a word and its values:

==================  ==============================================================
``"all"``           everything, from an empty place: `x[, 1]`
``"at", i``         one place; its dimension goes, unless `drop = FALSE`
``"range", a, b``   from `a` to `b`, with both; None for the ends; maybe a step
``"places", v``     places, or a mask, in a vector or a tensor
``"new"``           a new dimension
``"rest"``          everything in all dimensions that are not mentioned
==================  ==============================================================

As in R, the vectors of several dimensions are not read together: two rows and three columns give a
matrix of two by three.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ops
from ...arrays.tensor import Tensor
from .numbers import axis, from_one, whole

__all__ = ["read", "write"]


def read(x: Tensor, parts: Any, drop: bool = True) -> Tensor:
    """The elements at an index."""
    index, shape = _resolve(x, parts, drop)
    found: Tensor = x[index]
    return found if shape is None else ops.reshape(found, shape)


def write(x: Tensor, parts: Any, value: Any) -> Tensor:
    """Write the elements at an index."""
    index, shape = _resolve(x, parts, True)
    if shape is not None and isinstance(value, Tensor | np.ndarray) and value.ndim:
        # The value has the shape of what one reads; the index has all dimensions.
        full = np.empty(x.shape, bool)[index].shape
        value = ops.reshape(ops.broadcast_to(value, shape), full)
    x[index] = value
    return x


def _resolve(x: Tensor, parts: Any, drop: bool) -> tuple[Any, tuple[int, ...] | None]:
    """The index for Python, and the shape of the result if it is not the one that this gives."""
    parts = _for_all_dimensions(x, [tuple(part) for part in parts])
    if len(parts) == 1 and _is_mask(parts[0], x.ndim):
        return _values(parts[0][1]), None
    index: list[Any] = []
    lengths: list[int | None] = []  # of the result; None for a dimension that goes
    dimension = 0
    for part in parts:
        if part[0] == "new":
            lengths.append(1)
            continue
        length = x.shape[dimension]
        dimension += 1
        chosen = _chosen(part, length, dimension)
        index.append(chosen)
        if isinstance(chosen, int):
            lengths.append(None if drop else 1)
        else:
            lengths.append(len(np.arange(length)[chosen]))
    shape = tuple(n for n in lengths if n is not None)
    vectors = [i for i in index if isinstance(i, np.ndarray)]
    if vectors and len(vectors) + sum(isinstance(i, int) for i in index) > 1:
        places = [np.arange(n)[i] for n, i in zip(x.shape, index, strict=True)]
        return np.ix_(*map(np.atleast_1d, places)), shape
    plain = drop and not any(part[0] == "new" for part in parts)
    return tuple(index), None if plain else shape


def _for_all_dimensions(x: Tensor, parts: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """One part for each dimension: those that are not mentioned come in whole."""
    if len(parts) == 1 and _is_mask(parts[0], x.ndim):
        return parts
    mentioned = sum(part[0] not in ("new", "rest") for part in parts)
    if mentioned > x.ndim:
        raise IndexError(f"{mentioned} indices for a tensor with {x.ndim} dimensions")
    rest = [("all",)] * (x.ndim - mentioned)
    places = [i for i, part in enumerate(parts) if part[0] == "rest"]
    if len(places) > 1:
        raise IndexError("an index can have .. only once")
    at = places[0] if places else len(parts)
    return parts[:at] + rest + parts[at + 1 :]


def _is_mask(part: tuple[Any, ...], ndim: int) -> bool:
    if part[0] != "places":
        return False
    values = _values(part[1])
    return bool(values.dtype == bool and values.ndim == ndim)


def _values(places: Any) -> Any:
    return np.asarray(places.detach().numpy() if isinstance(places, Tensor) else places)


def _chosen(part: tuple[Any, ...], length: int, dimension: int) -> Any:
    """What a part chooses from a dimension: a number, a slice, or an array of numbers."""
    match part:
        case ("all",):
            return slice(None)
        case ("at", place):
            return axis(place, length, f"index {dimension}")
        case ("range", first, last, step):
            return _range(first, last, step, length, dimension)
    values = np.atleast_1d(_values(part[1]))
    if values.dtype == bool:
        if values.shape != (length,):
            raise IndexError(
                f"index {dimension} is a mask of shape {values.shape}, and the dimension has "
                f"{length} elements"
            )
        return np.flatnonzero(values)
    if values.ndim > 1:
        raise IndexError(f"index {dimension} must be a vector, not of shape {values.shape}")
    places = from_one(values)
    if places.size and not (-length <= places.min() and places.max() < length):
        raise IndexError(f"index {dimension} has places beyond its {length} elements")
    return places


def _range(first: Any, last: Any, step: Any, length: int, dimension: int) -> slice:
    name = f"index {dimension}"
    start = 0 if first is None else axis(first, length, name)
    stop = length if last is None else axis(last, length, name) + 1
    stride = 1 if step is None else whole(step, "step")
    if stride < 1 or stop < start + 1:
        raise IndexError(f"{name}: a range goes upwards, from {start + 1} to {stop} it does not")
    return slice(start, stop, stride)
