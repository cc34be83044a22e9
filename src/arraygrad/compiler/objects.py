"""How kernels are given arrays: as NumPy's objects, if their layout in memory is known.

A kernel then reads the address of the elements from the object itself, which takes much less time
than asking for it in Python. Whether the layout is as expected is tested once, on some arrays. If
it is not, as in another Python, kernels are given the addresses.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.cpython import PORTABLE


def _address(array: Any) -> int:
    """The address of the first element of an array."""
    return array.__array_interface__["data"][0]  # type: ignore[no-any-return]


def _found() -> int | None:
    """Where the address of the elements is in an array object, in bytes; None if not known."""
    if PORTABLE:
        return None
    place = object.__basicsize__
    whole = np.arange(24.0).reshape(4, 6)
    for array in (whole, whole[1:, ::2], whole[::-1], np.ones(()), np.zeros((0, 3), bool)):
        if ctypes.c_void_p.from_address(id(array) + place).value != _address(array):
            return None
    return place


DATA = _found()
reference: Callable[[Any], int] = _address if DATA is None else id
