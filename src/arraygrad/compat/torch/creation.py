"""Functions that make tensors, from data or from a shape."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...arrays import creation as native
from ...arrays.tensor import Tensor as Native
from ...core.array import Array
from ..arguments import carries_dtype
from .dtypes import (
    check_device,
    contiguous_format,
    default_for,
    dtype,
    get_default_dtype,
    no_gradients,
    numpy_of,
    preserve_format,
    strided,
)
from .functions.shapes import sizes
from .handles import Tensor, as_torch_raises, new, remember, unwrap
from .publish import into

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


def _array(data: Any, wanted: Any, copy: bool) -> Any:
    data = unwrap(data)
    if isinstance(data, Array):
        array = data.detach() if copy else data
        return native.asarray(array, dtype=wanted, copy=copy or None)
    if native.holds_arrays(data):
        data = _plain(data)
    if wanted is None and not carries_dtype(data):
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


def check_layout(name: str, keywords: dict[str, Any]) -> None:
    """Raise for keywords that nobody knows, and for layouts that only PyTorch has."""
    for key, value in keywords.items():
        if key not in _LAYOUT:
            raise TypeError(f"{name}() has no parameter {key!r}")
        if value not in (None, False, strided, contiguous_format, preserve_format):
            raise NotImplementedError(f"{name}(): {key}={value} is PyTorch's alone")


_LAYOUT = ("layout", "memory_format", "pin_memory")


def makes(make: Callable[..., Any]) -> Callable[..., Tensor]:
    """PyTorch's function that makes a tensor, of one that makes an array of a dtype, or of None.

    PyTorch's also takes a device, a layout, `requires_grad` and `out`.
    """

    @functools.wraps(make)
    def made(
        *args: Any,
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        out: Any = None,
        **own: Any,
    ) -> Tensor:
        check_device(device)
        if own:
            check_layout(make.__name__, {key: own.pop(key) for key in _LAYOUT if key in own})
        if out is not None and dtype is None:
            dtype = out.dtype
        array = make(*args, dtype=None if dtype is None else numpy_of(dtype), **own)
        return _finished(array, requires_grad) if out is None else into(out, array, make.__name__)

    return made


def usual(dtype: Any) -> np.dtype[Any]:
    """A NumPy dtype, or the default one."""
    return numpy_of(get_default_dtype()) if dtype is None else dtype


def filled(name: str, doc: str, fill: Callable[..., Any]) -> Callable[..., Tensor]:
    """The function that makes a tensor of a shape: `fill(shape, dtype=…)` gives the array."""

    def make(*shape: Any, dtype: Any, size: Any = None, **own: Any) -> Any:
        found = sizes(unwrap(shape if size is None else (size,)))
        if min(found, default=0) < 0:
            raise RuntimeError(f"{name}(): negative dimension in size {found}")
        with as_torch_raises():
            return fill(found, dtype=usual(dtype), **own)

    make.__name__, make.__doc__ = name, doc
    return makes(make)


zeros, ones = filled("zeros", "Zeros.", native.zeros), filled("ones", "Ones.", native.ones)
empty = filled("empty", "A tensor whose elements are to be written.", native.empty)


@makes
def scalar_tensor(s: Any, *, dtype: Any) -> Any:
    """A 0-d tensor."""
    return _array(s, usual(dtype), True)


@makes
def empty_strided(size: Any, stride: Any, *, dtype: Any) -> Any:
    """A tensor whose elements are to be written, with axes in memory in the order of strides."""
    order = sorted(range(len(size)), key=lambda axis: -stride[axis])
    back = sorted(range(len(size)), key=order.__getitem__)
    return native.asarray(np.transpose(np.empty([size[a] for a in order], usual(dtype)), back))


@makes
def full(size: Any, fill_value: Any, *, dtype: Any) -> Any:
    """One value everywhere."""
    value = unwrap(fill_value)
    if not isinstance(value, Array | bool | int | float | complex | np.generic):
        raise TypeError(f"full(): fill_value must be a number, not {type(value).__name__}")
    if dtype is None:
        kind = np.asarray(0 if isinstance(value, Array) else value).dtype.kind
        dtype = value.dtype if isinstance(value, Array) else default_for(kind)
    shape = tuple(size) if isinstance(size, Iterable) else (size,)
    with as_torch_raises():
        return native.full(shape, value, dtype=dtype)


@makes
def eye(n: int, m: int | None = None, *, dtype: Any) -> Any:
    """Ones on the diagonal, and zeros elsewhere."""
    if n < 0 or (m is not None and m < 0):
        raise RuntimeError(f"eye(): n and m must be greater or equal to 0, got {n} and {m}")
    return native.eye(n, m, dtype=usual(dtype))


@makes
def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any) -> Any:
    """Numbers from `start` up to, and without, `end`."""
    bounds = [b.item() if isinstance(b, Tensor) else b for b in (start, end, step)]
    if dtype is None:
        dtype = usual(None) if any(isinstance(b, float) for b in bounds) else np.dtype(np.int64)
    _check_range(*bounds)
    if dtype.kind in "iu":
        bounds = [b if b is None else int(b) for b in bounds]
    exact = np.promote_types(dtype, np.float64) if dtype.kind == "f" else dtype
    return native.asarray(native.arange(*bounds, dtype=exact), dtype=dtype)


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


@makes
def linspace(start: Any, end: Any, steps: int, *, dtype: Any) -> Any:
    """Evenly spaced numbers, with both ends."""
    _check_ends("linspace", start, end, steps)
    dtype = usual(dtype)
    if dtype.kind in "iu":
        low, high = (int(b.item() if isinstance(b, Tensor) else b) for b in (start, end))
        # NumPy would round down.
        return native.asarray(np.trunc(np.linspace(low, high, steps)).astype(dtype))
    return native.linspace(unwrap(start), unwrap(end), steps, dtype=dtype)


@makes
def logspace(start: Any, end: Any, steps: int, base: Any = 10.0, *, dtype: Any) -> Any:
    """Powers of `base` with evenly spaced exponents."""
    _check_ends("logspace", start, end, steps)
    start, end, base = (x.item() if isinstance(x, Tensor) else x for x in (start, end, base))
    return native.asarray(np.logspace(start, end, steps, base=base).astype(usual(dtype)))


def _like(name: str, doc: str) -> Callable[..., Tensor]:
    def make(input: Tensor, *args: Any, dtype: Any, **own: Any) -> Any:
        return getattr(native, name)(input._t, *map(unwrap, args), dtype=dtype, **own)

    make.__name__, make.__doc__ = name, doc
    return makes(make)


zeros_like = _like("zeros_like", "Zeros in the shape and dtype of another tensor.")
ones_like = _like("ones_like", "Ones in the shape and dtype of another tensor.")
empty_like = _like("empty_like", "A tensor like another one, whose elements are to be written.")
full_like = _like("full_like", "One value in the shape and dtype of another tensor.")


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
        raise no_gradients(
            "data set to a tensor that requires gradients must be floating point or complex dtype",
            value.dtype,
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
