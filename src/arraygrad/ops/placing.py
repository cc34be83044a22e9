"""Writing at integers that are not known yet, or that differ over a batch: a choice by elements.

``x[i, :2] = value`` becomes ``where(is there, value, x)``. Whether the integers are in range is
checked when they are known.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..backends import backend_of
from ..core.indices import Index, Template
from ..core.kinds import Elementwise
from .define.adoption import in_library_of
from .define.library import declare
from .elementwise import choose, logical_and
from .indexing import take
from .shape import _broadcast_to, _reshape


def _in_range(xp: Any, x: Any, length: int, axis: int) -> Any:
    values = backend_of(x).known_values(x)
    if values is None:
        raise TypeError(
            "an index whose values are not known yet cannot be written to in this library: use "
            "where(), as in where(arange(n) == i, value, x)"
        )
    low, high = (values.min(), values.max()) if values.size else (0, 0)
    if low < -length or high >= length:
        wrong = low if low < -length else high
        raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {length}")
    found = xp.astype(x, xp.int64)
    return xp.where(found < 0, found + length, found) if low < 0 else found


# Integers from 0 on and below a length, for those that count from the end, too.
in_range = declare("in_range", "x", kind=Elementwise(flat=("x",)), compute=_in_range)


def placed(x: Any, value: Any, *indices: Any, template: Template) -> Any:
    """The array with a value at an index, all of whose arrays are single integers."""
    parts = Index(template, indices, x.shape).parts
    if any(part.new for part in parts):
        raise IndexError("an index with integers that are not known yet can have no None")
    there: list[Any] = []  # for each axis, which of its places
    shape = []  # that of the part
    places: list[tuple[int, Any]] = []  # for axes of which the part has some: which, where
    for axis, ((part, _), n) in enumerate(zip(parts, x.shape, strict=True)):
        line = np.arange(n)
        if parts[axis].is_array:
            here = in_library_of(x, line) == in_range(part, length=n, axis=axis)
        elif isinstance(part, int):
            here = line == part % n if -n <= part < n else _refuse(part, axis, n)
        else:
            here, chosen = np.zeros(n, bool), line[part]
            here[part] = True
            if chosen.size < n or (n and chosen[0]):
                order = np.zeros(n, np.intp)
                order[part] = np.arange(chosen.size)
                places.append((axis, order))
            shape.append(chosen.size)
        along = (1,) * axis + (n,) + (1,) * (x.ndim - axis - 1)
        if not isinstance(here, np.ndarray) or not here.all():
            there.append(_reshape(here, shape=along))
    if not math.prod(shape):
        return x
    if getattr(value, "ndim", 0):
        value = _broadcast_to(value, shape=tuple(shape))
        own = iter(shape)
        full = tuple(next(own) if isinstance(p.value, slice) else 1 for p in parts)
        value = _reshape(value, shape=full)
        for axis, order in places:
            value = take(value, in_library_of(x, order), axis=axis)
    return choose(functools.reduce(logical_and, there), value, x)


def _refuse(part: int, axis: int, n: int) -> Any:
    raise IndexError(f"index {part} is out of bounds for axis {axis} with size {n}")
