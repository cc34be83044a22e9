"""Constants that move to the library of the other operands.

Functions of arraygrad make NumPy arrays by default, and users pass Python numbers and lists. In an
op with arrays of another library or device, such constants move there automatically. A NumPy array
that the user made never moves.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...backends import backend_of, backend_of_type, default
from ...backends.arraylikes import ARRAY_LIKE
from ...core.array import Array, plain
from ...errors import MixedArraysError


def in_one_library(arrays: tuple[Any, ...], error: MixedArraysError) -> list[Any]:
    """The operands, with NumPy's constants moved to the library and device of the others.

    Only constants that a function of arraygrad made, and NumPy scalars, move. For other NumPy
    arrays, `error` is raised again.
    """
    plains = [plain(a) for a in arrays]
    backends = [backend_of_type(type(p)) for p in plains]
    others = [p for p, b in zip(plains, backends, strict=True) if b not in (None, default)]
    if not others or default not in backends:
        raise error
    # If all operands are plain, a NumPy scalar may be the value of a tensor at a higher level.
    if not any(isinstance(a, Array) for a in arrays):
        raise error
    return [
        _adopted(a, others[0], error) if b is default else a
        for a, b in zip(arrays, backends, strict=True)
    ]


def _adopted(array: Any, like: Any, error: MixedArraysError) -> Any:
    if isinstance(array, np.generic):
        return array.item()
    if not is_made(array):
        raise error
    return in_library_of(like, array)


def is_made(array: Any) -> bool:
    """Whether a function of arraygrad made the array (or the array under it) as a constant."""
    view = getattr(array, "_view", None)
    made = array if view is None else view.base
    return getattr(made, "_made", False) and made._node is None


def as_arrays(*values: Any) -> list[Any]:
    """Numbers and sequences as arrays, in the library of the arrays among them; NumPy's if none."""
    arrays = [v if hasattr(v, "dtype") and not ARRAY_LIKE[type(v)] else _numbers(v) for v in values]
    like = next((a for a in arrays if backend_of(a) is not default), None)
    if like is None:
        return arrays
    return [
        in_library_of(like, a) if is_made(a) or a is not v else a
        for v, a in zip(values, arrays, strict=True)
    ]


def _numbers(values: Any) -> Any:
    array = np.asarray(values)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"expected an array or numbers, got {type(values).__name__}")
    return array


def in_library_of(like: Any, array: Any) -> Any:
    """A NumPy array, plain or under transforms, in the library and on the device of `like`."""
    if isinstance(array, Array):
        return array.over(functools.partial(in_library_of, like))
    backend = backend_of(like)
    return backend.from_numpy(array, backend.device(plain(like)))
