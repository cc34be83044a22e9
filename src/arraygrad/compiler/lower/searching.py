"""`searchsorted` in native code: all halvings of the range, without a branch."""

from __future__ import annotations

import functools

import numpy as np

from ..llvm.vectors import FLOATS, Value, Writer
from .core import Builder, Core, Scalar


def searched(builder: Builder, x: Core, values: Core, side: str) -> Core:
    """How many elements of the sorted array `x` come before each value.

    Parameters
    ----------
    x : Core
        One axis, in ascending order; NaN come last.
    values : Core
        Of the dtype of `x`.
    side : "left" or "right"
        Whether elements that are equal to a value come after it, or before.
    """
    length, int64 = x.shape[0], np.dtype(np.int64)
    count = builder.filled(0, values.shape, int64)
    step = 1 << (length.bit_length() - 1)
    while step:
        place = builder.elements(_next(step, length), [count], int64)
        element = builder.gathered(x, [place], (0,))
        count = builder.elements(_moved(step, length, side), [count, element, values], int64)
        step //= 2
    return count


@functools.cache
def _next(step: int, length: int) -> Scalar:
    """The place of the last element that a step would count, or of the last one there is."""

    def emit(w: Writer, count: Value) -> Value:
        place = w.add(count, w.like(count, step - 1))
        return w.extreme("lt", place, w.like(count, length - 1))

    return Scalar("middle", emit, 3)


@functools.cache
def _moved(step: int, length: int, side: str) -> Scalar:
    """The count after a step, which is taken if the element there comes before the value."""

    def emit(w: Writer, count: Value, element: Value, value: Value) -> Value:
        if side == "left":
            is_before = _is_less(w, element, value)
        else:
            later = _is_less(w, value, element)
            is_before = w.logic("xor", later, w.like(later, True))
        after = w.add(count, w.like(count, step))
        is_there = w.compare("le", after, w.like(after, length))
        return w.choose(w.logic("and", is_before, is_there), after, count)

    return Scalar("halve", emit, 6)


def _is_less(w: Writer, x: Value, y: Value) -> Value:
    """Whether one number is sorted before another: NaN after all others."""
    is_less = w.compare("lt", x, y)
    if x.kind not in FLOATS:
        return is_less
    is_last = w.logic("and", w.compare("uno", y, y), w.compare("eq", x, x))
    return w.logic("or", is_less, is_last)
