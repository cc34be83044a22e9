"""NumPy's array objects in memory: how kernels are given arrays, and how native code makes them.

A kernel that is given an array object reads the address of the elements from the object itself,
which takes much less time than asking for it in Python. Whether the layout of objects is as
expected is tested once, on some arrays. If it is not, as in another Python, kernels are given the
addresses, and there are no native entry points.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from ...core.cpython import PORTABLE
from ...core.locks import once
from .vectors import Value, Writer

ALIGNED, WRITEABLE, IN_ROWS, IN_COLUMNS = 0x100, 0x400, 1, 2  # NumPy's flags of arrays
READABLE = ALIGNED | IN_ROWS


class Layout(NamedTuple):
    """Where the parts of an array object are, in bytes."""

    type: int
    data: int
    ndim: int
    shape: int
    strides: int
    dtype: int
    flags: int


def address_of(array: Any) -> int:
    """The address of the first element of an array."""
    return array.__array_interface__["data"][0]  # type: ignore[no-any-return]


def _found() -> Layout | None:
    """The layout of array objects; None if it is not known."""
    if PORTABLE:
        return None
    start = object.__basicsize__
    layout = Layout(start - 8, start, start + 8, start + 16, start + 24, start + 40, start + 48)
    whole = np.arange(24.0).reshape(4, 6)
    others = (whole[1:, ::2], whole[::-1], np.ones((), np.float32), np.zeros((0, 3), bool))
    return layout if all(_is_laid_out(layout, a) for a in (whole, *others)) else None


def _is_laid_out(layout: Layout, array: Any) -> bool:
    def pointer(place: int) -> Any:
        return ctypes.c_void_p.from_address(id(array) + place).value

    if pointer(layout.type) != id(np.ndarray) or pointer(layout.data) != address_of(array):
        return False
    if ctypes.c_int.from_address(id(array) + layout.ndim).value != array.ndim:
        return False
    for place, numbers in ((layout.shape, array.shape), (layout.strides, array.strides)):
        found = (ctypes.c_ssize_t * array.ndim).from_address(pointer(place) or id(array))
        if tuple(found) != numbers:
            return False
    if pointer(layout.dtype) != id(array.dtype):
        return False
    return bool(ctypes.c_int.from_address(id(array) + layout.flags).value == array.flags.num)


LAYOUT = _found()
reference: Callable[[Any], int] = address_of if LAYOUT is None else id
_Pointer = ctypes.c_void_p.from_address


def addresses_of(arrays: Iterable[Any]) -> list[int]:
    """The addresses of the first elements of arrays; much faster than to ask each for it."""
    if LAYOUT is None:
        return [address_of(array) for array in arrays]
    data = LAYOUT.data
    return [_Pointer(id(array) + data).value or 0 for array in arrays]


def data_of(w: Writer, index: int) -> Value:
    """Write how a kernel finds the elements of an array in its table."""
    thing = w.let(f"getelementptr ptr, ptr %table, i64 {index}", "ptr")
    if LAYOUT is not None:
        held = w.let(f"load ptr, ptr {thing.text}", "ptr")
        thing = w.let(f"getelementptr i8, ptr {held.text}, i64 {LAYOUT.data}", "ptr")
    return w.let(f"load ptr, ptr {thing.text}", "ptr")


def number_of(w: Writer, index: int) -> Value:
    """Write how a kernel finds a number in its table."""
    place = w.let(f"getelementptr i64, ptr %table, i64 {index}", "ptr")
    return w.let(f"load i64, ptr {place.text}", "i64")


@once
def new_array_address() -> int | None:
    """The address of NumPy's function that makes arrays; None if it is not known."""
    try:
        internal: Any = importlib.import_module("numpy._core._multiarray_umath")
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        table = ctypes.cast(pointer(internal._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    except (ImportError, AttributeError, ValueError):
        return None
    # The places of these two are a promise of NumPy: compiled extensions rely on them.
    return table[93] if table[2] == id(np.ndarray) else None
