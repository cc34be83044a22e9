"""`torch.save` and `torch.load`: files that PyTorch reads, and that PyTorch wrote."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from typing import Any

from ...arrays.creation import asarray as native
from ...interop import torch_files as files
from ...interop.torch_files import Named
from .dtypes import NAMED, Size, check_device, device, dtype
from .handles import Tensor, wrap
from .nn.parameter import Buffer, Parameter

__all__ = ["load", "save"]


def save(obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 2) -> None:
    """Write an object to a file, which PyTorch can read if it is a structure of tensors."""
    files.write(obj, f, _described)


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool = True,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read a structure of tensors from a file of `save`, or of PyTorch.

    With `weights_only=False`, the file may run any code: only for files that you trust.
    """
    if isinstance(map_location, str | device):
        check_device(map_location)
    return files.read(f, _NAMES, trusted=not weights_only)


def _described(obj: Any) -> Any:
    kind = type(obj)
    if kind is dtype:
        return _DTYPES[obj._name]
    if kind is Size:
        return Named("torch.Size"), (tuple(obj),)
    if kind is device:
        return Named("torch.device"), (str(obj),)
    if kind not in (Tensor, Parameter, Buffer):
        return NotImplemented
    if kind is Parameter:
        held = obj.detach()
        return Named("torch._utils._rebuild_parameter"), (held, obj.requires_grad, OrderedDict())
    storage, offset, size, stride = files.parts_of(obj._t.detach().numpy())
    arguments: tuple[Any, ...] = (storage, offset, size, stride, obj.requires_grad, OrderedDict())
    if storage.kind in files.STORAGES.values():
        return Named("torch._utils._rebuild_tensor_v2"), arguments
    return Named("torch._utils._rebuild_tensor_v3"), (*arguments, obj.dtype)


def _tensor(storage: Any, offset: Any, size: Any, stride: Any, *more: Any) -> Tensor:
    """A tensor on a storage: `more` has requires_grad, hooks, and perhaps PyTorch's metadata."""
    return _finished(files.array_on(storage, offset, size, stride), more)


def _typed_tensor(storage: Any, offset: Any, size: Any, stride: Any, *more: Any) -> Tensor:
    """The same, of a dtype after the hooks, on a storage of bytes."""
    if len(more) < 3 or not isinstance(more[2], dtype):
        raise pickle.UnpicklingError("a tensor of the file has no dtype")
    return _finished(files.array_on(storage, offset, size, stride, more[2]._name), more)


def _finished(array: Any, more: tuple[Any, ...]) -> Tensor:
    made: Tensor = wrap(native(array))
    return made.requires_grad_() if more and more[0] is True else made


def _parameter(data: Any, requires_grad: Any, *more: Any) -> Parameter:
    if not isinstance(data, Tensor):
        raise pickle.UnpicklingError("a parameter of the file has no tensor")
    return Parameter(data, bool(requires_grad))


def _of_type(rebuild: Any, kind: Any, args: Any, state: Any) -> Any:
    """A tensor with attributes, which are left out."""
    if not isinstance(rebuild, Named) or not isinstance(kind, Named):
        raise pickle.UnpicklingError("a tensor of the file has a forged type")
    return rebuild(*args)


def _functions() -> dict[str, Any]:
    calls = {
        "torch.Size": Size,
        "torch.Tensor": None,
        "torch._tensor._rebuild_from_type_v2": _of_type,
        "torch._utils._rebuild_parameter": _parameter,
        "torch._utils._rebuild_parameter_with_state": _parameter,
        "torch._utils._rebuild_tensor": _tensor,
        "torch._utils._rebuild_tensor_v2": _tensor,
        "torch._utils._rebuild_tensor_v3": _typed_tensor,
        "torch.device": device,
        "torch.nn.parameter.Parameter": None,
    }
    return {name: Named(name, call) for name, call in calls.items()}


_DTYPES = {kind._name: Named(repr(kind)) for kind in NAMED.values()}
_NAMES = {**_functions(), **{f"torch.{name}": kind for name, kind in NAMED.items()}}
