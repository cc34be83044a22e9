"""NumPy's orders of elements, "C", "F", "A" and "K", for `reshape`, `ravel` and `flatten`.

With "A" and "K", NumPy asks how the elements lie in memory. Here the logical layout says so, see
`layout`. If the memory itself lies in another way, NumPy could give another result: an error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops
from ..core.array import plain
from ..core.axes import shape_tuple
from ..ops.shape import _reshape
from .layout import is_fresh, logical_strides

Axes = tuple[int, ...]
Strides = tuple[int, ...]


def reshaped(x: Any, shape: Any, order: Any = "C", copy: bool | None = None) -> Any:
    """The elements in another shape; the order is the one they are read and written in."""
    if order == "C":  # as most often
        return ops.reshape(x, shape, copy=copy)
    wanted = _checked(order, "CFA")
    if wanted == "A":
        wanted = "F" if _by_memory(x, "A") == _long(x)[::-1] != _long(x) else "C"
    if wanted == "C":
        return ops.reshape(x, shape, copy=copy)
    return _turned(ops.reshape(_turned(x), shape_tuple(shape)[::-1], copy=copy))


def ravelled(x: Any, order: Any = "C", copy: bool | None = None) -> Any:
    """The elements in one axis, read in an order: a view if they lie in this order already."""
    if order == "C" and copy is None and is_fresh(x):  # as most often
        return ops.ravel(x)
    wanted = _checked(order, "CFAK")
    axes = _long(x)
    if wanted != "C":
        axes = axes[::-1] if wanted == "F" else _by_memory(x, wanted)
    if copy is None and not _is_packed(x, axes):
        copy = True
    if axes != _long(x):
        x = ops.permute_dims(x, axes + tuple(a for a in range(x.ndim) if a not in axes))
    return ops.ravel(x) if copy is None else _reshape(x, shape=(x.size,), copy=copy)


def _checked(order: Any, allowed: str) -> str:
    if order is None:
        return "C"
    if not isinstance(order, str):
        raise TypeError(f"order must be a string, not {type(order).__name__}")
    if len(order) != 1 or order.upper() not in allowed:
        raise ValueError(f"order must be one of {', '.join(map(repr, allowed))}, not {order!r}")
    return order.upper()


def _turned(x: Any) -> Any:
    return ops.permute_dims(x, tuple(range(x.ndim))[::-1]) if x.ndim > 1 else x


def _long(x: Any) -> Axes:
    """The axes that have an order: those of length one have none."""
    return tuple(a for a, n in enumerate(x.shape) if n != 1)


def _by_memory(x: Any, order: str) -> Axes:
    """The long axes in the order "A" or "K": the one along which the most distant lie is first."""
    axes = _long(x)
    if len(axes) < 2 or 0 in x.shape:
        return axes
    found = {s and _sorted(x.shape, s, axes, order) for s in _layouts(x)}
    if len(found) > 1 or None in found:
        raise ValueError(
            f"order={order!r} follows the elements in memory, and it is not known how NumPy would "
            "lay out these: say order='C' or order='F'"
        )
    (only,) = found
    assert only is not None
    return only


def _is_packed(x: Any, axes: Axes) -> bool:
    """Whether the elements lie one after the other, by the logical layout."""
    if (axes == _long(x) and is_fresh(x)) or x.size < 2:
        return True
    strides = logical_strides(x)
    return strides is None or _is_contiguous(x.shape, strides, axes)


def _layouts(x: Any) -> list[Strides | None]:
    """The strides by the logical layout, and those in memory, in elements; None if not known."""
    found = [logical_strides(x)]
    array = plain(x)
    if isinstance(array, np.ndarray) and array.ndim == x.ndim:  # else it is a batch
        found.append(tuple(s // array.itemsize for s in array.strides))
    return found


def _sorted(shape: Axes, strides: Strides, axes: Axes, order: str) -> Axes | None:
    """The long axes by their strides; None if NumPy's order does not follow from these."""
    if _is_contiguous(shape, strides, axes):
        return axes
    if _is_contiguous(shape, strides, axes[::-1]):
        return axes[::-1]
    if order == "A":
        return axes
    steps = {abs(strides[a]) for a in axes}
    if 0 in steps or len(steps) < len(axes):
        return None
    return tuple(sorted(axes, key=lambda a: -abs(strides[a])))


def _is_contiguous(shape: Axes, strides: Strides, axes: Axes) -> bool:
    """Whether the elements lie one after the other, if read along the last axis first."""
    distance = 1
    for a in reversed(axes):
        if strides[a] != distance:
            return False
        distance *= shape[a]
    return True
