"""Windows that slide over the last axes of a signal: where they are, and what they see.

A window that slides along an axis is a table of places: one column for each window, one row for
each place in it. Convolutions, pooling, `unfold` and `fold` are made of such tables.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops
from ....core.indices import HOLE
from ....ops.indexing import _index_add

Ints = tuple[int, ...]


def each(value: Any, count: int, name: str) -> Ints:
    """One number for each axis."""
    if not isinstance(value, tuple | list):
        return (int(value),) * count
    if len(value) == 1:
        return (int(value[0]),) * count
    if len(value) != count:
        raise RuntimeError(f"{name} must be one int or {count} ints, not {tuple(value)}")
    return tuple(int(v) for v in value)


def at_least(low: int, **options: Ints) -> None:
    """Raise if a number is below its bound."""
    for name, values in options.items():
        if any(v < low for v in values):
            raise RuntimeError(f"{name} must be at least {low}, not {values}")


def batched(x: Any, count: int, name: str = "input") -> tuple[Any, bool]:
    """The signal with an axis of samples, and whether it had none."""
    if x.ndim not in (count + 1, count + 2):
        raise RuntimeError(
            f"{name} must have {count + 1} or {count + 2} axes, not shape {tuple(x.shape)}"
        )
    return (x[None], True) if x.ndim == count + 1 else (x, False)


def places(size: int, stride: int, dilation: int, windows: int) -> Any:
    """The places that windows along one axis see, from the start of the first window."""
    return np.arange(size)[:, None] * dilation + np.arange(windows) * stride


def crossed(tables: list[Any]) -> tuple[Any, ...]:
    """Tables of all axes as one index: first the places in a window, then the windows."""
    count = len(tables)
    index = []
    for axis, table in enumerate(tables):
        shape = [1] * (2 * count)
        shape[axis], shape[count + axis] = table.shape
        index.append(table.reshape(shape))
    return tuple(index)


def seen(x: Any, tables: list[Any]) -> Any:
    """What windows over the last axes see."""
    return x[(Ellipsis, *crossed(tables))]


def added(windows: Any, tables: list[Any], lengths: Ints) -> Any:
    """The transpose of `seen`: elements of windows added up at the places they are from."""
    count = len(tables)
    lead = windows.ndim - 2 * count
    template = (slice(None),) * lead + (HOLE,) * count
    shape = (*windows.shape[:lead], *lengths)
    return _index_add(windows, *crossed(tables), template=template, shape=shape)


def padded(x: Any, widths: list[tuple[int, int]]) -> Any:
    """Zeros at the ends of the last axes."""
    if not any(a or b for a, b in widths):
        return x
    return ops.pad(x, [(0, 0)] * (x.ndim - len(widths)) + widths)
