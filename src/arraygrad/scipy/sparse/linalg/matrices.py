"""Matrices and right-hand sides for the functions of `scipy.sparse.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.array import AnyFunction
from ....ops import expand_dims
from ...names import scipy_module
from ...twins import floating
from ..arrays import SparseTensor, as_sparse

SCIPY = scipy_module("scipy.sparse.linalg")


def square(a: Any, name: str) -> SparseTensor:
    """A square matrix of any sort, as a sparse one."""
    matrix = as_sparse(a)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name}: matrix must be square, got shape {matrix.shape}")
    return matrix


def columns(b: Any, count: int, name: str) -> tuple[Any, bool]:
    """Right-hand sides as columns, and whether it was a vector."""
    b = floating(b)
    if b.ndim not in (1, 2) or b.shape[0] != count:
        raise ValueError(f"{name}: a matrix of {count} rows and b of shape {tuple(b.shape)}")
    return (expand_dims(b, axis=-1), True) if b.ndim == 1 else (b, False)


def each_column(function: AnyFunction, b: Any) -> Any:
    """The results of a function of a vector, for all columns."""
    return np.stack([function(b[:, k]) for k in range(b.shape[1])], axis=1)
