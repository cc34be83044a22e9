"""A stand-in for CuPy on machines without a GPU: NumPy's functions behind CuPy's manners.

Its arrays refuse to become NumPy arrays, NumPy arrays are refused as operands, results without axes
are arrays, the host waits for the device only where it is noted, and what CuPy lacks is missing.
It shows that arraygrad uses CuPy by its rules; not that a GPU computes the right numbers.
"""

from __future__ import annotations

import operator
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

WAITED: list[str] = []  # what made the host wait for the device
CALLED: list[str] = []  # the functions that were called
NAMES = ("cupy", "cupy.linalg", "cupy.fft", "cupy.cuda", "cupy.cuda.device", "cupyx")
NAMES += ("cupyx.scipy", "cupyx.scipy.special")

# Functions of NumPy's that CuPy (13) does not have.
MISSING = {
    "linalg.eig",
    "linalg.eigvals",
    "linalg.svdvals",
    "linalg.matrix_transpose",
    "unique_all",
}
MISSING |= {"cumulative_sum", "cumulative_prod", "unstack", "vecdot", "astype", "permute_dims"}
MISSING |= {"matrix_transpose", "isdtype", "concat", "pow", "acos", "linalg.vector_norm"}


class Device:
    """A device, which is also a context."""

    def __init__(self, device: Any = None) -> None:
        self.id = device.id if isinstance(device, Device) else device or 0

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *error: object) -> None: ...

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"


def _waits(name: str) -> Any:
    def method(self: Any, *args: Any) -> Any:
        WAITED.append(name)
        return getattr(self._data, name)(*args)

    return method


def _operator(name: str) -> Any:
    function = getattr(operator, f"__{name}__")

    def forward(self: Any, other: Any) -> Any:
        if getattr(other, "__array_priority__", 0) > self.__array_priority__:
            return NotImplemented
        return _wrapped(function(self._data, _inside(other)))

    def reflected(self: Any, other: Any) -> Any:
        return _wrapped(function(_inside(other), self._data))

    return forward, reflected


class ndarray:  # noqa: N801  (CuPy's name)
    """An array on the pretended device."""

    __module__ = "cupy"
    __array_priority__ = 100

    def __init__(self, data: Any, base: Any = None) -> None:
        self._data = np.asarray(data)
        self.base = base

    device = property(lambda self: Device(0))
    shape = property(lambda self: self._data.shape)
    ndim = property(lambda self: self._data.ndim)
    size = property(lambda self: self._data.size)
    dtype = property(lambda self: self._data.dtype)
    flags = property(lambda self: self._data.flags)
    T = property(lambda self: ndarray(self._data.T, self))
    real = property(lambda self: ndarray(self._data.real, self))
    imag = property(lambda self: ndarray(self._data.imag, self))

    def __array__(self, *args: Any, **keywords: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed: use `.get()`")

    __array_ufunc__ = __array_function__ = __array__

    def get(self) -> Any:
        WAITED.append("get")
        return self._data.copy()

    def __getitem__(self, key: Any) -> Any:
        out = _wrapped(self._data[_inside(key)])
        if out._data.base is not None:
            out.base = self
        return out

    def __setitem__(self, key: Any, value: Any) -> None:
        self._data[_inside(key)] = _inside(value)

    def __len__(self) -> int:
        return len(self._data)

    __bool__, __int__, __float__ = _waits("__bool__"), _waits("__int__"), _waits("__float__")
    __complex__, __index__ = _waits("__complex__"), _waits("__index__")
    item, tolist = _waits("item"), _waits("tolist")

    def __neg__(self) -> Any:
        return _wrapped(-self._data)

    def __invert__(self) -> Any:
        return _wrapped(~self._data)

    def __iadd__(self, other: Any) -> Any:
        self._data += _inside(other)
        return self

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        made = self._data.astype(dtype, copy=copy)
        return self if made is self._data else ndarray(made)

    def view(self, dtype: Any) -> Any:
        return ndarray(self._data.view(dtype), self)

    def copy(self) -> Any:
        return ndarray(self._data.copy())


for _name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split():
    _forward, _reflected = _operator(_name)
    setattr(ndarray, f"__{_name}__", _forward)
    setattr(ndarray, f"__r{_name}__", _reflected)
for _name in "lt le eq ne gt ge".split():
    setattr(ndarray, f"__{_name}__", _operator(_name)[0])
for _name in "ravel reshape sum mean max min transpose squeeze swapaxes any all".split():
    setattr(
        ndarray,
        _name,
        lambda self, *args, _name=_name, **keywords: _wrapped(
            getattr(self._data, _name)(*_inside(args), **_inside(keywords)), self
        ),
    )


def _inside(value: Any) -> Any:
    """What NumPy computes on; its own arrays are refused, as CuPy does."""
    if isinstance(value, ndarray):
        return value._data
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, tuple | list):
        return type(value)(map(_inside, value))
    if isinstance(value, dict):
        return {name: _inside(v) for name, v in value.items()}
    return value


def _wrapped(value: Any, source: Any = None) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        shares = source is not None and np.shares_memory(value, source._data)
        return ndarray(value, source if shares else None)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_wrapped, value))
    if isinstance(value, tuple | list):
        return type(value)(map(_wrapped, value))
    return value


def _function(function: Any, name: str) -> Any:
    def call(*args: Any, **keywords: Any) -> Any:
        CALLED.append(name)
        out = keywords.get("out")
        source = next((a for a in args if isinstance(a, ndarray)), None)
        result = function(*_inside(args), **_inside(keywords))
        return _wrapped(result, source) if out is None else out

    call.__name__ = name.rpartition(".")[2]
    return call


def _fill(module: Any, source: Any, prefix: str = "") -> None:
    for name in dir(source):
        value = getattr(source, name)
        if name.startswith("_") or prefix + name in MISSING or isinstance(value, types.ModuleType):
            continue
        known = isinstance(value, type) or not callable(value)
        setattr(module, name, value if known else _function(value, prefix + name))
    module.__all__ = [name for name in dir(module) if not name.startswith("_")]


def _as_array(data: Any, dtype: Any = None, copy: Any = None, order: Any = None) -> Any:
    if isinstance(data, ndarray):
        if not copy and dtype in (None, data.dtype) and order is None:
            return data
        return ndarray(np.array(data._data, dtype=dtype, order=order or "K"))
    return ndarray(np.array(data, dtype=dtype, order=order or "K"))


def _scatter_add(array: Any, index: Any, value: Any) -> None:
    CALLED.append("scatter_add")
    if array.dtype not in (
        np.float32,
        np.float64,
        np.complex64,
        np.complex128,
        np.uint64,
        np.int32,
    ):
        raise TypeError(f"scatter_add does not support {array.dtype}")
    np.add.at(array._data, _inside(index), _inside(value))


@contextmanager
def installed() -> Iterator[Any]:
    """Let `import cupy` find the stand-in."""
    import scipy.special

    modules: dict[str, Any] = {name: types.ModuleType(name) for name in NAMES}
    cupy = modules["cupy"]
    _fill(cupy, np)
    _fill(modules["cupy.linalg"], np.linalg, "linalg.")
    _fill(modules["cupy.fft"], np.fft, "fft.")
    _fill(modules["cupyx.scipy.special"], scipy.special, "special.")
    cupy.ndarray = ndarray
    cupy.linalg, cupy.fft, cupy.cuda = (modules[f"cupy.{n}"] for n in ("linalg", "fft", "cuda"))
    cupy.asarray = lambda a, dtype=None, order=None: _as_array(a, dtype, None, order)
    cupy.array = lambda a, dtype=None, copy=True, order=None: _as_array(a, dtype, copy, order)
    # NumPy's gives a Python number in older versions.
    cupy.count_nonzero = _function(
        lambda *args, **keywords: np.asarray(np.count_nonzero(*args, **keywords)), "count_nonzero"
    )
    cupy.cuda.Device = modules["cupy.cuda.device"].Device = Device
    cupy.cuda.device = modules["cupy.cuda.device"]
    modules["cupyx"].scatter_add = _scatter_add
    modules["cupyx"].scipy = modules["cupyx.scipy"]
    modules["cupyx.scipy"].special = modules["cupyx.scipy.special"]
    before = dict(sys.modules)
    sys.modules.update(modules)
    try:
        yield cupy
    finally:
        for name in set(sys.modules) - set(before):
            if {"cupy", "cupyx"}.intersection(name.split(".")):
                del sys.modules[name]
