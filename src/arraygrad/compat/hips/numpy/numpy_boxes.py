"""`autograd.numpy.numpy_boxes`: the type of boxes, and their methods, which are NumPy's."""

from __future__ import annotations

from typing import Any

from ..boxes import ArrayBox
from . import namespace

__all__ = ["ArrayBox"]

# `argpartition`, `compress` and `ptp` are NumPy's already.
_METHODS = """
all any argmax argmin argsort nonzero searchsorted round
clip cumprod cumsum diagonal max mean min prod repeat squeeze std sum swapaxes take trace var dot
"""
for _name in _METHODS.split():
    setattr(ArrayBox, _name, getattr(namespace, _name))


def _reshape(self: Any, *shape: Any, order: str = "C") -> Any:
    return namespace.reshape(self, shape[0] if len(shape) == 1 else shape, order=order)


def _transpose(self: Any, *axes: Any) -> Any:
    if not axes or axes == (None,):
        return namespace.transpose(self)
    single = len(axes) == 1 and isinstance(axes[0], tuple | list)
    return namespace.transpose(self, axes[0] if single else axes)


def _flatten(self: Any, order: str = "C") -> Any:
    return namespace.ravel(self, order=order)


def _astype(self: Any, dtype: Any, *args: Any, **kwargs: Any) -> Any:
    return namespace.astype(self, namespace.dtype(dtype))


def _copy(self: Any, order: str = "C") -> Any:
    return namespace.copy(self)


def _conj(self: Any) -> Any:
    return namespace.conj(self)


ArrayBox.reshape = _reshape  # type: ignore[attr-defined]
ArrayBox.transpose = _transpose  # type: ignore[attr-defined]
ArrayBox.flatten = ArrayBox.ravel = _flatten  # type: ignore[attr-defined]
ArrayBox.astype = _astype  # type: ignore[attr-defined]
ArrayBox.copy = _copy  # type: ignore[attr-defined]
ArrayBox.conj = ArrayBox.conjugate = _conj  # type: ignore[attr-defined]
