"""`grid_sample`: an image or a volume read at any places, and `affine_grid`, which makes them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from .. import ops
from ..backends import backend_of
from ..ops.define.signatures import one_array, two_arrays
from .common import (
    OptionError,
    UnsupportedError,
    check_same_dtype,
    constant,
    each,
    one_of,
    shape_of,
)
from .resizing import cubic_weights

__all__ = ["affine_grid", "grid_sample"]


def _reflect(place: Any, low: float, high: float) -> Any:
    """Places folded back and forth between two mirrors."""
    if low == high:
        return place * 0
    span = high - low
    away = ops.abs(place - low)
    turns = ops.floor(away / span)
    rest = away - turns * span
    return ops.where(ops.equal(turns % 2, 0), rest, span - rest) + low


def _clipped(place: Any, n: int) -> Any:
    """Places inside; the slope is zero at the ends and outside."""
    return ops.where(place <= 0, 0.0, ops.where(place >= n - 1, float(n - 1), place))


def _inside(place: Any, n: int, padding_mode: str, align: bool) -> Any:
    if padding_mode == "zeros":
        return place
    if padding_mode == "reflection":
        place = _reflect(place, 0, n - 1) if align else _reflect(place, -0.5, n - 0.5)
    return _clipped(place, n)


def _read(x: Any, places: Any) -> Any:
    """Elements of each sample at whole places, and zero outside.

    `x` has the shape (samples, channels, *lengths), each of `places` (samples, points).
    """
    lengths = x.shape[2:]
    integers = backend_of(x).dtype(np.int64)
    flat: Any = 0
    valid: Any = None
    for place, n in zip(places, lengths, strict=True):
        inside = (place >= 0) & (place <= n - 1)
        valid = inside if valid is None else valid & inside
        flat = flat * n + ops.astype(ops.clip(ops.nan_to_num(place), 0, n - 1), integers)
    samples, channels = x.shape[:2]
    shape = (samples, channels, flat.shape[-1])
    index = ops.broadcast_to(ops.expand_dims(flat, 1), shape)
    found = ops.take_along_axis(
        ops.reshape(x, (samples, channels, math.prod(lengths))), index, axis=2
    )
    return ops.where(ops.expand_dims(valid, 1), found, 0)


def _sum_over_neighbours(x: Any, taps: list[list[tuple[Any, Any]]]) -> Any:
    """The sum over all combinations of neighbours along the axes, times their weights."""
    out = None
    for chosen in itertools.product(*taps):
        weight: Any = 1
        for _, share in chosen:
            weight = share * weight
        part = _read(x, [place for place, _ in chosen]) * ops.expand_dims(weight, 1)
        out = part if out is None else out + part
    return out


@two_arrays
def grid_sample(
    input: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: Any = None,
) -> Any:
    """An image or a volume, read at the places of a grid.

    Parameters
    ----------
    input : array, (samples, channels, *lengths)
    grid : array, (samples, *shape, 2) or (samples, *shape, 3)
        Places from -1, the start of an axis, to 1, its end. The last axis of `input` comes first.
    mode : "bilinear", "nearest" or "bicubic"
    padding_mode : "zeros", "border" or "reflection"
        What is outside.
    align_corners : bool
        Whether -1 and 1 are the middles of the first and last elements, or their edges.

    Returns
    -------
    array, (samples, channels, *shape)

    Examples
    --------
    >>> import arraygrad as ag
    >>> image = ag.tensor([[[[0.0, 1.0], [2.0, 3.0]]]])
    >>> ag.nn.grid_sample(image, ag.zeros((1, 1, 1, 2)), align_corners=True)
    tensor([[[[1.5]]]])
    """
    count = input.ndim - 2
    one_of("mode", mode, ("bilinear", "nearest", "bicubic"), OptionError)
    one_of("padding_mode", padding_mode, ("zeros", "border", "reflection"), OptionError)
    if count not in (2, 3) or grid.ndim != input.ndim or grid.shape[-1] != count:
        raise ValueError(
            "input must have 4 or 5 axes, and grid as many, the last of 2 or 3 coordinates; not "
            f"shapes {shape_of(input)} and {shape_of(grid)}"
        )
    check_same_dtype(input, grid=grid)
    if grid.shape[0] != input.shape[0]:
        raise ValueError(f"input has {input.shape[0]} samples, but grid has {grid.shape[0]}")
    if mode == "bicubic" and count == 3:
        raise ValueError("mode 'bicubic' is for an input of 4 axes, not of 5")
    align = bool(align_corners)
    samples, shape = grid.shape[0], tuple(grid.shape[1:-1])
    lengths = tuple(input.shape[2:])
    if 0 in lengths:
        raise ValueError(f"input must not be empty, but has shape {shape_of(input)}")
    points = ops.reshape(grid, (samples, math.prod(shape), count))
    taps = []
    for axis, n in enumerate(lengths):
        x = points[..., count - 1 - axis]
        place = (x + 1) / 2 * (n - 1) if align else ((x + 1) * n - 1) / 2
        if mode == "bicubic":
            taps.append(_cubic_taps(place, n, padding_mode, align))
            continue
        place = _inside(place, n, padding_mode, align)
        if mode == "nearest":
            taps.append([(ops.round(place), place * 0 + 1)])
        else:
            low = ops.floor(place)
            taps.append([(low, low + 1 - place), (low + 1, place - low)])
    out = _sum_over_neighbours(input, taps)
    return ops.reshape(out, (*input.shape[:2], *shape))


def _cubic_taps(place: Any, n: int, padding_mode: str, align: bool) -> list[tuple[Any, Any]]:
    low = ops.floor(place)
    weights = cubic_weights(place - low)
    return [
        (_inside(low + step, n, padding_mode, align), weight)
        for step, weight in zip(range(-1, 3), weights, strict=True)
    ]


@one_array
def affine_grid(theta: Any, size: Any, align_corners: Any = None) -> Any:
    """The grid of a size for `grid_sample`, moved by one affine map for each sample.

    >>> identity = ag.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> ag.nn.affine_grid(identity, (1, 1, 2, 2), align_corners=True)[0, 0]
    tensor([[-1., -1.],
            [ 1., -1.]])
    """
    lengths = each(size, len(size), "size")[2:]
    count = len(lengths)
    if count not in (2, 3):
        raise UnsupportedError(f"size must be 4 or 5 numbers, not {tuple(size)}")
    if shape_of(theta) != (size[0], count, count + 1):
        raise ValueError(
            "theta must have the shape (N, 2, 3) for a size (N, C, H, W), or (N, 3, 4) for "
            f"(N, C, D, H, W); not {shape_of(theta)} for {tuple(size)}"
        )
    lines = []
    for n in lengths:
        line = np.linspace(-1, 1, n) if n > 1 else np.zeros(n)
        lines.append(line if align_corners else line * (n - 1) / n)
    points = np.meshgrid(*lines, indexing="ij")
    base = np.stack([*points[::-1], np.ones(lengths)], axis=-1).reshape(-1, count + 1)
    base = ops.astype(constant(base, theta), theta.dtype)
    return ops.reshape(ops.matmul(base, ops.matrix_transpose(theta)), (size[0], *lengths, count))
