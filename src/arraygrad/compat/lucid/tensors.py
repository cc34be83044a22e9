"""Lucid's `Tensor`, its dtypes, and the functions that make tensors."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...arrays.creation import asarray
from ...arrays.creation import tensor as native_tensor
from ...errors import NoGradientError
from ..devices import Device
from ..facade import Facade, makers, unwrapped
from ..torchlike import FUNCTIONS
from ._C.engine import check_alike, in_lucids_words
from .draws import normal, uniform
from .functions import OWN

__all__ = [
    "Tensor", "arange", "bool_", "complex64", "complex128", "device", "empty", "empty_like", "eye",
    "float16", "float32", "float64", "from_numpy", "full", "full_like", "int8", "int16", "int32",
    "int64", "linspace", "ones", "ones_like", "rand", "rand_like", "randn", "randn_like", "tensor",
    "zeros", "zeros_like",
]  # fmt: skip

float16, float32, float64 = map(np.dtype, (np.float16, np.float32, np.float64))
int8, int16, int32, int64 = map(np.dtype, (np.int8, np.int16, np.int32, np.int64))
complex64, complex128, bool_ = map(np.dtype, (np.complex64, np.complex128, np.bool_))


class device(Device):  # noqa: N801  (Lucid's name)
    """Where a tensor is: always the processor's memory here."""

    def __init__(self, type: Any = "cpu") -> None:
        super().__init__(type)
        if str(self) != "cpu":
            raise RuntimeError(
                f"there is no device {str(self)!r} here, only 'cpu': use arraygrad itself with "
                "MLX arrays for Metal"
            )

    def __repr__(self) -> str:
        return f"device({self.type!r})"

    def __eq__(self, other: object) -> bool:
        return str(other) == self.type

    __hash__ = Device.__hash__


class Tensor(Facade):
    """A tensor that records what is computed with it.

    >>> from arraygrad.compat import lucid
    >>> lucid.Tensor([1.0, 2.0], requires_grad=True)
    tensor([1., 2.], requires_grad=True)
    """

    def __init__(
        self, data: Any, requires_grad: bool = False, dtype: Any = None, device: Any = None
    ) -> None:
        self._inner = tensor(data, requires_grad, dtype, device)._inner

    # --- attributes ---

    @property
    def dtype(self) -> Any:
        """The data type of the elements."""
        return self._inner.dtype

    @property
    def device(self) -> device:
        """The processor."""
        return device("cpu")

    @property
    def data(self) -> Tensor:
        """The same values, cut off from the graph: what is written to it is not recorded."""
        return self.detach()

    @data.setter
    def data(self, value: Any) -> None:
        given = unwrapped(value)
        if not self.is_leaf or given.shape != self.shape or given.dtype != self.dtype:
            raise RuntimeError(
                "data can be set on a leaf, to a tensor of its shape and dtype: make a new tensor"
            )
        self._inner._array = given.detach().numpy()

    @property
    def grad(self) -> Any:
        """The gradient that `backward()` accumulated, or None."""
        return Facade.grad.fget(self)  # type: ignore[attr-defined]

    @grad.setter
    def grad(self, value: Any) -> None:
        if isinstance(value, Facade):
            check_alike(value, self, "grad")
        Facade.grad.fset(self, value)  # type: ignore[attr-defined]

    @property
    def mT(self) -> Tensor:  # noqa: N802  (Lucid's name)
        """With the last two axes exchanged."""
        return self._of(self._inner.mT)

    # --- methods ---

    def numel(self) -> int:
        """The number of elements."""
        return self._inner.size

    def contiguous(self) -> Tensor:
        """The tensor itself."""
        return self

    def to(self, target: Any = None, *, dtype: Any = None, device: Any = None) -> Tensor:
        """The tensor in another dtype. The device can only be the processor."""
        if target is not None and not isinstance(target, str | globals()["device"]):
            dtype = target
        elif target is not None:
            device = target
        if device is not None:
            globals()["device"](device)
        return self if dtype is None else self._of(self._inner.astype(np.dtype(dtype)))

    def register_hook(self, hook: Any) -> Any:
        self._check_requires_grad("register_hook")

        @functools.wraps(hook, updated=())
        def checked(g: Any) -> Any:
            result = hook(g)
            if isinstance(result, Facade):
                check_alike(result, g, "what a hook returned")
            return result

        return super().register_hook(checked)

    def retain_grad(self) -> None:
        self._check_requires_grad("retain_grad")
        super().retain_grad()

    def _check_requires_grad(self, name: str) -> None:
        if not self.requires_grad:
            raise NoGradientError(
                f"{name}(): this tensor does not require grad. Call requires_grad_() on it first"
            )

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradients of this tensor to the `.grad` of the leaves."""
        seed = unwrapped(gradient)
        if seed is None:
            self._check_scalar()
        else:
            seed = asarray(seed) if not hasattr(seed, "dtype") else seed
            seed = fitting_seed(self, seed, "gradient")
        with in_lucids_words():
            self._inner.backward(seed, retain_graph, create_graph, accumulated_into(inputs))

    def is_complex(self) -> bool:
        """Whether the elements are complex numbers."""
        return bool(self.dtype.kind == "c")

    def is_floating_point(self) -> bool:
        """Whether the elements are real numbers, not whole ones."""
        return bool(self.dtype.kind == "f")

    def __repr__(self) -> str:
        text = repr(self._inner)
        return text.replace(", dtype=float32", "") if self.dtype == float32 else text


def _in_place(name: str) -> Any:
    return lambda self, other: self._written(getattr(self._inner, name), other)


for _name, _write in {"add": "add_", "sub": "sub_", "mul": "mul_", "truediv": "div_"}.items():
    setattr(Tensor, f"__i{_name}__", _in_place(_write))
Tensor._adopt({**FUNCTIONS, **OWN})
for _name, _kind in {"float": float32, "double": float64, "long": int64, "int": int32}.items():
    setattr(Tensor, _name, functools.partialmethod(Tensor.to, _kind))


def fitting_seed(output: Any, seed: Any, name: str) -> Any:
    """A cotangent in the dtype of its output. Numbers stay as they are."""
    if not hasattr(seed, "dtype"):
        return seed
    if seed.dtype.kind == "c" and output.dtype.kind != "c":
        raise RuntimeError(f"{name} is complex, but the output is real: pass real numbers")
    made = seed if seed.dtype == output.dtype else asarray(seed).astype(output.dtype)
    check_alike(made, output, name)
    return made


def accumulated_into(inputs: Any) -> Any:
    """The tensors whose `.grad` is wanted, or None for all leaves."""
    if inputs is None:
        return None
    wanted = [unwrapped(x) for x in ([inputs] if isinstance(inputs, Facade) else inputs)]
    if not wanted:
        raise RuntimeError("inputs is empty: leave it out to accumulate into every leaf")
    for i, x in enumerate(wanted):
        if not x.requires_grad:
            raise NoGradientError(f"inputs[{i}] does not require grad: leave it out")
    return wanted


def tensor(data: Any, requires_grad: bool = False, dtype: Any = None, device: Any = None) -> Tensor:
    """A new leaf tensor. Python floats get single precision; arrays keep their dtype.

    >>> from arraygrad.compat import lucid
    >>> lucid.tensor([1.0, 2.0]).dtype
    dtype('float32')
    """
    if device is not None:
        globals()["device"](device)
    values = unwrapped(data)
    if dtype is None and not hasattr(values, "dtype"):
        kind = np.asarray(values).dtype.kind
        dtype = {"f": float32, "c": complex64}.get(kind)
    made = native_tensor(values, dtype=None if dtype is None else np.dtype(dtype))
    return Tensor._of(made.requires_grad_() if requires_grad else made)


def _new(array: Any, requires_grad: Any = False, dtype: Any = None, device: Any = None) -> Tensor:
    real = array.dtype.kind == "f" or dtype is not None
    kind = np.dtype(float32 if dtype is None else dtype) if real else array.dtype
    return tensor(np.asarray(array).astype(kind), bool(requires_grad), None, device)


def _like(array: Any, x: Any, dtype: Any = None, **options: Any) -> Tensor:
    return _new(array, dtype=dtype or x.dtype, **options)


_MADE = makers(_new, _like, "requires_grad dtype device", {}, rand=uniform, randn=normal)
zeros, ones, empty, full = (_MADE[name] for name in ("zeros", "ones", "empty", "full"))
zeros_like, ones_like, empty_like = (_MADE[f"{n}_like"] for n in ("zeros", "ones", "empty"))
rand, rand_like, randn = _MADE["rand"], _MADE["rand_like"], _MADE["randn"]
randn_like, full_like, eye = _MADE["randn_like"], _MADE["full_like"], _MADE["eye"]
arange, linspace = _MADE["arange"], _MADE["linspace"]


def from_numpy(array: Any) -> Tensor:
    """A tensor that shares memory with an array."""
    return Tensor._of(asarray(array))
