"""Windows laid out and put back: `unfold`, `fold`, `max_unpool`, and channels from and to space."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import ops
from ....arrays.batched import Batched
from ....arrays.creation import asarray
from ....core.array import plain
from ..functions import indexing
from ..publish import ArgumentError, Published, function
from .sliding import Ints, at_least, batched, each, padded, slide_over


def _unpooled_size(lengths: Ints, size: Ints, steps: Ints, ends: Ints, output_size: Any) -> Ints:
    usual = tuple(
        (n - 1) * s + k - 2 * p for n, k, s, p in zip(lengths, size, steps, ends, strict=True)
    )
    if output_size is None:
        return usual
    wanted = tuple(int(n) for n in output_size)[-len(lengths) :]
    if len(wanted) != len(lengths) or len(output_size) > len(lengths) + 2:
        raise ArgumentError(f"output_size must have {len(lengths)} sizes, not {tuple(output_size)}")
    for w, n, s in zip(wanted, usual, steps, strict=True):
        if not n - s < w < n + s:
            raise ArgumentError(
                f"output_size must differ from {usual} by less than {steps}: {wanted}"
            )
    return wanted


def _max_unpool(count: int) -> Published:
    def unpooled(
        input: Any,
        indices: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        output_size: Any = None,
    ) -> Any:
        """Elements at the places that `max_pool` found them at, and zeros.

        Where windows overlap, one element is found twice. The last one stays, and has the gradient.
        """
        batched(input, count)
        if tuple(indices.shape) != tuple(input.shape):
            raise RuntimeError(
                f"indices must have the shape {tuple(input.shape)}, not {tuple(indices.shape)}"
            )
        size = each(kernel_size, count, "kernel_size")
        steps = size if stride is None else each(stride, count, "stride")
        lead, lengths = tuple(input.shape[:-count]), tuple(input.shape[-count:])
        ends = each(padding, count, "padding")
        shape = _unpooled_size(lengths, size, steps, ends, output_size)
        number = math.prod(shape)
        if not isinstance(indices, Batched):
            where = np.asarray(plain(indices))
            if where.size and not (where.min() >= 0 and where.max() < number):
                raise RuntimeError(f"indices must be in [0, {number}), the size of the output")
        place = ops.reshape(indices, (*lead, -1) if 0 not in lead else (*lead, 0))
        flat = ops.reshape(input, place.shape)
        out = asarray(ops.zeros_like(flat, shape=(*lead, number)))
        out = indexing.scatter.__wrapped__(out, -1, place, flat)
        return ops.reshape(out, (*lead, *shape))

    return function(unpooled, name=f"max_unpool{count}d", method=False)


max_unpool1d, max_unpool2d, max_unpool3d = map(_max_unpool, (1, 2, 3))


def _blocks(size: Any, lengths: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """The windows over two axes, the padding, and the padded lengths."""
    k = each(size, 2, "kernel_size")
    d, p = each(dilation, 2, "dilation"), each(padding, 2, "padding")
    s = each(stride, 2, "stride")
    at_least(1, kernel_size=k, dilation=d, stride=s)
    at_least(0, padding=p)
    whole = tuple(n + 2 * w for n, w in zip(lengths, p, strict=True))
    return slide_over(whole, k, s, d), p, whole


@function(method=False)
def unfold(
    input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """The blocks of an image as columns."""
    x, single = batched(input, 2)
    slide, ends, _ = _blocks(kernel_size, x.shape[2:], dilation, padding, stride)
    blocks = slide.seen(padded(x, [(p, p) for p in ends]))
    rows = x.shape[1] * math.prod(slide.size)
    out = ops.reshape(blocks, (x.shape[0], rows, math.prod(slide.windows)))
    return out[0] if single else out


@function(method=False)
def fold(
    input: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Any:
    """The sum of blocks that are columns, as an image."""
    x, single = batched(input, 1)
    lengths = each(output_size, 2, "output_size")
    slide, ends, whole = _blocks(kernel_size, lengths, dilation, padding, stride)
    size, number = math.prod(slide.size), math.prod(slide.windows)
    if x.shape[1] % size or x.shape[2] != number:
        raise RuntimeError(
            f"input must have a multiple of {size} rows and {number} columns, not shape "
            f"{tuple(input.shape)}"
        )
    blocks = ops.reshape(x, (x.shape[0], x.shape[1] // size, size, *slide.windows))
    out = slide.added(blocks, whole)
    if any(ends):
        inside = tuple(slice(p, n - p) for n, p in zip(whole, ends, strict=True))
        out = out[(Ellipsis, *inside)]
    return out[0] if single else out


# --- channels and space ---


@function(method=False)
def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """Channels moved to space: each group of `r * r` channels becomes blocks of pixels."""
    r = _factor(input, upscale_factor, "upscale_factor")
    *lead, channels, height, width = input.shape
    if channels % (r * r):
        raise RuntimeError(f"{channels} channels cannot be divided by upscale_factor {r} squared")
    x = ops.reshape(input, (*lead, channels // (r * r), r, r, height, width))
    n = len(lead)
    x = ops.permute_dims(x, (*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return ops.reshape(x, (*lead, channels // (r * r), height * r, width * r))


@function(method=False)
def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """Space moved to channels: blocks of pixels become groups of channels."""
    r = _factor(input, downscale_factor, "downscale_factor")
    *lead, channels, height, width = input.shape
    if height % r or width % r:
        raise RuntimeError(
            f"an image of {height} by {width} cannot be divided by downscale_factor {r}"
        )
    x = ops.reshape(input, (*lead, channels, height // r, r, width // r, r))
    n = len(lead)
    x = ops.permute_dims(x, (*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return ops.reshape(x, (*lead, channels * r * r, height // r, width // r))


def _factor(x: Any, factor: int, name: str) -> int:
    if x.ndim < 3:
        raise RuntimeError(f"input must have 3 axes or more, not shape {tuple(x.shape)}")
    if factor < 1:
        raise RuntimeError(f"{name} must be positive, not {factor}")
    return int(factor)


@function(method=False)
def channel_shuffle(input: Any, groups: int) -> Any:
    """Channels in another order: the first of each group, the second of each, and so on."""
    if input.ndim < 3:
        raise RuntimeError(f"input must have 3 axes or more, not shape {tuple(input.shape)}")
    if groups < 1 or input.shape[1] % groups:
        raise RuntimeError(f"{input.shape[1]} channels cannot be divided into {groups} groups")
    x = ops.reshape(input, (input.shape[0], groups, input.shape[1] // groups, *input.shape[2:]))
    return ops.reshape(ops.swapaxes(x, 1, 2), input.shape)


native_channel_shuffle = channel_shuffle
