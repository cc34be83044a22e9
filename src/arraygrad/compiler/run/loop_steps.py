"""Loops and choices as steps of an executable program.

If all of a loop's body is native, so is the loop (`loop_code`). Else it is a Python loop over the
steps of the body.
"""

from __future__ import annotations

import functools
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
from .loop_calls import After, NativeLoop
from .loop_checks import StepChecks
from .loop_code import LoopCode
from .memory import Memory
from .small_loops import FOREVER, SmallLoop, small_loop

Parts = list[tuple[Executable | NativeLoop, str]]


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
        self._constants = sum(i < c for i in inputs)
        body = Body([loop.body.inputs[i] for i in inputs], outputs)
        self._form = body
        form = (self._constants, len(states), loop.length, loop.reverse)
        self.code: SmallLoop | LoopCode | None = small_loop(body, *form)
        if self.code is None:
            self.body = ScanBody.of(body)
            self.code = LoopCode.of(self.body, *form)
        program = self.code.body if isinstance(self.code, SmallLoop) else self.body
        self._ranges = program.ranges

    def what(self) -> str:
        if isinstance(self.code, SmallLoop):
            return f"{super().what()}, as numbers in registers"
        ways = f"{len(self.body.steps)} kernels in native code"
        return f"{super().what()}, {ways if self.code else 'run from Python'}"

    def parts(self) -> Parts:
        if isinstance(self.code, SmallLoop):
            return [(self.code, "loop")]
        own: Parts = [(self.body, "body")]
        return own if self.code is None else [*own, (self.code, "loop")]

    def compute(self, arrays: list[Any]) -> list[Any]:
        loop, c, s = self.loop, self._constants, len(self._states)
        given = [arrays[i] for i in self._inputs]
        rows = [np.empty(*kind) for kind in self._types]
        extremes = [
            np.zeros(loop.length, r.integers.dtype) for r in self._ranges for _ in ("low", "high")
        ]
        if not loop.length:
            state = [np.array(x) for x in given[c : c + s]]
        else:
            run = self._by_steps if self.code is None else self.code.run
            state = run(given, [*rows, *extremes], self._checks(given, rows))
            check_ranges(self._ranges, extremes)
        results: list[Any] = [None] * len(loop.body.outputs)
        for k, value in zip((*self._states, *self._rows), (*state, *rows), strict=True):
            results[k] = value
        return results

    def _checks(self, given: list[Any], rows: list[Any]) -> StepChecks | None:
        if not self.is_checked:
            return None
        c, s = self._constants, len(self._states)
        return StepChecks(self.loop, self._form, given, c, s, rows, self.loop.order())

    def _by_steps(self, given: list[Any], rows: list[Any], after: After | None) -> list[Any]:
        c, s = self._constants, len(self._states)
        body = self.body
        fixed = body.prepared(given[:c])
        of_state, of_xs = body.given[c : c + s], body.given[c + s :]
        state, xs = given[c : c + s], [np.ascontiguousarray(x) for x in given[c + s :]]
        state = [np.ascontiguousarray(x).reshape(x.shape) for x in state]
        memories = body.memories()
        for count, i in enumerate(self.loop.order()):
            found = dict(fixed)
            found.update(zip(of_state, state, strict=True))
            found.update((x, array[i, ...]) for x, array in zip(of_xs, xs, strict=True))
            out = body.run_in(memories[count % 2], found)
            state = out[:s]
            for row, y in zip(rows, out[s:], strict=True):
                row[i] = y
            if after is not None:
                after(count + 1, state)
        results = [np.array(x) for x in state]
        body.give_back(memories)
        return results


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
        self.states = _States(self.loop, is_checked)

    def parts(self) -> Parts:
        return self.states.parts()

    def compute(self, arrays: list[Any]) -> list[Any]:
        return self.states.last(arrays)


class _States:
    """The states of a while loop."""

    def __init__(self, loop: Any, is_checked: bool) -> None:
        self._loop, self._is_checked = loop, is_checked

    @functools.cached_property
    def _condition(self) -> BodyProgram:
        return BodyProgram.of(self._loop.condition)

    @functools.cached_property
    def _body(self) -> BodyProgram:
        return BodyProgram.of(self._loop.body)

    @functools.cached_property
    def _code(self) -> SmallLoop | LoopCode | None:
        loop = self._loop
        form = (loop.of_body, loop.states, FOREVER)
        small = small_loop(loop.body, *form, condition=loop.condition)
        return small or LoopCode.of(self._body, *form, condition=self._condition)

    def programs(self) -> Parts:
        """The programs of a loop that is run from Python."""
        return [(self._condition, "condition"), (self._body, "body")]

    def parts(self) -> Parts:
        """What runs the loop."""
        if isinstance(self._code, SmallLoop):
            return [(self._code, "loop")]
        own = self.programs()
        return own if self._code is None else [*own, (self._code, "loop")]

    def last(self, arrays: Sequence[Any]) -> list[Any]:
        """The last state."""
        run = self._walk if self._code is None else self._code.run
        if not self._is_checked:
            return run(arrays, [])
        checks, count = self._checks(arrays), 0

        def after(number: int, state: Sequence[Any]) -> None:
            nonlocal count
            count = number
            checks(number, state)

        state = run(arrays, [], after)
        checks.end(count)
        return state

    def _checks(self, arrays: Sequence[Any]) -> StepChecks:
        loop = self._loop
        asked, for_body, state = loop.split(arrays)
        given = [*for_body, *state]
        sizes = loop.of_body, loop.states
        return StepChecks(loop, loop.body, given, *sizes, condition=loop.condition, asked=asked)

    def all(self, arrays: Sequence[Any]) -> list[list[Any]]:
        """All states."""
        first = [np.array(x) for x in self._loop.split(arrays)[-1]]
        found = [first]
        checks = self._checks(arrays) if self._is_checked else None

        def after(number: int, state: Sequence[Any]) -> None:
            found.append([np.array(x) for x in state])
            if checks is not None:
                checks(number, state)

        self._walk(arrays, [], after)
        if checks is not None:
            checks.end(len(found) - 1)
        return found

    def _walk(
        self, arrays: Sequence[Any], rows: Sequence[Any], after: After | None = None
    ) -> list[Any]:
        """The last state, by a Python loop over the steps; there are no results of steps."""
        condition, body = self._condition, self._body
        for_condition, for_body, state = self._loop.split(arrays)
        asks, goes = condition.prepared(for_condition), body.prepared(for_body)
        state = [np.array(x, order="C") for x in state]
        memories, (other,) = body.memories(), condition.memories()[:1]
        count = 0
        while True:
            found = dict(asks)
            found.update(zip(condition.given[len(for_condition) :], state, strict=True))
            if not bool(condition.run_in(other, found)[0]):
                break
            found = dict(goes)
            found.update(zip(body.given[len(for_body) :], state, strict=True))
            state = body.run_in(memories[count % 2], found)
            count += 1
            if after is not None:
                after(count, state)
        results = [np.array(x) for x in state]
        body.give_back(memories)
        condition.give_back([other])
        return results


class WhilePulledStep(LoopStep):
    """The reverse pass of a while loop."""

    def __init__(self, node: Any, lowering: Lowering, is_checked: bool) -> None:
        super().__init__(node, lowering, is_checked)
        self.states = _States(self.loop.loop, is_checked)
        self.back = self.compiled(self.loop.back)

    def parts(self) -> Parts:
        return [*self.states.programs(), (self.back, "step back")]

    def compute(self, arrays: list[Any]) -> list[Any]:
        return self.loop.walk(arrays, self.states.all, self.back)  # type: ignore[no-any-return]


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
