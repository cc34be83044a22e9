"""NumPy's memory: who owns it, and where an array lies in it."""

from __future__ import annotations

import functools
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
