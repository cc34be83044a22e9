"""The passes over one line of a kernel: the innermost loop, once for each stage of the body.

Vectors hold neighbouring elements; the last one of a line is masked. What belongs to the line is
computed between the passes. Costly values that a later pass needs again stay in a buffer.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..fuse.instructions import Address, Inside, Instruction, Store, Total, below
from ..fuse.interleaved import groups, interleaved, repeated, separated
from ..llvm.vectors import BYTES, Value, Writer
from ..lower.core import Fold, Scalar, in_order

if TYPE_CHECKING:
    from .nests import Nest

COSTLY = 6  # a value that is kept for later passes over a line rather than computed again
BUFFERS = 200_000  # bytes of such values
LITTLE = 8  # the cost of a pass, up to which the processor mostly waits for its sums
WIDE_LINE = 1024  # elements, from which on sums of float32 are collected in float64

Indices = dict[int, Value]


class Line:
    """The passes over one line, at known indices of the outer loops."""

    def __init__(self, nest: Nest, indices: Indices) -> None:
        self.nest, self.body, self.w = nest, nest.body, nest.w
        self.indices = indices
        self._own: dict[int, Value] = {}  # the values that belong to the line
        self._buffers: dict[int, Value] = self._kept()
        self._filled: set[int] = set()  # those whose buffer holds the line
        self._read_together = self._alternating_reads()

    def _kept(self) -> dict[int, Value]:
        """Buffers for values that a pass has computed, and a later one would at some cost."""
        passes = self._by_stage()
        seen: dict[int, set[int]] = {}
        for stage, roots in passes.items():
            for i in below(roots):
                seen.setdefault(id(i), set()).add(stage)
        shared = {i for i, stages in seen.items() if len(stages) > 1}
        again: dict[int, int] = {}  # the cost of a value in a later pass
        costly: dict[int, int] = {}  # and of those that it is better to keep
        for i in self.body.instructions:
            cost = i.cost + sum(again[id(a)] for a in i.args) if i.varies else 0
            if id(i) in shared and cost >= COSTLY and i.kind != "i1":
                costly[id(i)] = cost
                cost = 1
            again[id(i)] = cost
        needed = self._read_again(passes, seen, costly)
        lanes = max(self.nest.lanes, 1)
        padded = -(-self.nest.length // lanes) * lanes
        left = BUFFERS
        found = {}
        for i in sorted(needed, key=lambda i: -costly[id(i)]):
            size = padded * BYTES[i.kind]
            if size <= left:
                left -= size
                found[id(i)] = self.nest.room(i.kind, padded)
        return found

    def _read_again(
        self, passes: dict[int, list[Instruction]], seen: dict[int, set[int]], costly: Iterable[int]
    ) -> list[Instruction]:
        """Those of the costly values that are needed in later passes, if all of them are kept."""
        found: dict[int, Instruction] = {}
        for stage, roots in passes.items():
            rest, done = list(roots), set[int]()
            while rest:
                i = rest.pop()
                if id(i) in done or not i.varies:
                    continue
                done.add(id(i))
                if id(i) in costly and min(seen[id(i)]) < stage:
                    found[id(i)] = i
                else:
                    rest += i.args
        return list(found.values())

    def _by_stage(self) -> dict[int, list[Instruction]]:
        """What each pass must compute: values that vary along the line."""
        found: dict[int, list[Instruction]] = {}
        for work in self._work():
            roots = _roots(work)
            found.setdefault(_stage(roots), []).extend(roots)
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
        w, lanes = self.w, self.nest.lanes
        work = []
        for one in self._work():
            roots = _roots(one)
            if _stage(roots) == stage:
                work.append((one, roots[0]))
        if not work:
            return
        needed = below([root for one, _ in work for root in _roots(one)])
        for i in needed:
            if not i.varies:
                self.own(i)
        has_folds = any(self._line_fold(one) is not None for one, _ in work)
        copies = self._copies(needed) if has_folds else 1
        sums: dict[int, tuple[list[Value], str]] = {}
        for one, value in work:
            fold = self._line_fold(one)
            if fold is not None:
                is_wide = value.kind == "float" and self.nest.length > WIDE_LINE
                kind = "double" if is_wide and fold.start == 0 else value.kind
                slots = [w.stack(kind, max(lanes, 1)) for _ in range(copies)]
                for slot in slots:
                    w.store(w.number(fold.start, kind, lanes), slot)
                sums[id(one)] = slots, kind

        together = self._alternating_writes([one for one, _ in work])

        def at(index: Value, mask: Value | None, copy: int = 0) -> None:
            known: dict[int, Value] = {}
            if self.nest.is_open:  # results may overwrite arguments: read all of them first
                for one, _ in work:
                    for root in _roots(one):
                        self._value(root, index, mask, known)
            for one, value in work:
                if id(one) in together:
                    if one is together[id(one)][0]:
                        self._write_together(together[id(one)], index, mask, known)
                    continue
                x = self._spread(self._value(value, index, mask, known))
                fold = self._line_fold(one)
                if fold is not None:
                    slots, kind = sums[id(one)]
                    x = w.cast(self._masked(x, mask, fold), kind)
                    w.store(fold.emit(w, w.load(slots[copy], kind, lanes), x), slots[copy])
                elif isinstance(one, Store):
                    self._write(x, one.at, index, mask)
                else:
                    places = [self._value(i, index, mask, known) for i in one.indices]
                    self._collect(one, x, index, mask, places)

        self._along(at, copies)
        self._filled |= {id(i) for i in needed if id(i) in self._buffers}
        for one, value in work:
            fold = self._line_fold(one)
            if fold is None:
                continue
            slots, kind = sums[id(one)]
            x = w.load(slots[0], kind, lanes)
            for slot in slots[1:]:
                x = fold.emit(w, x, w.load(slot, kind, lanes))
            if isinstance(one, Total) and one in self.nest.whole:
                self.nest.add_to(one, x)
                continue
            found = w.cast(self.nest.folded(fold, x), value.kind)
            if isinstance(one, Total):
                self._collect(one, found, None, None, [])
            else:
                self._own[id(one)] = found

    def _line_fold(self, one: Any) -> Fold | None:
        """The fold along the line that some work is, if it is one."""
        if isinstance(one, Instruction):
            return one.does  # type: ignore[no-any-return]
        is_total = isinstance(one, Total) and self.body.inner in one.over and not one.indices
        return one.fold if is_total else None

    def _copies(self, needed: list[Instruction]) -> int:
        """How many vectors of a line to fold at once, each into a sum of its own.

        Each sum waits for the one before: if there is little else to do, the processor has others.
        """
        cost = sum(i.cost for i in needed if i.varies and id(i) not in self._filled)
        copies = 4 if cost <= LITTLE else 2 if cost <= 2 * LITTLE else 1
        copies = max(copies // self.nest.registers, 1)
        while copies > 1 and self.nest.length < 2 * copies * self.nest.lanes:
            copies //= 2
        return copies if self.nest.lanes else 1

    def _along(self, at: Callable[[Value, Value | None, int], None], copies: int) -> None:
        """The loop along the line: whole vectors, several at once; the rest; then a masked one."""
        w, lanes, length = self.w, self.nest.lanes, self.nest.length
        zero = w.number(0, "i64")
        if not lanes:
            self.nest.loop(zero, self._end(), 1, lambda i: at(i, None, 0))
            return

        def several(index: Value) -> None:
            for copy in range(copies):
                place = w.logic("add", index, integer(w, copy * lanes)) if copy else index
                at(place, None, copy)

        if self.body.limit is None:
            most = length - length % (copies * lanes)
            whole = length - length % lanes
            if most:
                self.nest.loop(zero, integer(w, most), copies * lanes, several)
            for start in range(most, whole, lanes):
                at(integer(w, start), None, 0)
            if length % lanes:
                inside = ", ".join(f"i1 {str(i < length % lanes).lower()}" for i in range(lanes))
                at(integer(w, whole), Value(f"<{inside}>", "i1", lanes), 0)
            return
        end = self._end()
        stopped = zero
        if copies > 1:
            last = w.logic("sub", end, integer(w, copies * lanes - 1))
            stopped = self.nest.loop(zero, last, copies * lanes, several)
        last = w.logic("sub", end, w.number(lanes - 1, "i64"))
        stopped = self.nest.loop(stopped, last, lanes, lambda i: at(i, None, 0))
        tail, after = w.name("tail"), w.name("after")
        w.branch(w.compare("lt", stopped, end), tail, after)
        w.start(tail)
        rest = w.spread(w.logic("sub", end, stopped), lanes)
        at(stopped, w.compare("lt", w.steps(1, lanes), rest), 0)
        w.jump(after)
        w.start(after)

    def _end(self) -> Value:
        """The length of the line; the last block of a long line may be shorter."""
        w, length = self.w, integer(self.w, self.nest.length)
        if self.body.limit is None:
            return length
        done = w.logic("mul", self.indices[0], length)
        rest = w.logic("sub", self.nest.limit, done)
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
            if id(one) in known:
                continue  # with others of its group
            if id(one) in self._read_together and id(one) not in self._filled:
                self._read_group(self._read_together[id(one)], index, mask, known)
                continue
            buffer = self._buffers.get(id(one))
            if buffer is not None and id(one) in self._filled:
                place = self.w.offset(buffer, index, one.kind)
                known[id(one)] = self.w.load(place, one.kind, self.nest.lanes)
                continue
            args = [known[id(a)] if a.varies else self._spread(self.own(a)) for a in one.args]
            x = known[id(one)] = self._computed(one, args, index, mask)
            if buffer is not None:
                self.w.store(x, self.w.offset(buffer, index, one.kind))
        return known[id(i)]

    def _missing(self, i: Instruction, known: dict[int, Value]) -> list[Instruction]:
        """The varying instructions that a value needs and that are not known, in order."""

        def needs(one: Instruction) -> list[Instruction]:
            return [] if id(one) in self._filled else [a for a in one.args if a.varies]

        return in_order([i], needs, known)

    def _computed(
        self, i: Instruction, args: list[Value], index: Value | None, mask: Value | None
    ) -> Value:
        w = self.w
        if isinstance(i.does, Address):
            count = len(i.does.along)
            return self._read(i, index, mask, args[:count], args[count:])
        if isinstance(i.does, Inside):
            return self._tested(i, index)
        if isinstance(i.does, Scalar):
            return i.does.emit(w, *args)
        return w.number(i.does, i.kind, 0)  # a constant

    def _spread(self, x: Value) -> Value:
        return self.w.spread(x, self.nest.lanes)

    def _masked(self, x: Value, mask: Value | None, fold: Fold) -> Value:
        """The start of a fold, which changes nothing, where the mask is false."""
        return x if mask is None else self.w.choose(mask, x, self.w.like(x, fold.start))

    # --- memory ---

    def _index(self, at: Any, index: Value | None) -> Value:
        """The number of an element in its array."""
        w = self.w
        found = integer(w, at.start)
        for variable, step in at.steps.items():
            place = index if variable == self.body.inner else self.indices[variable]
            assert place is not None
            found = w.logic("add", found, w.logic("mul", place, integer(w, step)))
        return found

    def _with_indices(
        self, number: Value, at: Address, indices: list[Value]
    ) -> tuple[Value, Value | None]:
        """The number of an element with indices; and how much more it is in each lane, if any."""
        w, more = self.w, None
        for place, step in zip(indices, at.along, strict=True):
            moved = w.cast(place, "i64")
            moved = w.logic("mul", moved, w.like(moved, step))
            if not moved.lanes:
                number = w.logic("add", number, moved)
            else:
                more = moved if more is None else w.logic("add", more, moved)
        return number, more

    def _read(
        self,
        i: Instruction,
        index: Value | None,
        mask: Value | None,
        indices: list[Value],
        guards: list[Value],
    ) -> Value:
        """Read memory. Where a guard is false, nothing may be read there."""
        w, at, lanes = self.w, i.does, self.nest.lanes
        both = zip(i.args, [*indices, *guards], strict=True)
        given = [x if a.varies else self.own(a) for a, x in both]
        given, guards = given[: len(indices)], given[len(indices) :]
        masks = [x for x in (mask, *guards) if x is not None and x.lanes]
        # The conditions of a whole line are not a part of the mask: of such a mask, LLVM 22 makes
        # an instruction that reads a vector of which no element may be read.
        guard = _both(w, [x for x in guards if not x.lanes])
        number, more = self._with_indices(self._index(at, index), at, given)
        if at.other is not None:
            assert guard is not None
            number, guard = w.choose(guard, number, self._index(at.other, index)), None
        step = at.steps.get(self.body.inner, 0)
        if guard is not None:
            # For the whole line: if it is false, the first line of the array is read instead.
            is_known = not self.nest.is_open and at.memory.size >= self.nest.length
            is_safe = step == 1 and more is None and is_known
            number = w.choose(guard, number, index if index and is_safe else integer(w, 0))
            more = None if more is None else w.choose(self._spread(guard), more, w.like(more, 0))
            masks += [] if not i.varies or not lanes or is_safe else [self._spread(guard)]
        place = w.offset(self.nest.pointer(at.memory), number, i.kind)
        if not i.varies or not lanes:
            return w.load(place, i.kind, 0)
        mask = _both(w, masks)
        if more is not None:
            more = w.logic("add", more, w.steps(step, lanes)) if step else more
            return w.gather(place, more, i.kind, mask)
        if step == 1:
            return w.load(place, i.kind, lanes, mask)
        return w.gather(place, w.steps(step, lanes), i.kind, mask)

    # --- numbers that alternate in memory ---

    def _alternating_reads(self) -> dict[int, list[Instruction]]:
        """The instructions that read alternating numbers, with all of their groups."""
        reads = [
            (i, i.does, i.kind)
            for i in self.body.instructions
            if isinstance(i.does, Address) and not i.args and id(i) not in self._buffers
        ]
        return groups(reads, self.body.inner) if self.nest.lanes else {}

    def _alternating_writes(self, work: list[Any]) -> dict[int, list[Any]]:
        """The stores and totals that write alternating numbers, with all of their groups."""
        writes = [
            (one, one.at, one.fold if isinstance(one, Total) else None)
            for one in work
            if isinstance(one, Store | Total) and self._line_fold(one) is None and one.value.varies
        ]
        return groups(writes, self.body.inner) if self.nest.lanes else {}

    def _neighbours(
        self, at: Address, index: Value, mask: Value | None, n: int, kind: str
    ) -> list[tuple[Value, Value | None]]:
        """The addresses of n vectors of neighbouring numbers, and their masks."""
        w, lanes = self.w, self.nest.lanes
        first = w.offset(self.nest.pointer(at.memory), self._number(at, index), kind)
        places = [w.offset(first, integer(w, c * lanes), kind) for c in range(n)]
        masks = [None] * n if mask is None else repeated(w, mask, n)
        return list(zip(places, masks, strict=True))

    def _read_group(
        self, group: list[Instruction], index: Value, mask: Value | None, known: dict[int, Value]
    ) -> None:
        """Read alternating numbers."""
        w, lanes, first = self.w, self.nest.lanes, group[0]
        vectors = [
            w.load(place, first.kind, lanes, masked)
            for place, masked in self._neighbours(first.does, index, mask, len(group), first.kind)
        ]
        found = separated(w, vectors)
        known.update((id(i), x) for i, x in zip(group, found, strict=True))

    def _write_together(
        self, group: list[Any], index: Value, mask: Value | None, known: dict[int, Value]
    ) -> None:
        """Write alternating numbers, or fold them into those that are there."""
        w, lanes, first = self.w, self.nest.lanes, group[0]
        values = [self._value(one.value, index, mask, known) for one in group]
        places = self._neighbours(first.at, index, mask, len(group), values[0].kind)
        for x, (place, masked) in zip(interleaved(w, values), places, strict=True):
            if isinstance(first, Total):
                x = first.fold.emit(w, w.load(place, x.kind, lanes, masked), x)
            w.store(x, place, masked)

    def _number(self, at: Address, index: Value | None) -> Value:
        """The number of an element in its array: in the part of this chunk, if it has one."""
        w, number = self.w, self._index(at, index)
        if at.memory not in self.nest.partial:
            return number
        part = w.logic("mul", Value("%chunk", "i64"), integer(w, at.memory.size))
        return w.logic("add", number, part)

    def _tested(self, i: Instruction, index: Value | None) -> Value:
        """Whether a number is from 0 on and below a length."""
        w, test = self.w, i.does
        number = self._index(test, index)
        if i.varies and self.nest.lanes:
            step = test.steps[self.body.inner]
            number = w.logic("add", self._spread(number), w.steps(step, self.nest.lanes))
        text = f"icmp ult {number.type} {number.text}, {w.like(number, test.length).text}"
        return w.let(text, "i1", number.lanes)

    def _write(self, x: Value, at: Address, index: Value, mask: Value | None) -> None:
        w = self.w
        place = w.offset(self.nest.pointer(at.memory), self._index(at, index), x.kind)
        step = at.steps[self.body.inner]
        if step == 1 or not x.lanes:
            w.store(x, place, mask)
        else:
            w.scatter(x, place, step, mask)

    def store_once(self, store: Store) -> None:
        """Write a value that belongs to the line."""
        w = self.w
        x = self.own(store.value)
        place = w.offset(self.nest.pointer(store.at.memory), self._index(store.at, None), x.kind)
        w.store(x, place)

    def collect_once(self, total: Total) -> None:
        """Fold a value that belongs to the line into a total."""
        x = self.own(total.value)
        if total in self.nest.whole:
            self.nest.add_to(total, x)
        else:
            self._collect(total, x, None, None, [self.own(i) for i in total.indices])

    def _collect(
        self,
        total: Total,
        x: Value,
        index: Value | None,
        mask: Value | None,
        indices: list[Value],
    ) -> None:
        """Fold values into the elements of memory that they belong to."""
        w, at = self.w, total.at
        number, more = self._with_indices(self._number(at, index), at, indices)
        place = w.offset(self.nest.pointer(at.memory), number, x.kind)
        step = at.steps.get(self.body.inner, 0) if x.lanes else 0
        if not x.lanes:
            w.store(total.fold.emit(w, w.load(place, x.kind, 0), x), place)
        elif more is not None:
            more = w.logic("add", more, w.steps(step, x.lanes)) if step else more
            self._collect_by_lane(total, x, place, more, mask)
        elif step == 1:
            before = w.load(place, x.kind, x.lanes, mask)
            w.store(total.fold.emit(w, before, x), place, mask)
        else:
            before = w.gather(place, w.steps(step, x.lanes), x.kind, mask)
            w.scatter(total.fold.emit(w, before, x), place, step, mask)

    def _collect_by_lane(
        self, total: Total, x: Value, place: Value, more: Value, mask: Value | None
    ) -> None:
        """Fold lane after lane: two may belong to the same element."""
        w = self.w
        if mask is not None:  # nothing changes at the first place
            more = w.choose(mask, more, w.like(more, 0))
            x = self._masked(x, mask, total.fold)
        for i in range(x.lanes):
            at = w.offset(place, w.lane(more, i), x.kind)
            w.store(total.fold.emit(w, w.load(at, x.kind, 0), w.lane(x, i)), at)


def _roots(work: Any) -> list[Instruction]:
    """The instructions that some work needs: what is stored or folded comes first."""
    return work.roots if isinstance(work, Store | Total) else [work.args[0]]


def _stage(roots: list[Instruction]) -> int:
    return max(i.stage for i in roots)


def integer(w: Writer, value: int) -> Value:
    """An integer constant."""
    return w.number(value, "i64")


def _both(w: Writer, conditions: list[Value]) -> Value | None:
    """Whether all of some conditions hold; None if there are none."""
    return functools.reduce(lambda x, y: w.logic("and", x, y), conditions) if conditions else None
