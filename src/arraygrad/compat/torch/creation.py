"""Functions that make tensors, from data or from a shape."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...arrays import creation as native
from ...arrays.tensor import Tensor as Native
from ...core.array import Array
from .dtypes import (
    check_device,
    contiguous_format,
    default_for,
    dtype,
    get_default_dtype,
    numpy_of,
    preserve_format,
    strided,
)
from .functions.shapes import sizes
from .handles import Tensor, as_torch_raises, new, remember, unwrap
from .publish import takes_out

# The names of `torch` that are made here.
__all__ = [
    "arange", "as_tensor", "asarray", "empty", "empty_like", "empty_strided", "eye", "from_dlpack",
    "from_numpy", "full", "full_like", "linspace", "logspace", "ones", "ones_like", "scalar_tensor",
    "tensor", "zeros", "zeros_like",
]  # fmt: skip


def _finished(array: Any, requires_grad: bool, kind: type[Tensor] = Tensor) -> Tensor:
    made = new(kind)
    made._t = array
    return made._require() if requires_grad else made


def _carries_dtype(data: Any) -> bool:
    if isinstance(data, list | tuple):
        return any(map(_carries_dtype, data))
    return hasattr(data, "dtype")


def _array(data: Any, wanted: Any, copy: bool) -> Any:
    data = unwrap(data)
    if isinstance(data, Array):
        array = data.detach() if copy else data
        return native.asarray(array, dtype=wanted, copy=copy or None)
    if native.holds_arrays(data):
        data = _plain(data)
    if wanted is None and not _carries_dtype(data):
        kind = np.asarray(data).dtype.kind
        if kind in "fc":
            wanted = default_for(kind)
    if isinstance(data, list | tuple) and not len(data) and wanted is None:
        wanted = default_for("f")
    return (native.tensor if copy else native.asarray)(data, dtype=wanted)


def _plain(data: Any) -> Any:
    """The numbers in nested sequences with tensors in them."""
    if isinstance(data, list | tuple):
        return [_plain(item) for item in data]
    return data.detach().numpy() if isinstance(data, Array) else data


def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **keywords: Any,
) -> Tensor:
    """A new leaf tensor with a copy of the data. Python floats become float32.

    >>> import arraygrad.compat.torch as torch
    >>> torch.tensor([1.0, 2.0])
    tensor([1., 2.])
    """
    check_device(device)
    check_layout("tensor", keywords)
    wanted = None if dtype is None else numpy_of(dtype)
    return _finished(_array(data, wanted, True), requires_grad)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """The data as a tensor, on the same memory where possible."""
    check_device(device)
    if isinstance(data, Tensor) and dtype is None:
        return data
    with as_torch_raises():
        return _finished(_array(data, None if dtype is None else numpy_of(dtype), False), False)


def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The data as a tensor, on the same memory where possible."""
    made = tensor(obj, dtype=dtype, device=device) if copy else as_tensor(obj, dtype, device)
    return made.requires_grad_() if requires_grad else made


def from_numpy(ndarray: Any) -> Tensor:
    """A tensor on the memory of a NumPy array."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"from_numpy() takes a NumPy array, not {type(ndarray).__name__}")
    return _finished(native.asarray(ndarray), False)


def from_dlpack(ext_tensor: Any) -> Tensor:
    """A tensor on the memory of another library's array."""
    return _finished(native.from_dlpack(ext_tensor), False)


def scalar_tensor(
    s: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **keywords: Any,
) -> Tensor:
    """A 0-d tensor."""
    wanted = dtype or get_default_dtype()
    return tensor(s, dtype=wanted, device=device, requires_grad=requires_grad, **keywords)


def check_layout(name: str, keywords: dict[str, Any]) -> None:
    """Raise for keywords that nobody knows, and for layouts that only PyTorch has."""
    for key, value in keywords.items():
        if key not in ("layout", "memory_format", "pin_memory"):
            raise TypeError(f"{name}() has no parameter {key!r}")
        if value not in (None, False, strided, contiguous_format, preserve_format):
            raise NotImplementedError(f"{name}(): {key}={value} is PyTorch's alone")


def _shape(name: str, size: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[int, ...]:
    if "size" in keywords:
        size = (keywords.pop("size"),)
    check_layout(name, keywords)
    found = sizes(tuple(map(unwrap, size)))
    if any(n < 0 for n in found):
        raise RuntimeError(f"{name}(): negative dimension in size {found}")
    return found


def _made(
    name: str, shape: Any, dtype: Any, device: Any, requires_grad: bool, *args: Any
) -> Tensor:
    check_device(device)
    wanted = numpy_of(get_default_dtype() if dtype is None else dtype)
    with as_torch_raises():
        return _finished(getattr(native, name)(shape, *args, dtype=wanted), requires_grad)


@takes_out
def zeros(
    *size: Any,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    out: Tensor | None = None,
    **keywords: Any,
) -> Tensor:
    """Zeros."""
    made = _made("zeros", _shape("zeros", size, keywords), dtype, device, requires_grad)
    return made if out is None else out.copy_(made)


@takes_out
def ones(
    *size: Any,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    out: Tensor | None = None,
    **keywords: Any,
) -> Tensor:
    """Ones."""
    made = _made("ones", _shape("ones", size, keywords), dtype, device, requires_grad)
    return made if out is None else out.copy_(made)


@takes_out
def empty(
    *size: Any,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **keywords: Any,
) -> Tensor:
    """A tensor whose elements are to be written."""
    return _made("empty", _shape("empty", size, keywords), dtype, device, requires_grad)


def empty_strided(
    size: Any, stride: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor whose elements are to be written, with axes in memory in the order of strides."""
    order = sorted(range(len(size)), key=lambda axis: -stride[axis])
    made = _made("empty", tuple(size[a] for a in order), dtype, device, False)
    back = sorted(range(len(size)), key=order.__getitem__)
    array = np.transpose(made._t.array, back)
    return _finished(native.asarray(array), requires_grad)


@takes_out
def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **keywords: Any,
) -> Tensor:
    """One value everywhere."""
    check_layout("full", keywords)
    value = unwrap(fill_value)
    if not isinstance(value, Array | bool | int | float | complex | np.generic):
        raise TypeError(f"full(): fill_value must be a number, not {type(value).__name__}")
    if dtype is None:
        dtype = (
            value.dtype if isinstance(value, Array) else default_for(np.asarray(value).dtype.kind)
        )
    shape = tuple(size) if isinstance(size, Iterable) else (size,)
    return _made("full", shape, dtype, device, requires_grad, value)


@takes_out
def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **keywords: Any,
) -> Tensor:
    """Ones on the diagonal, and zeros elsewhere."""
    check_layout("eye", keywords)
    check_device(device)
    if n < 0 or (m is not None and m < 0):
        raise RuntimeError(f"eye(): n and m must be greater or equal to 0, got {n} and {m}")
    wanted = numpy_of(get_default_dtype() if dtype is None else dtype)
    return _finished(native.eye(n, m, dtype=wanted), requires_grad)


@takes_out
def arange(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **keywords: Any,
) -> Tensor:
    """Numbers from `start` up to, and without, `end`."""
    check_layout("arange", keywords)
    check_device(device)
    bounds = [b.item() if isinstance(b, Tensor) else b for b in (start, end, step)]
    if dtype is None and any(isinstance(b, float) for b in bounds):
        dtype = get_default_dtype()
    wanted = np.dtype(np.int64) if dtype is None else numpy_of(dtype)
    _check_range(*bounds)
    if wanted.kind in "iu":
        bounds = [b if b is None else int(b) for b in bounds]
    made = native.arange(
        *bounds, dtype=np.promote_types(wanted, np.float64) if wanted.kind == "f" else wanted
    )
    return _finished(native.asarray(made, dtype=wanted), requires_grad)


def _check_range(start: Any, end: Any, step: Any) -> None:
    start, end = (0, start) if end is None else (start, end)
    if not step:
        raise RuntimeError("arange(): step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"arange(): unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError(
            f"arange(): upper bound {end} and lower bound {start} inconsistent with step sign"
        )


def _check_ends(name: str, start: Any, end: Any, steps: int) -> None:
    for end_name, value in (("start", start), ("end", end)):
        if isinstance(value, Tensor) and value.ndim:
            raise RuntimeError(
                f"{name} only supports 0-dimensional start and end tensors, but {end_name} has "
                f"{value.ndim} dimension(s)"
            )
    if steps < 0:
        raise RuntimeError(f"{name}(): number of steps must be non-negative, not {steps}")


@takes_out
def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **keywords: Any,
) -> Tensor:
    """Evenly spaced numbers, with both ends."""
    check_layout("linspace", keywords)
    check_device(device)
    wanted = numpy_of(get_default_dtype() if dtype is None else dtype)
    _check_ends("linspace", start, end, steps)
    if wanted.kind in "iu":
        low, high = (int(b.item() if isinstance(b, Tensor) else b) for b in (start, end))
        values = np.trunc(np.linspace(low, high, steps))  # NumPy would round down
        return _finished(native.asarray(values.astype(wanted)), requires_grad)
    return _finished(
        native.linspace(unwrap(start), unwrap(end), steps, dtype=wanted), requires_grad
    )


@takes_out
def logspace(
    start: float,
    end: float,
    steps: int,
    base: float = 10.0,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Powers of `base` with evenly spaced exponents."""
    check_device(device)
    _check_ends("logspace", start, end, steps)
    values = np.logspace(start, end, steps, base=base)
    return tensor(values, dtype=dtype or get_default_dtype(), requires_grad=requires_grad)


def _like(name: str, input: Tensor, keywords: dict[str, Any], *args: Any) -> Tensor:
    requires_grad = keywords.pop("requires_grad", False)
    wanted = keywords.pop("dtype", None)
    check_device(keywords.pop("device", None))
    check_layout(name, keywords)
    make = getattr(native, name)
    array = make(input._t, *args, dtype=None if wanted is None else numpy_of(wanted))
    return _finished(array, requires_grad)


def zeros_like(input: Tensor, **keywords: Any) -> Tensor:
    """Zeros in the shape and dtype of another tensor."""
    return _like("zeros_like", input, keywords)


def ones_like(input: Tensor, **keywords: Any) -> Tensor:
    """Ones in the shape and dtype of another tensor."""
    return _like("ones_like", input, keywords)


def empty_like(input: Tensor, **keywords: Any) -> Tensor:
    """A tensor in the shape and dtype of another one, whose elements are to be written."""
    return _like("empty_like", input, keywords)


def full_like(input: Tensor, fill_value: Any, **keywords: Any) -> Tensor:
    """One value in the shape and dtype of another tensor."""
    return _like("full_like", input, keywords, unwrap(fill_value))


def parameter(kind: type[Tensor], data: Any, requires_grad: bool) -> Any:
    """A leaf of a subclass of `Tensor`, on the memory of other data."""
    array = unwrap(data)
    array = array.detach() if isinstance(array, Array) else native.asarray(array)
    made = _finished(array, requires_grad, kind)
    remember(made)
    return made


def with_data(tensor: Tensor, value: Tensor) -> None:
    """`tensor.data = value`: other values, without a trace in the graph."""
    if not isinstance(value, Tensor):
        raise TypeError(f"data must be a Tensor, not {type(value).__name__}")
    array, old = value._t.detach(), tensor._t
    if _takes_memory(old, array):
        return
    needs, kept = tensor.requires_grad, getattr(old, "_grad", None)
    if needs and array.dtype.kind not in "fc":
        raise RuntimeError(
            f"data set to a tensor that requires gradients must be floating point or complex "
            f"dtype, not {value.dtype}"
        )
    tensor._t = native.asarray(array)
    if needs:
        tensor._t.requires_grad_()
        remember(tensor)
    if kept is not None and kept.shape == array.shape and kept.dtype == array.dtype:
        tensor._t._grad = kept


def _takes_memory(old: Any, new: Any) -> bool:
    """Give a tensor other memory of the same form, if it can have it; its hooks stay."""
    for array in (old, new):
        if not isinstance(array, Native) or not isinstance(array._array, np.ndarray):
            return False
    if old._view is not None or old.shape != new.shape or old.dtype != new.dtype:
        return False
    memory = new._array
    if old._array.__array_interface__ != memory.__array_interface__:
        old._array = memory
        leaf, family = getattr(old, "_leaf", None), getattr(old, "_family", None)
        if leaf is not None:
            leaf.array = memory
        if family is not None:
            family.moved = True
            family.stamp += 1
    return True


def legacy(kind: type[Tensor], args: tuple[Any, ...], wanted: dtype | None = None) -> Any:
    """`torch.Tensor(...)`: from data, or of a shape."""
    own = get_default_dtype() if wanted is None else wanted
    if len(args) == 1 and not isinstance(args[0], int):
        made = tensor(args[0], dtype=own)._t
        if isinstance(args[0], tuple) and hasattr(args[0], "numel"):  # a Size
            made = zeros(args[0], dtype=own)._t
    else:
        made = zeros(*args, dtype=own)._t if args else zeros(0, dtype=own)._t
    return _finished(made, False, kind)
