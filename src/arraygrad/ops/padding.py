"""Helpers of batching rules: they give arrays a batch axis, or axes of length one after it.

The rules are in `batching`. `numpy.pad` is in `arrangement`.
"""

from __future__ import annotations

import warnings
from contextvars import ContextVar
from typing import Any

from .define.op import Op
from .shape import _broadcast_to, _reshape, stack

Flags = tuple[bool, ...]
Params = dict[str, Any]


def size_of(arrays: tuple[Any, ...], flags: Flags) -> int:
    """The length of the batch axis."""
    return next(a.shape[0] for a, b in zip(arrays, flags, strict=True) if b)  # type: ignore[no-any-return]


def visible_ndim(x: Any, batched: bool) -> int:
    """The number of axes of one member of the batch."""
    return getattr(x, "ndim", 0) - batched


def padded(x: Any, batched: bool, ndim: int) -> Any:
    """A batched array whose members have `ndim` axes: axes of length one follow the batch axis."""
    missing = ndim - visible_ndim(x, batched)
    if not batched or not missing:
        return x
    return _reshape(x, shape=(x.shape[0], *(1,) * missing, *x.shape[1:]))


def aligned(arrays: tuple[Any, ...], flags: Flags) -> tuple[Any, ...]:
    """The arrays, padded so that they broadcast like their members; the batch axis is in front."""
    if len(arrays) == 1:
        return arrays
    ndim = max(visible_ndim(a, b) for a, b in zip(arrays, flags, strict=True))
    return tuple([padded(a, b, ndim) for a, b in zip(arrays, flags, strict=True)])


def everywhere(x: Any, batched: bool, size: int) -> Any:
    """The array with a batch axis; if it has none, it is repeated along a new one."""
    return x if batched else _broadcast_to(x, shape=(size, *x.shape))


def repeated(arrays: tuple[Any, ...], flags: Flags) -> list[Any]:
    """All arrays with a batch axis."""
    size = size_of(arrays, flags)
    return [everywhere(a, b, size) for a, b in zip(arrays, flags, strict=True)]


# Whether `loop` warns; set by `vmap(warn_fallback=True)`.
WARN_FALLBACK: ContextVar[bool] = ContextVar("arraygrad_warn_fallback", default=False)


def loop(op: Op, arrays: tuple[Any, ...], flags: Flags, params: Params) -> Any:
    """Run an op once for each member of a batch."""
    if WARN_FALLBACK.get():
        warnings.warn(
            f"{op.name} has no batching rule: it runs once for each member of the batch",
            stacklevel=2,
        )
    size = size_of(arrays, flags)
    if not size:
        raise ValueError(f"{op.name} has no batching rule and cannot run on an empty batch")
    members = [
        op.function(*(a[i] if b else a for a, b in zip(arrays, flags, strict=True)), **params)
        for i in range(size)
    ]
    if op.multiple:
        return tuple(stack(column) for column in zip(*members, strict=True))
    return stack(members)
