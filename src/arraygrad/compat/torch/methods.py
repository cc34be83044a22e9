"""The methods and operators of `Tensor` that compute: attached here, from PyTorch's functions."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ... import ops
from ...arrays.creation import asarray as native
from ...arrays.tensor import Tensor as Native
from ...core.array import Array, plain
from ...core.nodes import recorder
from . import creation, random
from .dtypes import Size, check_device, device, dtype, numpy_of
from .functions import elementwise, indexing, products, reductions, shapes
from .handles import Tensor, is_recorded, lift, new, unwrap, wrap
from .printing import described
from .publish import METHODS, written

for _module in (elementwise, indexing, products, reductions, shapes):
    assert _module.__doc__  # imported for the methods that it declares


# --- operators ---


def _reflected(made: Any) -> Any:
    return lambda self, other: made(other, self)


def _or_not_implemented(made: Any) -> Any:
    """An operator that leaves operands it does not know to their own methods."""

    def operator(self: Tensor, other: Any) -> Any:
        if not isinstance(other, Tensor | bool | int | float | complex | np.ndarray | np.generic):
            return NotImplemented
        return made(self, other)

    return operator


_TWO = {
    "add": elementwise.PLAIN_ADD,
    "sub": elementwise.PLAIN_SUB,
    "mul": elementwise.mul,
    "truediv": elementwise.true_divide,
    "floordiv": elementwise.floor_divide,
    "mod": elementwise.remainder,
    "pow": elementwise.pow,
    "and": elementwise.bitwise_and,
    "or": elementwise.bitwise_or,
    "xor": elementwise.bitwise_xor,
    "lshift": elementwise.bitwise_left_shift,
    "rshift": elementwise.bitwise_right_shift,
}
_IN_PLACE = {
    "add": ops.add,
    "sub": ops.subtract,
    "mul": ops.multiply,
    "truediv": ops.divide,
    "floordiv": ops.floor_divide,
    "mod": ops.remainder,
    "pow": ops.pow,
    "and": ops.bitwise_and,
    "or": ops.bitwise_or,
    "xor": ops.bitwise_xor,
    "lshift": ops.bitwise_left_shift,
    "rshift": ops.bitwise_right_shift,
}
for _name, _made in _TWO.items():
    setattr(Tensor, f"__{_name}__", _made)
    setattr(Tensor, f"__r{_name}__", _reflected(_made))
for _name, _function in _IN_PLACE.items():
    setattr(Tensor, f"__i{_name}__", written(_function, f"__i{_name}__"))
for _name in ("lt", "le", "gt", "ge"):
    setattr(Tensor, f"__{_name}__", METHODS[_name])
for _name in ("eq", "ne"):
    setattr(Tensor, f"__{_name}__", _or_not_implemented(METHODS[_name]))
for _name, _made in {
    "__neg__": elementwise.neg,
    "__pos__": elementwise.positive,
    "__abs__": elementwise.abs,
    "__invert__": elementwise.bitwise_not,
    "__matmul__": products.matmul,
    "__rmatmul__": _reflected(products.matmul),
}.items():
    setattr(Tensor, _name, _made)


def _simple_sum(native_function: Any, scaled: Any) -> Any:
    """`add_` and `sub_`: without `alpha`, the op itself, which keeps fewer values."""
    plain_method, full_method = written(native_function, scaled), METHODS[scaled]

    def method(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
        if alpha == 1:
            return plain_method(self, other)  # type: ignore[no-any-return]
        return full_method(self, other, alpha=alpha)  # type: ignore[no-any-return]

    method.__name__ = method.__qualname__ = scaled
    return method


def _plain_division(self: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    if rounding_mode is None:
        return _DIVIDE(self, other)  # type: ignore[no-any-return]
    return _ROUNDED(self, other, rounding_mode=rounding_mode)  # type: ignore[no-any-return]


_DIVIDE, _ROUNDED = written(ops.divide, "div_"), METHODS["div_"]
METHODS["add_"] = _simple_sum(ops.add, "add_")
METHODS["sub_"] = METHODS["subtract_"] = _simple_sum(ops.subtract, "sub_")
METHODS["div_"] = METHODS["divide_"] = METHODS["true_divide_"] = _plain_division
for _name, _made in METHODS.items():
    setattr(Tensor, _name, _made)
for _fill in random.IN_PLACE:
    setattr(Tensor, _fill.__name__, _fill)
Tensor.multinomial = random.multinomial  # type: ignore[method-assign]
Tensor.bernoulli = random.bernoulli  # type: ignore[method-assign]


# --- indices ---


def _key(key: Any) -> Any:
    """An index as arraygrad takes it. PyTorch's slices have no negative steps."""
    kind = type(key)
    if kind is int or kind is slice or key is None or key is Ellipsis:
        if kind is slice and key.step is not None and key.step <= 0:
            raise ValueError("the step of a slice must be greater than zero")
        return unwrap(key) if kind is slice else key
    if kind is tuple:
        return tuple(map(_key, key))
    if kind is Tensor and key._t.dtype == np.uint8:
        return key._t != 0
    if kind is list and any(isinstance(item, slice) or item is Ellipsis for item in key):
        return tuple(map(_key, key))
    key = unwrap(key)
    return np.asarray(key, np.int64) if isinstance(key, list) and not key else key


def _getitem(self: Tensor, key: Any) -> Tensor:
    found = self._t[_key(key)]
    made = new(Tensor)
    made._t = found
    if getattr(found, "_view", None) is not None:
        made._of = self
    return made


def _setitem(self: Tensor, key: Any, value: Any) -> None:
    value = unwrap(value)
    if isinstance(value, Array):
        lift(self, value)
        if value.dtype != self._t.dtype:
            value = ops.astype(value, self._t.dtype)
    place = _key(key)
    if isinstance(value, Array) and value.ndim:
        # PyTorch drops axes of length one in front, as in `x[0] = row` with a row of shape (1, n).
        extra = value.ndim - self._t[place].ndim
        if extra > 0 and set(value.shape[:extra]) == {1}:
            value = ops.reshape(value, value.shape[extra:])
    try:
        self._t[place] = value
    except (ValueError, TypeError) as error:
        raise RuntimeError(str(error)) from error


Tensor.__getitem__ = _getitem  # type: ignore[method-assign]
Tensor.__setitem__ = _setitem  # type: ignore[method-assign]


# --- conversions ---


def _as_dtype(wanted: Any) -> Any:
    def method(self: Tensor, memory_format: Any = None) -> Tensor:
        return self if self._t.dtype == wanted else wrap(ops.astype(self._t, wanted))

    return method


for _name, _wanted in {
    "double": "float64",
    "float": "float32",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "bool": "bool",
    "cdouble": "complex128",
    "cfloat": "complex64",
}.items():
    setattr(Tensor, _name, _as_dtype(np.dtype(_wanted)))


def _to(self: Tensor, *args: Any, **keywords: Any) -> Tensor:
    """The tensor with another dtype, or on the CPU."""
    wanted = keywords.pop("dtype", None)
    again = keywords.pop("copy", False)
    check_device(keywords.pop("device", None))
    for value in args:
        if isinstance(value, Tensor):
            wanted = value.dtype
        elif isinstance(value, dtype):
            wanted = value
        elif isinstance(value, device | str):
            check_device(value)
    array = self._t
    if wanted is not None and array.dtype != numpy_of(wanted):
        return wrap(ops.astype(array, numpy_of(wanted)))  # type: ignore[no-any-return]
    return wrap(ops.copy(array)) if again else self


def _type(self: Tensor, wanted: Any = None, **keywords: Any) -> Any:
    """The name of the type of tensor, or the tensor as another dtype."""
    if wanted is None:
        return f"torch.{_TYPE_NAMES[self.dtype.dtype.name]}Tensor"
    if isinstance(wanted, str):
        names = {name: key for key, name in _TYPE_NAMES.items()}
        wanted = np.dtype(names[wanted.removeprefix("torch.").removesuffix("Tensor")])
    return _to(self, wanted if isinstance(wanted, dtype) else _dtype_of(wanted))


def _dtype_of(wanted: Any) -> dtype:
    from .dtypes import of_numpy

    return of_numpy(getattr(wanted, "_dtype", wanted))


_TYPE_NAMES = {
    "float64": "Double",
    "float32": "Float",
    "float16": "Half",
    "int64": "Long",
    "int32": "Int",
    "int16": "Short",
    "int8": "Char",
    "uint8": "Byte",
    "bool": "Bool",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}

Tensor.to = _to  # type: ignore[method-assign]
Tensor.type = _type  # type: ignore[method-assign]
Tensor.type_as = lambda self, other: _to(self, other.dtype)  # type: ignore[method-assign]
Tensor.cpu = lambda self, memory_format=None: self  # type: ignore[method-assign]


def _refused(name: str) -> Any:
    def method(self: Tensor, *args: Any, **keywords: Any) -> Any:
        raise NotImplementedError(f"Tensor.{name}() is PyTorch's alone: it has no meaning here")

    return method


Tensor.to_dense = lambda self, dtype=None: self  # type: ignore[method-assign]
for _name in ("cuda", "to_sparse", "storage", "untyped_storage", "share_memory_", "to_mkldnn"):
    setattr(Tensor, _name, _refused(_name))


def _make_new(function: Any) -> Any:
    def method(self: Tensor, *args: Any, **keywords: Any) -> Tensor:
        keywords.setdefault("dtype", self.dtype)
        return function(*args, **keywords)  # type: ignore[no-any-return]

    return method


for _name in ("zeros", "ones", "empty", "full", "tensor", "empty_strided"):
    setattr(Tensor, f"new_{_name}", _make_new(getattr(creation, _name)))
Tensor.new = lambda self, *args: creation.legacy(Tensor, args, self.dtype)  # type: ignore[method-assign]


# --- other names for the same values ---


def _view_property(function: Any) -> property:
    return property(lambda self: function(self))


Tensor.T = property(lambda self: shapes.permute(self, *range(self.ndim)[::-1]))
Tensor.mT = property(lambda self: shapes.transpose(self, -1, -2))
Tensor.H = _view_property(shapes.adjoint)
Tensor.mH = _view_property(shapes.adjoint)


def _part(name: str) -> property:
    read = getattr(elementwise, name)

    def write(self: Tensor, value: Any) -> None:
        read(self).copy_(value)

    return property(read, write)


Tensor.real = _part("real")
Tensor.imag = _part("imag")


def _get_data(self: Tensor) -> Tensor:
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


Tensor.data = property(_get_data, creation.with_data)


def _renamed(function: Any, name: str) -> Any:
    """A method in place that gives a tensor the shape of a view of itself."""

    def method(self: Tensor, *args: Any, **keywords: Any) -> Tensor:
        if recorder() is not None and isinstance(self._t, Native):
            if self._t.is_leaf and self._t.requires_grad:
                raise RuntimeError(
                    f"{name}(): a leaf that requires gradients cannot be changed in place"
                )
        self._t = function(self, *args, **keywords)._t
        return self

    method.__name__ = method.__qualname__ = name
    return method


for _name in ("t", "transpose", "swapaxes", "swapdims", "squeeze", "unsqueeze", "as_strided"):
    setattr(Tensor, f"{_name}_", _renamed(getattr(shapes, _name), f"{_name}_"))
for _name in ("swapaxes", "swapdims", "moveaxis", "unsafe_split"):
    setattr(Tensor, _name, getattr(shapes, _name))


def _resize(self: Tensor, *size: Any, memory_format: Any = None) -> Tensor:
    """Give the tensor another shape, with as many of its elements as there is room for."""
    if is_recorded(self._t):
        raise RuntimeError("resize_(): a tensor that requires gradients cannot be resized")
    wanted = shapes.sizes(tuple(map(unwrap, size)))
    flat = np.asarray(plain(self._t)).reshape(-1)
    made = np.zeros(Size(wanted).numel(), flat.dtype)
    made[: flat.size] = flat[: made.size]
    self._t = native(made.reshape(wanted))
    return self


def _set(self: Tensor, source: Any = None) -> Tensor:
    """Give the tensor the memory of another one."""
    self._t = native(np.zeros(0, self._t.dtype)) if source is None else source._t.detach()
    return self


Tensor.resize_ = _resize  # type: ignore[method-assign]
Tensor.resize_as_ = lambda self, other: _resize(self, tuple(other.shape))  # type: ignore[method-assign]
Tensor.set_ = _set  # type: ignore[method-assign]


# --- writing ---


def _copy(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Take over the values of another tensor."""
    value = unwrap(src)
    lift(self, value)
    if isinstance(value, Array) and value.dtype != self._t.dtype:
        value = ops.astype(value, self._t.dtype)
    try:
        self._t.copy_(value)
    except (ValueError, TypeError) as error:
        raise RuntimeError(f"copy_(): {error}") from error
    return self


def _fill_with(self: Tensor, value: Any) -> Tensor:
    """Set all elements to one value."""
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(f"fill_() takes a number or a 0-d tensor, not one of {value.ndim} axes")
    return _copy(self, value)


Tensor.copy_ = _copy  # type: ignore[method-assign]
Tensor.fill_ = _fill_with  # type: ignore[method-assign]
Tensor.zero_ = lambda self: _copy(self, 0)  # type: ignore[method-assign]


# --- memory ---


def _stride(self: Tensor, dim: int | None = None) -> Any:
    """The steps in memory between neighbours along each axis, counted in elements."""
    array = np.asarray(plain(self._t)) if isinstance(self._t, Native) else None
    if array is None or isinstance(self._t._array, Array):
        steps, count = [], 1
        for length in reversed(self._t.shape):
            steps.append(count)
            count *= max(length, 1)
        found = tuple(reversed(steps))
    else:
        found = tuple(step // array.itemsize for step in array.strides)
    return found if dim is None else found[dim]


Tensor.stride = _stride  # type: ignore[method-assign]
Tensor.is_contiguous = (  # type: ignore[method-assign]
    lambda self, memory_format=None: shapes.contiguous(self)._t is self._t
)
Tensor.data_ptr = (  # type: ignore[method-assign]
    lambda self: np.asarray(plain(self._t)).__array_interface__["data"][0]
)
Tensor.storage_offset = lambda self: 0  # type: ignore[method-assign]
Tensor.is_conj = lambda self: False  # type: ignore[method-assign]
Tensor.is_neg = lambda self: False  # type: ignore[method-assign]
Tensor.is_shared = lambda self: False  # type: ignore[method-assign]
Tensor.is_pinned = lambda self, device=None: False  # type: ignore[method-assign]
Tensor.is_same_size = lambda self, other: self.shape == other.shape  # type: ignore[method-assign]
Tensor.is_nonzero = lambda self: bool(self)  # type: ignore[method-assign]
Tensor.sum_to_size = lambda self, *size: _sum_to(self, shapes.sizes(size))  # type: ignore[method-assign]


def _sum_to(self: Tensor, wanted: tuple[int, ...]) -> Tensor:
    lead = self.ndim - len(wanted)
    axes = list(range(lead))
    axes += [i for i in range(lead, self.ndim) if wanted[i - lead] == 1 and self.shape[i] != 1]
    return self.sum(axes, keepdim=True).reshape(wanted) if axes else self  # type: ignore[no-any-return]


# --- copies of the tensor itself ---


def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    if id(self) in memo:
        return memo[id(self)]  # type: ignore[no-any-return]
    if not self.is_leaf:
        raise RuntimeError("only leaves can be copied by deepcopy: detach() the tensor first")
    made = new(type(self))
    made._t = copy.deepcopy(self._t, memo)
    memo[id(self)] = made
    made.__dict__.update(copy.deepcopy(self.__dict__, memo))
    if made.requires_grad:
        from .handles import remember

        remember(made)
    return made  # type: ignore[no-any-return]


def _rebuild(kind: type[Tensor], array: Any, requires_grad: bool, attributes: Any) -> Tensor:
    made = creation.parameter(kind, array, requires_grad)
    made.__dict__.update(attributes)
    return made  # type: ignore[no-any-return]


def _reduce(self: Tensor, protocol: Any = None) -> Any:
    if not self.is_leaf:
        raise RuntimeError("only leaves can be pickled: detach() the tensor first")
    values = np.asarray(self._t.detach().numpy())
    return _rebuild, (type(self), values, self.requires_grad, self.__dict__)


def _shallow(self: Tensor) -> Tensor:
    made = new(type(self))
    made._t = self._t
    made.__dict__.update(self.__dict__)
    return made  # type: ignore[no-any-return]


Tensor.__deepcopy__ = _deepcopy  # type: ignore[method-assign]
Tensor.__copy__ = _shallow  # type: ignore[method-assign]
Tensor.__reduce_ex__ = _reduce  # type: ignore[method-assign, assignment]
Tensor.__repr__ = Tensor.__str__ = described  # type: ignore[method-assign, assignment]
Tensor.__new__ = lambda cls, *args, **keywords: (  # type: ignore[method-assign, assignment]
    creation.legacy(cls, args)
)
