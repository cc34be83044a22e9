"""Compiled loops: native ones, in pieces between which Python may interrupt; or run from Python."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..llvm.native import Addresses, Engine
from ..llvm.objects import addresses_of
from ..lower.core import Core
from .executable import ready

Ran = tuple[list[Any], int]
FOREVER = 1 << 62


class CompiledLoop:
    """A loop. Its arguments are those of the condition, then those of the body.

    Parameters
    ----------
    body
        A program from constants, the state and elements, to the next state and results.
    constants, states : int
        How many inputs of the body are constants, and how many are its state.
    reverse : bool
    condition : optional
        A program from constants of its own and the state.

    Attributes
    ----------
    asked : int
        How many arguments only the condition gets.
    how : str
        How it is run, for people.
    """

    how: str

    def __init__(
        self, body: Any, constants: int, states: int, reverse: bool, condition: Any
    ) -> None:
        self.body, self.condition, self.reverse = body, condition, reverse
        self.constants, self.states = constants, states
        self.programs = [body] if condition is None else [condition, body]
        self.asked = 0 if condition is None else len(condition.given) - states

    def run(self, arrays: Sequence[Any], rows: Sequence[Any], length: int = FOREVER) -> Ran:
        """The last state, and the number of steps. Their results are written to `rows`.

        There are at most `length` steps. What comes after the state has one element for each.
        """
        raise NotImplementedError

    def parts(self) -> list[tuple[Any, str]]:
        """The programs and the native code that it consists of, and what they are."""
        names = ["body"] if self.condition is None else ["condition", "body"]
        return list(zip(self.programs, names, strict=True))


class NativeLoop(CompiledLoop):
    """A loop in native code."""

    _piece: int  # steps

    def _compile(self, text: str, outside: Addresses | None = None) -> None:
        """Compile the function ``loop(table, start, stop)``, which returns the step it reached."""
        self.text = text
        self._engine = Engine(text, ["loop"], outside)  # owns the code
        signature = ctypes.CFUNCTYPE(
            ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64
        )
        self._call = signature(self._engine.address("loop"))

    def _checked(self, arrays: Sequence[Any], length: int) -> list[Any]:
        """Arrays whose elements native code can read."""
        first_row = self.asked + self.constants + self.states
        found = []
        for i, array in enumerate(arrays):
            x = self._given(i)
            found.append(ready(x, array, (length,) if i >= first_row else ()))
        return found

    def _given(self, position: int) -> Core:
        """What an argument of the loop is in the body, or in the condition."""
        if position < self.asked:
            return self.condition.given[position]  # type: ignore[no-any-return]
        return self.body.given[position - self.asked]  # type: ignore[no-any-return]

    def _run(self, addresses: list[int], odd: int, even: int, length: int) -> int:
        """Run all steps; how many there were.

        `odd` and `even` say where the state is after an odd or even number of steps: at the
        addresses from which place on.
        """
        table = (ctypes.c_void_p * max(len(addresses), 1))(*addresses)
        first = self.asked + self.constants
        start = 0
        while start < length:
            stop = min(start + self._piece, length)
            start = self._call(table, start, stop)
            if start < stop:
                break
            place = odd if start % 2 else even
            for j in range(self.states):
                table[first + j] = addresses[place + j]
        return start

    def _addresses(
        self, given: Sequence[Any], others: Sequence[Any], rows: Sequence[Any], length: int
    ) -> list[int]:
        """The addresses of arrays. Native code goes down from the last step if it goes back."""
        held = [*given, *others, *rows]
        found = addresses_of(held)
        if self.reverse:
            xs = range(self.asked + self.constants + self.states, len(given))
            for i in (*xs, *range(len(given) + len(others), len(held))):
                found[i] += (length - 1) * held[i].strides[0]
        return found

    def _first(self, given: Sequence[Any]) -> list[Any]:
        """The state before all steps."""
        start = self.asked + self.constants
        return [np.array(x) for x in given[start : start + self.states]]


class StepLoop(CompiledLoop):
    """A loop that Python runs, step by step. Its programs are of the class `BodyProgram`."""

    how = "run from Python"

    def run(self, arrays: Sequence[Any], rows: Sequence[Any], length: int = FOREVER) -> Ran:
        a, c, s = self.asked, self.constants, self.states
        body, condition = self.body, self.condition
        given = arrays[a:]
        fixed = body.prepared(given[:c])
        state = [np.array(x, order="C") for x in given[c : c + s]]
        xs = [np.ascontiguousarray(x) for x in given[c + s :]]
        memories = [body.pool.take(), body.pool.take()]  # for two steps after each other
        asks, other = {}, None
        if condition is not None:
            asks, other = condition.prepared(arrays[:a]), condition.pool.take()
        count = 0
        while count < length:
            if condition is not None:
                found = asks | dict(zip(condition.given[a:], state, strict=True))
                if not bool(condition.run_in(other, found)[0]):
                    break
            i = length - 1 - count if self.reverse else count
            elements = [x[i, ...] for x in xs]
            found = fixed | dict(zip(body.given[c:], [*state, *elements], strict=True))
            out = body.run_in(memories[count % 2], found)
            state = out[:s]
            for row, y in zip(rows, out[s:], strict=True):
                row[i] = y
            count += 1
        results = [np.array(x) for x in state]
        for memory in memories:
            body.pool.give_back(memory)
        if condition is not None:
            condition.pool.give_back(other)
        return results, count
