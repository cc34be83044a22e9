"""Convolutions and their transposes, as products of filters with windows."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .. import ops
from ..backends.numpy import native
from ..ops.filters import _filtered
from .common import (
    Ints,
    at_least,
    batched,
    check_arrays,
    check_same_dtype,
    each,
    for_axes,
    shape_of,
    with_weight,
)
from .one_pass import is_in_program, one_program
from .windows import Slide, cut, padded, slide_over

__all__ = [
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
]  # fmt: skip

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))  # of which native code has sums of products


def _check(x: Any, weight: Any, bias: Any, groups: int, count: int, transposed: bool) -> None:
    """Raise if filters do not fit a signal."""
    check_arrays(weight=weight, bias=bias)
    if weight.ndim != count + 2:
        raise ValueError(f"weight must have {count + 2} axes, not shape {shape_of(weight)}")
    if groups < 1:
        raise ValueError(f"groups must be positive, not {groups}")
    channels = weight.shape[0] if transposed else weight.shape[1] * groups
    if x.shape[1] != channels or weight.shape[0] % groups:
        raise ValueError(
            f"weight of shape {shape_of(weight)} with groups={groups} needs an input of "
            f"{channels} channels, not shape {shape_of(x)}"
        )
    check_same_dtype(x, weight=weight, bias=bias)
    filters = weight.shape[1] * groups if transposed else weight.shape[0]
    if bias is not None and shape_of(bias) != (filters,):
        raise ValueError(f"bias must have shape ({filters},), not {shape_of(bias)}")


def _ends(padding: Any, size: Any, stride: Any, dilation: Any) -> list[tuple[int, int]]:
    """How many zeros go to both ends of each axis."""
    if padding == "valid":
        return [(0, 0)] * len(size)
    if padding == "same":
        if any(s != 1 for s in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
        extra = [d * (k - 1) for d, k in zip(dilation, size, strict=True)]
        return [(n // 2, n - n // 2) for n in extra]
    if isinstance(padding, str):
        raise ValueError(f"padding must be ints, 'same' or 'valid', not {padding!r}")
    widths = each(padding, len(size), "padding")
    at_least(0, padding=widths)
    return [(p, p) for p in widths]


def _with_bias(out: Any, bias: Any) -> Any:
    if bias is None:
        return out
    return out + ops.reshape(bias, (bias.shape[0], *(1,) * (out.ndim - 2)))


def _convolution(count: int) -> Any:
    def convolution(
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        """Filters slide over the last {count} axes of a signal: sums of products.

        Parameters
        ----------
        input : array, (samples, channels, *lengths) or (channels, *lengths)
        weight : array, (filters, channels / groups, *sizes)
        bias : array, (filters,), optional
            Added to the result of each filter.
        stride, dilation : int, or one for each axis
            The distances between windows, and between the places in a window.
        padding : int, one for each axis, "same" or "valid"
            The number of zeros at both ends. With "same", the result is as long as the input.
        groups : int
            Channels and filters are divided into as many groups, which do not meet.

        Examples
        --------
        >>> import arraygrad as ag
        >>> x, weight = ag.ones((1, 1, {lengths})), ag.ones((2, 1, {sizes}))
        >>> ag.nn.conv{count}d(x, weight, stride=2).shape
        (1, 2, {result})
        """
        x, single = batched(input, count)
        _check(x, weight, bias, groups, count, False)
        size = tuple(weight.shape[2:])
        steps, spread = each(stride, count, "stride"), each(dilation, count, "dilation")
        at_least(1, stride=steps, dilation=spread)
        ends = tuple(_ends(padding, size, steps, spread))
        out = _convolved(x, weight, bias, ends=ends, steps=steps, spread=spread, groups=groups)
        return out[0] if single else out

    return convolution


@one_program
def _convolved(
    x: Any, weight: Any, bias: Any, *, ends: Any, steps: Ints, spread: Ints, groups: int
) -> Any:
    size = tuple(weight.shape[2:])
    lengths = tuple(n + sum(e) for n, e in zip(x.shape[2:], ends, strict=True))
    slide = slide_over(lengths, size, steps, spread)
    samples, filters = x.shape[0], weight.shape[0]
    if _has_native(x, weight, steps):
        signal = ops.reshape(x, (samples, groups, weight.shape[1], *x.shape[2:]))
        by_group = ops.reshape(weight, (groups, filters // groups, *weight.shape[1:]))
        out = _filtered(signal, by_group, ends=ends, stride=steps, dilation=spread)
        return _with_bias(ops.reshape(out, (samples, filters, *slide.windows)), bias)
    x = padded(x, ends)
    if is_in_program(x) and groups == filters == x.shape[1]:  # one pass, and no matrices
        factors = ops.reshape(weight, (filters, -1, *(1,) * len(size)))
        parts = [part * factors[:, i] for i, part in enumerate(slide.parts(x))]
        return _with_bias(functools.reduce(ops.add, parts), bias)
    depth = weight.shape[1] * math.prod(size)
    rows = ops.reshape(weight, (groups, filters // groups, depth))
    columns = ops.reshape(slide.seen(x), (samples, groups, depth, math.prod(slide.windows)))
    out = ops.reshape(ops.matmul(rows, columns), (samples, filters, *slide.windows))
    return _with_bias(out, bias)


def _has_native(x: Any, weight: Any, steps: Ints) -> bool:
    """Whether native code has sums of products that are faster than matrix products."""
    if not (is_in_program(x) or is_in_program(weight)) or native.compiler() is None:
        return False
    is_long = max(steps) == 1 < math.prod(weight.shape[2:]) and 0 not in (*x.shape, *weight.shape)
    return is_long and x.dtype in _FLOATS


def _transposed(count: int) -> Any:
    def convolution(
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Any:
        """The transpose of a convolution: each element adds a multiple of a filter.

        Parameters
        ----------
        input : array, (samples, channels, *lengths) or (channels, *lengths)
        weight : array, (channels, filters / groups, *sizes)
        bias : array, (filters,), optional
        stride, padding, dilation, groups
            Those of the convolution whose transpose it is: `padding` is cut off.
        output_padding : int, or one for each axis
            How many elements the result has more at its end, among the lengths that are possible.

        Examples
        --------
        >>> import arraygrad as ag
        >>> x, weight = ag.ones((1, 1, {lengths})), ag.ones((1, 2, {sizes}))
        >>> ag.nn.conv_transpose{count}d(x, weight, stride=2).shape
        (1, 2, {result})
        """
        x, single = batched(input, count)
        _check(x, weight, bias, groups, count, True)
        size = tuple(weight.shape[2:])
        steps, spread = each(stride, count, "stride"), each(dilation, count, "dilation")
        ends, more = each(padding, count, "padding"), each(output_padding, count, "output_padding")
        at_least(1, stride=steps, dilation=spread)
        at_least(0, padding=ends, output_padding=more)
        if any(m >= max(s, d) for m, s, d in zip(more, steps, spread, strict=True)):
            raise ValueError(
                f"output_padding must be smaller than stride or dilation, but is {more}, with "
                f"stride {steps} and dilation {spread}"
            )
        slide = Slide(size, steps, spread, tuple(x.shape[2:]))
        whole = tuple(n + m for n, m in zip(slide.span, more, strict=True))
        if any(n - 2 * c < 1 for n, c in zip(whole, ends, strict=True)):
            raise ValueError(f"padding {ends} leaves nothing of the output {whole}")
        out = _spread(x, weight, bias, slide=slide, whole=whole, ends=ends, groups=groups)
        return out[0] if single else out

    return convolution


@one_program
def _spread(
    x: Any, weight: Any, bias: Any, *, slide: Slide, whole: Ints, ends: Ints, groups: int
) -> Any:
    samples, lengths, places = x.shape[0], slide.windows, math.prod(slide.size)
    depth, filters = weight.shape[0] // groups, weight.shape[1] * groups
    rows = ops.reshape(weight, (groups, depth, weight.shape[1] * places))
    columns = ops.reshape(x, (samples, groups, depth, math.prod(lengths)))
    spread_out = ops.matmul(ops.matrix_transpose(rows), columns)
    seen = ops.reshape(spread_out, (samples, filters, places, *lengths))
    return _with_bias(cut(slide.added(seen, whole), ends), bias)


conv1d, conv2d, conv3d = with_weight(for_axes(_convolution, "conv", lengths=5, sizes=3, result=2))
conv_transpose1d, conv_transpose2d, conv_transpose3d = with_weight(
    for_axes(_transposed, "conv_transpose", lengths=5, sizes=3, result=11)
)
