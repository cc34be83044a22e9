"""`pad`: more or fewer elements at the ends of axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops
from ..ops.define.signatures import one_array
from .common import UnsupportedError, each, one_of, shape_of
from .windows import weighted

__all__ = ["pad"]


def _reflected(n: int, before: int, after: int) -> Any:
    if before >= n or after >= n:
        raise ValueError(f"pad ({before}, {after}) must be less than the length {n} to reflect")
    place = np.abs(np.arange(-before, n + after))
    return np.where(place >= n, 2 * (n - 1) - place, place)


def _replicated(n: int, before: int, after: int) -> Any:
    if not n:
        raise ValueError("an axis without elements has no edge to repeat")
    return np.clip(np.arange(-before, n + after), 0, n - 1)


def _circular(n: int, before: int, after: int) -> Any:
    if before > n or after > n:
        raise ValueError(f"pad ({before}, {after}) wraps around the length {n} twice")
    kept = np.arange(max(-before, 0), n - max(-after, 0))  # what is cut off does not come back
    return np.take(kept, np.arange(-max(before, 0), len(kept) + max(after, 0)), mode="wrap")


_PLACES = {"reflect": _reflected, "replicate": _replicated, "circular": _circular}


@one_array
def pad(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    """More elements at the ends of the last axes, or fewer.

    Parameters
    ----------
    input : array
    pad : sequence of int
        Two numbers for each axis, for its start and its end. The last axis comes first. A negative
        number cuts off elements.
    mode : "constant", "reflect", "replicate" or "circular"
        Which elements are added: one value, or elements of the axis itself.
    value : number, optional
        The value for "constant"; by default zero.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.nn.pad(ag.tensor([[1.0, 2.0, 3.0]]), (2, 1), mode="reflect")
    tensor([[3., 2., 1., 2., 3., 2.]])
    """
    count = len(pad) // 2
    if len(pad) % 2 or count > input.ndim:
        raise ValueError(f"pad must be pairs for at most {input.ndim} axes, not {len(pad)} numbers")
    numbers = each(pad, len(pad), "pad")
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
    for back, (before, after) in enumerate(pairs, 1):
        if input.shape[-back] + before + after < 0:
            raise ValueError(f"pad ({before}, {after}) is more than axis {-back} has elements")
    if mode == "constant":
        return _with_constant(input, pairs, 0 if value is None else value)
    one_of("mode", mode, ("constant", *_PLACES), UnsupportedError)
    if value is not None and value != 0:
        raise ValueError(f'padding mode "{mode}" doesn\'t take in value argument')
    for back, (before, after) in enumerate(pairs, 1):
        if before or after:
            table = _PLACES[mode](input.shape[-back], before, after)
            if not len(table):
                raise ValueError(
                    f"pad ({before}, {after}) leaves nothing of axis {-back} of {shape_of(input)}"
                )
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
