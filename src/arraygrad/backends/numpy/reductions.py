"""Sums, means and extremes of NumPy arrays, faster than NumPy's own functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import Kernel

MANY = 1 << 15  # elements from which on all are added up in two steps, by `of_parts`


def sum_(x: Any, axis: Any = None, keepdims: Any = False, of_parts: Any = None) -> Any:
    """The sum along axes."""
    if axis is None and of_parts is not None and x.size >= MANY and not keepdims:
        out = of_parts(x)
        if out is not None:
            return out
    if axis and x.size > 8192 and x.dtype.char in "fd":
        # A matrix product is much faster for a sum down the columns of a matrix (as for the
        # gradient of a bias), and for sums along contiguous lines. For very long sums it is less
        # accurate.
        if axis == (0,) and not keepdims and x.ndim == 2:
            return np.ones(x.shape[0], x.dtype) @ x
        if axis == (x.ndim - 1,) and 1 < x.shape[-1] <= 65536 and x.flags.c_contiguous:
            out = x @ np.ones(x.shape[-1], x.dtype)
            return out[..., None] if keepdims else out
    return np.add.reduce(x, axis=axis, keepdims=keepdims)


def _extreme(ufunc: Any, start: float) -> Kernel:
    def reduce(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        if x.ndim > 1 and axis == (x.ndim - 1,) and x.size and x.dtype.char in "fd":
            n = x.shape[-1]
            if n <= 16 and x.size >= 64 * n:
                # NumPy has a high cost for each line, so short lines are slow: transpose them.
                out = ufunc.reduce(np.ascontiguousarray(x.reshape(-1, n).T), axis=0)
                return out.reshape(*x.shape[:-1], 1) if keepdims else out.reshape(x.shape[:-1])
            return ufunc.reduce(x, axis=axis, keepdims=keepdims, initial=start)  # `initial`: faster
        return ufunc.reduce(x, axis=axis, keepdims=keepdims)

    return reduce


max_, min_ = _extreme(np.maximum, -np.inf), _extreme(np.minimum, np.inf)


def mean(x: Any, axis: Any = None, keepdims: bool = False, of_parts: Any = None) -> Any:
    """The mean along axes."""
    if axis is None and of_parts is not None and x.size >= MANY and not keepdims:
        out = of_parts(x)
        if out is not None:
            return out
    if x.dtype.char not in "fdFD" or not x.size:
        return np.mean(x, axis=axis, keepdims=keepdims)
    total = sum_(x, axis, keepdims)
    return total / (x.size // total.size)


def in_single(function: Kernel) -> Kernel:
    """The function with half precision summed in single precision, where squares do not overflow.

    NumPy does so in means only.
    """

    def reduce(x: Any, **params: Any) -> Any:
        if x.dtype.char != "e":
            return function(x, **params)
        return function(x.astype(np.float32), **params).astype(np.float16)

    return reduce
