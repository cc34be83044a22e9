"""The text of a kernel: loops around the instructions of its body.

A kernel is a function ``void kernel(ptr table, i64 chunk)``. The table has the arrays, as `objects`
says. A chunk is a part of the outermost loop, so that threads can share the work.

Each line, that is one run of the innermost loop, is passed over once for each stage of the body.
Vectors hold neighbouring elements; the last one of a line is masked. What belongs to the line is
computed between the passes. Costly values that a later pass needs again stay in a buffer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .body import Address, Body, Inside, Instruction, Store, Total, below
from .core import Core, Fold, Scalar
from .objects import DATA
from .vectors import BYTES, FLOATS, Module, Value, Writer

COSTLY = 6  # a value that is kept for later passes over a line rather than computed again
LONGEST_BUFFER = 16384  # elements
WIDE_LINE = 1024  # elements, from which on sums of float32 are collected in float64
CHUNK = 1_000_000  # the least cost of a chunk: it takes much longer than to wake a thread
MOST_CHUNKS = 8

Indices = dict[int, Value]


class Loops:
    """The text of one kernel.

    Parameters
    ----------
    body : Body
    module : Module
        Collects declarations.
    vector : int
        The bytes of a vector register.

    Attributes
    ----------
    memory : list of Core
        The values whose addresses are in the table, in order.
    partial : list of Core
        Those among them that each chunk has a part of its own for: `chunks` times the size.
    collected : list of (Core, Fold)
        Those that must hold the start of a fold before the kernel runs.
    chunks : int
        How many chunks there are.
    """

    def __init__(self, body: Body, module: Module, vector: int) -> None:
        self.body = body
        self.w = Writer(module)
        self.memory: list[Core] = []
        self._pointers: dict[Core, Value] = {}
        self.length = body.dims[-1]
        self.lanes = self._lanes(vector)
        first = body.dims[0] if len(body.dims) > 1 else 1
        self.chunks = max(1, min(MOST_CHUNKS, first, body.cost // CHUNK))
        self._step = -(-first // self.chunks)
        self.chunks = -(-first // self._step)
        outer = set(range(body.inner))
        self._whole = [t for t in body.totals if not t.at.steps and outer <= t.over]
        in_memory = [t for t in body.totals if t not in self._whole]
        split = self.chunks > 1
        self.partial = [t.at.memory for t in body.totals if split and 0 in t.over]
        self.collected = [(t.at.memory, t.fold) for t in in_memory]
        self.text = self._written()

    def _lanes(self, vector: int) -> int:
        """How many elements to compute at once; 0 for single numbers."""
        widest = max((BYTES[i.kind] for i in self.body.instructions), default=8)
        lanes = max(vector // max(widest, 4), 1)
        few = sum(isinstance(i.does, Scalar) for i in self.body.instructions) < 30
        if few and self.length >= 8 * lanes:
            lanes *= 2
        while lanes >= 2 * self.length:
            lanes //= 2
        return lanes if lanes > 1 else 0

    # --- the function ---

    def _written(self) -> str:
        w, body = self.w, self.body
        start, end = self._range()
        self._sums = {id(t): self._accumulator(t) for t in self._whole}
        if len(body.dims) == 1:
            self._line({})
        else:
            self._outer(0, {}, start, end)
        for total in self._whole:
            self._finish(total)
        w.say("ret void")
        lines = ["define void @NAME(ptr noalias %table, i64 %chunk) {", "entry:", *w.head]
        return "\n".join([*lines, "  br label %begin", "begin:", *w.lines, "}"])

    def _range(self) -> tuple[Value, Value]:
        """The part of the outermost loop that the chunk is."""
        w = self.w
        w.block = "begin"
        first = self.body.dims[0]
        chunk, length = Value("%chunk", "i64"), w.number(first, "i64")
        start = w.logic("mul", chunk, w.number(self._step, "i64"))
        end = w.logic("add", start, w.number(self._step, "i64"))
        return start, w.choose(w.compare("lt", end, length), end, length)

    def _loop(self, start: Value, end: Value, step: int, body: Callable[[Value], None]) -> Value:
        """A loop; returns where it stopped."""
        w = self.w
        before, head, tail, after = w.block, w.name("loop"), w.name("next"), w.name("end")
        w.branch(w.compare("lt", start, end), head, after)
        w.start(head)
        index, following = Value("%" + w.name("i"), "i64"), Value("%" + w.name("n"), "i64")
        w.say(f"{index.text} = phi i64 [ {start.text}, %{before} ], [ {following.text}, %{tail} ]")
        body(index)
        w.jump(tail)
        w.start(tail)
        w.say(f"{following.text} = add nsw i64 {index.text}, {step}")
        w.branch(w.compare("lt", following, end), head, after)
        w.start(after)
        ends = f"[ {start.text}, %{before} ], [ {following.text}, %{tail} ]"
        return w.let(f"phi i64 {ends}", "i64")

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

        self._loop(start, end, 1, inside)

    def pointer(self, x: Core) -> Value:
        """The address of an array, from the table."""
        found = self._pointers.get(x)
        if found is None:
            w = self.w
            place, found = "%" + w.name("slot"), Value("%" + w.name("array"), "ptr")
            index = len(self.memory)
            w.head.append(f"  {place} = getelementptr ptr, ptr %table, i64 {index}")
            if DATA is None:
                w.head.append(f"  {found.text} = load ptr, ptr {place}")
            else:
                thing, data = "%" + w.name("object"), "%" + w.name("data")
                w.head.append(f"  {thing} = load ptr, ptr {place}")
                w.head.append(f"  {data} = getelementptr i8, ptr {thing}, i64 {DATA}")
                w.head.append(f"  {found.text} = load ptr, ptr {data}")
            self.memory.append(x)
            self._pointers[x] = found
        return found

    # --- a line ---

    def _line(self, indices: Indices) -> None:
        """All passes over one line."""
        body = self.body
        line = _Line(self, indices)
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
        index = Value("%chunk", "i64") if total.at.memory in self.partial else w.number(0, "i64")
        place = w.offset(self.pointer(total.at.memory), index, total.value.kind)
        w.store(w.cast(found, total.value.kind), place)

    def folded(self, fold: Fold, x: Value) -> Value:
        """The fold of all lanes of a vector: halves are folded until one lane is left."""
        w = self.w
        while x.lanes > 1:
            half = x.lanes // 2
            parts = []
            for start in (0, half):
                chosen = ", ".join(f"i32 {start + i}" for i in range(half))
                text = (
                    f"shufflevector {x.type} {x.text}, {x.type} poison, <{half} x i32> <{chosen}>"
                )
                parts.append(w.let(text, x.kind, half))
            x = fold.emit(w, *parts)
        return w.lane(x, 0) if x.lanes else x


class _Line:
    """The passes over one line, at known indices of the outer loops."""

    def __init__(self, loops: Loops, indices: Indices) -> None:
        self.loops, self.body, self.w = loops, loops.body, loops.w
        self.indices = indices
        self._own: dict[int, Value] = {}  # the values that belong to the line
        self._buffers: dict[int, Value] = self._kept()
        self._filled: set[int] = set()  # those whose buffer holds the line

    def _kept(self) -> dict[int, Value]:
        """Buffers for costly values that several passes need."""
        if self.loops.length > LONGEST_BUFFER:
            return {}
        needs: dict[int, set[int]] = {}
        for stage, roots in self._by_stage().items():
            for i in below(roots):
                needs.setdefault(id(i), set()).add(stage)
        lanes = max(self.loops.lanes, 1)
        padded = -(-self.loops.length // lanes) * lanes
        return {
            id(i): self.w.stack(i.kind, padded)
            for i in self.body.instructions
            if i.varies and i.cost >= COSTLY and len(needs.get(id(i), ())) > 1 and i.kind != "i1"
        }

    def _by_stage(self) -> dict[int, list[Instruction]]:
        """What each pass must compute: values that vary along the line."""
        found: dict[int, list[Instruction]] = {}
        for work in self._work():
            value = work.value if isinstance(work, Store | Total) else work.args[0]
            found.setdefault(value.stage, []).append(value)
        return found

    def _work(self) -> list[Any]:
        """What is done for all elements of a line: stores, folds, and parts of totals."""
        body = self.body
        folds = [i for i in body.instructions if isinstance(i.does, Fold)]
        stores = [s for s in body.stores if body.inner in s.at.steps]
        return [*stores, *folds, *(t for t in body.totals if t.has_inner)]

    # --- a pass ---

    def run_pass(self, stage: int) -> None:
        """One pass over the line: all that needs no later folds, and was not done before."""
        w, lanes = self.w, self.loops.lanes
        work = []
        for one in self._work():
            value = one.value if isinstance(one, Store | Total) else one.args[0]
            if value.stage == stage:
                work.append((one, value))
        if not work:
            return
        for i in below([value for _, value in work]):
            if not i.varies:
                self.own(i)
        sums: dict[int, tuple[Value, str]] = {}
        for one, value in work:
            fold = self._line_fold(one)
            if fold is not None:
                is_wide = value.kind == "float" and self.loops.length > WIDE_LINE
                kind = "double" if is_wide and fold.start == 0 else value.kind
                slot = w.stack(kind, max(lanes, 1))
                w.store(w.number(fold.start, kind, lanes), slot)
                sums[id(one)] = slot, kind

        def at(index: Value, mask: Value | None) -> None:
            known: dict[int, Value] = {}
            for one, value in work:
                x = self._spread(self._value(value, index, mask, known))
                fold = self._line_fold(one)
                if fold is not None:
                    slot, kind = sums[id(one)]
                    x = w.cast(self._masked(x, mask, fold), kind)
                    w.store(fold.emit(w, w.load(slot, kind, lanes), x), slot)
                elif isinstance(one, Store):
                    self._write(x, one.at, index, mask)
                else:
                    self._collect(one, x, index, mask)

        self._along(at)
        self._filled |= {id(i) for i in below([v for _, v in work]) if id(i) in self._buffers}
        for one, value in work:
            fold = self._line_fold(one)
            if fold is None:
                continue
            slot, kind = sums[id(one)]
            if isinstance(one, Total) and one in self.loops._whole:
                self.loops.add_to(one, w.load(slot, kind, lanes))
                continue
            found = w.cast(self.loops.folded(fold, w.load(slot, kind, lanes)), value.kind)
            if isinstance(one, Total):
                self._collect(one, found, None, None)
            else:
                self._own[id(one)] = found

    def _line_fold(self, one: Any) -> Fold | None:
        """The fold along the line that some work is, if it is one."""
        if isinstance(one, Instruction):
            return one.does  # type: ignore[no-any-return]
        is_total = isinstance(one, Total) and self.body.inner in one.over
        return one.fold if is_total else None

    def _along(self, at: Callable[[Value, Value | None], None]) -> None:
        """The loop along the line: whole vectors, then a masked one."""
        w, lanes, length = self.w, self.loops.lanes, self.loops.length
        zero = w.number(0, "i64")
        if not lanes:
            self.loops._loop(zero, self._end(), 1, lambda i: at(i, None))
            return
        if self.body.limit is None:
            whole = length - length % lanes
            if whole:
                self.loops._loop(zero, w.number(whole, "i64"), lanes, lambda i: at(i, None))
            if length % lanes:
                inside = ", ".join(f"i1 {str(i < length % lanes).lower()}" for i in range(lanes))
                at(w.number(whole, "i64"), Value(f"<{inside}>", "i1", lanes))
            return
        end = self._end()
        last = w.logic("sub", end, w.number(lanes - 1, "i64"))
        stopped = self.loops._loop(zero, last, lanes, lambda i: at(i, None))
        tail, after = w.name("tail"), w.name("after")
        w.branch(w.compare("lt", stopped, end), tail, after)
        w.start(tail)
        rest = w.spread(w.logic("sub", end, stopped), lanes)
        at(stopped, w.compare("lt", w.steps(1, lanes), rest))
        w.jump(after)
        w.start(after)

    def _end(self) -> Value:
        """The length of the line; the last block of a long line may be shorter."""
        w, length = self.w, w_number(self.w, self.loops.length)
        if self.body.limit is None:
            return length
        done = w.logic("mul", self.indices[0], length)
        rest = w.logic("sub", w_number(w, self.body.limit), done)
        return w.choose(w.compare("lt", rest, length), rest, length)

    # --- values ---

    def own(self, i: Instruction) -> Value:
        """A value that belongs to the line."""
        if id(i) not in self._own:
            for one in below([i]):
                if id(one) not in self._own and not one.varies:
                    args = [self._own[id(a)] for a in one.args]
                    self._own[id(one)] = self._computed(one, args, None, None)
        return self._own[id(i)]

    def _value(
        self, i: Instruction, index: Value, mask: Value | None, known: dict[int, Value]
    ) -> Value:
        """The value at an index of the line. Arguments are computed first, without recursion."""
        if not i.varies:
            return self.own(i)
        for one in self._missing(i, known):
            buffer = self._buffers.get(id(one))
            if buffer is not None and id(one) in self._filled:
                place = self.w.offset(buffer, index, one.kind)
                known[id(one)] = self.w.load(place, one.kind, self.loops.lanes)
                continue
            args = [known[id(a)] if a.varies else self._spread(self.own(a)) for a in one.args]
            x = known[id(one)] = self._computed(one, args, index, mask)
            if buffer is not None:
                self.w.store(x, self.w.offset(buffer, index, one.kind))
        return known[id(i)]

    def _missing(self, i: Instruction, known: dict[int, Value]) -> list[Instruction]:
        """The varying instructions that a value needs and that are not known, in order."""
        order: list[Instruction] = []
        seen = set(known)
        rest = [(i, False)]
        while rest:
            one, is_done = rest.pop()
            if is_done:
                order.append(one)
            elif id(one) not in seen:
                seen.add(id(one))
                rest.append((one, True))
                if id(one) not in self._filled:
                    rest += [(a, False) for a in one.args if a.varies]
        return order

    def _computed(
        self, i: Instruction, args: list[Value], index: Value | None, mask: Value | None
    ) -> Value:
        w = self.w
        if isinstance(i.does, Address):
            return self._read(i, index, mask, args[0] if args else None)
        if isinstance(i.does, Inside):
            return self._tested(i, index)
        if isinstance(i.does, Scalar):
            return i.does.emit(w, *args)
        return w.number(i.does, i.kind, 0)  # a constant

    def _spread(self, x: Value) -> Value:
        return self.w.spread(x, self.loops.lanes)

    def _masked(self, x: Value, mask: Value | None, fold: Fold) -> Value:
        """The start of a fold, which changes nothing, where the mask is false."""
        return x if mask is None else self.w.choose(mask, x, self.w.like(x, fold.start))

    # --- memory ---

    def _index(self, at: Any, index: Value | None) -> Value:
        """The number of an element in its array."""
        w = self.w
        found = w_number(w, at.start)
        for variable, step in at.steps.items():
            place = index if variable == self.body.inner else self.indices[variable]
            assert place is not None
            found = w.logic("add", found, w.logic("mul", place, w_number(w, step)))
        return found

    def _read(
        self, i: Instruction, index: Value | None, mask: Value | None, guard: Value | None
    ) -> Value:
        """Read memory. Where the guard is false, nothing may be read there."""
        w, at, lanes = self.w, i.does, self.loops.lanes
        number = self._index(at, index)
        if guard is not None and not guard.lanes:
            number = w.choose(guard, number, w_number(w, 0))
            guard = None if not i.varies or not lanes else self._spread(guard)
        place = w.offset(self.loops.pointer(at.memory), number, i.kind)
        step = at.steps.get(self.body.inner, 0)
        if not i.varies or not lanes:
            return w.load(place, i.kind, 0)
        if guard is not None:
            mask = guard if mask is None else w.logic("and", mask, guard)
        if step == 1:
            return w.load(place, i.kind, lanes, mask)
        return w.gather(place, w.steps(step, lanes), i.kind, mask)

    def _tested(self, i: Instruction, index: Value | None) -> Value:
        """Whether a number is from 0 on and below a length."""
        w, test = self.w, i.does
        number = self._index(test, index)
        if i.varies and self.loops.lanes:
            step = test.steps[self.body.inner]
            number = w.logic("add", self._spread(number), w.steps(step, self.loops.lanes))
        text = f"icmp ult {number.type} {number.text}, {w.like(number, test.length).text}"
        return w.let(text, "i1", number.lanes)

    def _write(self, x: Value, at: Address, index: Value, mask: Value | None) -> None:
        w = self.w
        place = w.offset(self.loops.pointer(at.memory), self._index(at, index), x.kind)
        step = at.steps[self.body.inner]
        if step == 1 or not x.lanes:
            w.store(x, place, mask)
        else:
            w.scatter(x, place, step, mask)

    def store_once(self, store: Store) -> None:
        """Write a value that belongs to the line."""
        w = self.w
        x = self.own(store.value)
        place = w.offset(self.loops.pointer(store.at.memory), self._index(store.at, None), x.kind)
        w.store(x, place)

    def collect_once(self, total: Total) -> None:
        """Fold a value that belongs to the line into a total."""
        x = self.own(total.value)
        if total in self.loops._whole:
            self.loops.add_to(total, x)
        else:
            self._collect(total, x, None, None)

    def _collect(self, total: Total, x: Value, index: Value | None, mask: Value | None) -> None:
        """Fold values into the elements of memory that they belong to."""
        w, at = self.w, total.at
        number = self._index(at, index)
        if at.memory in self.loops.partial:
            part = w.logic("mul", Value("%chunk", "i64"), w_number(w, at.memory.size))
            number = w.logic("add", number, part)
        place = w.offset(self.loops.pointer(at.memory), number, x.kind)
        step = at.steps.get(self.body.inner, 0) if x.lanes else 0
        if not x.lanes:
            w.store(total.fold.emit(w, w.load(place, x.kind, 0), x), place)
        elif step == 1:
            before = w.load(place, x.kind, x.lanes, mask)
            w.store(total.fold.emit(w, before, x), place, mask)
        else:
            before = w.gather(place, w.steps(step, x.lanes), x.kind, mask)
            w.scatter(total.fold.emit(w, before, x), place, step, mask)


def w_number(w: Writer, value: int) -> Value:
    """An integer constant."""
    return w.number(value, "i64")
