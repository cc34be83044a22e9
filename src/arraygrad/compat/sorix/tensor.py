"""sorix's `Tensor`.

Differences, on purpose: types can be cast, and results written in place, without losing the graph;
a whole-number tensor that requires gradients computes in double precision; there is no CUDA.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...arrays.creation import asarray
from ...arrays.tensor import Tensor as Native
from ...autograd import is_grad_enabled, no_grad, set_grad_enabled
from ..facade import Facade, unwrapped
from ..torchlike import FUNCTIONS
from .kinds import Device, DType, Size, bool_, float16, float32, float64, int32, int64, numpy_dtype

__all__ = ["Tensor", "get_xp", "is_grad_enabled", "no_grad", "set_grad_enabled", "tensor"]


def get_xp(*arrays: Any) -> Any:
    """The module of the arrays: NumPy."""
    return np


class Tensor(Facade):
    """A NumPy array, `.data`, that records what is computed with it.

    >>> from arraygrad.compat.sorix import Tensor
    >>> Tensor([1.0, 2.0], requires_grad=True)
    tensor([1., 2.], requires_grad=True)
    """

    # The dtype of a leaf of whole numbers, which the inner tensor has in double precision.
    _whole: Any = None
    # A gradient that was put on a tensor that is not a leaf.
    _put: Any = None
    _freed = False

    def __init__(
        self,
        data: Any,
        device: str | Device = "cpu",
        requires_grad: bool = False,
        dtype: Any = None,
    ) -> None:
        check_cpu(device)
        wanted = numpy_dtype(dtype)
        array = np.asarray(unwrapped(data).detach() if isinstance(data, Facade) else data, wanted)
        if isinstance(data, Facade):
            array = array.copy()
        elif not hasattr(data, "dtype") and dtype is None and array.dtype == np.float64:
            array = array.astype(np.float32)
        if requires_grad and array.dtype.kind in "biu":
            self._whole = array.dtype
            array = array.astype(np.float64)
        self._inner = asarray(array)
        if requires_grad:
            self._inner.requires_grad_()

    # --- attributes ---

    @property
    def data(self) -> Any:
        """The array itself: what is written to it is written to the tensor, and not recorded.

        Of a leaf of whole numbers that requires gradients, it is a copy, which cannot be written.
        """
        array = self._inner.array
        if self._whole is None:
            return array
        rounded = array.astype(self._whole)
        copy = rounded if (rounded == array).all() else array.copy()
        copy.flags.writeable = False
        return copy

    @data.setter
    def data(self, value: Any) -> None:
        array = np.asarray(value)
        gradient, requires_grad = self.grad, self.requires_grad
        if self._inner.is_leaf and self._whole is None:
            if array.shape == self.shape and array.dtype == self._inner.dtype:
                self._inner._array = array  # in the graph, it stays the leaf that it was
                return
        self._put = None
        Tensor.__init__(self, array, requires_grad=requires_grad)
        if gradient is not None and gradient.shape == self.shape:
            self.grad = gradient

    @property
    def device(self) -> Device:
        """The processor."""
        return Device("cpu")

    @property
    def shape(self) -> Size:
        return Size(self._inner.shape)

    @property
    def numel(self) -> int:
        """The number of elements."""
        return self._inner.size

    @property
    def dtype(self) -> Any:
        """The data type of the elements."""
        return DType(self.data.dtype.name)

    @property
    def xp(self) -> Any:
        """The module of the array: NumPy."""
        return np

    @property
    def requires_grad(self) -> bool:
        return self._inner.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if value and self._inner.dtype.kind in "biu":
            Tensor.__init__(self, self.data, requires_grad=True)
        else:
            self._inner.requires_grad_(value)

    @property
    def grad(self) -> Any:
        if self._put is not None:
            return self._put
        found = super().grad
        if found is None or self._whole is None:
            return found
        # Whole numbers have gradients of their type, unless this would round them.
        rounded = found.data.astype(self._whole)
        return Tensor(rounded) if (rounded == found.data).all() else found

    @grad.setter
    def grad(self, value: Any) -> None:
        given = value if isinstance(value, Facade) or value is None else Tensor(value)
        if self.is_leaf:
            inner = unwrapped(given)
            fits = inner is None or inner.dtype == self._inner.dtype
            self._inner.grad = inner if fits else inner.astype(self._inner.dtype)
        else:
            self._put = given

    @property
    def _prev(self) -> set[Any]:
        """The nodes that this tensor was computed from, as long as the graph is kept."""
        node = self.grad_fn
        return set() if node is None or self._freed else {e for e, _ in node.next_functions}

    # --- differentiation ---

    def backward(
        self, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False
    ) -> None:
        """Add the gradients of this tensor to the `.grad` of the leaves."""
        seed = None
        if gradient is None:
            self._check_scalar()
        else:
            seed = unwrapped(gradient if isinstance(gradient, Facade) else Tensor(gradient))
            if seed.shape != self.shape:
                raise ValueError(
                    f"gradient has shape {tuple(seed.shape)}, but the tensor has shape "
                    f"{tuple(self.shape)}"
                )
            seed = seed.astype(self._inner.dtype) if seed.dtype != self._inner.dtype else seed
        self._inner.backward(seed, retain_graph=retain_graph, create_graph=create_graph)
        self._freed = not (create_graph if retain_graph is None else retain_graph)

    def detach(self) -> Tensor:
        """A copy of the values, cut off from the graph."""
        return Tensor(self.data.copy())

    # --- values ---

    def numpy(self) -> Any:
        """The array itself, as `.data`."""
        return self.data

    def to_numpy(self, dtype: Any = None, copy: bool = False) -> Any:
        """The array, converted or copied."""
        return np.array(self.data, dtype=numpy_dtype(dtype), copy=copy or None)

    def item(self) -> Any:
        return self.data.item()

    def __bool__(self) -> bool:
        # As in sorix: several elements are true if there are any, like a list.
        return bool(self.data.flat[0]) if self.numel == 1 else self.numel > 0

    def __repr__(self) -> str:
        text = np.array2string(self.data, separator=", ").replace("\n", "\n       ")
        if self.dtype not in (float32, int64):
            text += f", dtype={self.dtype}"
        return f"tensor({text}{', requires_grad=True' if self.requires_grad else ''})"

    def __reduce__(self) -> Any:
        return _restored, (self.data, self.requires_grad)

    # --- shapes and types ---

    def transpose(self, *axes: Any) -> Tensor:
        """NumPy's transpose: reorder the axes as given, or reverse them all."""
        return self._of(self._inner.transpose(*axes))

    def expand_dims(self, axis: int) -> Tensor:
        """With one more axis, of length one."""
        return self._of(self._inner.expand_dims(axis))

    def astype(self, dtype: Any) -> Tensor:
        """The tensor in another type; the graph is kept if both have gradients."""
        wanted = np.dtype(numpy_dtype(dtype))
        if wanted.kind in "biu":
            return Tensor(self.data.astype(wanted))
        return self._of(self._inner.astype(wanted))

    def to(self, device: str | Device) -> Tensor:
        """The tensor itself, if the device is the processor."""
        check_cpu(device)
        return self

    def cuda(self) -> Tensor:
        """Raises: there is no CUDA here."""
        return self.to("cuda")

    gpu = cuda

    # --- writing ---

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check_writable()
        value = unwrapped(value)
        if not isinstance(value, Native):
            value = np.asarray(value, self._inner.dtype)
        self._inner[unwrapped(key)] = value

    def _written(self, write: Any, *args: Any, **keywords: Any) -> Tensor:
        kind = self._inner.dtype
        arrays = [
            a.astype(kind) if isinstance(a, np.ndarray) and np.can_cast(a, kind, "same_kind") else a
            for a in args
        ]
        super()._written(write, *arrays, **keywords)
        return self

    @classmethod
    def _operands(cls, x: Any, y: Any) -> tuple[Any, Any]:
        return tuple(v._inner if isinstance(v, Facade) else _operand(v) for v in (x, y))  # type: ignore[return-value]


_METHODS = "abs add chunk clamp div flatten matmul mean mul permute pow repeat reshape sigmoid "
_METHODS += "softmax split squeeze sub sum t tanh unbind unsqueeze view"
Tensor._adopt({name: FUNCTIONS[name] for name in _METHODS.split()})
_KINDS = {"float": float32, "double": float64, "half": float16, "int": int32, "long": int64}
for _name, _kind in {**_KINDS, "bool": bool_}.items():
    setattr(Tensor, _name, functools.partialmethod(Tensor.astype, _kind))


def _operand(value: Any) -> Any:
    """Lists are tensors, too; numbers stay numbers, which do not change a dtype."""
    return Tensor(value)._inner if isinstance(value, list | tuple) else value


def check_cpu(device: Any) -> None:
    """Refuse devices other than the processor."""
    kind = Device(device).type
    if kind in ("cuda", "gpu"):
        raise RuntimeError(
            "CuPy is not installed for this facade, so there is no CUDA: use arraygrad itself, "
            "which works on CuPy arrays"
        )
    if kind != "cpu":
        raise ValueError(f"Invalid device type: {kind}")


def _restored(data: Any, requires_grad: bool) -> Tensor:
    return Tensor(data, requires_grad=requires_grad)


def tensor(
    data: Any, device: str | Device = "cpu", requires_grad: bool = False, dtype: Any = None
) -> Tensor:
    """A new leaf tensor. Python floats get single precision; an array is shared, not copied.

    >>> from arraygrad.compat.sorix import tensor
    >>> tensor([1.0, 2.0]).dtype
    sorix.float32
    """
    return Tensor(data, device, requires_grad, dtype)
