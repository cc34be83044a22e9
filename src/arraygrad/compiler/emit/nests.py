"""The text of a kernel: loops around the instructions of its body.

A kernel is a function ``void kernel(ptr table, i64 chunk)``. The table has the arrays, as `objects`
says. A chunk is a part of the outermost loop, so that threads can share the work.

An open kernel has an outermost loop of any length: the first two entries of its table are this
length, in elements or lines, and how many steps of the loop are a chunk.

What is done in the innermost loop is in `lines`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..fuse.instructions import KernelBody, Total
from ..fuse.interleaved import STEPS
from ..fuse.kernels import BLOCK
from ..llvm.objects import LAYOUT
from ..llvm.vectors import ALIGNMENT, BYTES, FLOATS, Module, Value, Writer
from ..lower.core import Core, Fold, Scalar
from .lines import Indices, Line

CHUNK = 1_000_000  # the least cost of a chunk: it takes much longer than to wake a thread
MOST_CHUNKS = 8
ON_STACK = 4096  # bytes of an array that is on the stack


class Nest:
    """The text of one kernel.

    Parameters
    ----------
    body : KernelBody
    module : Module
        Collects declarations.
    vector : int
        The bytes of a vector register.
    is_open : bool
        Whether the length of the outermost loop is known only when the kernel runs.

    Attributes
    ----------
    memory : list of Core
        The values whose addresses are in the table, in order.
    partial : list of Core
        Those among them that each chunk has a part of its own for: `chunks` times the size.
    scratch : list of Core
        Memory that is used only in the kernel. Each chunk has a part of its own, too.
    whole : list of Total
        The folds of whole arrays, which are collected in registers.
    collected : list of (Core, Fold)
        Those that must hold the start of a fold before the kernel runs.
    folds : dict of Core to Fold
        The folds of more than a line, by the value that they give.
    written : list of Core
        The values that the kernel computes.
    chunks : int
        How many chunks there are.
    cost : int
        About how many cycles it takes, for vectors.
    """

    def __init__(
        self, body: KernelBody, module: Module, vector: int, is_open: bool = False
    ) -> None:
        self.body = body
        self.is_open = is_open
        self.w = Writer(module)
        self.memory: list[Core] = []
        self._pointers: dict[Core, Value] = {}
        self.length = body.dims[-1]
        self.registers = 1  # of a vector
        self.lanes = self._lanes(vector)
        first = body.dims[0] if len(body.dims) > 1 else 1
        self.chunks = max(1, min(MOST_CHUNKS, first, body.cost // CHUNK))
        if any(t.indices and 0 not in t.over for t in body.totals):
            self.chunks = 1  # all add to one array
        self._step = -(-first // self.chunks)
        self.chunks = -(-first // self._step)
        outer = set(range(body.inner))
        self.whole = [t for t in body.totals if not (t.at.steps or t.indices) and outer <= t.over]
        in_memory = [t for t in body.totals if t not in self.whole]
        split = self.chunks > 1 or is_open
        partial = [t.at.memory for t in body.totals if split and 0 in t.over]
        self.partial = list(dict.fromkeys(partial))
        self.collected = list(dict.fromkeys((t.at.memory, t.fold) for t in in_memory))
        self.folds = {t.at.memory: t.fold for t in body.totals}
        written = [s.at.memory for s in body.stores] + [t.at.memory for t in body.totals]
        self.written = list(dict.fromkeys(written))
        self.scratch: list[Core] = []
        self.numbers: list[int] = []
        self.cost = body.cost
        self.text = self._written()

    def _lanes(self, vector: int) -> int:
        """How many elements to compute at once; 0 for single numbers."""
        widest = max((BYTES[i.kind] for i in self.body.instructions), default=8)
        lanes = max(vector // max(widest, 4), 1)
        few = sum(isinstance(i.does, Scalar) for i in self.body.instructions) < 30
        inner = {a.steps.get(self.body.inner) for a in self.body.addresses}
        if few and self.length >= 8 * lanes and not inner & set(STEPS):
            lanes *= 2
            self.registers = 2
        while lanes >= 2 * self.length:
            lanes //= 2
        return lanes if lanes > 1 else 0

    # --- the function ---

    def _written(self) -> str:
        w, body = self.w, self.body
        start, end = self._range()
        self._sums = {id(t): self._accumulator(t) for t in self.whole}
        if len(body.dims) == 1:
            self._line({})
        else:
            self._outer(0, {}, start, end)
        for total in self.whole:
            self._finish(total)
        w.say("ret void")
        lines = ["define void @NAME(ptr noalias %table, i64 %chunk) {", "entry:", *w.head]
        return "\n".join([*lines, "  br label %begin", "begin:", *w.lines, "}"])

    def _range(self) -> tuple[Value, Value]:
        """The part of the outermost loop that the chunk is."""
        w = self.w
        w.block = "begin"
        chunk, length = Value("%chunk", "i64"), w.number(self.body.dims[0], "i64")
        step = w.number(self._step, "i64")
        if self.is_open:
            length, step = self._of_table(0), self._of_table(1)
            if self.body.limit is not None:
                self.limit = length
                more = w.logic("add", length, w.number(BLOCK - 1, "i64"))
                length = w.logic("sdiv", more, w.number(BLOCK, "i64"))
        elif self.body.limit is not None:
            self.limit = w.number(self.body.limit, "i64")
        start = w.logic("mul", chunk, step)
        end = w.logic("add", start, step)
        return start, w.choose(w.compare("lt", end, length), end, length)

    def _of_table(self, index: int) -> Value:
        """A number in the table."""
        w = self.w
        place = w.let(f"getelementptr i64, ptr %table, i64 {index}", "ptr")
        return w.let(f"load i64, ptr {place.text}", "i64")

    def loop(self, start: Value, end: Value, step: int, body: Callable[[Value], None]) -> Value:
        """A loop; returns where it stopped."""
        return self.w.loop(start, end, step, body)

    def _outer(self, variable: int, indices: Indices, start: Value, end: Value) -> None:
        """The loop over a variable, and those inside it."""

        def inside(index: Value) -> None:
            known = indices | {variable: index}
            if variable + 1 == self.body.inner:
                self._line(known)
            else:
                zero = self.w.number(0, "i64")
                length = self.w.number(self.body.dims[variable + 1], "i64")
                self._outer(variable + 1, known, zero, length)

        self.loop(start, end, 1, inside)

    def pointer(self, x: Core) -> Value:
        """The address of an array, from the table."""
        found = self._pointers.get(x)
        if found is None:
            w = self.w
            place, found = "%" + w.name("slot"), Value("%" + w.name("array"), "ptr")
            index = len(self.memory) + 2 * self.is_open
            w.head.append(f"  {place} = getelementptr ptr, ptr %table, i64 {index}")
            if LAYOUT is None:
                w.head.append(f"  {found.text} = load ptr, ptr {place}")
            else:
                thing, data = "%" + w.name("object"), "%" + w.name("data")
                w.head.append(f"  {thing} = load ptr, ptr {place}")
                w.head.append(f"  {data} = getelementptr i8, ptr {thing}, i64 {LAYOUT.data}")
                w.head.append(f"  {found.text} = load ptr, ptr {data}")
            self.memory.append(x)
            self._pointers[x] = found
        return found

    def room(self, kind: str, count: int) -> Value:
        """Memory for numbers that later passes need. Much of it is not on the stack.

        A thread of the user may have a small stack.
        """
        size = count * BYTES[kind]
        if size <= ON_STACK:
            return self.w.stack(kind, count)
        x = Core((-(-size // ALIGNMENT) * ALIGNMENT,), np.dtype(np.uint8))
        self.scratch.append(x)
        start, w = self.pointer(x), self.w
        skipped, found = "%" + w.name("skipped"), Value("%" + w.name("room"), "ptr")
        w.head.append(f"  {skipped} = mul i64 %chunk, {x.size}")
        w.head.append(f"  {found.text} = getelementptr i8, ptr {start.text}, i64 {skipped}")
        return found

    # --- a line ---

    def _line(self, indices: Indices) -> None:
        """All passes over one line."""
        body = self.body
        line = Line(self, indices)
        last = max((i.stage for i in body.instructions), default=0)
        for stage in range(last + 1):
            line.run_pass(stage)
        for store in body.stores:
            if body.inner not in store.at.steps:
                line.store_once(store)
        for total in body.totals:
            if not total.has_inner:
                line.collect_once(total)

    # --- folds over more than a line ---

    def _accumulator(self, total: Total) -> tuple[Value, str, int]:
        """Memory for the fold of a whole array: its address, type and lanes."""
        w = self.w
        kind = "double" if total.value.kind in FLOATS else total.value.kind
        lanes = self.lanes if total.has_inner else 0
        slot = w.stack(kind, max(lanes, 1))
        w.store(w.number(total.fold.start, kind, lanes), slot)
        return slot, kind, lanes

    def add_to(self, total: Total, value: Value) -> None:
        """Fold values into the accumulator of a whole array."""
        slot, kind, lanes = self._sums[id(total)]
        w = self.w
        w.store(total.fold.emit(w, w.load(slot, kind, lanes), w.cast(value, kind)), slot)

    def _finish(self, total: Total) -> None:
        """Write the fold of a whole array to memory: for each chunk, to its own place."""
        slot, kind, lanes = self._sums[id(total)]
        w = self.w
        found = self.folded(total.fold, w.load(slot, kind, lanes))
        index, memory = w.number(total.at.start, "i64"), total.at.memory
        if memory in self.partial:
            part = w.logic("mul", Value("%chunk", "i64"), w.number(memory.size, "i64"))
            index = w.logic("add", index, part)
        place = w.offset(self.pointer(memory), index, total.value.kind)
        w.store(w.cast(found, total.value.kind), place)

    def folded(self, fold: Fold, x: Value) -> Value:
        """The fold of all lanes of a vector: halves are folded until one lane is left."""
        w = self.w
        while x.lanes > 1:
            half = x.lanes // 2
            parts = (w.shuffle(x, x, range(start, start + half)) for start in (0, half))
            x = fold.emit(w, *parts)
        return w.lane(x, 0) if x.lanes else x
