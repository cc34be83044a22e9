"""Windows laid out and put back: `unfold` and `fold`; channels moved to space and back."""

from __future__ import annotations

import math
from typing import Any

from .. import ops
from ..ops.define.signatures import one_array
from .common import at_least, batched, each, shape_of
from .windows import cut, padded, slide_over

__all__ = ["channel_shuffle", "fold", "pixel_shuffle", "pixel_unshuffle", "unfold"]


def _blocks(size: Any, lengths: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """The windows over two axes, the padding, and the padded lengths."""
    k = each(size, 2, "kernel_size")
    d, p = each(dilation, 2, "dilation"), each(padding, 2, "padding")
    s = each(stride, 2, "stride")
    at_least(1, kernel_size=k, dilation=d, stride=s)
    at_least(0, padding=p)
    whole = tuple(n + 2 * w for n, w in zip(lengths, p, strict=True))
    return slide_over(whole, k, s, d), p, whole


@one_array
def unfold(
    input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """The blocks of an image as columns, each with all channels.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.nn.unfold(ag.ones((1, 3, 4, 5)), (2, 3)).shape
    (1, 18, 9)
    """
    x, single = batched(input, 2)
    slide, ends, _ = _blocks(kernel_size, x.shape[2:], dilation, padding, stride)
    blocks = slide.seen(padded(x, [(p, p) for p in ends]))
    rows = x.shape[1] * math.prod(slide.size)
    out = ops.reshape(blocks, (x.shape[0], rows, math.prod(slide.windows)))
    return out[0] if single else out


@one_array
def fold(
    input: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Any:
    """The sum of blocks that are columns, as an image: the transpose of `unfold`.

    >>> ag.nn.fold(ag.ones((1, 4, 4)), output_size=3, kernel_size=2)
    tensor([[[[1., 2., 1.],
              [2., 4., 2.],
              [1., 2., 1.]]]])
    """
    x, single = batched(input, 1)
    lengths = each(output_size, 2, "output_size")
    slide, ends, whole = _blocks(kernel_size, lengths, dilation, padding, stride)
    size, number = math.prod(slide.size), math.prod(slide.windows)
    if x.shape[1] % size or x.shape[2] != number:
        raise ValueError(
            f"input must have a multiple of {size} rows and {number} columns, not shape "
            f"{shape_of(input)}"
        )
    blocks = ops.reshape(x, (x.shape[0], x.shape[1] // size, size, *slide.windows))
    out = cut(slide.added(blocks, whole), ends)
    return out[0] if single else out


# --- channels and space ---


@one_array
def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """Channels moved to space: each group of `r * r` channels becomes blocks of pixels.

    >>> ag.nn.pixel_shuffle(ag.arange(4.0).reshape((1, 4, 1, 1)), 2)
    tensor([[[[0., 1.],
              [2., 3.]]]])
    """
    r = _factor(input, upscale_factor, "upscale_factor")
    *lead, channels, height, width = input.shape
    if channels % (r * r):
        raise ValueError(f"{channels} channels cannot be divided by upscale_factor {r} squared")
    x = ops.reshape(input, (*lead, channels // (r * r), r, r, height, width))
    n = len(lead)
    x = ops.permute_dims(x, (*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return ops.reshape(x, (*lead, channels // (r * r), height * r, width * r), copy=True)


@one_array
def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """Space moved to channels: blocks of pixels become groups of channels.

    >>> ag.nn.pixel_unshuffle(ag.ones((1, 1, 4, 4)), 2).shape
    (1, 4, 2, 2)
    """
    r = _factor(input, downscale_factor, "downscale_factor")
    *lead, channels, height, width = input.shape
    if height % r or width % r:
        raise ValueError(
            f"an image of {height} by {width} cannot be divided by downscale_factor {r}"
        )
    x = ops.reshape(input, (*lead, channels, height // r, r, width // r, r))
    n = len(lead)
    x = ops.permute_dims(x, (*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return ops.reshape(x, (*lead, channels * r * r, height // r, width // r), copy=True)


def _factor(x: Any, factor: int, name: str) -> int:
    _check_image(x)
    if factor < 1:
        raise ValueError(f"{name} must be positive, not {factor}")
    return int(factor)


def _check_image(x: Any) -> None:
    if x.ndim < 3:
        raise ValueError(f"input must have 3 axes or more, not shape {shape_of(x)}")


@one_array
def channel_shuffle(input: Any, groups: int) -> Any:
    """Channels in another order: the first of each group, the second of each, and so on.

    >>> ag.nn.channel_shuffle(ag.arange(4.0).reshape((1, 4, 1)), 2).ravel()
    tensor([0., 2., 1., 3.])
    """
    _check_image(input)
    if groups < 1 or input.shape[1] % groups:
        raise ValueError(f"{input.shape[1]} channels cannot be divided into {groups} groups")
    x = ops.reshape(input, (input.shape[0], groups, input.shape[1] // groups, *input.shape[2:]))
    return ops.reshape(ops.swapaxes(x, 1, 2), input.shape, copy=True)
