"""Ops that native code makes of simpler ones: short convolutions, small matrices, and others."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ops import arrangement, elementwise, linalg, norms, numerics, reductions, shape
from ...ops.define.op import Op

MOST_TAPS = 32  # terms of a convolution that are written out
SHORT = 32768  # elements of a line that is gone over twice
SMALL = 3  # rows of matrices whose determinants are written out


def _convolve(x: Any, y: Any) -> Any:
    if y.shape[0] > x.shape[0]:
        x, y = y, x
    around = y.shape[0] - 1
    return _convolve_within(arrangement.pad(x, around), y)


def _convolve_within(x: Any, y: Any) -> Any:
    """Few terms for each element; or few elements, each of which is a sum."""
    taps = y.shape[0]
    count = x.shape[0] - taps + 1
    if taps <= MOST_TAPS:
        return functools.reduce(
            elementwise.add, [x[j : j + count] * y[taps - 1 - j] for j in range(taps)]
        )
    y = shape.flip(y)
    return shape.stack(
        [reductions._sum(x[i : i + taps] * y, axis=None, keepdims=False) for i in range(count)]
    )


def _has_few_taps(x: Any, y: Any, within: bool) -> bool:
    few, many = sorted((x.shape[0], y.shape[0]))
    return few <= MOST_TAPS or (within and many - few < MOST_TAPS)


def _triangle(is_lower: bool) -> Callable[..., Any]:
    def made(x: Any, k: int) -> Any:
        """Elements below and on a diagonal, or above and on it; zeros elsewhere."""
        rows, columns = x.shape[-2:]
        lower = np.tri(rows, columns, k if is_lower else k - 1, np.bool_)
        return elementwise.where(lower, x, 0) if is_lower else elementwise.where(lower, 0, x)

    return made


def _vector_norm(x: Any, axis: Any, keepdims: bool, ord: float) -> Any:
    if x.dtype.kind != "f" or ord not in (1, 2):
        raise NotImplementedError
    if ord == 1:
        return reductions._sum(elementwise.abs(x), axis=axis, keepdims=keepdims)
    return elementwise.sqrt(reductions._sum(x * x, axis=axis, keepdims=keepdims))


def _cofactor(x: Any, i: int, j: int) -> Any:
    """The determinant without a row and a column, with its sign."""
    n = x.shape[-1]
    if n == 1:
        return elementwise.where(True, 1, x[..., 0, 0])
    if n == 2:
        other = x[..., 1 - i, 1 - j]
        return other if i == j else -other
    a, b = (i + 1) % 3, (i + 2) % 3
    c, d = (j + 1) % 3, (j + 2) % 3
    return x[..., a, c] * x[..., b, d] - x[..., a, d] * x[..., b, c]


def _det(x: Any) -> Any:
    terms = [x[..., 0, j] * _cofactor(x, 0, j) for j in range(x.shape[-1])]
    return functools.reduce(elementwise.add, terms)


def _cofactors(x: Any) -> Any:
    n = x.shape[-1]
    found = [_cofactor(x, i, j) for i in range(n) for j in range(n)]
    return shape._reshape(shape.stack(found, axis=-1), shape=x.shape)


def _place_of(extreme: Callable[..., Any]) -> Callable[..., Any]:
    """The first place of the largest or smallest element of each line; of NaN, if there is any."""

    def made(x: Any, axis: int, keepdims: bool) -> Any:
        top = extreme(x, axis=(axis,), keepdims=True)
        is_there = elementwise.equal(x, top)
        if x.dtype.kind == "f":
            is_there = elementwise.logical_or(is_there, elementwise.isnan(x))
        n = x.shape[axis]
        # Numbers of the same size make vectors of the same length.
        dtype = np.int32 if x.dtype.itemsize == 4 and n < 2**31 else np.int64
        along = [n if i == axis else 1 for i in range(x.ndim)]
        places = np.reshape(np.arange(n, dtype=dtype), along)
        found = elementwise.where(is_there, places, np.full((), n, dtype))
        return shape.astype(reductions._min(found, axis=(axis,), keepdims=keepdims), np.int64)

    return made


def _is_short(x: Any) -> bool:
    """Whether both passes over a line find it in the cache; NumPy takes one."""
    return x.dtype.kind in "fi" and (x.ndim > 1 or x.shape[0] <= SHORT)


def _is_small(x: Any) -> bool:
    return bool(0 < x.shape[-1] <= SMALL)


def _op(function: Any) -> Op:
    return function.op  # type: ignore[no-any-return]


MADE: dict[Op, Callable[..., Any]] = {
    _op(numerics._convolve): _convolve,
    _op(numerics._convolve_within): _convolve_within,
    _op(shape._tril): _triangle(True),
    _op(shape._triu): _triangle(False),
    _op(norms._vector_norm): _vector_norm,
    _op(linalg.det_matrix): _det,
    _op(linalg._cofactors): _cofactors,
    _op(reductions._argmax): _place_of(reductions._max),
    _op(reductions._argmin): _place_of(reductions._min),
}

# Whether it is so for some arguments; for all, if there is no condition.
ONLY_IF: dict[Op, Callable[..., bool]] = {
    _op(numerics._convolve): functools.partial(_has_few_taps, within=False),
    _op(numerics._convolve_within): functools.partial(_has_few_taps, within=True),
    _op(linalg.det_matrix): _is_small,
    _op(linalg._cofactors): _is_small,
    _op(reductions._argmax): _is_short,
    _op(reductions._argmin): _is_short,
}
