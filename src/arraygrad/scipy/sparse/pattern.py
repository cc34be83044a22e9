"""`Pattern`: where the elements of a sparse matrix are, in the order of compressed rows.

The places are constants, also inside transforms; the elements can be any array.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...core.kinds import Contracts
from ...ops import expand_dims, moveaxis, reshape, sum, take
from ...ops.define.library import declare
from ...ops.define.op import Own
from ...ops.padding import loop
from ..names import scipy_module
from ..twins import by_scipy

SCIPY = scipy_module("scipy.sparse")


class Pattern:
    """The places of the elements of a sparse matrix, row by row, each place once."""

    def __init__(self, rows: Any, columns: Any, shape: tuple[int, int]) -> None:
        self.rows, self.columns, self.shape = rows, columns, shape

    @functools.cached_property
    def starts(self) -> Any:
        """Where each row starts among the elements."""
        counts = np.bincount(self.rows, minlength=self.shape[0])
        return np.concatenate(([0], np.cumsum(counts)))

    @functools.cached_property
    def turned(self) -> tuple[Pattern, Any]:
        """The pattern of the transposed matrix, and the order of its elements."""
        order = np.lexsort((self.rows, self.columns))
        m, n = self.shape
        return Pattern(self.columns[order], self.rows[order], (n, m)), order

    def matrix(self, data: Any) -> Any:
        """SciPy's sparse array with elements that are plain numbers."""
        made = (data, self.columns, self.starts)
        return SCIPY.csr_array(made, shape=self.shape)

    def __repr__(self) -> str:
        return f"<pattern of {len(self.rows)} elements in a matrix of shape {self.shape}>"


def sorted_pattern(rows: Any, columns: Any, shape: tuple[int, int]) -> tuple[Pattern, Any]:
    """The pattern of elements in any order, and for each of them its number in the pattern.

    Elements at the same place have the same number: they are added.
    """
    place = rows.astype(np.int64) * shape[1] + columns
    unique, number = np.unique(place, return_inverse=True)
    return Pattern(unique // max(shape[1], 1), unique % max(shape[1], 1), shape), number


def transposed(data: Any, pattern: Pattern) -> tuple[Any, Pattern]:
    """The elements and the pattern of the transposed matrix."""
    turned, order = pattern.turned
    return take(data, order, axis=-1), turned


def on_pattern(w: Any, x: Any, pattern: Pattern) -> Any:
    """The elements of the outer product of columns that are in a pattern: ``w[i] x[j]``."""
    return sum(take(w, pattern.rows, axis=-2) * take(x, pattern.columns, axis=-2), axis=-1)


def by_columns(op: Any, arrays: Any, flags: Any, params: Any) -> Any:
    """A batch of an op on elements and columns: a loop, or more columns of the same matrix."""
    if flags[0]:
        return loop(op, arrays, flags, params)
    data, x = arrays
    turned = moveaxis(x, 0, -1)
    out = op.function(data, reshape(turned, (turned.shape[0], -1)), **params)
    return moveaxis(reshape(out, (out.shape[0], *turned.shape[1:])), -1, 0)


# The product of a sparse matrix and columns.
product = declare(
    "scipy.sparse.product",
    "data",
    "x",
    kind=Contracts(),
    compute=by_scipy(lambda data, x, *, pattern: pattern.matrix(data) @ x),
    vjp_data=lambda g, x, pattern: on_pattern(g, x, pattern),
    vjp_x=lambda g, data, pattern: _transposed_product(data, g, pattern),
    own=Own(batch=by_columns),
)


def _transposed_product(data: Any, g: Any, pattern: Pattern) -> Any:
    turned, other = transposed(data, pattern)
    return product(turned, g, pattern=other)


def times(data: Any, pattern: Pattern, x: Any) -> Any:
    """The product of a sparse matrix with a vector or with columns."""
    if x.ndim not in (1, 2) or x.shape[0] != pattern.shape[1]:
        raise ValueError(
            f"dimension mismatch: a matrix of shape {pattern.shape} times {tuple(x.shape)}"
        )
    if x.ndim == 1:
        return product(data, expand_dims(x, axis=-1), pattern=pattern)[..., 0]
    return product(data, x, pattern=pattern)
