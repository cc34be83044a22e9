"""Matrices of which all elements but those on one diagonal are known to be zero.

They come from the unit vectors of a Jacobian, multiplied by derivatives. A product with such a
matrix multiplies the rows of the other one, and reads nothing else: so a zero of a unit vector
times an infinite number is zero there, and not NaN.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.memory import is_fixed
from ...ops import elementwise
from ..llvm.vectors import FLOATS, TYPES
from ..trace.program import Constant
from . import scalars
from .core import COPY, Builder, Core, Elements, Map, Scalar, Stored, View


class Diagonal(NamedTuple):
    """Where the elements are that may differ from zero, and what they are.

    These are the elements ``[i, i + offset]`` for `i` from `start` to `stop`. The values have one
    axis, or are None if all are one.
    """

    offset: int
    start: int
    stop: int
    values: Core | None


def _scalar(function: Any) -> Scalar:
    return scalars.NUMBERS.get(function.op) or scalars.FLOATS[function.op]


MULTIPLY = _scalar(elementwise.multiply)
_DIVIDE = _scalar(elementwise.divide)
_ALONE = {_scalar(elementwise.negative), COPY} | {scalars.conversion(kind) for kind in FLOATS}


class Diagonals:
    """Finds the diagonals of values."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self._known: dict[Core, Diagonal | None] = {}

    def of(self, x: Core) -> Diagonal | None:
        """The diagonal of a matrix, if it has nothing else."""
        if len(x.shape) != 2 or TYPES.get(x.dtype) not in FLOATS:
            return None
        if x not in self._known:
            self._known[x] = None
            self._known[x] = self._found(x)
        return self._known[x]

    def _found(self, x: Core) -> Diagonal | None:
        if isinstance(x, Stored) and isinstance(x.node, Constant) and is_fixed(x.node.array):
            return _units(x.node.array)
        if isinstance(x, View):
            return self._of_view(x)
        if not isinstance(x, Elements):
            return None
        if x.scalar is MULTIPLY:
            for i in (0, 1):
                if (found := self.of(x.args[i])) is not None:
                    return self._changed(x, i, found)
        if (x.scalar is _DIVIDE or x.scalar in _ALONE) and (found := self.of(x.args[0])):
            return self._changed(x, 0, found)
        return None

    def _changed(self, x: Elements, place: int, found: Diagonal) -> Diagonal | None:
        """The diagonal of a scalar function, which is zero where one argument is."""
        builder, (offset, start, stop, values) = self.builder, found
        n = stop - start
        given = [_line(builder, a, found) for a in x.args]
        if values is None:
            if x.scalar is MULTIPLY:
                return found._replace(values=given[1 - place])
            values = builder.filled(1, (n,), x.args[place].dtype)
        given[place] = values
        return Diagonal(offset, start, stop, builder.elements(x.scalar, given, x.dtype))

    def _of_view(self, x: View) -> Diagonal | None:
        found = self.of(x.args[0])
        if found is None:
            return None
        (row, top, down), (column, left, right) = x.map
        if (row, column, down, right) != (0, 1, 1, 1):
            is_square = x.args[0].shape == x.shape[::-1] and not found.offset
            is_turned = x.map == ((1, 0, 1), (0, 0, 1))
            return found if is_square and is_turned else None
        n, m = x.shape
        offset = found.offset + top - left
        start = max(found.start - top, -offset, 0)
        stop = min(found.stop - top, m - offset, n)
        values = found.values
        if start >= stop:
            return None
        if values is not None:
            map_ = ((0, start + top - found.start, 1),)
            values = self.builder.view(values, (stop - start,), map_)
        return Diagonal(offset, start, stop, values)


def _line(builder: Builder, x: Core, diagonal: Diagonal) -> Core:
    """The elements of a matrix on a diagonal."""
    offset, start, stop, _ = diagonal
    map_: Map = ((0, start, 1), (0, start + offset, 1))
    return builder.view(x, (stop - start,), map_)


def _units(array: Any) -> Diagonal | None:
    """The diagonal of an array, if it is one of ones."""
    rows, columns = np.nonzero(array)
    if not rows.size:
        return None
    start, stop, offset = int(rows[0]), int(rows[-1]) + 1, int(columns[0] - rows[0])
    n, m = array.shape
    is_one = np.array_equal(array, np.eye(n, m, offset))
    return Diagonal(offset, start, stop, None) if is_one else None
