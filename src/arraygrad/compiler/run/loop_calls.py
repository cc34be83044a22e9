"""Calls of native loops: checked arguments, and pieces between which Python may interrupt."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..llvm.native import Addresses, Engine
from ..lower.core import Core

# Called after each step, with the number of steps so far, and the state.
After = Callable[[int, Sequence[Any]], None]
Place = tuple[int, Sequence[Any]]


class NativeLoop:
    """A loop in native code. Its arguments are those of the condition, then those of the body.

    Attributes
    ----------
    body, condition
        Programs with the inputs `given`; there may be no condition.
    asked, constants, states : int
        How many arguments only the condition gets, and how many constants and parts of the state
        the body gets.
    length : int
        The number of steps. What comes after the state has one element for each.
    """

    body: Any
    condition: Any
    asked: int
    constants: int
    states: int
    length: int
    _piece: int  # steps

    def _compile(self, text: str, outside: Addresses | None = None) -> None:
        """Compile the function ``loop(table, start, stop)``, which returns the step it reached."""
        self.text = text
        self._engine = Engine(text, ["loop"], outside)  # owns the code
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        self._call = kind(self._engine.address("loop"))

    def _checked(self, arrays: Sequence[Any]) -> list[Any]:
        """Arrays whose elements native code can read."""
        first_row = self.asked + self.constants + self.states
        found = []
        for i, array in enumerate(arrays):
            x = self._given(i)
            shape = (self.length, *x.shape) if i >= first_row else x.shape
            found.append(_ready(array, shape, x.dtype))
        return found

    def _given(self, position: int) -> Core:
        """What an argument of the loop is in the body, or in the condition."""
        if position < self.asked:
            return self.condition.given[position]  # type: ignore[no-any-return]
        return self.body.given[position - self.asked]  # type: ignore[no-any-return]

    def _run(self, addresses: list[int], odd: Place, even: Place, after: After | None) -> int:
        """Run all steps; how many there were.

        `odd` and `even` say where the state is after an odd or even number of steps: at the
        addresses from which place on, and in which arrays.
        """
        table = (ctypes.c_void_p * max(len(addresses), 1))(*addresses)
        first = self.asked + self.constants
        start = 0
        piece = self._piece if after is None else 1
        while start < self.length:
            stop = min(start + piece, self.length)
            start = self._call(table, start, stop)
            if start < stop:
                break
            place, state = odd if start % 2 else even
            for j in range(self.states):
                table[first + j] = addresses[place + j]
            if after is not None:
                after(start, state)
        return start


def _ready(array: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array whose elements native code can read. It computes addresses, so check the shape."""
    if array.shape != shape or array.dtype != dtype:
        raise RuntimeError(
            f"an array of shape {array.shape} and dtype {array.dtype} takes the place of one of "
            f"shape {shape} and dtype {dtype} that a loop was compiled for"
        )
    flags = array.flags
    return array if flags.c_contiguous and flags.aligned else np.array(array, order="C")
