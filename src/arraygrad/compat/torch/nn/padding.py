"""`pad`: more or fewer elements at the ends of axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops
from ..publish import function
from .resampling import weighted


def _reflected(n: int, before: int, after: int) -> Any:
    if before >= n or after >= n:
        raise RuntimeError(
            f"padding ({before}, {after}) must be less than the length {n} to reflect"
        )
    place = np.arange(-before, n + after)
    place = np.abs(place)
    return np.where(place >= n, 2 * (n - 1) - place, place)


def _replicated(n: int, before: int, after: int) -> Any:
    if not n:
        raise RuntimeError("an axis without elements has no edge to repeat")
    return np.clip(np.arange(-before, n + after), 0, n - 1)


def _circular(n: int, before: int, after: int) -> Any:
    if before > n or after > n:
        raise RuntimeError(f"padding ({before}, {after}) wraps around the length {n} twice")
    kept = np.arange(max(-before, 0), n - max(-after, 0))  # what is cut off does not come back
    return np.take(kept, np.arange(-max(before, 0), len(kept) + max(after, 0)), mode="wrap")


_PLACES = {"reflect": _reflected, "replicate": _replicated, "circular": _circular}


@function(method=False)
def pad(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    """More elements at the ends, or fewer; `pad` starts with the last axis."""
    count = len(pad) // 2
    if len(pad) % 2 or count > input.ndim:
        raise RuntimeError(
            f"pad must be pairs for at most {input.ndim} axes, not {len(pad)} numbers"
        )
    pairs = [(int(pad[2 * i]), int(pad[2 * i + 1])) for i in range(count)]
    for back, (before, after) in enumerate(pairs, 1):
        if input.shape[-back] + before + after < 0:
            raise RuntimeError(f"pad ({before}, {after}) is more than axis {-back} has elements")
    if mode == "constant":
        return _with_constant(input, pairs, 0 if value is None else value)
    if mode not in _PLACES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise RuntimeError(f'padding mode "{mode}" doesn\'t take in value argument')
    if not (count <= 3 and input.ndim in (count + 1, count + 2)):
        raise NotImplementedError(
            f'mode "{mode}" pads the last 1, 2 or 3 axes after one or two others: {len(pad)} '
            f"numbers do not fit an input of {input.ndim} axes"
        )
    for back, (before, after) in enumerate(pairs, 1):
        if before or after:
            table = _PLACES[mode](input.shape[-back], before, after)
            if not len(table):
                raise RuntimeError(f"pad ({before}, {after}) leaves nothing of axis {-back}")
            input = weighted(input, -back, table[None])
    return input


def _with_constant(x: Any, pairs: list[tuple[int, int]], value: Any) -> Any:
    widths = [(0, 0)] * (x.ndim - len(pairs)) + pairs[::-1]
    if any(n < 0 for pair in widths for n in pair):
        cut = tuple(
            slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(widths, x.shape, strict=True)
        )
        x, widths = x[cut], [(max(a, 0), max(b, 0)) for a, b in widths]
    return ops.pad(x, widths, constant_values=value)
