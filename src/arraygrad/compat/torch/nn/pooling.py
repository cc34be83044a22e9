"""Pooling: the largest element, the mean or the p-norm of each window.

The windows along an axis are two tables with a column for each window: the places in the window,
in order, and whether each of them is one that the window sees.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import ops
from ....arrays.creation import asarray
from ..publish import Published, function
from .resampling import weighted
from .sliding import Ints, at_least, batched, each

Windows = tuple[Any, Any]

# --- where the windows are ---


def _options(count: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any) -> list[Ints]:
    size = each(kernel_size, count, "kernel_size")
    given = stride is not None and not (isinstance(stride, tuple | list) and not stride)
    steps = each(stride, count, "stride") if given else size
    ends, spread = each(padding, count, "padding"), each(dilation, count, "dilation")
    at_least(1, kernel_size=size, stride=steps, dilation=spread)
    at_least(0, padding=ends)
    if any(2 * p > d * (k - 1) + 1 for p, k, d in zip(ends, size, spread, strict=True)):
        raise RuntimeError(f"padding must be at most half of the kernel size {size}, not {ends}")
    return [size, steps, ends, spread]


def _sliding(lengths: Ints, options: list[Ints], ceil_mode: bool) -> list[Windows]:
    """Windows at equal distances, which can begin and end outside."""
    found = []
    for n, k, s, p, d in zip(lengths, *options, strict=True):
        rest = n + 2 * p - d * (k - 1) - 1
        windows = (-(-rest // s) if ceil_mode else rest // s) + 1
        if ceil_mode and (windows - 1) * s >= n + p:
            windows -= 1  # a window must start inside, or in the padding before
        if windows < 1:
            raise RuntimeError(f"windows of {options[0]} do not fit into {lengths}")
        table = np.arange(k)[:, None] * d + np.arange(windows) * s - p
        found.append((table, (table >= 0) & (table < n)))
    return found


def _adaptive(lengths: Ints, output_size: Any) -> list[Windows]:
    """As many windows as wanted, which share an axis evenly."""
    if isinstance(output_size, tuple | list) and len(output_size) == len(lengths):
        pairs = zip(output_size, lengths, strict=True)
        wanted = tuple(n if w is None else int(w) for w, n in pairs)
    else:
        wanted = each(output_size, len(lengths), "output_size")
    at_least(0, output_size=wanted)
    found = []
    for n, w in zip(lengths, wanted, strict=True):
        if not n:
            raise RuntimeError(f"the last axes of input must not be empty, but are {lengths}")
        start, end = np.arange(w) * n // max(w, 1), -(-np.arange(1, w + 1) * n // max(w, 1))
        table = start + np.arange((end - start).max(initial=1))[:, None]
        found.append((table, table < end))
    return found


# --- the largest ---


def _seen(x: Any, tables: list[Any]) -> Any:
    """What windows see: first the places in a window, then the windows."""
    count = len(tables)
    index = []
    for axis, table in enumerate(tables):
        shape = [1] * (2 * count)
        shape[axis], shape[count + axis] = table.shape
        index.append(table.reshape(shape))
    return x[(Ellipsis, *index)]


def _largest(x: Any, windows: list[Windows]) -> tuple[Any, Any]:
    """The first largest element of each window, and its place in the flattened last axes."""
    count = len(windows)
    lead, lengths = tuple(x.shape[:-count]), tuple(x.shape[-count:])
    tables = []
    for (table, valid), n in zip(windows, lengths, strict=True):
        if not valid.any(axis=0).all():
            raise RuntimeError(f"a window sees nothing of the input of {lengths}")
        # A place outside stands for the nearest one inside: that changes no maximum.
        first = np.where(valid, table, n).min(axis=0)
        last = np.where(valid, table, -1).max(axis=0)
        tables.append(np.clip(table, first, last))
    size = math.prod(t.shape[0] for t in tables)
    shape = tuple(t.shape[1] for t in tables)
    number = math.prod(shape)
    numbers = _seen(np.arange(math.prod(lengths)).reshape(lengths), tables).reshape(-1)
    inside = ops.reshape(_seen(x, tables), (*lead, size, number))
    which = ops.argmax(inside, axis=-2) * number + np.arange(number)
    place = ops.reshape(ops.take(asarray(numbers), ops.reshape(which, (-1,))), which.shape)
    flat = ops.reshape(x, (*lead, math.prod(lengths)))
    out = ops.take_along_axis(flat, place, axis=-1)
    return ops.reshape(out, (*lead, *shape)), ops.reshape(place, (*lead, *shape))


def _max_pool(count: int) -> Published:
    def pooled(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """The largest element of each window; with `return_indices`, also where it is."""
        batched(input, count)
        options = _options(count, kernel_size, stride, padding, dilation)
        out = _largest(input, _sliding(tuple(input.shape[-count:]), options, ceil_mode))
        return out if return_indices else out[0]

    return function(pooled, name=f"max_pool{count}d", method=False)


max_pool1d, max_pool2d, max_pool3d = (_max_pool(count) for count in (1, 2, 3))


def _adaptive_max_pool(count: int) -> Published:
    def pooled(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        """The largest elements of as many windows as wanted."""
        batched(input, count)
        out = _largest(input, _adaptive(tuple(input.shape[-count:]), output_size))
        return out if return_indices else out[0]

    return function(pooled, name=f"adaptive_max_pool{count}d", method=False)


adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = map(_adaptive_max_pool, (1, 2, 3))


# --- the mean ---


def _sums(x: Any, windows: list[Windows]) -> Any:
    """The sum of each window: axis by axis, because a window is a box."""
    if x.dtype.kind not in "fc":
        raise RuntimeError(f"input must be of a floating-point dtype, not {x.dtype}")
    for back, (table, valid) in enumerate(reversed(windows), 1):
        x = weighted(x, -back, np.where(valid, table, -1))
    return x


def _sizes(lengths: list[Any]) -> Any:
    """The number of places in each window, from the numbers along each axis."""
    out: Any = 1.0
    for axis, of in enumerate(lengths):
        out = out * of.reshape((-1, *(1,) * (len(lengths) - axis - 1)))
    return out


def _mean(x: Any, windows: list[Windows], counts: list[Any]) -> Any:
    return _sums(x, windows) / _sizes(counts).astype(x.dtype)


def _averaged(
    x: Any, options: list[Ints], ceil_mode: bool, count_include_pad: bool, divisor: Any
) -> Any:
    lengths = tuple(x.shape[-len(options[0]) :])
    windows = _sliding(lengths, options, ceil_mode)
    if divisor is not None:
        if not divisor:
            raise RuntimeError("divisor_override must not be zero")
        return _sums(x, windows) / divisor
    if not count_include_pad:
        return _mean(x, windows, [valid.sum(axis=0) for _, valid in windows])
    pads = options[2]
    counts = [
        (table < n + p).sum(axis=0) for (table, _), n, p in zip(windows, lengths, pads, strict=True)
    ]
    return _mean(x, windows, counts)


def _avg_pool(count: int) -> Published:
    def pooled(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: Any = None,
    ) -> Any:
        """The mean of each window."""
        batched(input, count)
        options = _options(count, kernel_size, stride, padding, 1)
        return _averaged(input, options, ceil_mode, count_include_pad, divisor_override)

    return function(pooled, name=f"avg_pool{count}d", method=False)


avg_pool2d, avg_pool3d = map(_avg_pool, (2, 3))


@function(method=False)
def avg_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """The mean of each window."""
    batched(input, 1)
    options = _options(1, kernel_size, stride, padding, 1)
    return _averaged(input, options, ceil_mode, count_include_pad, None)


def adaptive_mean(x: Any, count: int, output_size: Any) -> Any:
    """The means of as many windows as wanted over the last axes."""
    windows = _adaptive(tuple(x.shape[-count:]), output_size)
    return _mean(x, windows, [valid.sum(axis=0) for _, valid in windows])


def _adaptive_avg_pool(count: int) -> Published:
    def pooled(input: Any, output_size: Any) -> Any:
        """The means of as many windows as wanted."""
        batched(input, count)
        return adaptive_mean(input, count, output_size)

    return function(pooled, name=f"adaptive_avg_pool{count}d", method=False)


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = map(_adaptive_avg_pool, (1, 2, 3))


def _lp_pool(count: int) -> Published:
    def pooled(
        input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> Any:
        """The p-norm of each window."""
        batched(input, count)
        options = _options(count, kernel_size, stride, 0, 1)
        mean = _averaged(ops.pow(input, norm_type), options, ceil_mode, True, None)
        return ops.pow(mean * math.prod(options[0]), 1 / norm_type)

    return function(pooled, name=f"lp_pool{count}d", method=False)


lp_pool1d, lp_pool2d, lp_pool3d = map(_lp_pool, (1, 2, 3))


def with_indices(pool: Published) -> Any:
    """The function that always says where the largest elements are."""
    count = pool.__wrapped__.__code__.co_argcount - 1  # without `return_indices`

    def both(*args: Any, **kwargs: Any) -> Any:
        return pool(*args[:count], **{**kwargs, "return_indices": True})

    both.__name__ = both.__qualname__ = f"{pool.__name__}_with_indices"
    both.__doc__ = pool.__doc__
    return both
