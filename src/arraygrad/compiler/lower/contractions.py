"""Sums of products of two values, in the core program: matrix products, or products and sums.

With a vector, or with a matrix that has one row or column, they are elementwise products and a sum
over them, in the order of the matrix in memory. So they are fused with what is around them: the
value and the gradient of a linear model are one pass over its matrix. With a matrix that has only a
diagonal, nothing is summed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...ops import reductions
from ..trace.program import Shape
from . import scalars
from .core import Core, Filled, Place, layout
from .diagonals import MULTIPLY, Diagonal, Diagonals

_SUM = scalars.FOLDS[reductions._sum.op]  # type: ignore[attr-defined]


class Contraction:
    """The sum of products of two values, with a label for each axis as in ``einsum``."""

    def __init__(self, diagonals: Diagonals, values: Sequence[Core], labels: Sequence[str]) -> None:
        self.builder, self.diagonals = diagonals.builder, diagonals
        self.values = values
        *self.labels, self.to = labels
        left, right = self.labels
        self.lengths: dict[str, int] = {}
        for x, names in zip(values, self.labels, strict=True):
            for n, name in zip(x.shape, names, strict=True):
                self.lengths[name] = max(n, self.lengths.get(name, 1))
        # The last of the axes that only one operand has makes its rows, or columns.
        long = [c for c in self.to if self.lengths[c] > 1]
        self.rows = [c for c in long if c not in right][-1:]
        self.columns = [c for c in long if c not in left][-1:]
        self.batch = [c for c in self.to if c not in (*self.rows, *self.columns)]
        self.summed = [c for c in left if c in right and c not in self.to]

    def value(self) -> Core | None:
        """The result; None if native code does not have it."""
        left, right = self.labels
        is_plain = all(len(set(names)) == len(names) for names in (left, right))
        if not is_plain or any(c not in right and c not in self.to for c in left):
            return None
        if any(c not in left and c not in self.to for c in right):
            return None
        if any(isinstance(x, Filled) for x in self.values):
            return self._multiplied()
        if len(self.summed) == 1:
            for i in (0, 1):
                if (diagonal := self.diagonals.of(self.values[i])) is not None:
                    return self._by_diagonal(i, diagonal)
        if 1 in (self._size(self.rows), self._size(self.columns), self._size(self.summed)):
            return self._multiplied()
        if len(self.summed) > 1:
            return None
        a, b = self.values
        inner = self.summed
        found = self.builder.product(
            self._arranged(a, left, [*self.batch, *self.rows, *inner]),
            self._arranged(b, right, [*self.batch, *inner, *self.columns]),
        )
        return self._arranged(found, [*self.batch, *self.rows, *self.columns], self.to)

    def _size(self, labels: Sequence[str]) -> int:
        return math.prod(self.lengths[c] for c in labels)

    def _by_diagonal(self, i: int, diagonal: Diagonal) -> Core:
        """The product with a matrix that has only a diagonal: rows of the other one, multiplied."""
        offset, start, stop, values = diagonal
        first, second = list(self.labels[i])
        summed, kept, at, to = second, first, start + offset, start
        if first in self.summed:
            summed, kept, at, to = first, second, start, start + offset
        n, order = stop - start, list(self.to)

        def along(label: str, length: int) -> Place:
            if length == 1:
                return None, 0, 0
            if label not in (summed, kept):
                return order.index(label), 0, 1
            begin = at if label == summed else to
            return (order.index(kept), begin, 1) if n > 1 else (None, begin, 0)

        shape = tuple(n if c == kept else self.lengths[c] for c in order)
        x, names = self.values[1 - i], self.labels[1 - i]
        map_ = tuple(along(c, length) for c, length in zip(names, x.shape, strict=True))
        found = self.builder.view(x, shape, map_)
        if values is not None:
            place: Place = (order.index(kept), 0, 1) if n > 1 else (None, 0, 0)
            factor = self.builder.view(values, shape, (place,))
            found = self.builder.elements(MULTIPLY, [factor, found], found.dtype)
        if n == self.lengths[kept]:
            return found
        around = tuple((j, to if c == kept else 0, 1) for j, c in enumerate(order))
        return self.builder.padded(found, self._shape(order), around)

    def _multiplied(self) -> Core:
        """Elementwise products, and a sum over them."""
        real = [i for i, x in enumerate(self.values) if not isinstance(x, Filled)]
        matrix = max(real, key=lambda i: self.values[i].size, default=0)
        order = self._in_memory(matrix)
        if len(real) == 2:  # else the result is the same along the other axes
            order = [*(c for c in self.labels[1 - matrix] if c not in order), *order]
        given = [
            self.builder.filled(x.value, (), x.dtype)
            if isinstance(x, Filled)
            else self._arranged(x, names, order)
            for x, names in zip(self.values, self.labels, strict=True)
        ]
        if not real:
            given.append(self.builder.filled(1, self._shape(order), given[0].dtype))
        found = self.builder.elements(MULTIPLY, given[:2], given[0].dtype)
        for x in given[2:]:
            found = self.builder.elements(MULTIPLY, [found, x], x.dtype)
        axes = [i for i, c in enumerate(order) if c in self.summed]
        return self._arranged(self.builder.reduction(_SUM, found, axes), order, self.to)

    def _in_memory(self, i: int) -> list[str]:
        """The labels of an operand, in the order of its axes in memory."""
        x, names = self.values[i], self.labels[i]
        steps = layout(x)[1]
        return sorted(names, key=lambda c: -abs(steps[names.index(c)]))

    def _shape(self, labels: Sequence[str]) -> Shape:
        return tuple(self.lengths[c] for c in labels)

    def _arranged(self, x: Core, labels: Sequence[str], order: Sequence[str]) -> Core:
        """A value with its axes in some order; it is repeated along those that it does not have."""
        map_ = tuple(
            (None, 0, 0) if n == 1 else (list(order).index(c), 0, 1)
            for n, c in zip(x.shape, labels, strict=True)
        )
        return self.builder.view(x, self._shape(order), map_)
