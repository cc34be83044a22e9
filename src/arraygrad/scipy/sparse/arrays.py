"""`SparseTensor`: a sparse matrix whose elements are a tensor, or belong to a transform.

SciPy's constructors and functions give one if they get tensors. Its places are constants. It has
the operators and the common methods of SciPy's sparse arrays.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np

from ...backends.filled import zeros_like
from ...core.array import AnyFunction
from ...core.indices import HOLE
from ...ops import astype, concat, conj, expand_dims, is_complex, reshape, take
from ...ops import max as largest
from ...ops import min as smallest
from ...ops.indexing import _index_add
from ..twins import HoldsArrays, array_like, floating
from .pattern import SCIPY, Pattern, sorted_pattern, times, transposed

__all__ = ["SparseTensor"]


class SparseTensor(HoldsArrays):
    """A sparse matrix with plain places and elements that can be differentiated.

    Attributes
    ----------
    data : array
        The elements, row by row.
    pattern : Pattern
        Their places.
    format : {"csr", "csc", "coo"}
        The order in which `data`, `indices` and `indptr` are seen, as SciPy has them. The indices
        are sorted, and elements at the same place are added.
    is_matrix : bool
        Whether it stands for one of SciPy's older matrices, such as `csr_matrix`: then ``*`` is the
        matrix product, and sums over an axis keep it.
    """

    __array_ufunc__ = None  # NumPy leaves operators to this class
    ndim = 2

    def __init__(
        self, elements: Any, pattern: Pattern, format: str = "csr", is_matrix: bool = False
    ) -> None:
        self.elements, self.pattern, self.format = elements, pattern, format
        self.is_matrix = is_matrix

    def _with(self, elements: Any, pattern: Pattern | None = None) -> SparseTensor:
        """A matrix of the same sort with other elements."""
        pattern = self.pattern if pattern is None else pattern
        return SparseTensor(elements, pattern, self.format, self.is_matrix)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self.pattern.shape

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.elements.dtype

    @property
    def nnz(self) -> int:
        """The number of elements."""
        return len(self.pattern.rows)

    @property
    def _seen(self) -> tuple[Any, Pattern]:
        if self.format == "csc":
            return transposed(self.elements, self.pattern)
        return self.elements, self.pattern

    @property
    def data(self) -> Any:
        """The elements, in the order of the format."""
        return self._seen[0]

    @property
    def indices(self) -> Any:
        """The column of each element; for "csc", the row."""
        return self._seen[1].columns

    @property
    def indptr(self) -> Any:
        """Where each row starts; for "csc", each column."""
        return self._seen[1].starts

    @property
    def coords(self) -> tuple[Any, Any]:
        """The rows and columns of all elements."""
        return self.pattern.rows, self.pattern.columns

    @property
    def T(self) -> SparseTensor:  # noqa: N802  (SciPy's name)
        """The transposed matrix."""
        other = {"csr": "csc", "csc": "csr"}.get(self.format, self.format)
        return SparseTensor(*transposed(self.elements, self.pattern), other, self.is_matrix)

    def transpose(self) -> SparseTensor:
        """The transposed matrix."""
        return self.T

    def conj(self) -> SparseTensor:
        """The complex conjugate."""
        if not is_complex(self.elements):
            return self
        return self._with(conj(self.elements))

    def astype(self, dtype: Any) -> SparseTensor:
        """The same matrix with elements of another dtype; None keeps it."""
        # A plain object is how SciPy's newer versions say that no dtype was given.
        if dtype is None or type(dtype) is object or np.dtype(dtype) == self.dtype:
            return self
        return self._with(astype(self.elements, np.dtype(dtype)))

    def asformat(self, format: str | None) -> SparseTensor:
        """The same matrix, seen in another format."""
        if format is None:
            return self
        if format not in ("csr", "csc", "coo"):
            raise NotImplementedError(
                f"a sparse matrix of tensors is csr, csc or coo, not {format}"
            )
        return SparseTensor(self.elements, self.pattern, format, self.is_matrix)

    def tocsr(self) -> SparseTensor:
        """The same matrix, seen by rows."""
        return self.asformat("csr")

    def tocsc(self) -> SparseTensor:
        """The same matrix, seen by columns."""
        return self.asformat("csc")

    def tocoo(self) -> SparseTensor:
        """The same matrix, seen element by element."""
        return self.asformat("coo")

    def toarray(self) -> Any:
        """The matrix with all its zeros."""
        m, n = self.shape
        place = self.pattern.rows * n + self.pattern.columns
        return reshape(scattered(self.elements, place, m * n), (m, n))

    todense = toarray

    def diagonal(self, k: int = 0) -> Any:
        """The elements on a diagonal."""
        on = np.flatnonzero(self.pattern.columns - self.pattern.rows == k)
        values = take(self.elements, on, axis=-1)
        m, n = self.shape
        place = self.pattern.rows[on] + min(k, 0)
        return scattered(values, place, max(0, min(m + min(k, 0), n - max(k, 0))))

    def trace(self, offset: int = 0) -> Any:
        """The sum of the elements on a diagonal."""
        return self.diagonal(offset).sum()

    def sum(self, axis: int | None = None) -> Any:
        """The sum of all elements, or of columns (0) or rows (1)."""
        if axis is None:
            return self.elements.sum()
        if axis not in (0, 1, -1, -2):
            raise ValueError(f"axis must be 0, 1 or None, not {axis!r}")
        axis %= 2
        along = (self.pattern.columns, self.pattern.rows)[axis]
        out = scattered(self.elements, along, self.shape[1 - axis])
        return expand_dims(out, axis=axis) if self.is_matrix else out

    def mean(self, axis: int | None = None) -> Any:
        """The mean of all elements, or of columns (0) or rows (1), with the zeros."""
        count = math.prod(self.shape) if axis is None else self.shape[axis % 2]
        return self.sum(axis) / count

    def max(self, axis: None = None) -> Any:
        """The largest element, which may be one of the zeros."""
        return self._extreme(largest, axis)

    def min(self, axis: None = None) -> Any:
        """The smallest element, which may be one of the zeros."""
        return self._extreme(smallest, axis)

    def _extreme(self, of: AnyFunction, axis: None) -> Any:
        if axis is not None:
            raise NotImplementedError("for the extremes along an axis, use toarray()")
        has_zeros = self.nnz < math.prod(self.shape)
        return of(concat((self.elements, zeros_like(self.elements, (1,))))[: self.nnz + has_zeros])

    def between(self, low: float, high: float) -> SparseTensor:
        """The same matrix with the diagonals from `low` to `high` alone."""
        offset = self.pattern.columns - self.pattern.rows
        on = np.flatnonzero((low <= offset) & (offset <= high))
        rows, columns = self.pattern.rows[on], self.pattern.columns[on]
        return self._with(take(self.elements, on, axis=-1), Pattern(rows, columns, self.shape))

    def power(self, n: float) -> SparseTensor:
        """The elements to a power, but for the zeros."""
        if not n:
            raise NotImplementedError("zeros to the power zero are ones: use toarray() ** 0")
        return self._with(self.elements**n)

    def multiply(self, other: Any) -> SparseTensor:
        """The product element by element."""
        is_sparse = isinstance(other, SparseTensor) or SCIPY.issparse(other)
        other = as_sparse(other) if is_sparse else array_like(other)
        if other.ndim:
            m, n = (1, *other.shape)[-2:]
            if np.broadcast_shapes((m, n), self.shape) != self.shape:
                raise ValueError(f"inconsistent shapes: {self.shape} and {other.shape}")
            rows, columns = self.pattern.rows * (m > 1), self.pattern.columns * (n > 1)
            if is_sparse:  # of a matrix, the elements are a row
                other = reshape(other[rows, columns], (-1,))
            else:
                other = take(reshape(other, (-1,)), rows * n + columns, axis=-1)
        return self._with(self.elements * other)

    def __getitem__(self, key: Any) -> Any:
        # SciPy finds the elements in a matrix of their numbers, which begin with one.
        make = SCIPY.csr_matrix if self.is_matrix else SCIPY.csr_array
        found = make(self.pattern.matrix(np.arange(1, self.nnz + 1)))[key]
        if not SCIPY.issparse(found):
            values = concat((zeros_like(self.elements, (1,)), self.elements), axis=-1)
            return reshape(take(values, np.ravel(found), axis=-1), np.shape(found))
        if found.ndim != 2:
            raise NotImplementedError(
                "a part of a sparse matrix of tensors must have two axes: take one row by A[[i], :]"
                " and one column by A[:, [j]]"
            )
        places = found.tocoo()
        values = take(self.elements, places.data - 1, axis=-1)
        every = places.row, places.col, found.shape
        return from_places(values, *every, self.format, self.is_matrix)

    def dot(self, other: Any) -> Any:
        """The matrix product."""
        return self @ other

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, SparseTensor) or SCIPY.issparse(other):
            return _sparse_product(self, as_sparse(other))
        other = floating(other)
        return times(self.elements, self.pattern, other)

    def __rmatmul__(self, other: Any) -> Any:
        if SCIPY.issparse(other):
            return _sparse_product(as_sparse(other), self)
        other = floating(other)
        out = self.T @ (other.T if other.ndim == 2 else other)
        return out.T if other.ndim == 2 else out

    def __mul__(self, other: Any) -> Any:
        return self @ other if self.is_matrix and np.ndim(other) else self.multiply(other)

    def __rmul__(self, other: Any) -> Any:
        if self.is_matrix and np.ndim(other):
            return self.__rmatmul__(other)
        return self.multiply(other)

    def __truediv__(self, other: Any) -> SparseTensor:
        other = array_like(other)
        if other.ndim:
            raise NotImplementedError("a sparse matrix of tensors can be divided by a number only")
        return self._with(self.elements / other)

    def __pow__(self, n: Any) -> Any:
        if not self.is_matrix:
            return self.power(n)
        if not (isinstance(n, int) and n > 0):
            raise NotImplementedError(
                f"a power of a sparse matrix of tensors is not {n!r}, but 1, 2, …"
            )
        return functools.reduce(operator.matmul, [self] * n)

    def __neg__(self) -> SparseTensor:
        return self._with(-self.elements)

    def __add__(self, other: Any) -> Any:
        if not (isinstance(other, SparseTensor) or SCIPY.issparse(other)):
            return self.toarray() + other
        other = as_sparse(other)
        if other.shape != self.shape:
            raise ValueError(f"inconsistent shapes: {self.shape} and {other.shape}")
        return from_places(
            concat((self.elements, other.elements), axis=-1),
            np.concatenate((self.pattern.rows, other.pattern.rows)),
            np.concatenate((self.pattern.columns, other.pattern.columns)),
            self.shape,
            self.format,
            self.is_matrix and other.is_matrix,
        )

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __repr__(self) -> str:
        return (
            f"<sparse {self.format} matrix of tensors, of shape {self.shape}, with {self.nnz} "
            "stored elements>"
        )


def scattered(values: Any, place: Any, size: int) -> Any:
    """A vector of zeros with values added at places."""
    lead = values.shape[:-1]
    return _index_add(values, place, template=(..., HOLE), shape=(*lead, size))


def from_places(
    values: Any,
    rows: Any,
    columns: Any,
    shape: tuple[int, int],
    format: str,
    is_matrix: bool = False,
) -> SparseTensor:
    """A sparse matrix by its elements in any order; those at the same place are added."""
    pattern, number = sorted_pattern(np.asarray(rows), np.asarray(columns), shape)
    if len(number) == len(pattern.rows):
        order = np.empty_like(number)
        order[number] = np.arange(len(number))
        return SparseTensor(take(values, order, axis=-1), pattern, format, is_matrix)
    added = scattered(values, number, len(pattern.rows))
    return SparseTensor(added, pattern, format, is_matrix)


def as_sparse(x: Any) -> SparseTensor:
    """A sparse matrix of SciPy, a dense matrix, or a sparse matrix of tensors, as the last."""
    if isinstance(x, SparseTensor):
        return x
    if SCIPY.issparse(x):
        coo = x.tocoo()
        return from_places(
            coo.data * 1.0,
            coo.row,
            coo.col,
            (int(x.shape[0]), int(x.shape[1])),
            x.format,
            isinstance(x, SCIPY.spmatrix),
        )
    x = floating(x)
    if x.ndim != 2:
        raise ValueError(f"expected a matrix, got shape {tuple(x.shape)}")
    m, n = x.shape
    rows, columns = (index.reshape(-1) for index in np.indices((m, n)))
    return SparseTensor(reshape(x, (m * n,)), Pattern(rows, columns, (m, n)))


def _sparse_product(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    """The product of two sparse matrices: each pair of elements that meet gives one term."""
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"dimension mismatch: {a.shape} times {b.shape}")
    starts = b.pattern.starts
    counts = (starts[1:] - starts[:-1])[a.pattern.columns]
    left = np.repeat(np.arange(a.nnz), counts)
    first = np.repeat(starts[a.pattern.columns], counts)
    within = np.arange(len(left)) - np.repeat(np.cumsum(counts) - counts, counts)
    right = first + within
    values = take(a.elements, left, axis=-1) * take(b.elements, right, axis=-1)
    rows, columns = a.pattern.rows[left], b.pattern.columns[right]
    both = a.is_matrix and b.is_matrix
    return from_places(values, rows, columns, (a.shape[0], b.shape[1]), a.format, both)
