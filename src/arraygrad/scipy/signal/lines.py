"""Helpers for signals along the last axis: extensions beyond the ends, and segments."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.filled import zeros_like
from ...core.indices import HOLE
from ...ops import concat, flip, reshape, sum, take
from ...ops.indexing import _index_add
from ..names import scipy_module
from ..twins import in_precision_of

SCIPY = scipy_module("scipy.signal")


def zeros(x: Any, length: int) -> Any:
    """Lines of zeros beside the lines of `x`."""
    return zeros_like(x, (*x.shape[:-1], length))


def extended(x: Any, n: int, kind: str | None) -> Any:
    """Lines with `n` more elements at both ends, as `filtfilt` and `stft` extend them."""
    if kind is None or n < 1:
        return x
    if kind in ("odd", "even") and n > x.shape[-1] - 1:
        raise ValueError(
            f"The extension length n ({n}) is too big. It must not exceed x.shape[axis]-1, which "
            f"is {x.shape[-1] - 1}."
        )
    left, right = x[..., :1], x[..., -1:]
    before, after = flip(x[..., 1 : n + 1], axis=-1), flip(x[..., -n - 1 : -1], axis=-1)
    if kind == "odd":
        return concat((2 * left - before, x, 2 * right - after), axis=-1)
    if kind == "even":
        return concat((before, x, after), axis=-1)
    if kind == "constant":
        return concat((left + zeros(x, n), x, right + zeros(x, n)), axis=-1)
    if kind == "zeros":
        return concat((zeros(x, n), x, zeros(x, n)), axis=-1)
    raise ValueError(f"unknown extension {kind!r}: it must be odd, even, constant, zeros or None")


def at_places(x: Any, place: Any) -> Any:
    """The elements of lines at an array of places; -1 stands for zero."""
    n = x.shape[-1]
    index = np.where(place < 0, n, place)
    if (place < 0).any():
        x = concat((x, zeros(x, 1)), axis=-1)
    return reshape(take(x, index.reshape(-1), axis=-1), (*x.shape[:-1], *place.shape))


def dotted(x: Any, weights: Any, places: Any) -> Any:
    """For each row of `places`, the sum of the elements there times the weights."""
    return in_precision_of(sum(at_places(x, places) * weights, axis=-1), x)


def added_at(parts: Any, place: Any, total: int) -> Any:
    """Lines of a total length, with parts added at their places."""
    lead = parts.shape[: parts.ndim - place.ndim]
    lines = reshape(parts, (*lead, place.size))
    return _index_add(lines, place.reshape(-1), template=(..., HOLE), shape=(*lead, total))


def segments(x: Any, length: int, step: int) -> Any:
    """Overlapping parts of lines, in a new axis before the last."""
    count = (x.shape[-1] - length) // step + 1
    return at_places(x, np.arange(count)[:, None] * step + np.arange(length))


def padded_places(n: int, before: int, after: int, mode: str) -> Any:
    """For each place of a padded line, the place in the line; -1 outside, for zeros.

    The modes are those of `scipy.ndimage`.
    """
    k = np.arange(-before, n + after)
    if mode in ("constant", "grid-constant"):
        return np.where((k >= 0) & (k < n), k, -1)
    if mode == "nearest":
        return np.clip(k, 0, n - 1)
    if mode in ("wrap", "grid-wrap"):
        return k % n
    if mode in ("reflect", "grid-mirror"):
        k = k % (2 * n)
        return np.where(k < n, k, 2 * n - 1 - k)
    if mode == "mirror":
        if n == 1:
            return 0 * k
        k = k % (2 * n - 2)
        return np.where(k < n, k, 2 * n - 2 - k)
    raise ValueError(f"boundary mode {mode!r} is not supported")
