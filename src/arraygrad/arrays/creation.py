"""Functions that create tensors: from data, or from a shape and a value."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from .. import ops
from ..backends import Backend, backend_of, backend_of_type, default
from ..backends.arraylikes import values_of
from ..backends.dtypes import numpy_dtype, result_type
from ..core.array import Array, plain
from ..core.axes import shape_tuple
from ..core.levels import in_flight
from ..ops.define.adoption import in_library_of
from ..ops.define.signatures import AnyArray, Shape
from .tensor import Tensor, tensor_type, tensor_type_at
from .writes.views import memory_of

__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like",
    "linspace", "ones", "ones_like", "tensor", "zeros", "zeros_like",
]  # fmt: skip


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A new leaf tensor with a copy of the data.

    Parameters
    ----------
    data : array, number, nested sequence or Tensor
        An array keeps its library; anything else becomes a NumPy array.
    dtype : dtype, optional
        A dtype of the array's library; by default, the dtype of the data.
    device : optional
        The device of the tensor; by default, the device of the data.
    requires_grad : bool
        Whether to record ops on the tensor, for differentiation.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.tensor([1.0, 2.0], requires_grad=True)
    tensor([1., 2.], requires_grad=True)
    """
    array = _as_array(data, dtype, device, copy=True)
    if requires_grad:
        return tensor_type(array)(array).requires_grad_()
    return new(array) if hasattr(data, "dtype") else _constant(array)


def _constant(array: Any) -> Tensor:
    """A tensor on a NumPy array that arraygrad made: ops may move it to another library."""
    made = new(array)
    made._made = True
    return made


def new(array: Any) -> Tensor:
    """A tensor outside of any graph; under `inference_mode`, an inference tensor."""
    made: Tensor = tensor_type(array)._bare(array)
    inside = in_flight()
    if inside:  # values of the transform may be written to the tensor
        made._born = inside
    return made


def operand(array: Any, in_transform: bool = True) -> Any:
    """An array that may stand on the left of an operator whose right side belongs to a transform.

    Python asks the array on the left first. If its library does not let the array on the right act,
    a tensor takes its place. Outside of transforms, it stays as it is.
    """
    if not in_transform or isinstance(array, Array) or backend_of(array).defers:
        return array
    return new(array)


def asarray(
    data: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None
) -> Tensor:
    """The data as a tensor that shares memory with the data, where possible.

    A tensor is returned as it is, or converted by an op that is recorded. Tensors in nested
    sequences are joined by `stack`, which is recorded, too.

    Parameters
    ----------
    data, dtype, device
        As in `tensor`.
    copy : bool, optional
        True always copies; False never does, and raises where that is not possible.

    Examples
    --------
    >>> import arraygrad as ag
    >>> import numpy as np
    >>> data = np.zeros(2)
    >>> x = ag.asarray(data)
    >>> data[0] = 1.0
    >>> x
    tensor([1., 0.])
    """
    if not isinstance(data, Array):
        if holds_arrays(data):
            if copy is False:
                raise ValueError("copy=False, but a sequence has to be copied: leave copy out")
            return asarray(from_sequence(data), dtype=dtype, device=device)
        array = _as_array(data, dtype, device, copy)
        return new(array) if hasattr(data, "dtype") else _constant(array)
    same = cast(Tensor, data if dtype is None else ops.astype(data, dtype, copy=False))
    if device is not None and device != same.device:
        same = ops.to_device(same, device)
    if same is not data and copy is False:
        raise ValueError(
            "copy=False, but the tensor has another dtype or device than asked for: leave copy out"
        )
    return same.clone() if copy and same is data else same


def from_sequence(data: Any) -> Any:
    """A number or a nested sequence as an array; with tensors in it, stacked within their graph."""
    if data is None or isinstance(data, str | bytes):
        raise TypeError(f"expected an array, numbers or sequences of them, not {data!r}")
    data = values_of(data)
    if holds_arrays(data):
        parts = [item if isinstance(item, Array) else from_sequence(item) for item in data]
        like = next((p for p in parts if backend_of(p) is not default), None)
        if like is not None:  # numbers and lists of numbers go to the library of the arrays
            parts = [
                p if hasattr(item, "dtype") or isinstance(p, Array) else in_library_of(like, p)
                for item, p in zip(data, parts, strict=True)
            ]
        numbers = like is not None  # the NumPy dtypes of numbers mean nothing in that library
        dtype = parts[0].dtype
        if numbers or any(p.dtype is not dtype for p in parts):
            dtype = result_type(
                *(
                    item if numbers and isinstance(item, int | float | complex) else p
                    for item, p in zip(data, parts, strict=True)
                )
            )
            parts = [p if p.dtype is dtype else ops.astype(p, dtype, copy=False) for p in parts]
        return ops.stack(parts) if len(parts) > 1 else ops.expand_dims(parts[0])
    return data if hasattr(data, "dtype") else np.asarray(data)


# As many axes as NumPy's arrays can have.
_MOST_AXES = 64


def holds_arrays(data: Any, depth: int = 0) -> bool:
    """Whether something is a nested sequence with arrays of arraygrad in it."""
    if not isinstance(data, list | tuple):
        return False
    _check_depth(depth)
    return any(isinstance(item, Array) or holds_arrays(item, depth + 1) for item in data)


def _check_depth(depth: int) -> None:
    if depth > _MOST_AXES:
        raise ValueError(
            f"data is nested more than {_MOST_AXES} deep: is there a list that contains itself?"
        )


def _as_array(data: Any, dtype: Any, device: Any, copy: bool | None) -> Any:
    if isinstance(data, Tensor):
        data = data.array
    if isinstance(data, Array):
        return data
    data = values_of(data)
    try:
        backend = backend_of_type(type(data)) or default
    except TypeError:
        if hasattr(data, "dtype"):  # an array of a library without a backend
            raise
        backend = default
        data = _plain_values(data)
    keywords: dict[str, Any] = {}
    if dtype is not None:
        keywords["dtype"] = numpy_dtype(dtype) if backend is default else backend.dtype(dtype)
    if device is not None:
        keywords["device"] = device
    if hasattr(data, "dtype") and not keywords and (copy or backend is not default):
        array = backend.copy(data) if copy else data
    elif copy is False and isinstance(data, list | tuple | int | float | complex):
        raise ValueError("copy=False, but numbers and sequences have to be copied: leave copy out")
    else:
        array = backend.xp.asarray(data, copy=copy, **keywords)
    _check_numbers(array, "data")
    return array


def _check_numbers(array: Any, name: str) -> None:
    """Raise unless an array holds numbers or booleans."""
    if backend_of(array).kind(array.dtype) == "o":
        raise TypeError(
            f"{name} must be numbers, or nested sequences of them with equal lengths; got dtype "
            f"{array.dtype}"
        )


def _plain_values(data: Any, depth: int = 0) -> Any:
    """Nested sequences with tensors inside become nested sequences of arrays."""
    if isinstance(data, list | tuple):
        _check_depth(depth)
        return [_plain_values(item, depth + 1) for item in data]
    if isinstance(data, Tensor):
        if data.requires_grad:
            raise TypeError(
                "data holds tensors that require gradients, which a copy would cut off: use "
                "stack() or concat() to join them"
            )
        return data.numpy()
    return data


def _make(name: str, *args: Any, device: Any = None, **keywords: Any) -> Tensor:
    if device is not None:
        keywords["device"] = device
    if keywords.get("dtype") is not None:
        keywords["dtype"] = numpy_dtype(keywords["dtype"])
    made = getattr(np, name)(*args, **keywords)
    _check_numbers(made, f"the elements of {name}()")
    return _constant(made)


def zeros(shape: Shape, *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of zeros.

    >>> ag.zeros(3)
    tensor([0., 0., 0.])
    """
    return _make("zeros", shape_tuple(shape), dtype=dtype, device=device)


def ones(shape: Shape, *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of ones.

    >>> ag.ones((2, 2))
    tensor([[1., 1.],
            [1., 1.]])
    """
    return _make("ones", shape_tuple(shape), dtype=dtype, device=device)


def empty(shape: Shape, *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor whose elements have arbitrary values: those that were in memory.

    >>> ag.empty((2, 3)).shape
    (2, 3)
    """
    return _make("empty", shape_tuple(shape), dtype=dtype, device=device)


def full(shape: Shape, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor with the same value everywhere. If the value is a tensor, it gets a gradient.

    >>> ag.full(2, 7.0)
    tensor([7., 7.])
    """
    if isinstance(fill_value, Array):
        return asarray(_filled(fill_value, shape_tuple(shape), dtype), device=device)
    return _make("full", shape_tuple(shape), fill_value, dtype=dtype, device=device)


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Tensor:
    """Evenly spaced values from `start` up to `stop`, without `stop` itself.

    >>> ag.arange(3), ag.arange(1.0, 2.0, 0.5)
    (tensor([0, 1, 2]), tensor([1. , 1.5]))
    """
    if step == 0:
        raise ValueError("arange: step must not be zero")
    bounds = (0, start) if stop is None else (start, stop)
    return _make("arange", *bounds, step, dtype=dtype, device=device)


def linspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
) -> Tensor:
    """`num` evenly spaced values over an interval. Its ends may be tensors.

    >>> ag.linspace(0.0, 1.0, 5)
    tensor([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    if isinstance(start, Array) or isinstance(stop, Array):
        places = np.linspace(0.0, 1.0, num, endpoint=endpoint)
        ndim = max(getattr(start, "ndim", 0), getattr(stop, "ndim", 0))
        like = start if isinstance(start, Array) else stop
        share = in_library_of(plain(like), places.reshape((num,) + (1,) * ndim))
        # Not `start + share * (stop - start)`: after rounding, that may miss `stop`.
        made = ops.add(ops.multiply(start, 1 - share), ops.multiply(stop, share))
        if dtype is not None and numpy_dtype(dtype).kind in "iu":
            made = ops.floor(made)
        return asarray(made, dtype=dtype, device=device)
    return _make("linspace", start, stop, num, dtype=dtype, device=device, endpoint=endpoint)


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None
) -> Tensor:
    """Ones on a diagonal, zeros elsewhere.

    >>> ag.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    return _make("eye", n_rows, n_cols, k=k, dtype=dtype or np.float64, device=device)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor from an array of any library with DLPack, on the same memory where possible.

    Parameters
    ----------
    x : array
        Has the methods `__dlpack__` and `__dlpack_device__`.
    device : optional
        The device of the tensor: "cpu", or None for the device of `x`.
    copy : bool, optional
        True always copies; False never does, and raises where that is not possible.

    Examples
    --------
    >>> import arraygrad as ag
    >>> import numpy as np
    >>> data = np.zeros(2)
    >>> np.shares_memory(ag.from_dlpack(data).array, data)
    True
    """
    for method in ("__dlpack__", "__dlpack_device__"):
        if not hasattr(x, method):
            raise TypeError(f"x must speak DLPack, but {type(x).__name__} has no {method}()")
    return new(np.from_dlpack(x, device=device, copy=copy))


def _like(x: Any, value: Any, dtype: Any, device: Any) -> Tensor:
    if not hasattr(x, "shape"):
        raise TypeError(f"x must be a Tensor or an array, not {type(x).__name__}")
    backend: Backend = backend_of(x)
    dtype = x.dtype if dtype is None else backend.dtype(dtype)
    if isinstance(value, Array):
        return _filled(value, tuple(x.shape), dtype)
    made = backend.full(plain(x), tuple(x.shape), value, dtype)
    array = memory_of(x)
    if array is not None and not array.flags.c_contiguous:  # the elements lie as those of `x`
        made = np.full_like(array, value, dtype)
    if device is not None:
        made = backend.xp.asarray(made, device=device)
    if isinstance(x, Array) and x.level > Tensor.level:
        # Inside the transform of `x`, so that values of the transform can be written to it.
        return x.like(made) if isinstance(x, Tensor) else tensor_type_at(x.level + 0.5)(made)
    return new(made)


def _filled(value: Any, shape: tuple[int, ...], dtype: Any) -> Tensor:
    """An array filled with the value of a 0-d array, which gets the gradient."""
    if value.ndim:
        raise ValueError(f"fill_value must be a number or 0-d, got shape {tuple(value.shape)}")
    value = value if dtype is None else ops.astype(value, dtype, copy=False)
    return cast(Tensor, ops.copy(ops.broadcast_to(value, shape)))


def zeros_like(x: AnyArray, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Zeros with the shape of `x`; by default also with its library, dtype and device.

    >>> ag.zeros_like(ag.tensor([3.0, 4.0]))
    tensor([0., 0.])
    """
    return _like(x, 0, dtype, device)


def ones_like(x: AnyArray, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Ones with the shape of `x`; by default also with its library, dtype and device.

    >>> ag.ones_like(ag.tensor([3.0, 4.0]))
    tensor([1., 1.])
    """
    return _like(x, 1, dtype, device)


def full_like(x: AnyArray, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """One value in the shape of `x`; by default also with its library, dtype and device.

    >>> ag.full_like(ag.ones(2), 7.0)
    tensor([7., 7.])
    """
    return _like(x, fill_value, dtype, device)


def empty_like(x: AnyArray, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor with the shape of `x`, whose elements are to be written.

    >>> ag.empty_like(ag.ones((2, 3))).shape
    (2, 3)
    """
    return _like(x, 0, dtype, device)
