"""Data types: the standard's dtypes, which are NumPy's, and the standard's functions on dtypes.

The functions also accept the dtypes of other array libraries, and recognize them by their names.
"""

from __future__ import annotations

import builtins
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..core.array import Array, plain
from .arraylikes import ARRAY_LIKE
from .base import is_short_float
from .registry import backend_of, default

__all__ = [
    "bool", "can_cast", "complex64", "complex128", "finfo", "float32", "float64", "iinfo",
    "int8", "int16", "int32", "int64", "isdtype", "result_type", "uint8", "uint16", "uint32",
    "uint64",
]  # fmt: skip

bool = np.dtype("bool")
int8 = np.dtype("int8")
int16 = np.dtype("int16")
int32 = np.dtype("int32")
int64 = np.dtype("int64")
uint8 = np.dtype("uint8")
uint16 = np.dtype("uint16")
uint32 = np.dtype("uint32")
uint64 = np.dtype("uint64")
float32 = np.dtype("float32")
float64 = np.dtype("float64")
complex64 = np.dtype("complex64")
complex128 = np.dtype("complex128")

KINDS: dict[str, tuple[np.dtype[Any], ...]] = {
    "bool": (bool,),
    "signed integer": (int8, int16, int32, int64),
    "unsigned integer": (uint8, uint16, uint32, uint64),
    "real floating": (float32, float64),
    "complex floating": (complex64, complex128),
}


class FloatInfo(SimpleNamespace):
    """The limits of a floating-point dtype, as Python numbers."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


class IntegerInfo(SimpleNamespace):
    """The limits of an integer dtype, as Python numbers."""

    bits: int
    max: int
    min: int
    dtype: Any


def numpy_dtype(value: Any) -> np.dtype[Any]:
    """The NumPy dtype of a dtype of any library, or of an array."""
    dtype = getattr(value, "dtype", value) if not isinstance(value, type) else value
    try:
        return np.dtype(dtype)
    except TypeError:
        name = str(dtype).rpartition(".")[2]
    try:
        return np.dtype(name)
    except TypeError:
        raise TypeError(f"expected a dtype or an array, got {value!r}") from None


def finfo(type: Any, /) -> FloatInfo:
    """The limits of a floating-point dtype, or of the dtype of an array.

    For a complex dtype, the limits of its real and imaginary parts.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.finfo(ag.float32).smallest_normal
    1.1754943508222875e-38
    """
    given = getattr(type, "dtype", type) if not isinstance(type, builtins.type) else type
    if str(getattr(given, "name", given)).endswith("bfloat16"):
        least = 2.0**-126
        most = (2 - 2.0**-7) * 2.0**127
        return FloatInfo(
            bits=16, eps=2.0**-7, max=most, min=-most, smallest_normal=least, dtype=given
        )
    dtype = numpy_dtype(type)
    if dtype.kind not in "fc":
        raise ValueError(f"finfo is for floating-point dtypes, not {dtype}: use iinfo")
    info = np.finfo(dtype)
    return FloatInfo(
        bits=int(info.bits),
        eps=float(info.eps),
        max=float(info.max),
        min=float(info.min),
        smallest_normal=float(info.smallest_normal),
        dtype=np.dtype(info.dtype),
    )


def iinfo(type: Any, /) -> IntegerInfo:
    """The limits of an integer dtype, or of the dtype of an array.

    >>> ag.iinfo(ag.int8).max
    127
    """
    dtype = numpy_dtype(type)
    if dtype.kind not in "iu":
        raise ValueError(f"iinfo is for integer dtypes, not {dtype}: use finfo")
    info = np.iinfo(dtype)
    return IntegerInfo(bits=int(info.bits), max=int(info.max), min=int(info.min), dtype=dtype)


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """Whether a dtype is of a kind: another dtype, a name from the standard, or a tuple of these.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.isdtype(ag.float32, ("real floating", "complex floating"))
    True
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if is_short_float(dtype):
        return kind in ("real floating", "numeric") or kind == dtype
    if not isinstance(kind, str):
        kind = numpy_dtype(kind)
    return builtins.bool(np.isdtype(numpy_dtype(dtype), kind))


def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    """Whether the promotion rules convert a dtype, or the dtype of an array, to another dtype.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.can_cast(ag.float32, ag.float64), ag.can_cast(ag.float64, ag.float32)
    (True, False)
    """
    return builtins.bool(np.can_cast(numpy_dtype(from_), numpy_dtype(to)))


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype of a result of arrays, dtypes and Python numbers together.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.result_type(ag.zeros(2, dtype=ag.float32), 1.5)
    dtype('float32')
    """
    if not arrays_and_dtypes:
        raise ValueError("result_type needs at least one array, dtype or number")
    arrays = [plain(a) for a in arrays_and_dtypes]
    # The dtype of an array without elements, and of an array-like, says all that there is.
    arrays = [a.dtype if isinstance(a, Array) or ARRAY_LIKE[type(a)] else a for a in arrays]
    for array in arrays:
        if hasattr(array, "dtype") and not isinstance(array, type):
            backend = backend_of(array)
            if backend is not default:
                return backend.xp.result_type(
                    *(backend.dtype(a) if isinstance(a, np.dtype) else a for a in arrays)
                )
    numbers = builtins.bool | int | float | complex
    return np.result_type(
        *(
            a if isinstance(a, numbers) and not isinstance(a, np.generic) else numpy_dtype(a)
            for a in arrays
        )
    )
