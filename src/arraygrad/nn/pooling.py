"""Pooling: the largest element, the mean or the p-norm of each window.

The windows along an axis are two tables with a column for each window: the places in the window,
in order, and whether each of them is one that the window sees.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import ops
from ..core.indices import HOLE
from ..ops.indexing import _index_add
from .common import (
    Ints,
    OptionError,
    at_least,
    batched,
    constant,
    each,
    for_axes,
    kind,
    known,
    shape_of,
)
from .one_pass import one_program
from .windows import weighted

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d",
    "lp_pool1d", "lp_pool2d", "lp_pool3d", "max_pool1d", "max_pool2d", "max_pool3d", "max_unpool1d",
    "max_unpool2d", "max_unpool3d",
]  # fmt: skip

Windows = tuple[Any, Any]
Options = tuple[Ints, Ints, Ints, Ints]

# --- where the windows are ---


def _options(count: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any) -> Options:
    size = each(kernel_size, count, "kernel_size")
    given = stride is not None and not (isinstance(stride, tuple | list) and not stride)
    steps = each(stride, count, "stride") if given else size
    ends, spread = each(padding, count, "padding"), each(dilation, count, "dilation")
    at_least(1, kernel_size=size, stride=steps, dilation=spread)
    at_least(0, padding=ends)
    if any(2 * p > d * (k - 1) + 1 for p, k, d in zip(ends, size, spread, strict=True)):
        raise ValueError(f"padding must be at most half of the kernel size {size}, not {ends}")
    return size, steps, ends, spread


def _sliding(lengths: Ints, options: Options, ceil_mode: bool) -> list[Windows]:
    """Windows at equal distances, which can begin and end outside."""
    found = []
    for n, k, s, p, d in zip(lengths, *options, strict=True):
        rest = n + 2 * p - d * (k - 1) - 1
        windows = (-(-rest // s) if ceil_mode else rest // s) + 1
        if ceil_mode and (windows - 1) * s >= n + p:
            windows -= 1  # a window must start inside, or in the padding before
        if windows < 1:
            raise ValueError(f"windows of {options[0]} do not fit into {lengths}")
        table = np.arange(k)[:, None] * d + np.arange(windows) * s - p
        found.append((table, (table >= 0) & (table < n)))
    return found


def _adaptive(lengths: Ints, output_size: Any) -> list[Windows]:
    """As many windows as wanted, which share an axis evenly."""
    if isinstance(output_size, tuple | list) and len(output_size) == len(lengths):
        output_size = [n if w is None else w for w, n in zip(output_size, lengths, strict=True)]
    wanted = each(output_size, len(lengths), "output_size")
    at_least(0, output_size=wanted)
    found = []
    for n, w in zip(lengths, wanted, strict=True):
        if not n:
            raise ValueError(f"the last axes of input must not be empty, but are {lengths}")
        start, end = np.arange(w) * n // max(w, 1), -(-np.arange(1, w + 1) * n // max(w, 1))
        table = start + np.arange((end - start).max(initial=1))[:, None]
        found.append((table, table < end))
    return found


# --- the largest ---


def _places(lengths: Ints, tables: list[Any]) -> Any:
    """The places that windows see in the flattened last axes: a row for each place in a window."""
    flat: Any = 0
    for axis, (n, table) in enumerate(zip(lengths, tables, strict=True)):
        shape = [1] * (2 * len(tables))
        shape[axis], shape[len(tables) + axis] = table.shape
        flat = flat * n + table.reshape(shape)
    return flat.reshape(math.prod(t.shape[0] for t in tables), -1)


def _largest(x: Any, windows: list[Windows]) -> tuple[Any, Any]:
    """The first largest element of each window, and its place in the flattened last axes."""
    count = len(windows)
    lead, lengths = tuple(x.shape[:-count]), tuple(x.shape[-count:])
    tables = []
    for (table, valid), n in zip(windows, lengths, strict=True):
        if not valid.any(axis=0).all():
            raise ValueError(f"a window sees nothing of the input of {lengths}")
        # A place outside stands for the nearest one inside: that changes no maximum.
        first = np.where(valid, table, n).min(axis=0)
        last = np.where(valid, table, -1).max(axis=0)
        tables.append(np.clip(table, first, last))
    places = _places(lengths, tables)
    number = places.shape[1]
    flat = ops.reshape(x, (*lead, math.prod(lengths)))
    inside = ops.reshape(ops.take(flat, places.reshape(-1), axis=-1), (*lead, *places.shape))
    which = ops.argmax(inside, axis=-2) * number + constant(np.arange(number), x)
    place = ops.take(constant(places.reshape(-1), x), ops.reshape(which, (-1,)), axis=0)
    out = ops.take_along_axis(flat, ops.reshape(place, which.shape), axis=-1)
    shape = (*lead, *(t.shape[1] for t in tables))
    return ops.reshape(out, shape), ops.reshape(place, shape)


@one_program
def _largest_of(x: Any, *, options: Options, ceil_mode: bool, places: bool) -> Any:
    out = _largest(x, _sliding(tuple(x.shape[-len(options[0]) :]), options, ceil_mode))
    return out if places else out[0]


def _max_pool(count: int) -> Any:
    def pooled(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """The largest element of each window over the last {count} axes.

        Parameters
        ----------
        input : array, (samples, channels, *lengths) or (channels, *lengths)
        kernel_size, stride, padding, dilation : int, or one for each axis
            The size of the windows, the distance between them, by default `kernel_size`, how far
            they reach outside, and the distance between the places in a window.
        ceil_mode : bool
            Whether there is one more window where the last one would end outside.
        return_indices : bool
            Whether to return also where the elements are, in the flattened last axes.

        Examples
        --------
        >>> import arraygrad as ag
        >>> ag.nn.max_pool{count}d(ag.ones((1, {lengths})), 2).shape
        (1, {result})
        """
        batched(input, count)
        options = _options(count, kernel_size, stride, padding, dilation)
        return _largest_of(input, options=options, ceil_mode=ceil_mode, places=return_indices)

    return pooled


def _adaptive_max_pool(count: int) -> Any:
    def pooled(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        """The largest elements of as many windows as wanted, over the last {count} axes.

        >>> ag.nn.adaptive_max_pool{count}d(ag.ones((1, {lengths})), 2).shape
        (1, {result})
        """
        batched(input, count)
        out = _largest(input, _adaptive(tuple(input.shape[-count:]), output_size))
        return out if return_indices else out[0]

    return pooled


max_pool1d, max_pool2d, max_pool3d = for_axes(_max_pool, "max_pool", lengths=5, result=2)
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = for_axes(
    _adaptive_max_pool, "adaptive_max_pool", lengths=5, result=2
)


def _unpooled_size(lengths: Ints, size: Ints, steps: Ints, ends: Ints, output_size: Any) -> Ints:
    usual = tuple(
        (n - 1) * s + k - 2 * p for n, k, s, p in zip(lengths, size, steps, ends, strict=True)
    )
    if output_size is None:
        return usual
    wanted = each(output_size, len(output_size), "output_size")[-len(lengths) :]
    if len(wanted) != len(lengths) or len(output_size) > len(lengths) + 2:
        raise OptionError(f"output_size must have {len(lengths)} sizes, not {tuple(output_size)}")
    for w, n, s in zip(wanted, usual, steps, strict=True):
        if not n - s < w < n + s:
            raise OptionError(
                f"output_size must differ from {usual} by less than {steps}: {wanted}"
            )
    return wanted


def _is_last(place: Any) -> Any:
    """Whether no later element of a row has the same number."""
    order = ops.argsort(place, axis=-1, stable=True)
    ordered = ops.take_along_axis(place, order, axis=-1)
    last = ops.not_equal(ordered, ops.roll(ordered, -1, axis=-1))
    end = constant(np.arange(place.shape[-1]) == place.shape[-1] - 1, place)
    return ops.take_along_axis(last | end, ops.argsort(order, axis=-1), axis=-1)


def _max_unpool(count: int) -> Any:
    def unpooled(
        input: Any,
        indices: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        output_size: Any = None,
    ) -> Any:
        """Elements at the places where `max_pool{count}d` found them, and zeros.

        Where windows overlap, one element is found twice. The last one stays, and has the gradient.

        >>> x = ag.ones((1, {lengths}))
        >>> largest, places = ag.nn.max_pool{count}d(x, 2, return_indices=True)
        >>> ag.nn.max_unpool{count}d(largest, places, 2).shape
        (1, {lengths})
        """
        batched(input, count)
        if not hasattr(indices, "dtype"):
            raise TypeError(f"indices must be an array, not {type(indices).__name__}")
        if shape_of(indices) != shape_of(input):
            raise ValueError(
                f"indices must have the shape {shape_of(input)}, not {shape_of(indices)}"
            )
        size = each(kernel_size, count, "kernel_size")
        steps = size if stride is None else each(stride, count, "stride")
        lead, lengths = tuple(input.shape[:-count]), tuple(input.shape[-count:])
        ends = each(padding, count, "padding")
        shape = _unpooled_size(lengths, size, steps, ends, output_size)
        number, found = math.prod(shape), math.prod(lengths)
        values = known(indices)
        if values is not None and values.size and not 0 <= values.min() <= values.max() < number:
            raise ValueError(f"indices must be in [0, {number}), the size of the output")
        rows = math.prod(lead)
        place, flat = (ops.reshape(a, (rows, found)) for a in (indices, input))
        values = ops.where(_is_last(place), flat, 0)
        row = constant(np.arange(rows)[:, None], input)
        out = _index_add(values, row, place, template=(HOLE, HOLE), shape=(rows, number))
        return ops.reshape(out, (*lead, *shape))

    return unpooled


max_unpool1d, max_unpool2d, max_unpool3d = for_axes(_max_unpool, "max_unpool", lengths=4)


# --- the mean ---


def _sums(x: Any, windows: list[Windows]) -> Any:
    """The sum of each window: axis by axis, because a window is a box."""
    if kind(x) not in "fc":
        raise ValueError(f"input must be of a floating-point dtype, not {x.dtype}")
    for back, (table, valid) in enumerate(reversed(windows), 1):
        x = weighted(x, -back, np.where(valid, table, -1))
    return x


def _mean(x: Any, windows: list[Windows], counts: list[Any]) -> Any:
    sizes: Any = 1.0
    for axis, of in enumerate(counts):
        sizes = sizes * of.reshape((-1, *(1,) * (len(counts) - axis - 1)))
    return _sums(x, windows) / ops.astype(constant(sizes, x), ops.real(x).dtype)


@one_program
def _averaged(
    x: Any, *, options: Options, ceil_mode: bool, count_include_pad: bool, divisor: Any
) -> Any:
    lengths = tuple(x.shape[-len(options[0]) :])
    windows = _sliding(lengths, options, ceil_mode)
    if divisor is not None:
        if not divisor:
            raise ValueError("divisor_override must not be zero")
        return _sums(x, windows) / divisor
    if not count_include_pad:
        return _mean(x, windows, [valid.sum(axis=0) for _, valid in windows])
    pads = options[2]
    counts = [
        (table < n + p).sum(axis=0) for (table, _), n, p in zip(windows, lengths, pads, strict=True)
    ]
    return _mean(x, windows, counts)


def _avg_pool(count: int) -> Any:
    def pooled(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: Any = None,
    ) -> Any:
        """The mean of each window over the last {count} axes.

        Parameters
        ----------
        input : array, (samples, channels, *lengths) or (channels, *lengths)
        kernel_size, stride, padding, ceil_mode
            As in `max_pool{count}d`.
        count_include_pad : bool
            Whether the zeros outside count as elements.
        divisor_override : number, optional
            What to divide the sums by, in the place of the number of elements.

        Examples
        --------
        >>> import arraygrad as ag
        >>> ag.nn.avg_pool{count}d(ag.ones((1, {lengths})), 2).shape
        (1, {result})
        """
        batched(input, count)
        options = _options(count, kernel_size, stride, padding, 1)
        return _averaged(
            input,
            options=options,
            ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
            divisor=divisor_override,
        )

    return pooled


def adaptive_mean(x: Any, count: int, output_size: Any) -> Any:
    """The means of as many windows as wanted over the last axes."""
    windows = _adaptive(tuple(x.shape[-count:]), output_size)
    return _mean(x, windows, [valid.sum(axis=0) for _, valid in windows])


def _adaptive_avg_pool(count: int) -> Any:
    def pooled(input: Any, output_size: Any) -> Any:
        """The means of as many windows as wanted, over the last {count} axes.

        >>> ag.nn.adaptive_avg_pool{count}d(ag.ones((1, {lengths})), 2).shape
        (1, {result})
        """
        batched(input, count)
        return adaptive_mean(input, count, output_size)

    return pooled


def _lp_pool(count: int) -> Any:
    def pooled(
        input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> Any:
        """The p-norm of each window over the last {count} axes.

        >>> ag.nn.lp_pool{count}d(ag.ones((1, {lengths})), 2.0, 2).shape
        (1, {result})
        """
        batched(input, count)
        options = _options(count, kernel_size, stride, 0, 1)
        powers = ops.pow(input, norm_type)
        mean = _averaged(
            powers, options=options, ceil_mode=ceil_mode, count_include_pad=True, divisor=None
        )
        total = mean * math.prod(options[0])
        is_zero = ops.equal(total, 0)  # where a root has no slope, or an infinite one
        return ops.where(is_zero, 0, ops.pow(ops.where(is_zero, 1, total), 1 / norm_type))

    return pooled


avg_pool1d, avg_pool2d, avg_pool3d = for_axes(_avg_pool, "avg_pool", lengths=5, result=2)
adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = for_axes(
    _adaptive_avg_pool, "adaptive_avg_pool", lengths=5, result=2
)
lp_pool1d, lp_pool2d, lp_pool3d = for_axes(_lp_pool, "lp_pool", lengths=5, result=2)
