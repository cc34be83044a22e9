"""Convolutions and their transposes, as products of filters with windows."""

from __future__ import annotations

import math
from typing import Any

from .... import ops
from ..publish import Published, function
from .sliding import Slide, at_least, batched, each, padded, slide_over


def _check(x: Any, weight: Any, bias: Any, groups: int, axis: int) -> None:
    """Raise if filters do not fit a signal; `axis` is the axis of `weight` for its channels."""
    if groups < 1:
        raise RuntimeError(f"groups must be positive, not {groups}")
    channels = weight.shape[axis] * (groups if axis else 1)
    if x.shape[1] != channels or weight.shape[0] % groups:
        raise RuntimeError(
            f"weight of shape {tuple(weight.shape)} with groups={groups} needs an input of "
            f"{channels} channels, not shape {tuple(x.shape)}"
        )
    for name, other in (("weight", weight), ("bias", bias)):
        if other is not None and other.dtype != x.dtype:
            raise RuntimeError(f"input is of {x.dtype}, but {name} of {other.dtype}")
    filters = weight.shape[0] if axis else weight.shape[1] * groups
    if bias is not None and tuple(bias.shape) != (filters,):
        raise RuntimeError(f"bias must have shape ({filters},), not {tuple(bias.shape)}")


def _ends(padding: Any, size: Any, stride: Any, dilation: Any) -> list[tuple[int, int]]:
    """How many zeros go to both ends of each axis."""
    if padding == "valid":
        return [(0, 0)] * len(size)
    if padding == "same":
        if any(s != 1 for s in stride):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        extra = [d * (k - 1) for d, k in zip(dilation, size, strict=True)]
        return [(n // 2, n - n // 2) for n in extra]
    if isinstance(padding, str):
        raise RuntimeError(f"padding must be ints, 'same' or 'valid', not {padding!r}")
    widths = each(padding, len(size), "padding")
    at_least(0, padding=widths)
    return [(p, p) for p in widths]


def _convolution(count: int) -> Published:
    def convolution(
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        """Sums of products of filters and the windows of a signal."""
        x, single = batched(input, count)
        _check(x, weight, bias, groups, 1)
        size = tuple(weight.shape[2:])
        steps, spread = each(stride, count, "stride"), each(dilation, count, "dilation")
        at_least(1, stride=steps, dilation=spread)
        x = padded(x, _ends(padding, size, steps, spread))
        slide = slide_over(tuple(x.shape[2:]), size, steps, spread)
        lengths = slide.windows
        samples, filters = x.shape[0], weight.shape[0]
        depth = weight.shape[1] * math.prod(size)
        rows = ops.reshape(weight, (groups, filters // groups, depth))
        columns = ops.reshape(slide.seen(x), (samples, groups, depth, math.prod(lengths)))
        out = ops.reshape(ops.matmul(rows, columns), (samples, filters, *lengths))
        if bias is not None:
            out = out + ops.reshape(bias, (filters, *(1,) * count))
        return out[0] if single else out

    return function(convolution, name=f"conv{count}d", method=False)


conv1d, conv2d, conv3d = (_convolution(count) for count in (1, 2, 3))


def _transposed(count: int) -> Published:
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
        """The transpose of a convolution: each element adds a multiple of a filter."""
        x, single = batched(input, count)
        _check(x, weight, bias, groups, 0)
        size = tuple(weight.shape[2:])
        steps, spread = each(stride, count, "stride"), each(dilation, count, "dilation")
        cut, more = each(padding, count, "padding"), each(output_padding, count, "output_padding")
        at_least(1, stride=steps, dilation=spread)
        at_least(0, padding=cut, output_padding=more)
        if any(m >= max(s, d) for m, s, d in zip(more, steps, spread, strict=True)):
            raise RuntimeError(
                f"output_padding must be smaller than stride or dilation, but is {more}, with "
                f"stride {steps} and dilation {spread}"
            )
        lengths, samples = tuple(x.shape[2:]), x.shape[0]
        slide = Slide(size, steps, spread, lengths)
        whole = tuple(n + m for n, m in zip(slide.span, more, strict=True))
        if any(n - 2 * c < 1 for n, c in zip(whole, cut, strict=True)):
            raise RuntimeError(f"padding {cut} leaves nothing of the output {whole}")
        depth, filters = weight.shape[0] // groups, weight.shape[1] * groups
        places_each = weight.shape[1] * math.prod(size)
        rows = ops.reshape(weight, (groups, depth, places_each))
        columns = ops.reshape(x, (samples, groups, depth, math.prod(lengths)))
        spread_out = ops.matmul(ops.matrix_transpose(rows), columns)
        seen = ops.reshape(spread_out, (samples, filters, math.prod(size), *lengths))
        out = slide.added(seen, whole)
        if any(cut):
            inside = tuple(slice(c, n - c) for n, c in zip(whole, cut, strict=True))
            out = out[(Ellipsis, *inside)]
        if bias is not None:
            out = out + ops.reshape(bias, (filters, *(1,) * count))
        return out[0] if single else out

    return function(convolution, name=f"conv_transpose{count}d", method=False)


conv_transpose1d, conv_transpose2d, conv_transpose3d = (_transposed(n) for n in (1, 2, 3))


@function(method=False)
def conv_tbc(input: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """A convolution of signals of the shape (time, samples, channels)."""
    if input.ndim != 3 or weight.ndim != 3:
        raise RuntimeError(
            "input must have the axes (time, samples, channels) and weight (taps, channels, "
            f"filters), not shapes {tuple(input.shape)} and {tuple(weight.shape)}"
        )
    x, filters = ops.permute_dims(input, (1, 2, 0)), ops.permute_dims(weight, (2, 1, 0))
    out = conv1d.__wrapped__(x, filters, bias, padding=pad)
    return ops.permute_dims(out, (2, 0, 1))
