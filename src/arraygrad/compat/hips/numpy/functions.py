"""The functions of `autograd.numpy` that are not NumPy's functions with rules."""

from __future__ import annotations

import math
from typing import Any

import numpy as _np

from ....arrays.creation import from_sequence
from ....core.array import Array
from ..boxes import getval, isbox
from ..primitives import notrace_primitive
from ..structures import holds_boxes
from .numpy_wrapper import wrapped

__all__ = [
    "array", "array_from_args", "c_", "concatenate_args", "int8", "int16", "int32", "int64",
    "isscalar", "make_diagonal", "r_", "row_stack", "vectorize", "where",
]  # fmt: skip

row_stack = wrapped(_np.vstack)
isscalar = notrace_primitive(_np.isscalar)
_where = wrapped(_np.where)
_NOT_GIVEN: Any = object()


def where(condition: Any, x: Any = _NOT_GIVEN, y: Any = _NOT_GIVEN) -> Any:
    """`numpy.where`; of Python numbers and lists it gives Python numbers and lists."""
    if x is _NOT_GIVEN and y is _NOT_GIVEN:
        return _where(condition)
    if x is _NOT_GIVEN or y is _NOT_GIVEN:
        raise ValueError("either both or neither of x and y should be given")
    result = _where(condition, x, y)
    if any(map(_is_array, (condition, x, y))):
        return result
    return result.tolist()


def _is_array(x: Any) -> bool:
    if isinstance(x, list | tuple):
        return any(map(_is_array, x))
    return isinstance(x, Array | _np.ndarray | _np.generic)


class _Joined:
    """`numpy.r_` or `numpy.c_`, for boxes too."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def __getitem__(self, key: Any) -> Any:
        items = key if isinstance(key, tuple) else (key,)
        if not holds_boxes(items):
            return self._raw[key]
        return self._with_boxes(items)

    def _with_boxes(self, items: tuple[Any, ...]) -> Any:
        """Find out from numbers where each element goes, and take the elements from there."""
        axis = ()
        if isinstance(items[0], str):
            axis, items = items[:1], items[1:]
        arrays = [self._raw[x] if isinstance(x, slice) else from_sequence(x) for x in items]
        count, numbered, flat = 0, [], []
        for array in arrays:
            size = math.prod(array.shape)
            numbered.append(_np.arange(count, count + size).reshape(array.shape))
            flat.append(_np.reshape(array, (-1,)))
            count += size
        places = self._raw[(*axis, *(n if n.ndim else int(n) for n in numbered))]
        return _np.concatenate(flat)[_np.asarray(places)]


r_ = _Joined(_np.r_)
c_ = _Joined(_np.c_)


class vectorize(_np.vectorize):  # noqa: N801  (NumPy's name)
    """`numpy.vectorize`, for boxes too: it calls a function for each element.

    >>> from arraygrad.compat.hips import grad
    >>> import arraygrad.compat.hips.numpy as np
    >>> square = np.vectorize(lambda x: x**2)
    >>> grad(lambda x: square(x).sum())(np.array([1.0, 2.0]))
    array([2., 4.])
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not holds_boxes((args, kwargs)):
            return super().__call__(*args, **kwargs)
        if kwargs or self.excluded or self.signature is not None:
            raise NotImplementedError(
                "vectorize with keywords, excluded= or signature= has no derivative: call the "
                "function for each element, and join the results by np.array"
            )
        parts = _np.broadcast_arrays(*map(from_sequence, args))
        shape = parts[0].shape
        found = [self.pyfunc(*(part[place] for part in parts)) for place in _np.ndindex(*shape)]
        if found and isinstance(found[0], tuple):
            return tuple(_np.reshape(array(list(f)), shape) for f in zip(*found, strict=True))
        return _np.reshape(array(found), shape)


def array(A: Any, *args: Any, **kwargs: Any) -> Any:
    """`numpy.array`, for boxes and sequences of boxes too."""
    if not holds_boxes(A):
        return _np.array(A, *args, **kwargs)
    dtype = args[0] if args else kwargs.pop("dtype", None)
    ndmin = kwargs.pop("ndmin", 0)
    unknown = kwargs.keys() - {"copy", "order", "subok", "like"}
    if unknown or len(args) > 1:
        raise TypeError(f"array() got arguments it does not know: {sorted(unknown)}")
    made = A if isbox(A) else from_sequence(A)
    if dtype is not None:
        made = _np.astype(made, _np.dtype(dtype))
    return _np.reshape(made, (1,) * max(ndmin - made.ndim, 0) + made.shape)


def concatenate_args(axis: int, *args: Any) -> Any:
    """The arrays `args`, joined along an axis."""
    return _np.concatenate(args, axis)


def array_from_args(array_args: Any, array_kwargs: Any, *args: Any) -> Any:
    """The array with the items `args`."""
    return array(list(args), *array_args, **array_kwargs)


def make_diagonal(D: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Matrices with the last axis of `D` on their diagonals."""
    if (offset, axis1, axis2) != (0, -1, -2):
        raise NotImplementedError("make_diagonal needs offset=0, axis1=-1, axis2=-2")
    return D[..., None] * _np.eye(D.shape[-1])


class _IntegerType(type):
    """The type of NumPy's integer types that take boxes: they are NumPy's types otherwise."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__mro__[1])

    def __subclasscheck__(cls, other: Any) -> bool:
        return issubclass(other, cls.__mro__[1])


def _of_values(base: Any) -> Any:
    """NumPy's integer type, which gives the integers of the value in a box."""

    def convert(cls: Any, value: Any = 0) -> Any:
        return base(getval(value))

    return _IntegerType(base.__name__, (base,), {"__new__": convert, "__module__": "numpy"})


int8, int16, int32, int64 = map(_of_values, (_np.int8, _np.int16, _np.int32, _np.int64))
