"""Loops and choices as steps of an executable program.

If all of a loop's body is native, so is the loop (`loop_code`). Else it is a Python loop over the
steps of the body.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..lower.indices import check_ranges
from ..lower.lowering import Lowering
from ..trace.bodies import Body
from ..trace.program import Node, Result, needed
from .checked import CheckedExecutable
from .executable import Arrays, ByNumpy, Executable, reader
from .loop_bodies import BodyProgram, ScanBody, program_of
from .loop_calls import CompiledLoop, StepLoop
from .loop_checks import CheckedLoop
from .loop_code import LoopCode, is_native
from .memory import Memory
from .small_loops import NotSmall, SmallLoop

Parts = list[tuple[Any, str]]
# There is room for so many states of a while loop at first, or for so many bytes; then for twice as
# many, and so on.
SHORTEST, SMALLEST = 64, 1 << 20


def _compiled_loop(
    body: Body, constants: int, states: int, reverse: bool, condition: Body | None
) -> CompiledLoop:
    """A loop as numbers in registers; else as native code that calls kernels; else from Python."""
    form = constants, states, reverse
    with contextlib.suppress(NotSmall):
        return SmallLoop(body, *form, condition)
    own = (ScanBody if condition is None else BodyProgram).of(body)
    asked = None if condition is None else BodyProgram.of(condition)
    programs = [own] if asked is None else [asked, own]
    kind = LoopCode if all(map(is_native, programs)) else StepLoop
    return kind(own, *form, asked)


class LoopStep(ByNumpy):
    """A step that is a loop or a choice. Results that nobody reads are not computed."""

    def __init__(self, node: Any, lowering: Lowering, is_checked: bool) -> None:
        super().__init__(node, lowering)
        self.is_checked = is_checked
        self.loop = node.params["loop"]
        self._given = [_reader(a, lowering) for a in node.args]
        self.used = {
            n.index for n in lowering.values if isinstance(n, Result) and n.args[0] is node
        }

    def run(self, found: Arrays, memory: Memory) -> None:
        """Compute the results, and add them: None for those that nobody reads."""
        found[self.value] = self.compute([np.asarray(read(found)) for read in self._given])

    def compute(self, arrays: list[Any]) -> Sequence[Any]:
        """The results, all of them new arrays."""
        raise NotImplementedError

    def compiled(self, body: Body) -> Any:
        """A body as an executable program, which is checked if the loop is."""
        return program_of(body, CheckedExecutable if self.is_checked else Executable)

    def compiled_loop(
        self,
        body: Body,
        constants: int,
        states: int,
        reverse: bool = False,
        condition: Body | None = None,
    ) -> CompiledLoop:
        """A body as a loop, which is checked if the step is."""
        found = _compiled_loop(body, constants, states, reverse, condition)
        if not self.is_checked:
            return found
        return CheckedLoop(found, body, condition, repr(self.loop).strip("<>"))

    def compiled_while(self, loop: Any, body: Body) -> CompiledLoop:
        """A body as a loop with the condition of another."""
        return self.compiled_loop(body, loop.constants, loop.states, condition=loop.condition)

    def what(self) -> str:
        """What the step does, for people."""
        return repr(self.loop).strip("<>")

    def parts(self) -> Parts:
        """The programs and the native loop that it consists of, and what they are."""
        raise NotImplementedError


def _reader(argument: Any, lowering: Lowering) -> Callable[[Arrays], Any]:
    """A function that finds an argument of a loop, which may be a number."""
    if isinstance(argument, Node):
        return reader(lowering.values[argument])
    return lambda found: argument


class ScanStep(LoopStep):
    """A scan."""

    def __init__(self, node: Any, lowering: Lowering, is_checked: bool) -> None:
        super().__init__(node, lowering, is_checked)
        loop = self.loop
        c, s = loop.constants, loop.states
        states, rows = _live(loop.body, c, s, self.used)
        outputs = [loop.body.outputs[k] for k in (*states, *rows)]
        read = set(needed(outputs, loop.body.inputs))
        inputs = [
            i
            for i, x in enumerate(loop.body.inputs)
            if (i - c in states if c <= i < c + s else x in read)
        ]
        self._states, self._rows, self._inputs = states, rows, inputs
        types = loop.types()
        self._types = [types[k] for k in rows]
        body = Body([loop.body.inputs[i] for i in inputs], outputs)
        constants = sum(i < c for i in inputs)
        self.code = self.compiled_loop(body, constants, len(states), loop.reverse)

    def what(self) -> str:
        return f"{super().what()}, {self.code.how}"

    def parts(self) -> Parts:
        return self.code.parts()

    def compute(self, arrays: list[Any]) -> list[Any]:
        loop = self.loop
        given = [arrays[i] for i in self._inputs]
        rows = [np.empty(*kind) for kind in self._types]
        state = _run_scan(self.code, given, rows, loop.length)
        results: list[Any] = [None] * len(loop.body.outputs)
        for k, value in zip((*self._states, *self._rows), (*state, *rows), strict=True):
            results[k] = value
        return results


def _run_scan(code: CompiledLoop, given: list[Any], rows: list[Any], length: int) -> list[Any]:
    """The last state of a loop of known length. Integers are checked at the end."""
    ranges = code.body.ranges
    extremes = [np.zeros(length, r.integers.dtype) for r in ranges for _ in ("low", "high")]
    state, _ = code.run(given, [*rows, *extremes], length)
    if length:
        check_ranges(ranges, extremes)
    return state


def _live(body: Body, constants: int, states: int, used: set[int]) -> tuple[list[int], list[int]]:
    """The parts of the state, and the results of steps, that are needed for what is used."""
    live = {k for k in used if k < states}
    rows = sorted(k for k in used if k >= states)
    while True:
        read = set(needed([body.outputs[k] for k in (*live, *rows)], body.inputs))
        more = {j for j in range(states) if body.inputs[constants + j] in read} | live
        if more == live:
            return sorted(live), rows
        live = more


class WhileStep(LoopStep):
    """A while loop."""

    def __init__(self, node: Any, lowering: Lowering, is_checked: bool) -> None:
        super().__init__(node, lowering, is_checked)
        self.code = self.compiled_while(self.loop, self.loop.body)

    def parts(self) -> Parts:
        return self.code.parts()

    def compute(self, arrays: list[Any]) -> list[Any]:
        return self.code.run(arrays, [])[0]


class WhilePulledStep(LoopStep):
    """The reverse pass of a while loop: the loop again, which keeps its states, and a loop back."""

    def __init__(self, node: Any, lowering: Lowering, is_checked: bool) -> None:
        super().__init__(node, lowering, is_checked)
        loop, back = self.loop.loop, self.loop.back
        states = loop.body.inputs[loop.constants :]
        kept = Body(loop.body.inputs, [*loop.body.outputs, *states])
        self.forth = self.compiled_while(loop, kept)
        self.back = self.compiled_loop(back, loop.constants, self.loop.carried, reverse=True)

    def parts(self) -> Parts:
        return [
            *self.forth.parts(),
            *((part, f"reverse {name}") for part, name in self.back.parts()),
        ]

    def compute(self, arrays: list[Any]) -> list[Any]:
        loop = self.loop.loop
        given, carried = self.loop.split(arrays)
        asked, for_body, state = loop.split(given)
        size = sum(x.nbytes for x in state)
        length = min(SHORTEST, SMALLEST // max(size, 1) + 1)
        pieces = []  # the states before some steps, and how many
        while True:
            rows = [np.empty((length, *shape), dtype) for shape, dtype in loop.types()]
            state, steps = self.forth.run([*asked, *for_body, *state], rows, length)
            pieces.append(([row[:steps] for row in rows], steps))
            if steps < length:
                break
            length *= 2
        while pieces:
            rows, steps = pieces.pop()
            carried = _run_scan(self.back, [*for_body, *carried, *rows], [], steps)
        return self.loop.cotangents(carried)  # type: ignore[no-any-return]


class ChoiceStep(LoopStep):
    """A choice."""

    def __init__(self, node: Any, lowering: Lowering, is_checked: bool) -> None:
        super().__init__(node, lowering, is_checked)
        self.yes, self.no = self.compiled(self.loop.yes), self.compiled(self.loop.no)

    def parts(self) -> Parts:
        return [(self.yes, "true branch"), (self.no, "false branch")]

    def compute(self, arrays: list[Any]) -> list[Any]:
        split = self.loop.split
        if bool(arrays[0]):
            return self.yes(arrays[1:split])  # type: ignore[no-any-return]
        return self.no(arrays[split:])  # type: ignore[no-any-return]
