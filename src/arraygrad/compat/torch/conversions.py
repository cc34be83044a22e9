"""Tensors of other dtypes, and new tensors like a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ops
from ...interop.torch_files import TYPE_NAMES
from . import creation
from .creation import check_layout
from .dtypes import NAMED, check_device, dtype, get_default_dtype, numpy_of, of_numpy
from .handles import Tensor, attach, wrap


def _as_dtype(name: str) -> Any:
    wanted = NAMED[{"char": "int8", "byte": "uint8"}.get(name, name)]
    return lambda self, memory_format=None: _to(self, wanted)


_DTYPES = "double float half bfloat16 long int short char byte bool cdouble cfloat"
attach(**{name: _as_dtype(name) for name in _DTYPES.split()})


def _to(self: Tensor, *args: Any, **keywords: Any) -> Tensor:
    """The tensor with another dtype, or on the CPU."""
    wanted = keywords.pop("dtype", None)
    again = keywords.pop("copy", False)
    check_device(keywords.pop("device", None))
    for hint in ("non_blocking", "memory_format"):  # about how values are stored, not about them
        keywords.pop(hint, None)
    check_layout("to", keywords)
    flags = []
    for value in args:
        if isinstance(value, Tensor):
            wanted = value.dtype
        elif isinstance(value, dtype):
            wanted = value
        elif isinstance(value, bool):
            flags.append(value)
        elif value is not None:
            check_device(value)
    again = flags[1] if len(flags) > 1 else again  # after non_blocking
    array = self._t
    if wanted is not None and array.dtype != numpy_of(wanted):
        return wrap(ops.astype(array, numpy_of(wanted)))  # type: ignore[no-any-return]
    return wrap(ops.copy(array)) if again else self


def _type(self: Tensor, wanted: Any = None, non_blocking: bool = False) -> Any:
    """The name of the type of tensor, or the tensor as another dtype."""
    if wanted is None:
        return f"torch.{TYPE_NAMES[self.dtype.dtype.name]}Tensor"
    if isinstance(wanted, str):
        names = {name: key for key, name in TYPE_NAMES.items()}
        wanted = np.dtype(names[wanted.removeprefix("torch.").removesuffix("Tensor")])
    return _to(self, wanted if isinstance(wanted, dtype) else _dtype_of(wanted))


def _dtype_of(wanted: Any) -> dtype:
    if wanted is Tensor:  # the type of what torch.Tensor(...) makes
        return get_default_dtype()
    return of_numpy(getattr(wanted, "_dtype", wanted))


attach(
    to=_to,
    type=_type,
    type_as=lambda self, other: _to(self, other.dtype),
    cpu=lambda self, memory_format=None: self,
)


def _refused(name: str) -> Any:
    def method(self: Tensor, *args: Any, **keywords: Any) -> Any:
        raise NotImplementedError(f"Tensor.{name}() is PyTorch's alone: it has no meaning here")

    return method


attach(
    to_dense=lambda self, dtype=None, masked_grad=None: self if dtype is None else _to(self, dtype)
)
_REFUSED = "chalf cuda to_sparse storage untyped_storage share_memory_ to_mkldnn"
for _name in _REFUSED.split():
    setattr(Tensor, _name, _refused(_name))


def _make_new(function: Any) -> Any:
    def method(self: Tensor, *args: Any, **keywords: Any) -> Tensor:
        keywords.setdefault("dtype", self.dtype)
        return function(*args, **keywords)  # type: ignore[no-any-return]

    return method


for _name in ("zeros", "ones", "empty", "full", "tensor", "empty_strided"):
    setattr(Tensor, f"new_{_name}", _make_new(getattr(creation, _name)))
attach(new=lambda self, *args: creation.legacy(Tensor, args, self.dtype))
