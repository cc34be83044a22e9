"""Smoothing of signals, by constant weights or by medians, and the removal of trends."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import AnyFunction
from ...core.kinds import Opaque
from ...ops import concat, matmul, moveaxis, ravel, reshape, sum, take
from ...ops.define.library import constant
from ..twins import by_scipy, floating, in_precision_of, twin
from .lines import SCIPY, dotted, padded_places

__all__ = ["detrend", "medfilt", "medfilt2d", "savgol_filter"]


def _places_of(x: Any, *, choose: AnyFunction, cval: float, options: Any) -> Any:
    order = np.argsort(np.append(np.ravel(x), cval), kind="stable")
    ranks = np.empty(len(order))
    ranks[order] = np.arange(len(order))
    ranks, zero = ranks[:-1] - ranks[-1], ranks[-1]
    return order[(choose(ranks.reshape(x.shape), **dict(options)) + zero).astype(int)]


_places = constant("scipy.signal.places", "x", kind=Opaque(), compute=by_scipy(_places_of))


def by_rank(choose: AnyFunction, x: Any, cval: float, **options: Any) -> Any:
    """What a filter of SciPy's chooses by rank: for each element, one of a window around it.

    Which one it is, the filter says for ranks in the place of the elements, with zero beyond the
    ends in the place of `cval`.
    """
    places = _places(x, choose=choose, cval=cval, options=tuple(options.items()))
    elements = concat((ravel(x), np.asarray([cval], float)))
    return in_precision_of(reshape(take(elements, ravel(places), axis=0), x.shape), x)


@twin(SCIPY.medfilt)
def medfilt(volume: Any, kernel_size: Any) -> Any:
    """The median of a window around each element, with zeros beyond the ends."""
    return by_rank(SCIPY.medfilt, floating(volume), 0.0, kernel_size=kernel_size)


@twin(SCIPY.medfilt2d)
def medfilt2d(input: Any, kernel_size: Any) -> Any:
    """The median of a window around each element of an image, with zeros beyond the ends."""
    return by_rank(SCIPY.medfilt2d, floating(input), 0.0, kernel_size=kernel_size)


@twin(SCIPY.savgol_filter)
def savgol_filter(
    x: Any,
    window_length: int,
    polyorder: int,
    deriv: int,
    delta: float,
    axis: int,
    mode: str,
    cval: float,
) -> Any:
    """Smooth signals by fits of polynomials to the points in a window."""
    lines = moveaxis(floating(x), axis, -1)
    n, half, before = lines.shape[-1], window_length // 2, (window_length - 1) // 2
    weights = SCIPY.savgol_coeffs(window_length, polyorder, deriv=deriv, delta=delta)[::-1]
    if mode == "interp":
        if window_length > n:
            raise ValueError(
                "If mode is 'interp', window_length must be less than or equal to the size of x."
            )
        # At the ends, the polynomial through the first or last window is used.
        ends = SCIPY.savgol_filter(
            np.eye(window_length), window_length, polyorder, deriv, delta, axis=0
        )
        place = np.arange(half - before, n - half - before)[:, None] + np.arange(window_length)
        inner = dotted(lines, weights, place)
        left = matmul(lines[..., :window_length], ends[:half].T)
        right = matmul(lines[..., n - window_length :], ends[window_length - half :].T)
        out = concat((left, inner, right), axis=-1)
    else:
        places = padded_places(n, before, window_length - 1 - before, mode)
        rows = places[np.arange(n)[:, None] + np.arange(window_length)]
        out = dotted(lines - cval if mode == "constant" else lines, weights, rows)
        if mode == "constant" and cval:
            out = out + cval * weights.sum()
    return moveaxis(in_precision_of(out, lines), -1, axis)


@twin(SCIPY.detrend)
def detrend(data: Any, axis: int, type: str, bp: Any) -> Any:
    """Subtract the mean, or straight lines between break points."""
    lines = moveaxis(floating(data), axis, -1)
    if type not in ("linear", "l", "constant", "c"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    if type in ("constant", "c"):
        out = lines - sum(lines, axis=-1, keepdims=True) / lines.shape[-1]
        return moveaxis(out, -1, axis)
    n = lines.shape[-1]
    ends = np.sort(np.unique(np.concatenate((np.atleast_1d(0), np.atleast_1d(bp), [n]))))
    if (ends > n).any():
        raise ValueError("Breakpoints must be less than length of data along given axis.")
    parts = []
    for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        ramp = np.arange(1, stop - start + 1) / (stop - start)
        columns = np.stack((ramp, np.ones_like(ramp)), axis=1)
        part = lines[..., start:stop]
        fit = matmul(matmul(part, np.linalg.pinv(columns).T), columns.T)
        parts.append(part - fit)
    return moveaxis(in_precision_of(concat(parts, axis=-1), lines), -1, axis)
