"""PyTorch's dtypes, and its rules for the dtype of a result.

A `dtype` is a name for a NumPy dtype, with PyTorch's attributes. NumPy takes it wherever it takes a
dtype. The rules differ from NumPy's: Python numbers and integers never make a result double, and
integers become the default dtype where a function needs floating-point numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import Array
from ...interop.torch_files import numpy_dtype
from ..devices import Device

__all__ = [
    "Size", "bfloat16", "cdouble", "cfloat", "channels_last", "complex64", "complex128",
    "contiguous_format", "device", "double", "dtype", "finfo", "float16", "float32", "float64",
    "get_default_dtype", "half", "iinfo", "int8", "int16", "int32", "int64", "long",
    "preserve_format", "set_default_dtype", "short", "strided", "uint8", "uint16", "uint32",
    "uint64",
]  # fmt: skip


class dtype:  # noqa: N801  (torch's name)
    """The data type of a tensor's elements."""

    __slots__ = ("_name", "dtype")

    def __init__(self, name: str, numpy_name: str | None = None) -> None:
        self._name = name
        if numpy_name != "":
            self.dtype = np.dtype(numpy_name or name)

    @property
    def is_floating_point(self) -> bool:
        """Whether it is a type of real floating-point numbers."""
        return self.kind == "f"

    @property
    def is_complex(self) -> bool:
        """Whether it is a type of complex numbers."""
        return self.kind == "c"

    @property
    def is_signed(self) -> bool:
        """Whether there are negative numbers."""
        return self.kind not in "ub"

    @property
    def itemsize(self) -> int:
        """The number of bytes of an element."""
        return int(numpy_of(self).itemsize)

    @property
    def kind(self) -> str:
        """One letter: b, i, u, f or c."""
        return "f" if self is bfloat16 else self.dtype.kind

    def to_complex(self) -> dtype:
        """The complex type of the same precision."""
        return of_numpy(np.promote_types(numpy_of(self), np.complex64))

    def to_real(self) -> dtype:
        """The real type of the same precision."""
        return of_numpy(numpy_of(self).type(0).real.dtype)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, dtype):
            return self is other
        try:
            return self is not bfloat16 and self.dtype == other
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self._name) if self is bfloat16 else hash(self.dtype)

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> Any:
        return _named, (self._name,)


def _named(name: str) -> dtype:
    return bfloat16 if name == "bfloat16" else _BY_NAME[np.dtype(name)]


float16, float32, float64 = map(dtype, ("float16", "float32", "float64"))
uint8, uint16, uint32, uint64 = map(dtype, ("uint8", "uint16", "uint32", "uint64"))
int8, int16, int32, int64 = map(dtype, ("int8", "int16", "int32", "int64"))
complex64, complex128 = dtype("complex64"), dtype("complex128")
bool_, bfloat16 = dtype("bool"), dtype("bfloat16", "")
double, half, long, short = float64, float16, int64, int16
cfloat, cdouble = complex64, complex128

NAMED = {
    name: value
    for name, value in list(globals().items())
    if isinstance(value, dtype) and name != "bool_"
}
NAMED |= {"bool": bool_, "float": float32, "int": int32}  # the names of Python's types
_BY_NAME = {d.dtype: d for d in NAMED.values() if d is not bfloat16}
_default = [float32]


def of_numpy(numpy_dtype: Any) -> dtype:
    """PyTorch's name of a NumPy dtype."""
    found = _BY_NAME.get(np.dtype(numpy_dtype))
    if found is None:
        if np.dtype(numpy_dtype).name != "bfloat16":
            raise TypeError(f"PyTorch has no dtype for NumPy's {np.dtype(numpy_dtype)}")
        found = bfloat16
    return found


def numpy_of(wanted: Any) -> np.dtype[Any]:
    """The NumPy dtype of one of PyTorch's, or of Python's `float`, `int`, `bool` and `complex`."""
    if isinstance(wanted, dtype):
        if wanted is bfloat16:
            return numpy_dtype("bfloat16")  # to store and convert, hardly to compute with
        return np.dtype(wanted.dtype)
    python = {"float": float64, "int": int64, "bool": bool_, "complex": complex128}
    if isinstance(wanted, type) and wanted.__name__ in python:
        return python[wanted.__name__].dtype
    return np.dtype(wanted)  # type: ignore[no-any-return]


def no_gradients(said: str, found: dtype) -> RuntimeError:
    """The error for a dtype whose tensors cannot have gradients."""
    out = "pass dtype= with requires_grad=True, or convert it by to()"
    if found is bfloat16:
        out = "bfloat16 is for storing and converting here, so compute in float32"
    return RuntimeError(f"{said}, not {found}: {out}")


def get_default_dtype() -> dtype:
    """The dtype of Python's floats: float32, unless it was changed."""
    return _default[0]


def set_default_dtype(d: dtype) -> None:
    """Change the dtype of Python's floats."""
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise TypeError(f"only floating-point dtypes can be the default, not {d!r}")
    _default[0] = d


def default_for(kind: str) -> np.dtype[Any]:
    """The dtype of Python's numbers of a kind."""
    if kind == "f":
        return numpy_of(_default[0])
    if kind == "c":
        return numpy_of(_default[0].to_complex())
    return np.dtype("bool" if kind == "b" else "int64")


# NumPy's kind of bfloat16 is V.
RANKS = {"b": 0, "u": 1, "i": 1, "f": 2, "V": 2, "c": 3}


def promote(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a result of two arrays. Integers do not change a floating-point dtype."""
    if a == b:
        return a
    low, high = sorted((a, b), key=lambda d: RANKS[d.kind])
    if RANKS[low.kind] < 2 <= RANKS[high.kind]:
        return high
    if {low.name, high.name} == {"bfloat16", "float16"}:
        return np.dtype("float32")
    return np.promote_types(a, b)


def result_type(*operands: Any) -> np.dtype[Any]:
    """The dtype of a result. Arrays count before 0-d arrays, and those before Python numbers.

    An operand that counts less matters only if it is of a higher kind.
    """
    found: list[np.dtype[Any] | None] = [None, None, None]
    for operand in operands:
        if isinstance(operand, Array):
            rank, own = (0 if operand.ndim else 1), np.dtype(operand.dtype)
        else:
            rank = 2
            own = default_for(np.asarray(operand).dtype.kind)
        now = found[rank]
        found[rank] = own if now is None else promote(now, own)
    result: np.dtype[Any] | None = None
    for dtype_ in found:
        if dtype_ is None:
            continue
        if result is None:
            result = dtype_
        elif RANKS[dtype_.kind] > RANKS[result.kind]:
            result = promote(result, dtype_)
    assert result is not None
    return result


class _Limits:
    """The limits of a dtype."""

    def __init__(self, type: Any = None) -> None:
        wanted = get_default_dtype() if type is None else type
        self._found = self._look_up(numpy_of(wanted))
        self.dtype = str(wanted).removeprefix("torch.")

    def _look_up(self, wanted: Any) -> Any:
        return np.iinfo(wanted)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._found, name)
        return value.item() if isinstance(value, np.generic) else value


class iinfo(_Limits):  # noqa: N801  (torch's name)
    """The limits of an integer dtype."""


class finfo(_Limits):  # noqa: N801  (torch's name)
    """The limits of a floating-point dtype."""

    def _look_up(self, wanted: Any) -> Any:
        if wanted.kind != "V":
            return np.finfo(wanted)
        import ml_dtypes  # whose dtype it is

        limits: Any = ml_dtypes.finfo
        return limits(wanted)


class device(Device):  # noqa: N801  (torch's name)
    """Where a tensor is. There is only the CPU."""

    __slots__ = ()

    def __init__(self, type: Any = "cpu", index: int | None = None) -> None:
        super().__init__(type, index)
        if self.type not in ("cpu", "meta", "cuda", "mps", "xpu"):
            raise RuntimeError(f"there is no device {type!r}: only the CPU is supported")

    def __repr__(self) -> str:
        inside = f"type={self.type!r}" + ("" if self.index is None else f", index={self.index}")
        return f"device({inside})"


def check_device(wanted: Any) -> None:
    """Raise unless a device is the CPU."""
    if wanted is None:
        return
    name = wanted.type if isinstance(wanted, device) else device(wanted).type
    if name != "cpu":
        raise RuntimeError(f"device {wanted!r} is PyTorch's alone: here, tensors are on the CPU")


class Size(tuple[int, ...]):
    """The shape of a tensor."""

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements."""
        count = 1
        for length in self:
            count *= length
        return count

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return Size(found) if isinstance(key, slice) else found

    def __add__(self, other: Any) -> Size:
        return Size(super().__add__(tuple(other)))

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


# Layouts, which are all the same here.
strided = "torch.strided"
contiguous_format, preserve_format = "torch.contiguous_format", "torch.preserve_format"
channels_last = "torch.channels_last"
