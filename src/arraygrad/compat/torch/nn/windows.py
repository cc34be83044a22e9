"""Convolutions and pooling, as gathers of windows and products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import ops
from ..publish import function


def _each(value: Any, count: int) -> tuple[int, ...]:
    """One number for each axis."""
    return tuple(value) if isinstance(value, tuple | list) else (value,) * count


def _windows(x: Any, size: Any, stride: Any, dilation: Any) -> tuple[Any, tuple[int, ...]]:
    """All windows over the last axes: first the places in a window, then the windows."""
    count = len(size)
    index, lengths = [], []
    for axis in range(count):
        span = dilation[axis] * (size[axis] - 1) + 1
        length = (x.shape[axis - count] - span) // stride[axis] + 1
        if length < 1:
            raise RuntimeError(f"windows of {tuple(size)} do not fit into {tuple(x.shape)}")
        places = np.arange(size[axis])[:, None] * dilation[axis]
        places = places + np.arange(length) * stride[axis]
        shape = [1] * (2 * count)
        shape[axis], shape[count + axis] = size[axis], length
        index.append(places.reshape(shape))
        lengths.append(length)
    return x[(Ellipsis, *index)], tuple(lengths)


def _padded(x: Any, padding: tuple[int, ...], value: float = 0.0) -> Any:
    if not any(padding):
        return x
    widths = [(0, 0)] * (x.ndim - len(padding)) + [(p, p) for p in padding]
    return ops.pad(x, widths, constant_values=value)


def _convolved(
    x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    count = weight.ndim - 2
    single = x.ndim == count + 1
    x = x[None] if single else x
    size = tuple(weight.shape[2:])
    steps, spread = _each(stride, count), _each(dilation, count)
    if padding == "same":
        if any(step != 1 for step in steps):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        total = [d * (k - 1) for d, k in zip(spread, size, strict=True)]
        widths = [(0, 0)] * (x.ndim - count) + [(n // 2, n - n // 2) for n in total]
        x, padding = ops.pad(x, widths), "valid"
    x = _padded(x, (0,) * count if padding == "valid" else _each(padding, count))
    seen, lengths = _windows(x, size, steps, spread)
    batch, filters = x.shape[0], weight.shape[0]
    rows = ops.reshape(weight, (groups, filters // groups, -1))
    seen = ops.reshape(seen, (batch, groups, rows.shape[-1], math.prod(lengths)))
    out = ops.reshape(ops.matmul(rows, seen), (batch, filters, *lengths))
    if bias is not None:
        out = out + ops.reshape(bias, (filters, *(1,) * count))
    return out[0] if single else out


def _convolution(name: str) -> Any:
    def convolution(
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        return _convolved(input, weight, bias, stride, padding, dilation, groups)

    convolution.__doc__ = "Sums of products of filters and the windows of a signal."
    return function(convolution, name=name, method=False)


conv1d = _convolution("conv1d")
conv2d = _convolution("conv2d")


def _pooling(name: str, count: int, join: Any, outside: float) -> Any:
    def pooled(input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0) -> Any:
        size = _each(kernel_size, count)
        x = _padded(input, _each(padding, count), outside)
        steps = size if stride is None else _each(stride, count)
        seen, _ = _windows(x, size, steps, (1,) * count)
        lead = seen.ndim - 2 * count
        lines = ops.reshape(seen, (*seen.shape[:lead], -1, *seen.shape[lead + count :]))
        return join(lines, lead)

    pooled.__doc__ = "The largest element, or the mean, of each window."
    return function(pooled, name=name, method=False)


def _largest(lines: Any, axis: int) -> Any:
    """The largest element along an axis; of several, the first gets the gradient."""
    index = ops.argmax(lines, axis=axis, keepdims=True)
    return ops.squeeze(ops.take_along_axis(lines, index, axis=axis), axis=axis)


def _average(lines: Any, axis: int) -> Any:
    return ops.mean(lines, axis=axis)


max_pool1d = _pooling("max_pool1d", 1, _largest, -math.inf)
max_pool2d = _pooling("max_pool2d", 2, _largest, -math.inf)
avg_pool1d = _pooling("avg_pool1d", 1, _average, 0.0)
avg_pool2d = _pooling("avg_pool2d", 2, _average, 0.0)
