"""Weighted sums of elements along one axis: what averages over windows and interpolation are."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops


def weighted(x: Any, axis: int, index: Any, weight: Any = None) -> Any:
    """`out[l] = Σ_k weight[k, l] * x[index[k, l]]` along an axis. An index of -1 means zero.

    Parameters
    ----------
    x : array
    axis : int
        An axis, counted from the back.
    index, weight : ndarray
        Tables with one column for each element of the result. Without `weight`, all are one.

    """
    taps, length = index.shape
    if (index < 0).any():
        widths = [(0, 0)] * x.ndim
        widths[axis] = (0, 1)
        index = np.where(index < 0, x.shape[axis], index)
        x = ops.pad(x, widths)
    if weight is None and taps == 1:
        return ops.take(x, index[0], axis=axis)
    after = x.ndim + axis  # the axis of the taps
    shape = (*x.shape[:after], taps, length, *x.shape[after + 1 :])
    found = ops.reshape(ops.take(x, index.reshape(-1), axis=axis), shape)
    if weight is not None:
        kind = x.dtype.type(0).real.dtype  # complex numbers have real weights
        found = found * weight.astype(kind).reshape((taps, length, *(1,) * (-axis - 1)))
    return ops.sum(found, axis=after)
