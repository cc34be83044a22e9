"""A whole loop as native code: it calls the kernels of the body, step by step.

``i64 loop(ptr arguments, i64 start, i64 stop)`` runs the steps from `start` on and returns where it
stopped. The arguments are addresses of arrays. The state is read from one array and written to
another; these two take turns. Elements and results are where the number of the step says.

A long loop is run in pieces, so that it can be interrupted.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..fuse.fusion import base_of
from ..llvm.native import Addresses
from ..llvm.objects import LAYOUT
from ..llvm.vectors import TYPES, literal, memory_type
from ..lower.core import Core
from .executable import Native, ready
from .loop_bodies import BodyProgram
from .loop_calls import FOREVER, NativeLoop, Ran
from .pool import pool_cell, prepare, run_address

PIECE = 100_000_000  # about the cost of the steps that run without a look at interrupts


class LoopCode(NativeLoop):
    """A loop in native code. All steps of its programs must be native: see `is_native`."""

    def __init__(self, *form: Any) -> None:
        super().__init__(*form)
        programs = self.programs
        self._rows = len(self.body.outputs) - self.states
        if any(step.nest.chunks > 1 for program in programs for step in program.steps):
            prepare()
        text = _LoopText(self)
        self._compile(text.text(), text.outside)
        cost = sum(step.nest.cost for program in programs for step in program.steps)
        self._piece = max(1, PIECE // max(cost, 1))

    @property
    def how(self) -> str:  # type: ignore[override]
        return f"{len(self.body.steps)} kernels in native code"

    def run(self, arrays: Sequence[Any], rows: Sequence[Any], length: int = FOREVER) -> Ran:
        s = self.states
        checked = self._checked(arrays, length)
        outside = [ready(x, x.node.array) for p in self.programs for x in p.constants]
        types = [(x.shape, x.dtype) for x in self.body.outputs[:s]]
        odd, even = ([np.empty(*t) for t in types] for _ in range(2))
        memories = [program.pool.take() for program in self.programs]
        addresses = self._addresses(checked, [*outside, *odd, *even], rows, length)
        addresses += [memory.address for memory in memories]
        place = len(checked) + len(outside)
        steps = self._run(addresses, place, place + s, length)
        for program, memory in zip(self.programs, memories, strict=True):
            program.pool.give_back(memory)
        if not steps:
            return self._first(checked), 0
        return (odd if steps % 2 else even), steps

    def parts(self) -> list[tuple[Any, str]]:
        return [*super().parts(), (self, "loop")]


def is_native(program: BodyProgram) -> bool:
    """Whether native code can run a program by itself."""
    if any(x.dtype not in TYPES for x in program.given):
        return False
    written: set[Core] = set()
    for step in program.steps:
        if not isinstance(step, Native):
            return False
        written.update(step.writes)
    return all(base_of(x) in written for x in program.outputs)


def _shared_text(outside: Addresses) -> str:
    """A function that runs a kernel in chunks, by the threads of the pool."""
    cell, run = outside.place(ctypes.addressof(pool_cell)), outside.place(run_address())
    return f"""define internal void @shared(ptr %f, ptr %t, i64 %chunks) {{
  %step = alloca {{ ptr, ptr, i64 }}, align 8
  store ptr %f, ptr %step
  %pt = getelementptr i8, ptr %step, i64 8
  store ptr %t, ptr %pt
  %pc = getelementptr i8, ptr %step, i64 16
  store i64 %chunks, ptr %pc
  %cell = load ptr, ptr {cell}
  %pool = load ptr, ptr %cell
  %run = load ptr, ptr {run}
  call void %run(ptr %step, i64 1, ptr %pool)
  ret void
}}"""


class _LoopText:
    """LLVM's text of a loop."""

    def __init__(self, code: LoopCode) -> None:
        self._code = code
        self.outside = Addresses()
        self._lines: list[str] = []
        self._slots: dict[Any, list[str]] = {}  # where kernels find the address of an array
        self._objects: dict[Any, str] = {}
        self._table: dict[int, str] = {}  # of each launch
        self._count = 0

    def text(self) -> str:
        code = self._code
        a, c, s = code.asked, code.constants, code.states
        body, condition = code.body, code.condition
        inputs = a + len(body.given)
        outside = [x for program in code.programs for x in program.constants]
        self._arguments(inputs + len(outside) + 2 * s + code._rows + len(code.programs))
        for program in code.programs:
            self._tables(program)
        for i, x in enumerate(condition.given[:a] if condition else []):
            self._set(x, f"%a{i}")
        for i, x in enumerate(body.given[:c]):
            self._set(x, f"%a{a + i}")
        for i, x in enumerate(outside):
            self._set(x, f"%a{inputs + i}")
        first = inputs + len(outside)
        for i, program in enumerate(code.programs):
            self._buffers(program, f"%a{first + 2 * s + code._rows + i}")
        self._say("%any = icmp slt i64 %start, %stop")
        self._say("br i1 %any, label %head, label %done")
        self._lines.append("head:")
        self._say("%i = phi i64 [ %start, %entry ], [ %next, %last ]")
        for j in range(s):
            self._say(f"%s{j} = phi ptr [ %a{a + c + j}, %entry ], [ %w{j}, %last ]")
        if condition is not None:
            self._ask(condition, a)
        self._say("%odd = and i64 %i, 1")
        self._say("%even = icmp eq i64 %odd, 0")
        for j in range(s):
            self._say(f"%w{j} = select i1 %even, ptr %a{first + j}, ptr %a{first + s + j}")
            self._set(body.given[c + j], f"%s{j}")
            self._set(base_of(body.outputs[j]), f"%w{j}")
        index = "%i"
        if code.reverse:
            index = self._let("sub i64 0, %i")  # the addresses are those of the last step
        for i, x in enumerate(body.given[c + s :]):
            self._set(x, self._element(f"%a{a + c + s + i}", x, index))
        for k, x in enumerate(body.outputs[s:]):
            self._set(base_of(x), self._element(f"%a{first + 2 * s + k}", x, index))
        self._run(body)
        self._say("br label %last")
        self._lines.append("last:")
        self._say("%next = add nsw i64 %i, 1")
        self._say("%more = icmp slt i64 %next, %stop")
        self._say("br i1 %more, label %head, label %done")
        self._lines.append("done:")
        ends = "[ %start, %entry ], [ %next, %last ]"
        if condition is not None:
            ends += ", [ %i, %asked ]"
        self._say(f"%end = phi i64 {ends}")
        self._say("ret i64 %end")
        head = "define i64 @loop(ptr %arguments, i64 %start, i64 %stop) {"
        return "\n".join([_shared_text(self.outside), head, "entry:", *self._lines, "}"])

    def _say(self, text: str) -> None:
        self._lines.append("  " + text)

    def _let(self, text: str) -> str:
        self._count += 1
        self._say(f"%v{self._count} = {text}")
        return f"%v{self._count}"

    def _arguments(self, count: int) -> None:
        for i in range(count):
            place = self._let(f"getelementptr ptr, ptr %arguments, i64 {i}")
            self._say(f"%a{i} = load ptr, ptr {place}")

    def _tables(self, program: BodyProgram) -> None:
        """The table of each function. Objects stand for NumPy's: only the address is read."""
        for number, step in enumerate(program.steps):
            for launch in step.launches:
                table = self._let(f"alloca ptr, i64 {max(len(launch.entries), 1)}, align 8")
                self._table[id(launch)] = table
                for i, entry in enumerate(launch.entries):
                    place = self._let(f"getelementptr ptr, ptr {table}, i64 {i}")
                    if isinstance(entry, int):
                        self._say(f"store i64 {entry}, ptr {place}")
                    else:
                        x, is_part = entry
                        self._enter((program, number, x) if is_part else x, place)

    def _enter(self, key: Any, place: str) -> None:
        """Make a place in a table one where the address of an array is found."""
        if LAYOUT is None:
            self._slots.setdefault(key, []).append(place)
            return
        if key not in self._objects:
            made = self._objects[key] = self._let(f"alloca i8, i64 {LAYOUT.data + 8}, align 8")
            self._slots[key] = [self._let(f"getelementptr i8, ptr {made}, i64 {LAYOUT.data}")]
        self._say(f"store ptr {self._objects[key]}, ptr {place}")

    def _set(self, key: Any, address: str) -> None:
        """Let kernels find an array at an address. Arrays that no kernel uses are left out."""
        for slot in self._slots.get(key, ()):
            self._say(f"store ptr {address}, ptr {slot}")

    def _buffers(self, program: BodyProgram, memory: str) -> None:
        """Intermediate values are in the memory of the call."""
        outputs = {base_of(x) for x in program.outputs} if program is self._code.body else set()
        for number, step in enumerate(program.steps):
            places = {x: buffer for x, buffer in step.buffers.items() if x not in outputs}
            parts = {(program, number, x): buffer for x, buffer in step.parts.items()}
            for key, buffer in {**places, **parts}.items():
                if key in self._slots:
                    place = f"getelementptr i8, ptr {memory}, i64 {buffer.offset}"
                    self._set(key, self._let(place))

    def _element(self, start: str, x: Core, index: str) -> str:
        """The address of an array's element along its first axis."""
        size = x.size * x.dtype.itemsize
        offset = self._let(f"mul nsw i64 {index}, {size}")
        return self._let(f"getelementptr i8, ptr {start}, i64 {offset}")

    def _run(self, program: BodyProgram) -> None:
        """Call the kernels. The chunks of large ones are shared with other threads."""
        for step in program.steps:
            for launch in step.launches:
                place = self.outside.place(launch.function.address)
                function = self._let(f"load ptr, ptr {place}")
                table = self._table[id(launch)]
                if launch.chunks == 1:
                    self._say(f"call void {function}(ptr {table}, i64 0)")
                else:
                    given = f"ptr {function}, ptr {table}, i64 {launch.chunks}"
                    self._say(f"call void @shared({given})")

    def _ask(self, condition: BodyProgram, constants: int) -> None:
        """Go on only if the condition holds."""
        for j in range(self._code.states):
            self._set(condition.given[constants + j], f"%s{j}")
        self._run(condition)
        answer = self._let(f"load ptr, ptr {self._slots[base_of(condition.outputs[0])][0]}")
        kind = TYPES[condition.outputs[0].dtype]
        held = self._let(f"load {memory_type(kind)}, ptr {answer}")
        compare = "fcmp une" if kind in ("float", "double") else "icmp ne"
        zero = literal(kind, 0) if kind != "i1" else "0"
        goes_on = self._let(f"{compare} {memory_type(kind)} {held}, {zero}")
        self._say("br label %asked")
        self._lines.append("asked:")
        self._say(f"br i1 {goes_on}, label %goes, label %done")
        self._lines.append("goes:")
