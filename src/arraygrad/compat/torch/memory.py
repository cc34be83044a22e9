"""The memory of tensors: `data`, writing all of it, strides, and other shapes in place."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from ... import ops
from ...arrays.batched import Batched
from ...arrays.creation import asarray as native
from ...arrays.tensor import Tensor as Native
from ...core.array import Array, plain
from ...core.modes import current_modes, enable_grad
from ...core.nodes import recorder
from . import creation
from .dtypes import Size
from .functions import elementwise, shapes, turning
from .handles import Tensor, attach, is_recorded, lift, remember, unwrap, wrap
from .views import check_written, may_be_changed, not_written, write_through


def _part(name: str) -> property:
    read = getattr(elementwise, name)

    def write(self: Tensor, value: Any) -> None:
        read(self).copy_(value)

    return property(read, write)


def _get_data(self: Tensor) -> Tensor:
    if isinstance(self._t, Batched):
        raise RuntimeError("accessing `data` under vmap transform is not allowed: use detach()")
    return wrap(_unwatched(self._t.detach()))  # type: ignore[no-any-return]


def _unwatched(array: Any) -> Any:
    """The same memory under another owner: writes to it are not noticed."""
    held = getattr(array, "_array", None)
    if isinstance(array, Native) and isinstance(held, np.ndarray) and held.size:
        return native(np.asarray(_Memory(held)))
    return array


class _Memory:
    """Memory that NumPy finds without knowing the array that it belongs to."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


def _never_deleted(name: str) -> Any:
    def delete(self: Tensor) -> None:
        raise RuntimeError(f"Deleting tensor.{name} is not possible")

    return delete


def _set_data(self: Tensor, value: Any) -> None:
    if isinstance(self._t, Batched):
        raise RuntimeError("mutating directly with `.data` under vmap transform is not allowed")
    creation.with_data(self, value)


def _renamed(function: Any, name: str) -> Any:
    """A method in place that gives a tensor the shape of a view of itself."""

    def method(self: Tensor, *args: Any, **keywords: Any) -> Tensor:
        array = self._t
        check_written(self)
        if isinstance(array, Native) and not may_be_changed(array):
            raise not_written(self, name, RuntimeError("work on a clone() of it"))
        hidden = recorder() is None and is_recorded(array) and not current_modes().inference
        recorded = hidden and self._how is None
        with (
            enable_grad() if recorded else nullcontext()
        ):  # the tensor keeps its place in the graph
            self._t = function(self, *args, **keywords)._t
        if isinstance(array, Native) and array.is_leaf and array.requires_grad:
            self._t = self._t.detach().requires_grad_()
            remember(self)
        return self

    method.__name__ = method.__qualname__ = name
    return method


for _name in ("t", "transpose", "swapaxes", "swapdims", "squeeze", "unsqueeze", "as_strided"):
    setattr(Tensor, f"{_name}_", _renamed(getattr(shapes, _name), f"{_name}_"))
for _name in ("swapaxes", "swapdims", "moveaxis"):
    setattr(Tensor, _name, getattr(shapes, _name))


def _resize(self: Tensor, *size: Any, memory_format: Any = None) -> Tensor:
    """Give the tensor another shape, with as many of its elements as there is room for."""
    if isinstance(self._t, Batched):
        raise RuntimeError("resize_(): a tensor inside vmap cannot be resized: use reshape()")
    needs = is_recorded(self._t)
    if needs and not current_modes().inference:
        raise RuntimeError("resize_(): a tensor that requires gradients cannot be resized")
    wanted = shapes.sizes(tuple(map(unwrap, size)))
    if wanted == tuple(self._t.shape):
        return self
    before = self._version
    flat = np.asarray(plain(self._t)).reshape(-1)
    made = np.zeros(Size(wanted).numel(), flat.dtype)
    made[: flat.size] = flat[: made.size]
    self._t = type(self._t)(made.reshape(wanted)) if needs else native(made.reshape(wanted))
    self._bumps = before + 1 - self._t._version
    return self._require() if needs else self


def _set(self: Tensor, source: Any = None) -> Tensor:
    """Give the tensor the memory of another one."""
    needs = is_recorded(self._t)
    self._t = native(np.zeros(0, self._t.dtype)) if source is None else source._t.detach()
    if needs:
        self._t.requires_grad_()
        remember(self)
    return self


def _copy(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Take over the values of another tensor."""
    value = unwrap(src)
    lift(self, value)
    check_written(self, value)
    if isinstance(value, Array) and value.dtype != self._t.dtype:
        value = ops.astype(value, self._t.dtype)
    try:
        self._t.copy_(value)
    except (ValueError, TypeError, RuntimeError) as error:
        raise not_written(self, "copy_", error) from error
    write_through(self)
    return self


def _fill_with(self: Tensor, value: Any) -> Tensor:
    """Set all elements to one value."""
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(f"fill_() takes a number or a 0-d tensor, not one of {value.ndim} axes")
    return _copy(self, value)


def _stride(self: Tensor, dim: int | None = None) -> Any:
    """The steps in memory between neighbours along each axis, counted in elements."""
    array = shapes.in_memory(self._t)
    if array is None:
        steps, count = [], 1
        for length in reversed(self._t.shape):
            steps.append(count)
            count *= max(length, 1)
        found = tuple(reversed(steps))
    else:
        found = tuple(step // array.itemsize for step in array.strides)
    return found if dim is None else found[dim]


def _sum_to(self: Tensor, wanted: tuple[int, ...]) -> Tensor:
    lead = self.ndim - len(wanted)
    axes = list(range(lead))
    axes += [i for i in range(lead, self.ndim) if wanted[i - lead] == 1 and self.shape[i] != 1]
    if not self.ndim:
        axes = [0]
    return self.sum(axes, keepdim=True).reshape(wanted) if axes else self


attach(
    T=property(lambda self: shapes.permute(self, *range(self.ndim)[::-1])),
    mT=property(lambda self: shapes.transpose(self, -1, -2)),
    H=property(lambda self: shapes.adjoint(self)),
    mH=property(lambda self: shapes.adjoint(self)),
    real=_part("real"),
    imag=_part("imag"),
    data=property(_get_data, _set_data, _never_deleted("data")),
    _grad_fn=property(lambda self: self.grad_fn, None, _never_deleted("_grad_fn")),
    _backward_hooks=property(lambda self: None, None, _never_deleted("_backward_hooks")),
    resize_=_resize,
    resize_as_=lambda self, other: _resize(self, tuple(other.shape)),
    set_=_set,
    copy_=_copy,
    fill_=_fill_with,
    zero_=lambda self: _copy(self, 0),
    stride=_stride,
    is_contiguous=lambda self, memory_format=None: turning.contiguous(self)._t is self._t,
    data_ptr=lambda self: np.asarray(plain(self._t)).__array_interface__["data"][0],
    storage_offset=lambda self: shapes.offset_of(np.asarray(plain(self._t))),
    is_conj=lambda self: False,
    is_neg=lambda self: False,
    is_shared=lambda self: False,
    is_pinned=lambda self, device=None: False,
    pin_memory=lambda self, device=None: self,
    is_same_size=lambda self, other: self.shape == other.shape,
    is_nonzero=lambda self: bool(self),
    sum_to_size=lambda self, *size: _sum_to(self, shapes.sizes(size)),
)
