"""Fractional max pooling: the largest elements of windows at random distances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import ops
from ..handles import Tensor
from ..publish import function
from ..random import rand
from .sliding import Ints, at_least, batched, each


def _starts(sample: Any, length: int, size: int, windows: int) -> Any:
    """Where windows along an axis start: about evenly, shifted by a sample from 0 to 1."""
    if windows == 1:
        return ops.astype(ops.expand_dims(sample * 0 + (length - size), -1), np.int64)
    step = (length - size) / (windows - 1)
    shifted = ops.floor((ops.expand_dims(sample, -1) + np.arange(windows - 1)) * step)
    first = ops.floor(ops.expand_dims(sample, -1) * step)
    last = first * 0 + (length - size)
    return ops.astype(ops.concat([shifted - first, last], axis=-1), np.int64)


@function(method=False)
def _pooled(input: Any, samples: Any, size: Ints, windows: Ints) -> Any:
    """The largest element of each window, and its place."""
    count = len(size)
    x, single = batched(input, count)
    lead, lengths = tuple(x.shape[:2]), tuple(x.shape[2:])
    # PyTorch's samples of an image are for its width, then its height; of a volume, in order.
    order = (1, 0) if count == 2 else (0, 1, 2)
    flat: Any = 0
    for axis, which in enumerate(order):
        start = _starts(samples[..., which], lengths[axis], size[axis], windows[axis])
        shape = [1] * (2 * count)
        shape[count + axis] = windows[axis]
        step = np.arange(size[axis]).reshape([-1 if a == axis else 1 for a in range(2 * count)])
        flat = flat * lengths[axis] + ops.reshape(start, (*lead, *shape)) + step
    places, number = math.prod(size), math.prod(windows)
    flat = ops.reshape(flat, (*lead, places, number))
    values = ops.reshape(x, (*lead, math.prod(lengths)))
    seen = ops.take_along_axis(values, ops.reshape(flat, (*lead, places * number)), axis=-1)
    which = ops.argmax(ops.reshape(seen, flat.shape), axis=-2, keepdims=True)
    place = ops.squeeze(ops.take_along_axis(flat, which, axis=-2), axis=-2)
    out = ops.reshape(ops.take_along_axis(values, place, axis=-1), (*lead, *windows))
    place = ops.reshape(place, out.shape)
    return (out[0], place[0]) if single else (out, place)


def _fractional(count: int) -> Any:
    def pool(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        """The largest elements of windows at random distances."""
        if (output_size is None) == (output_ratio is None):
            raise ValueError("exactly one of output_size and output_ratio must be given")
        size = each(kernel_size, count, "kernel_size")
        lengths: Any = tuple(input.shape[-count:])
        if output_size is not None:
            windows = each(output_size, count, "output_size")
        else:
            many = isinstance(output_ratio, tuple | list)
            ratios = tuple(output_ratio) if many else (output_ratio,) * count
            if not all(0 < r < 1 for r in ratios):
                raise ValueError(f"output_ratio must be between 0 and 1, not {output_ratio}")
            windows = tuple(int(n * r) for n, r in zip(lengths, ratios, strict=True))
        at_least(1, kernel_size=size, output_size=windows)
        if any(w + k - 1 > n for w, k, n in zip(windows, size, lengths, strict=True)):
            raise RuntimeError(f"{windows} windows of {size} do not fit into {lengths}")
        if _random_samples is None:
            samples = input.shape[0] if input.ndim == count + 2 else 1
            _random_samples = rand(samples, input.shape[-count - 1], count, dtype=input.dtype)
        found: Any = _pooled(input, _random_samples, size, windows)
        return found if return_indices else found[0]

    pool.__name__ = pool.__qualname__ = f"fractional_max_pool{count}d"
    return pool


fractional_max_pool2d, fractional_max_pool3d = _fractional(2), _fractional(3)
