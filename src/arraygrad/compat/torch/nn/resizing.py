"""`interpolate`: signals, images and volumes of another size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..publish import ArgumentError, function
from .pooling import adaptive_mean
from .resampling import weighted

_LINEAR = {"linear": 1, "bilinear": 2, "trilinear": 3}


def _nearest(n: int, length: int, step: Any, exact: bool) -> tuple[Any, Any]:
    place = (np.arange(length, dtype=step.dtype) + (step.dtype.type(0.5) if exact else 0)) * step
    return np.minimum(np.floor(place), n - 1).astype(np.int64)[None], None


def _linear(n: int, place: Any) -> tuple[Any, Any]:
    place = np.maximum(place, 0)
    low = np.minimum(np.floor(place).astype(np.int64), n - 1)
    share = np.minimum(place - low, 1)
    return np.stack([low, np.minimum(low + 1, n - 1)]), np.stack([1 - share, share])


def cubic_weights(t: Any) -> list[Any]:
    """The weights of four neighbours; `t` is the distance from the second one, of 0 to 1."""
    a = -0.75

    def near(x: Any) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Any) -> Any:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _cubic(n: int, place: Any) -> tuple[Any, Any]:
    low = np.floor(place).astype(np.int64)
    index = np.clip(low + np.arange(-1, 3)[:, None], 0, n - 1)
    return index, np.stack(cubic_weights(place - low))


def _table(mode: str, n: int, length: int, scale: float | None, align: Any, kind: Any) -> Any:
    """The neighbours of each element of the result along an axis, and their weights."""
    if mode in ("nearest", "nearest-exact"):
        step = kind(n) / kind(length) if scale is None else kind(1.0 / scale)
        return _nearest(n, length, step, mode == "nearest-exact")
    place: Any
    if align:
        place = np.arange(length, dtype=float) * ((n - 1) / (length - 1) if length > 1 else 0.0)
    else:
        place = (np.arange(length) + 0.5) * (n / length if scale is None else 1.0 / scale) - 0.5
    return _cubic(n, place) if mode == "bicubic" else _linear(n, place)


def _sizes(lengths: Any, size: Any, scale_factor: Any) -> tuple[list[int], list[float | None]]:
    """The length of each axis of the result, and its scale if that is what was given."""
    count = len(lengths)
    if (size is None) == (scale_factor is None):
        raise ArgumentError("exactly one of size and scale_factor should be defined")
    given = size if size is not None else scale_factor
    many = tuple(given) if isinstance(given, tuple | list) else (given,) * count
    if len(many) != count:
        raise ArgumentError(
            f"input has {count} axes to resize, but {tuple(many)} was given for them"
        )
    if size is not None:
        return [int(n) for n in many], [None] * count
    return [math.floor(n * float(s)) for n, s in zip(lengths, many, strict=True)], list(many)


@function(method=False)
def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: Any = None,
    recompute_scale_factor: Any = None,
    antialias: bool = False,
) -> Any:
    """The signal, image or volume of another size, by interpolation."""
    if mode in ("nearest", "nearest-exact", "area"):
        if align_corners is not None:
            raise ArgumentError(
                "align_corners is for the modes linear, bilinear, bicubic and trilinear, not "
                f"for {mode}"
            )
    elif mode not in _LINEAR and mode != "bicubic":
        raise NotImplementedError(
            f"mode {mode!r} is none of nearest, nearest-exact, area, linear, "
            "bilinear, bicubic and trilinear"
        )
    if antialias:
        raise NotImplementedError(
            "interpolate(antialias=True) is not supported: leave it away, or blur the input first"
        )
    lengths = tuple(input.shape[2:])
    count = len(lengths)
    if count not in (1, 2, 3) or {"bicubic": 2, **_LINEAR}.get(mode, count) != count:
        raise NotImplementedError(
            f"mode {mode!r} does not fit an input of {input.ndim} axes: two axes come before those "
            "to resize, which are 1 for linear, 2 for bilinear and bicubic, 3 for trilinear"
        )
    if recompute_scale_factor and size is not None:
        raise ArgumentError("recompute_scale_factor is not meaningful with an explicit size.")
    wanted, scales = _sizes(lengths, size, scale_factor)
    if any(n < 1 for n in (*lengths, *wanted)):
        raise RuntimeError(f"sizes must be positive, but are {lengths} and {tuple(wanted)}")
    if mode == "area":
        return adaptive_mean(input, count, tuple(wanted))
    if recompute_scale_factor:
        scales = [None] * count
    kind = np.float32 if input.dtype == np.float32 else np.float64
    out = input
    for back in range(1, count + 1):
        index, weight = _table(
            mode, lengths[-back], wanted[-back], scales[-back], align_corners, kind
        )
        out = weighted(out, -back, index, weight)
    return out


def upsample(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: Any = None,
) -> Any:
    """`interpolate`, by its old name."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """`interpolate` by the nearest neighbour."""
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """`interpolate` of images by lines, with the corners in the corners."""
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
