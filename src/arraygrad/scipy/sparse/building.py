"""Making sparse matrices of tensors: by SciPy's constructors, diagonals, blocks, products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.array import AnyFunction, Array
from ...ops import concat, reshape, take
from ..twins import floating, has_arrays, twin
from .arrays import SparseTensor, as_sparse, from_places
from .pattern import SCIPY

__all__ = [
    "block_array",
    "block_diag",
    "bmat",
    "coo_array",
    "coo_matrix",
    "csc_array",
    "csc_matrix",
    "csr_array",
    "csr_matrix",
    "dia_array",
    "dia_matrix",
    "diags",
    "diags_array",
    "hstack",
    "kron",
    "spdiags",
    "tril",
    "triu",
    "vstack",
]


def _constructor(name: str) -> AnyFunction:
    original = getattr(SCIPY, name)
    format, is_matrix = name[:3], name.endswith("_matrix")

    def run(arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False) -> Any:
        if not has_arrays((arg1,)):
            return original(arg1, shape=shape, dtype=dtype, copy=copy)
        if isinstance(arg1, SparseTensor | Array):
            whole = as_sparse(arg1)
            if shape is not None and tuple(shape) != whole.shape:
                raise ValueError(f"inconsistent shapes: {tuple(shape)} and {whole.shape}")
            return SparseTensor(whole.elements, whole.pattern, format, is_matrix).astype(dtype)
        if format != "coo" and len(arg1) == 3:
            data, indices, starts = floating(arg1[0]), np.asarray(arg1[1]), np.asarray(arg1[2])
            major = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
            rows, columns = (major, indices) if format == "csr" else (indices, major)
        else:
            data, (rows, columns) = floating(arg1[0]), map(np.asarray, arg1[1])
        if shape is None:
            if not len(rows):
                raise ValueError("cannot infer dimensions from zero sized index arrays")
            shape = (int(rows.max()) + 1, int(columns.max()) + 1)
            if format != "coo" and len(arg1) == 3:
                count = len(arg1[2]) - 1
                shape = (count, shape[1]) if format == "csr" else (shape[0], count)
        m, n = (int(size) for size in shape)
        if len(rows) and (rows.max() >= m or columns.max() >= n):
            raise ValueError(f"an index is outside of the shape ({m}, {n})")
        return from_places(data, rows, columns, (m, n), format, is_matrix).astype(dtype)

    run.__name__ = run.__qualname__ = name
    run.__doc__ = f"scipy.sparse.{name}; of tensors, a sparse matrix that can be differentiated."
    return run


csr_array, csc_array, coo_array = map(_constructor, ("csr_array", "csc_array", "coo_array"))
csr_matrix, csc_matrix, coo_matrix = map(_constructor, ("csr_matrix", "csc_matrix", "coo_matrix"))


def _diagonals(
    diagonals: Any, offsets: Any, shape: Any, format: str | None, is_matrix: bool
) -> SparseTensor:
    many = np.ndim(offsets) > 0
    given = [floating(d) for d in diagonals] if many else [floating(diagonals)]
    offsets = [int(k) for k in np.atleast_1d(offsets)]
    if not many and given[0].ndim == 2:
        given = [given[0][i] for i in range(given[0].shape[0])]
    if shape is None:
        size = given[0].shape[0] + abs(offsets[0])
        shape = (size, size)
    m, n = shape
    values: list[Any] = []
    rows, columns = [], []
    for d, k in zip(given, offsets, strict=True):
        length = min(m + min(k, 0), n - max(k, 0))
        if d.ndim == 0 or (d.shape[0] == 1 and length != 1):
            d = d + np.zeros(length)
        if d.shape[0] != length:
            raise ValueError(
                f"Diagonal length (index {len(values)}: {d.shape[0]} at offset {k}) does not agree "
                f"with array size ({m}, {n})."
            )
        place = np.arange(length)
        values.append(d)
        rows.append(place - min(k, 0))
        columns.append(place + max(k, 0))
    joined = concat(values, axis=-1)
    every = np.concatenate(rows), np.concatenate(columns)
    return from_places(joined, *every, (m, n), format or "csr", is_matrix)


@twin(SCIPY.diags_array)
def diags_array(diagonals: Any, offsets: Any, shape: Any, format: Any, dtype: Any) -> Any:
    """A sparse matrix by its diagonals."""
    return _diagonals(diagonals, offsets, shape, format, False).astype(dtype)


@twin(SCIPY.diags)
def diags(diagonals: Any, offsets: Any, shape: Any, format: Any, dtype: Any) -> Any:
    """A sparse matrix by its diagonals."""
    return _diagonals(diagonals, offsets, shape, format, True).astype(dtype)


def _by_offsets(
    data: Any, offsets: Any, shape: Any, format: str | None, is_matrix: bool
) -> SparseTensor:
    """A matrix by its diagonals as SciPy's `dia_array` has them: element j is in column j."""
    data = floating(data)
    if data.ndim == 1:
        data = reshape(data, (1, -1))
    offsets = np.atleast_1d(np.asarray(offsets)).astype(np.int64)
    if offsets.ndim != 1 or len(offsets) != data.shape[0]:
        raise ValueError(
            f"number of diagonals ({data.shape[0]}) does not match the number of offsets "
            f"({offsets.size})"
        )
    if len(np.unique(offsets)) != len(offsets):
        raise ValueError("offset array contains duplicate values")
    m, n = (int(size) for size in shape)
    columns = np.broadcast_to(np.arange(data.shape[1]), data.shape)
    rows = columns - offsets[:, None]
    is_inside = np.flatnonzero((rows >= 0) & (rows < m) & (columns < n))
    values = take(reshape(data, (-1,)), is_inside, axis=-1)
    rows, columns = rows.reshape(-1)[is_inside], columns.reshape(-1)[is_inside]
    return from_places(values, rows, columns, (m, n), format or "csr", is_matrix)


@twin(SCIPY.spdiags)
def spdiags(data: Any, diags: Any, m: Any, n: Any, format: Any) -> Any:
    """A sparse matrix by its diagonals; element j of each is in column j."""
    shape = m if n is None and m is not None else (m, n)
    if m is None:
        shape = (data.shape[-1],) * 2
    return _by_offsets(data, diags, shape, format, True)


def _of_diagonals(name: str) -> AnyFunction:
    original, is_matrix = getattr(SCIPY, name), name.endswith("_matrix")

    def run(arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False) -> Any:
        if not has_arrays((arg1,)):
            return original(arg1, shape=shape, dtype=dtype, copy=copy)
        if isinstance(arg1, SparseTensor | Array):
            whole = as_sparse(arg1)
            return SparseTensor(whole.elements, whole.pattern, "csr", is_matrix).astype(dtype)
        if shape is None:
            raise ValueError("expected a shape argument")
        data, offsets = arg1
        return _by_offsets(data, offsets, shape, "csr", is_matrix).astype(dtype)

    run.__name__ = run.__qualname__ = name
    run.__doc__ = f"scipy.sparse.{name}; of tensors, it is kept row by row."
    return run


dia_array, dia_matrix = map(_of_diagonals, ("dia_array", "dia_matrix"))


@twin(SCIPY.kron)
def kron(A: Any, B: Any, format: Any) -> Any:
    """The Kronecker product of two sparse matrices."""
    a, b = as_sparse(A), as_sparse(B)
    left, right = np.repeat(np.arange(a.nnz), b.nnz), np.tile(np.arange(b.nnz), a.nnz)
    return from_places(
        take(a.elements, left, axis=-1) * take(b.elements, right, axis=-1),
        a.pattern.rows[left] * b.shape[0] + b.pattern.rows[right],
        a.pattern.columns[left] * b.shape[1] + b.pattern.columns[right],
        (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1]),
        format or "csr",
        _give_matrix([A, B]),
    )


def _give_matrix(parts: Any) -> bool:
    """Whether SciPy makes one of its older matrices of these: none of them is a sparse array."""
    return not any(
        isinstance(part, SCIPY.sparray) or (isinstance(part, SparseTensor) and not part.is_matrix)
        for part in parts
    )


def _joined(blocks: Any, format: str | None, dtype: Any) -> SparseTensor:
    grid = [[None if b is None else as_sparse(b) for b in row] for row in blocks]
    heights = [next(b.shape[0] for b in row if b is not None) for row in grid]
    widths = [
        next(row[j].shape[1] for row in grid if row[j] is not None)  # type: ignore[union-attr]
        for j in range(len(grid[0]))
    ]
    values: list[Any] = []
    rows, columns = [], []
    for i, row in enumerate(grid):
        for j, block in enumerate(row):
            if block is None:
                continue
            if block.shape != (heights[i], widths[j]):
                raise ValueError(
                    f"blocks[{i}][{j}] has shape {block.shape}, expected {(heights[i], widths[j])}"
                )
            values.append(block.elements)
            rows.append(block.pattern.rows + sum(heights[:i]))
            columns.append(block.pattern.columns + sum(widths[:j]))
    joined = concat(values, axis=-1)
    every = np.concatenate(rows), np.concatenate(columns)
    shape, is_matrix = (sum(heights), sum(widths)), _give_matrix(b for row in blocks for b in row)
    return from_places(joined, *every, shape, format or "csr", is_matrix).astype(dtype)


@twin(SCIPY.block_array)
def block_array(blocks: Any, format: Any, dtype: Any) -> Any:
    """A sparse matrix made of blocks."""
    made = _joined(blocks, format, dtype)
    return SparseTensor(made.elements, made.pattern, made.format)


@twin(SCIPY.bmat)
def bmat(blocks: Any, format: Any, dtype: Any) -> Any:
    """A sparse matrix made of blocks."""
    return _joined(blocks, format, dtype)


@twin(SCIPY.hstack)
def hstack(blocks: Any, format: Any, dtype: Any) -> Any:
    """Sparse matrices beside each other."""
    return _joined([blocks], format, dtype)


@twin(SCIPY.vstack)
def vstack(blocks: Any, format: Any, dtype: Any) -> Any:
    """Sparse matrices below each other."""
    return _joined([[block] for block in blocks], format, dtype)


@twin(SCIPY.block_diag)
def block_diag(mats: Any, format: Any, dtype: Any) -> Any:
    """Sparse matrices on the diagonal."""
    count = len(mats)
    grid = [[m if i == j else None for j in range(count)] for i, m in enumerate(mats)]
    return _joined(grid, format, dtype)


@twin(SCIPY.tril)
def tril(A: Any, k: int, format: Any) -> Any:
    """The part of a matrix on and below a diagonal, as a sparse matrix."""
    return as_sparse(A).between(-math.inf, k).asformat(format or "coo")


@twin(SCIPY.triu)
def triu(A: Any, k: int, format: Any) -> Any:
    """The part of a matrix on and above a diagonal, as a sparse matrix."""
    return as_sparse(A).between(k, math.inf).asformat(format or "coo")
