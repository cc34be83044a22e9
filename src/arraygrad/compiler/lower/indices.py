"""Index arrays in the core program: which element of an array belongs to which of a result.

No kernel reads or writes outside of an array: kernels move integers into the range, and say by a
flag whether there were others. If so, the program runs once more by steps that check the integers
first, and raise. In a native loop, the smallest and the largest integer of each step are kept, and
checked when it has ended. In other loops, NumPy checks the integers before each step.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...core.indices import HOLE
from ...ops import max as max_of
from ...ops import min as min_of
from ...ops.placing import in_range
from ..llvm.vectors import Value, Writer
from ..trace.program import Node, Shape
from ..trace.traced import Trace, Traced
from .core import Builder, Core, Indexed, Place, Scalar

valid = in_range.op  # type: ignore[attr-defined]


@dataclass(frozen=True, eq=False)
class Range:
    """Integers in the body of a loop that must be from -n on and below n, the length of an axis.

    NumPy cannot check them before each step of a native loop. So kernels bring them into the range,
    whatever they are, and the extremes of all steps are checked when the loop has ended.
    """

    integers: Node
    length: int
    axis: int

    def extremes(self, trace: Trace) -> list[Node]:
        """The smallest and the largest of the integers, as values of a program."""
        if not self.integers.shape:
            return [self.integers, self.integers]
        x = Traced(self.integers, trace)
        return [trace.node(min_of(x)), trace.node(max_of(x))]


def check_ranges(ranges: Sequence[Range], extremes: Sequence[Any]) -> None:
    """Raise an IndexError if integers of a loop were out of range, by the extremes of all steps."""
    for r, low, high in zip(ranges, extremes[::2], extremes[1::2], strict=True):
        if np.any((low < -r.length) | (high >= r.length)):
            raise IndexError(f"an index is out of bounds for axis {r.axis} with size {r.length}")


class Reading(NamedTuple):
    """How index arrays read an array.

    Attributes
    ----------
    axes : list of int
        The axis of the array that each index array is for.
    shape : Shape
        The shape of what is read.
    places : Indexed
        For each axis of the array, the axis of what is read, or the number of the index array.
    first : int
        The axis of what is read where the axes of the index arrays begin.
    ndim : int
        How many axes the index arrays have together.
    """

    axes: list[int]
    shape: Shape
    places: Indexed
    first: int
    ndim: int

    def spread(self, builder: Builder, index: Core) -> Core:
        """An index array in the shape of what is read."""
        start = self.first + self.ndim - len(index.shape)
        map_ = tuple(
            (None, 0, 0) if n == 1 else (start + i, 0, 1) for i, n in enumerate(index.shape)
        )
        return builder.view(index, self.shape, map_)


def by_template(template: Sequence[Any], shape: Shape, indices: Sequence[Shape]) -> Reading | None:
    """The layout of an index that consists of arrays and whole axes; None for any other."""
    parts = list(template)
    if any(p is not HOLE and p is not Ellipsis and p != slice(None) for p in parts):
        return None
    missing = len(shape) - len(parts) + parts.count(Ellipsis)
    at = parts.index(Ellipsis) if Ellipsis in parts else len(parts)
    parts[at : at + 1] = [slice(None)] * missing
    axes = [i for i, p in enumerate(parts) if p is HOLE]
    together = np.broadcast_shapes(*indices)
    # Index arrays side by side keep their place; others come first.
    is_joined = axes == list(range(axes[0], axes[0] + len(axes)))
    first = axes[0] if is_joined else 0
    rest = [i for i in range(len(shape)) if i not in axes]
    others = [shape[i] for i in rest]
    result = (*others[:first], *together, *others[first:])
    places: list[Place | int] = []
    for i, n in enumerate(shape):
        if i in axes:
            places.append(axes.index(i))
        elif n == 1:
            places.append((None, 0, 0))
        else:
            k = rest.index(i)
            places.append((k if k < first else k + len(together), 0, 1))
    return Reading(axes, result, tuple(places), first, len(together))


def along_axis(axis: int, shape: Shape, index: Shape) -> Reading | None:
    """The layout of one index array that has as many axes as the array, as `take_along_axis`."""
    if any(n != m for i, (n, m) in enumerate(zip(shape, index, strict=True)) if i != axis):
        return None
    places: list[Place | int] = [(None, 0, 0) if n == 1 else (i, 0, 1) for i, n in enumerate(shape)]
    places[axis] = 0
    return Reading([axis], index, tuple(places), 0, len(index))


@functools.cache
def moved_inside(length: int) -> Scalar:
    """An integer as a place from 0 on; one that is out of range as the place next to it."""

    def emit(w: Writer, x: Value) -> Value:
        is_from_end = w.compare("lt", x, w.like(x, 0))
        x = w.choose(is_from_end, w.add(x, w.like(x, length)), x)
        return w.extreme("lt", w.extreme("gt", x, w.like(x, 0)), w.like(x, length - 1))

    return Scalar("index", emit, 4)


@functools.cache
def out_of_range(length: int) -> Scalar:
    """Whether an integer is no place of an axis, counted from the start or from the end."""

    def emit(w: Writer, x: Value) -> Value:
        is_below = w.compare("lt", x, w.like(x, -length))
        return w.logic("or", is_below, w.compare("ge", x, w.like(x, length)))

    return Scalar("out of range", emit, 2)
