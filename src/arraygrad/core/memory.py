"""NumPy's memory: who owns it, where an array lies in it, and whether anybody may write to it."""

from __future__ import annotations

import functools
import weakref
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray


@functools.cache
def reuse_memory() -> None:
    """Let the C library keep the memory of large arrays that are freed, for the next ones.

    Otherwise it returns the memory to the system, and the system clears each page at its next use,
    which takes longer than most computations. glibc adapts to the first large array that is freed:
    it then keeps up to twice its size. This array's memory is never touched. The first sweep does
    it: an import changes nothing for the rest of the process.
    """
    np.empty((32 << 20) - (1 << 16), np.uint8)


def owner_of(array: Any) -> Any:
    """The array that owns the memory of `array`."""
    while isinstance(array, ndarray) and isinstance(array.base, ndarray):
        array = array.base
    return array


def address(array: Any) -> int:
    """The address of an array's first element."""
    return array.__array_interface__["data"][0]  # type: ignore[no-any-return]


class Place(NamedTuple):
    """Where the elements of an array lie, counted in bytes from the start of its memory."""

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: Any

    @classmethod
    def of(cls, array: Any, start: int) -> Place:
        """The place of an array in the memory that starts at an address."""
        return cls(address(array) - start, array.shape, array.strides, array.dtype)

    def read(self, memory: Any) -> Any:
        """The array at this place of a copy of the memory."""
        return ndarray(self.shape, self.dtype, memory, self.offset, self.strides)


# NumPy arrays that arraygrad has made and nobody writes to, such as the unit vectors by which a
# Jacobian is computed: a compiler may rely on their elements. Arrays of users are never among them.
_fixed: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def fix(array: Any) -> None:
    """Take note that the elements of an array stay as they are."""
    _fixed[id(array)] = array


def is_fixed(array: Any) -> bool:
    """Whether the elements of an array stay as they are."""
    return _fixed.get(id(array)) is array
