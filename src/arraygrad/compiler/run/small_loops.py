"""A loop over few numbers as native code without arrays.

Each element of each value is a number by itself, in a register. Nothing is written to memory but
the results, and the last state. So a step takes as long as its arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..emit.small_values import NUMBERS, Known
from ..llvm.vectors import TYPES, Module, Value, Writer
from ..lower.core import (
    Core,
    Elements,
    Gather,
    Product,
    Reduction,
    Stored,
    in_order,
)
from ..lower.lowering import Lowering
from ..trace.bodies import Body, node_of
from ..trace.program import Constant
from ..trace.traced import Trace
from .executable import ready
from .loop_bodies import extremes
from .loop_calls import FOREVER, NativeLoop, Ran

LARGEST = 16  # elements of a value: of more, vectors are faster
MOST = 1500  # numbers that are computed in a step
PIECE = 20_000_000  # numbers that are computed without a look at interrupts


class NotSmall(Exception):
    """A loop is too large for numbers in registers, or has ops that are not native."""


class SmallLoop(NativeLoop):
    """A loop over few numbers. Raises `NotSmall` if it is none."""

    how = "as numbers in registers"

    def __init__(
        self, body: Body, constants: int, states: int, reverse: bool, condition: Body | None
    ) -> None:
        own = None if condition is None else _Numbers(condition, False)
        super().__init__(_Numbers(body, condition is None), constants, states, reverse, own)
        count = sum(p.count for p in self.programs)
        if count > MOST:
            raise NotSmall
        self.outside = [x for p in self.programs for x in p.constants]
        module = Module()
        self._compile(module.text([_NumbersText(self, module).text()]))
        self._piece = PIECE // max(count, 1)

    def run(self, arrays: Sequence[Any], rows: Sequence[Any], length: int = FOREVER) -> Ran:
        given = self._checked(arrays, length)
        outside = [ready(x, x.node.array) for x in self.outside]
        state = [np.empty(x.shape, x.dtype) for x in self.body.outputs[: self.states]]
        addresses = self._addresses(given, [*outside, *state], rows, length)
        place = len(given) + len(outside)
        steps = self._run(addresses, place, place, length)
        return (state if steps else self._first(given)), steps

    def parts(self) -> list[tuple[Any, str]]:
        return [(self, "loop")]


class _Numbers:
    """A body as core values, all of them small.

    Attributes
    ----------
    given, outputs : list of Core
    constants : list of Core
        Arrays from outside.
    order : list of Core
        All values, in an order in which they can be computed.
    count : int
        How many numbers are computed.
    """

    def __init__(self, body: Body, in_scan: bool) -> None:
        trace = Trace()
        inputs = [trace.input_like(x) for x in body.inputs]
        nodes = [node_of(trace, out) for out in body(inputs)]
        given = [x.node for x in inputs]
        lowering = Lowering(given, Trace(program=trace.program), in_loop=in_scan)
        self.outputs = lowering.lower(nodes)
        self.outputs += extremes(lowering)
        self.ranges = lowering.ranges
        self.given = [lowering.values[x.node] for x in inputs]
        self.order = in_order([*self.given, *self.outputs], lambda x: x.args)
        self.constants: list[Core] = []
        self.count = 0
        for x in self.order:
            if type(x) not in NUMBERS or x.dtype not in TYPES or not 0 < x.size <= LARGEST:
                raise NotSmall
            if isinstance(x, Stored) and x not in self.given:
                if not isinstance(x.node, Constant):
                    raise NotSmall
                self.constants.append(x)
            if isinstance(x, Gather):
                self.count += x.size * x.source.size
            elif isinstance(x, Elements):
                self.count += x.size * max(x.scalar.cost, 1)
            elif isinstance(x, Reduction | Product):
                self.count += x.args[0].size * x.size

    def after(self, roots: Sequence[Core]) -> set[Core]:
        """The values that depend on some."""
        found = set(roots)
        for x in self.order:
            if not found.isdisjoint(x.args):
                found.add(x)
        return found


class _NumbersText:
    """LLVM's text of the function ``i64 loop(ptr arguments, i64 start, i64 stop)``."""

    def __init__(self, loop: SmallLoop, module: Module) -> None:
        self._loop = loop
        self._w = Writer(module)
        self._pointers: list[Value] = []
        self._known: Known = {}

    def text(self) -> str:
        loop, w = self._loop, self._w
        a, c, s = loop.asked, loop.constants, loop.states
        body, condition = loop.body, loop.condition
        rows = len(body.outputs) - s
        inputs = a + len(body.given)
        last = inputs + len(loop.outside)
        w.block = "begin"
        self._pointers = [self._pointer(i) for i in range(last + s + rows)]
        fixed = [*(condition.given[:a] if condition else []), *body.given[:c]]
        for i, x in enumerate(fixed):
            self._known[x] = self._read(i, x)
        for i, x in enumerate(loop.outside):
            self._known[x] = self._read(inputs + i, x)
        first = [self._read(a + c + j, body.given[c + j]) for j in range(s)]
        changing = body.after(body.given[c:])
        self._compute([x for x in body.order if x not in changing])
        asked: set[Core] = set()
        if condition is not None:
            asked = condition.after(condition.given[a:])
            self._compute([x for x in condition.order if x not in asked])
        w.jump("ready")  # there may be other blocks since the beginning
        w.start("ready")
        w.jump("head")
        w.start("head")
        place = len(w.lines)  # where the state of the step will be chosen
        index = Value("%i", "i64")
        state = [
            [Value(f"%s{j}_{k}", TYPES[x.dtype]) for k in range(x.size)]
            for j, x in enumerate(body.given[c : c + s])
        ]
        for x, numbers in zip(body.given[c : c + s], state, strict=True):
            self._known[x] = numbers
        if condition is not None:
            for x, numbers in zip(condition.given[a:], state, strict=True):
                self._known[x] = numbers
            self._compute([x for x in condition.order if x in asked])
            (goes_on,) = self._known[condition.outputs[0]]
            w.jump("asked")
            w.start("asked")
            w.branch(w.cast(goes_on, "i1"), "goes", "done")
            w.start("goes")
        number = index
        if loop.reverse:
            number = w.logic(
                "sub", w.number(0, "i64"), index
            )  # the addresses are those of the last step
        for i, x in enumerate(body.given[c + s :]):
            self._known[x] = self._read(a + c + s + i, x, number)
        self._compute([x for x in body.order if x in changing])
        out = [self._known[x] for x in body.outputs]
        for k, x in enumerate(body.outputs[s:]):
            self._write(out[s + k], last + s + k, x, number)
        w.jump("last")
        w.start("last")
        w.say("%next = add nsw i64 %i, 1")
        w.branch(w.compare("lt", Value("%next", "i64"), Value("%stop", "i64")), "head", "done")
        chosen = ["  %i = phi i64 [ %start, %ready ], [ %next, %last ]"]
        chosen += [
            f"  {now.text} = phi {now.kind} [ {one.text}, %ready ], [ {new.text}, %last ]"
            for j in range(s)
            for now, one, new in zip(state[j], first[j], out[j], strict=True)
        ]
        w.lines[place:place] = chosen
        w.start("done")
        self._end(state, out, last)
        head = "define i64 @loop(ptr noalias %arguments, i64 %start, i64 %stop) {"
        lines = [head, "entry:", *w.head, "  br label %begin", "begin:", *w.lines, "}"]
        return "\n".join(lines)

    def _end(self, state: list[list[Value]], out: list[list[Value]], last: int) -> None:
        """Write the last state: the new one, or the one for which the condition does not hold."""
        w, loop = self._w, self._loop
        is_asked = loop.condition is not None
        final = []
        for j in range(loop.states):
            numbers = []
            for now, new in zip(state[j], out[j], strict=True):
                ends = f"[ {new.text}, %last ]" + (f", [ {now.text}, %asked ]" if is_asked else "")
                numbers.append(w.let(f"phi {new.kind} {ends}", new.kind))
            final.append(numbers)
        ends = "[ %next, %last ]" + (", [ %i, %asked ]" if is_asked else "")
        end = w.let(f"phi i64 {ends}", "i64")
        for j, x in enumerate(loop.body.outputs[: loop.states]):
            self._write(final[j], last + j, x, w.number(0, "i64"))
        w.say(f"ret i64 {end.text}")

    def _compute(self, values: Sequence[Core]) -> None:
        for x in values:
            if x not in self._known:
                self._known[x] = NUMBERS[type(x)](self._w, x, self._known)

    def _pointer(self, index: int) -> Value:
        w = self._w
        place = w.let(f"getelementptr ptr, ptr %arguments, i64 {index}", "ptr")
        return w.let(f"load ptr, ptr {place.text}", "ptr")

    def _places(self, index: int, x: Core, number: Value | None) -> list[Value]:
        """The addresses of the elements of an array, or of one of several arrays side by side."""
        w, kind = self._w, TYPES[x.dtype]
        start = self._pointers[index]
        if number is not None:
            start = w.offset(start, w.logic("mul", number, w.number(x.size, "i64")), kind)
        return [w.offset(start, w.number(k, "i64"), kind) for k in range(x.size)]

    def _read(self, index: int, x: Core, number: Value | None = None) -> list[Value]:
        kind = TYPES[x.dtype]
        return [self._w.load(place, kind, 0) for place in self._places(index, x, number)]

    def _write(self, numbers: list[Value], index: int, x: Core, number: Value) -> None:
        for value, place in zip(numbers, self._places(index, x, number), strict=True):
            self._w.store(value, place)
