"""NumPy: the default backend, and what NumPy does better by another way than the standard's."""

from __future__ import annotations

import operator
import sys
from typing import Any

import numpy as np

from . import Backend, register

_KINDS = {"b": "b", "i": "i", "u": "i", "f": "f", "c": "c"}


class NumpyBackend(Backend):
    """NumPy arrays and NumPy scalars."""

    def kind(self, dtype: Any) -> str:
        return _KINDS.get(dtype.kind, "o")

    def full(self, like: Any, shape: tuple[int, ...], value: Any, dtype: Any) -> Any:
        return np.full(shape, value, dtype)

    def dtype(self, dtype: Any) -> Any:
        return np.dtype(dtype)

    def integers(self, like: Any, values: list[int]) -> Any:
        return np.array(values, np.intp)

    def device(self, array: Any) -> Any:
        return "cpu"

    def copy(self, array: Any) -> Any:
        return np.array(array)

    def own(self, held: list[Any]) -> Any:
        array = held.pop()
        if (
            type(array) is np.ndarray
            and sys.getrefcount(array) <= _UNSHARED
            and array.base is None
            and array.flags.carray
        ):
            return array
        return np.array(array, order="C")

    def add_into(self, array: Any, other: Any) -> bool:
        if not array.flags.writeable:
            return False
        np.add(array, other, out=array)
        return True


def _unshared() -> int:
    """What `sys.getrefcount` says in `own` of an array that only `held` referred to."""
    held = [object()]
    array = held.pop()
    return sys.getrefcount(array)


_UNSHARED = _unshared()


def _argsort(x: Any, axis: int, descending: bool, stable: bool) -> Any:
    kind: Any = "stable" if stable else None
    if not descending:
        return np.argsort(x, axis=axis, kind=kind)
    # Turned round twice, so that equal elements stay in their order.
    turned = np.argsort(np.flip(x, axis=axis), axis=axis, kind=kind)
    return x.shape[axis] - 1 - np.flip(turned, axis=axis)


def _sort(x: Any, axis: int, descending: bool, stable: bool) -> Any:
    ordered = np.sort(x, axis=axis, kind="stable" if stable else None)
    return np.flip(ordered, axis=axis) if descending else ordered


numpy_backend = NumpyBackend(
    "numpy",
    np,
    {
        # Operators are as fast as the ufuncs on arrays, and many times faster on the NumPy scalars
        # that take the place of 0-d arrays; `x ** 2` also takes short cuts that `np.power` lacks.
        "add": operator.add,
        "subtract": operator.sub,
        "multiply": operator.mul,
        "divide": operator.truediv,
        "negative": operator.neg,
        "pow": operator.pow,
        # The ufunc's reduction, without np.sum's dispatching in Python.
        "sum": np.add.reduce,
        "max": np.maximum.reduce,
        # np.count_nonzero gives a Python int in older versions.
        "count_nonzero": lambda x, axis, keepdims: np.add.reduce(
            np.not_equal(x, 0), axis=axis, keepdims=keepdims, dtype=np.intp
        ),
        "min": np.minimum.reduce,
        # NumPy's own cannot sort in descending order.
        "argsort": _argsort,
        "sort": _sort,
        "copy": np.array,
        "astype": lambda x, dtype, copy: np.asarray(x).astype(dtype, copy=copy),
    },
)

register(np.ndarray, numpy_backend)
register(np.generic, numpy_backend)
for _scalar in (np.float64, np.float32, np.float16, np.complex128, np.complex64):
    register(_scalar, numpy_backend)  # np.float64 is a Python float, too: NumPy wins
