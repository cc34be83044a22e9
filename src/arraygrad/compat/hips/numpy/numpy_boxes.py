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


def _transpose(self: Any, *axes: Any) -> Any:
    if not axes or axes == (None,):
        return namespace.transpose(self)
    single = len(axes) == 1 and isinstance(axes[0], tuple | list)
    return namespace.transpose(self, axes[0] if single else axes)


_OWN: dict[str, Any] = {
    "transpose": _transpose,
    "reshape": lambda self, *shape, order="C": namespace.reshape(
        self, shape[0] if len(shape) == 1 else shape, order=order
    ),
    "flatten": lambda self, order="C": namespace.ravel(self, order=order),
    "astype": lambda self, dtype, *_, **__: namespace.astype(self, namespace.dtype(dtype)),
    "copy": lambda self, order="C": namespace.copy(self),
    "conj": lambda self: namespace.conj(self),
}
_OWN |= {"ravel": _OWN["flatten"], "conjugate": _OWN["conj"]}
for _name, _method in _OWN.items():
    setattr(ArrayBox, _name, _method)
