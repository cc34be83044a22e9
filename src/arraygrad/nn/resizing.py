"""`interpolate`: signals, images and volumes of another size."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..backends.dtypes import finfo
from ..ops.define.signatures import one_array
from .common import OptionError, UnsupportedError, each, one_of
from .pooling import adaptive_mean
from .windows import weighted

__all__ = ["interpolate"]

_LINEAR = {"linear": 1, "bilinear": 2, "trilinear": 3}
_WITHOUT_CORNERS = ("nearest", "nearest-exact", "area")


def _nearest(n: int, length: int, step: Any, exact: bool) -> tuple[Any, Any]:
    place = (np.arange(length, dtype=step.dtype) + (step.dtype.type(0.5) if exact else 0)) * step
    return np.minimum(np.floor(place), n - 1).astype(np.int64)[None], None


def _linear(n: int, place: Any) -> tuple[Any, Any]:
    place = np.maximum(place, 0)
    low = np.minimum(np.floor(place).astype(np.int64), n - 1)
    share = np.minimum(place - low, 1)
    return np.stack([low, np.minimum(low + 1, n - 1)]), np.stack([1 - share, share])


def _near(x: Any, a: float) -> Any:
    return ((a + 2) * x - (a + 3)) * x * x + 1


def _far(x: Any, a: float) -> Any:
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a


def cubic_weights(t: Any, a: float = -0.75) -> list[Any]:
    """The weights of four neighbours; `t` is the distance from the second one, of 0 to 1."""
    return [_far(t + 1, a), _near(t, a), _near(1 - t, a), _far(2 - t, a)]


def _cubic(n: int, place: Any) -> tuple[Any, Any]:
    low = np.floor(place).astype(np.int64)
    index = np.clip(low + np.arange(-1, 3)[:, None], 0, n - 1)
    return index, np.stack(cubic_weights(place - low))


def _smooth(n: int, length: int, step: float, reach: int, filter: Callable[..., Any]) -> Any:
    """A mean over as many neighbours as an element of the result covers, against aliasing."""
    wide = max(step, 1.0)
    centre = step * (np.arange(length) + 0.5)
    first = np.maximum((centre - reach * wide + 0.5).astype(np.int64), 0)
    end = np.minimum((centre + reach * wide + 0.5).astype(np.int64), n)
    index = first + np.arange((end - first).max(initial=1))[:, None]
    weight = np.where(index < end, filter(np.abs(index - centre + 0.5) / wide), 0.0)
    return np.minimum(index, n - 1), weight / weight.sum(axis=0)


def _triangle(x: Any) -> Any:
    return np.maximum(1 - x, 0)


def _cubic_filter(x: Any) -> Any:
    return np.where(x < 1, _near(x, -0.5), np.where(x < 2, _far(x, -0.5), 0))


def _table(
    mode: str, n: int, length: int, scale: float | None, align: Any, float_type: Any, smooth: bool
) -> Any:
    """The neighbours of each element of the result along an axis, and their weights."""
    if mode in ("nearest", "nearest-exact"):
        step = float_type(n) / float_type(length) if scale is None else float_type(1.0 / scale)
        return _nearest(n, length, step, mode == "nearest-exact")
    if align:
        step = (n - 1) / (length - 1) if length > 1 else 0.0
    else:
        step = n / length if scale is None else 1.0 / scale
    if smooth:
        reach, filter = (2, _cubic_filter) if mode == "bicubic" else (1, _triangle)
        return _smooth(n, length, step, reach, filter)
    place = np.arange(length) * step if align else (np.arange(length) + 0.5) * step - 0.5
    return _cubic(n, place) if mode == "bicubic" else _linear(n, place)


def _sizes(lengths: Any, size: Any, scale_factor: Any) -> tuple[list[int], list[float | None]]:
    """The length of each axis of the result, and its scale if that is what was given."""
    count = len(lengths)
    if (size is None) == (scale_factor is None):
        raise OptionError("exactly one of size and scale_factor should be defined")
    given = size if size is not None else scale_factor
    many = tuple(given) if isinstance(given, tuple | list) else (given,) * count
    if len(many) != count:
        raise OptionError(f"input has {count} axes to resize, but {tuple(many)} was given for them")
    if size is not None:
        return list(each(many, count, "size")), [None] * count
    return [math.floor(n * float(s)) for n, s in zip(lengths, many, strict=True)], list(many)


@one_array
def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: Any = None,
    recompute_scale_factor: Any = None,
    antialias: bool = False,
) -> Any:
    """The signal, image or volume of another size, by interpolation.

    Parameters
    ----------
    input : array, (samples, channels, *lengths)
    size : int, or one for each axis
        The lengths of the result.
    scale_factor : float, or one for each axis
        The lengths of the result by those of the input, in the place of `size`.
    mode : str
        "nearest", "nearest-exact" or "area"; "linear" for one axis, "bilinear" and "bicubic" for
        two, "trilinear" for three.
    align_corners : bool
        Whether the first and last elements stay in the corners; otherwise, the edges stay.
    recompute_scale_factor : bool
        Whether places are computed from the lengths, and not from `scale_factor`.
    antialias : bool
        Whether to take means over what an element of a smaller image covers; for "bilinear" and
        "bicubic".

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.nn.interpolate(ag.tensor([[[0.0, 1.0, 2.0]]]), 5, mode="linear", align_corners=True)
    tensor([[[0. , 0.5, 1. , 1.5, 2. ]]])
    """
    one_of("mode", mode, (*_WITHOUT_CORNERS, *_LINEAR, "bicubic"), UnsupportedError)
    if mode in _WITHOUT_CORNERS and align_corners is not None:
        raise OptionError(
            f"align_corners is for the modes linear, bilinear, bicubic and trilinear, not {mode}"
        )
    if antialias and mode not in ("bilinear", "bicubic"):
        raise UnsupportedError(f"antialias is for the modes bilinear and bicubic, not for {mode}")
    lengths = tuple(input.shape[2:])
    count = len(lengths)
    if count not in (1, 2, 3) or {"bicubic": 2, **_LINEAR}.get(mode, count) != count:
        raise UnsupportedError(
            f"mode {mode!r} does not fit an input of {input.ndim} axes: two axes come before those "
            "to resize, which are 1 for linear, 2 for bilinear and bicubic, 3 for trilinear"
        )
    if recompute_scale_factor and size is not None:
        raise OptionError("recompute_scale_factor is not meaningful with an explicit size.")
    wanted, scales = _sizes(lengths, size, scale_factor)
    if any(n < 1 for n in (*lengths, *wanted)):
        raise ValueError(f"sizes must be positive, but are {lengths} and {tuple(wanted)}")
    if mode == "area":
        return adaptive_mean(input, count, tuple(wanted))
    if recompute_scale_factor:
        scales = [None] * count
    # As in PyTorch, places are rounded as numbers of the input would be.
    float_type = np.float32 if finfo(input.dtype).bits == 32 else np.float64
    out = input
    for back in range(1, count + 1):
        of_axis = (lengths[-back], wanted[-back], scales[-back])
        index, weight = _table(mode, *of_axis, align_corners, float_type, antialias)
        out = weighted(out, -back, index, weight)
    return out
