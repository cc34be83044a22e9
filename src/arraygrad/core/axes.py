"""Axes and shapes as plain integers: check and normalise the arguments that users pass."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from numbers import Integral
from typing import Any


def one_axis(axis: Any, ndim: int, name: str = "axis") -> int:
    """`axis` as a non-negative integer."""
    try:
        number = operator.index(axis)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(axis).__name__}") from None
    if not -ndim <= number < ndim:
        raise IndexError(f"{name} {number} is out of range for an array of {ndim} dimensions")
    return number % ndim


def many_axes(
    axis: Any, ndim: int, name: str = "axis", numbers: bool = False
) -> tuple[int, ...] | None:
    """`axis` (None, an integer or a tuple) as non-negative integers without repeats, or None.

    With `numbers`, axis 0 or -1 of a 0-d array is allowed: see `is_all_of_a_number`.
    """
    if axis is None:
        return None
    if not isinstance(axis, (tuple, list, range)) and not getattr(axis, "ndim", 0):
        if not ndim and numbers and is_all_of_a_number(axis):
            return None
        return (one_axis(axis, ndim, name),)
    found = tuple(one_axis(a, ndim, name) for a in axis)
    if len(set(found)) != len(found):
        raise ValueError(f"{name} names an axis twice: {axis}")
    return found


def is_all_of_a_number(axis: Any) -> bool:
    """Whether `axis` of a 0-d array means the whole array.

    Some functions of both NumPy and PyTorch accept axis 0 or -1 of a 0-d array, and return a 0-d
    array. Ours accept it, too.
    """
    return isinstance(axis, Integral) and axis in (0, -1)


def shape_tuple(shape: Any, name: str = "shape") -> tuple[int, ...]:
    """A shape given as an integer or a sequence, as a tuple of integers."""
    if not isinstance(shape, (tuple, list)):
        try:
            return (operator.index(shape),)
        except TypeError:  # an array with several elements has __index__, too, and it raises
            pass
    try:
        return tuple(map(operator.index, shape))
    except TypeError:
        raise TypeError(f"{name} must be an integer or a sequence of them, got {shape!r}") from None


def count(shape: tuple[int, ...], axis: tuple[int, ...] | None) -> int:
    """How many elements a reduction over `axis` combines into one."""
    return math.prod(shape) if axis is None else math.prod(shape[a] for a in axis)


def led_by(n: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape with one more axis in front. A subclass of tuple keeps its own attributes."""
    return shape.led_by(n) if hasattr(shape, "led_by") else (n, *shape)


def same_shape(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether shapes are equal, as far as known: a length that is not computed yet is NaN."""
    if one == other:
        return True
    pairs = zip(one, other, strict=False)
    return len(one) == len(other) and all(n == m or n != n or m != m for n, m in pairs)


def kept(shape: tuple[int, ...], axis: tuple[int, ...] | None) -> tuple[int, ...]:
    """The shape with the axes of a reduction kept at length one."""
    if axis is None:
        return (1,) * len(shape)
    ndim = len(shape)
    return tuple(1 if i in axis or i - ndim in axis else n for i, n in enumerate(shape))
