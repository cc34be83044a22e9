"""NumPy's orders of elements, "C", "F", "A" and "K": `reshape`, `ravel`, `flatten` and `copy`.

With "A" and "K", NumPy asks how the elements lie in memory. Where that is not known, as in a batch,
these orders are an error; see `writes.views`.
"""

from __future__ import annotations

from typing import Any

from .. import ops
from ..core.axes import shape_tuple
from ..ops.shape import _reshape
from .writes.views import is_ordered, memory_of

Axes = tuple[int, ...]


def reshaped(x: Any, shape: Any, order: Any = "C", copy: bool | None = None) -> Any:
    """The elements in another shape; the order is the one they are read and written in."""
    if order == "C":  # as most often
        return ops.reshape(x, shape, copy=copy)
    if _c_or_f(x, _checked(order, "CFA")) == "C":
        return ops.reshape(x, shape, copy=copy)
    return _turned(ops.reshape(_turned(x), shape_tuple(shape)[::-1], copy=copy))


def copied(x: Any, order: Any = "C") -> Any:
    """A copy whose elements lie in an order."""
    wanted, memory = _checked(order, "CFAK"), memory_of(x)
    if wanted == "K" or (wanted == "C" and memory is not None and memory.flags.c_contiguous):
        return ops.copy(x)
    return reshaped(x, x.shape, wanted, copy=True)


def ravelled(x: Any, order: Any = "C", copy: bool | None = None) -> Any:
    """The elements in one axis, read in an order: a view if they lie in this order already."""
    wanted = "C" if order == "C" else _checked(order, "CFAK")
    axes = _long(x)
    if wanted != "C":
        axes = axes[::-1] if wanted == "F" else _by_memory(x, wanted)
        if axes != _long(x):
            x = ops.permute_dims(x, axes + tuple(a for a in range(x.ndim) if a not in axes))
    if copy is not None:
        return _reshape(x, shape=(x.size,), copy=copy)
    known = is_ordered(x)
    if known and not memory_of(x).flags.c_contiguous:
        return _reshape(x, shape=(x.size,), copy=True)
    flat = ops.ravel(x)
    view = getattr(flat, "_view", None)
    if view is not None and not known and x.ndim:  # NumPy copies if the elements lie apart
        view.is_unsure = True
    return flat


def as_unordered(x: Any, like: Any) -> Any:
    """The array, laid out by columns if another one is not laid out by rows.

    NumPy lays out some results as it finds an argument. Then a write through a reshape is refused.
    """
    memory = memory_of(like)
    if memory is None or x.ndim < 2:
        return x
    steps = [abs(memory.strides[axis]) for axis in _long(memory)]
    if steps == sorted(steps, reverse=True):
        return x
    return ops.copy(reshaped(x, x.shape, "F", copy=True))


def _checked(order: Any, allowed: str) -> str:
    if order is None:
        return "C"
    if not isinstance(order, str):
        raise TypeError(f"order must be a string, not {type(order).__name__}")
    if len(order) != 1 or order.upper() not in allowed:
        raise ValueError(f"order must be one of {', '.join(map(repr, allowed))}, not {order!r}")
    return order.upper()


def _c_or_f(x: Any, order: str) -> str:
    """The order that "A" stands for; "C" and "F" stand for themselves."""
    if order != "A":
        return order
    return "F" if _by_memory(x, "A") == _long(x)[::-1] != _long(x) else "C"


def _turned(x: Any) -> Any:
    return ops.permute_dims(x, tuple(range(x.ndim))[::-1]) if x.ndim > 1 else x


def _long(x: Any) -> Axes:
    """The axes that have an order. Axes of length one have none."""
    return tuple(a for a, n in enumerate(x.shape) if n != 1)


def _by_memory(x: Any, order: str) -> Axes:
    """The long axes in the order "A" or "K": the one along which the most distant lie is first."""
    axes = _long(x)
    if len(axes) < 2 or 0 in x.shape:
        return axes
    if is_ordered(x):
        array = memory_of(x)
        if array.flags.c_contiguous:
            return axes
        if array.flags.f_contiguous:
            return axes[::-1]
        if order == "A":
            return axes
        steps = {abs(array.strides[a]) for a in axes}
        if 0 not in steps and len(steps) == len(axes):
            return tuple(sorted(axes, key=lambda a: -abs(array.strides[a])))
    raise ValueError(
        f"order={order!r} follows the elements in memory, and it is not known how NumPy would "
        "lay out these: say order='C' or order='F'"
    )
