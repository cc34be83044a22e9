"""The text of a matrix product: tiles of the result, each of which stays in registers.

Rows, columns and the summed axis may be several axes each, at any distances in memory, so that the
windows of a convolution are columns, or rows, of a matrix that is nowhere in memory. All lengths
and distances are known, so the code has loops of fixed lengths:

- a *unit* of work is one matrix of the batch, or a block of its rows or columns;
- within a unit, the summed axis is cut into blocks, whose sums are added in order;
- columns are cut into panels as wide as a few vectors, rows into groups: a tile is one group of
  one panel. The last panel and the last group overlap with those before, if need be: so tiles
  have one size, and nothing is read outside of the arrays.

Operands that the loops would read in large steps are copied first, in the order in which tiles read
them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ..llvm.objects import data_of, number_of
from ..llvm.vectors import BYTES, Module, Value, Writer

CHUNK = 2_000_000  # the least number of products of numbers in a chunk
MOST_CHUNKS = 8
BLOCK = 2100  # bytes of a line of the summed axis that is one block
PANELS = 500_000  # bytes of copied columns that are in use at a time: they stay in the cache
WIDE = 4  # panels of a unit, if there are enough
UNROLLED = 16  # steps of the innermost sums that are written one after the other
NEAR = 16_000  # bytes of columns that are read as they are

Ints = tuple[int, ...]


class Steps(NamedTuple):
    """The strides of a batch of matrices, in elements."""

    batch: Ints
    rows: Ints
    columns: Ints


@dataclass(frozen=True)
class Factors:
    """A product of matrices, m by k and k by n, of one type of elements.

    Each of the three is the lengths of one axis or more, and `a`, `b` and `out` are the strides of
    the two batches and of the result. The last axis of columns of the result is contiguous.
    """

    kind: str
    batch: Ints
    m: Ints
    n: Ints
    k: Ints
    a: Steps
    b: Steps
    out: Steps


class Tile(NamedTuple):
    """Rows, and vectors of each row."""

    rows: int
    vectors: int


def best_tile(m: int, n: int, lanes: int, registers: int, unrolled: bool = False) -> Tile:
    """The tile that takes the fewest cycles for a result of m by n elements."""
    best, least = Tile(1, 1), math.inf
    for vectors in range(1, min(4, -(-n // lanes)) + 1):
        most = max(min(m, (registers - 2 - vectors) // vectors, 24), 1)
        fewest = -(-m // most)
        for groups in range(fewest, 1 + (-(-3 * fewest // 2) if unrolled else fewest)):
            rows = -(-m // groups)
            # The products and sums, or else the reads; eight sums must be under way at a time.
            cycles = max(rows * vectors, 1.2 * (rows + vectors), 8)
            cycles += vectors if unrolled else 2 * vectors
            cycles *= -(-m // rows) * -(-n // (vectors * lanes))
            if cycles < least:
                best, least = Tile(rows, vectors), cycles
    return best


class TileText:
    """The text of a product.

    The table of the kernel has the two operands, the result, memory for copies if `room` is not
    zero, and where the operands start.

    Attributes
    ----------
    tile : Tile
    width : int
        The columns of a tile.
    room : int
        The elements that each chunk needs for copies.
    chunks : int
    text : str
    module : Module
        What the text needs to be declared.
    """

    def __init__(self, layout: Factors, vector: int, registers: int) -> None:
        self.module = Module()
        self.w = Writer(self.module)
        self.kind = layout.kind
        self.size = BYTES[self.kind]
        self.batch, self.a, self.b, self.out = layout.batch, layout.a, layout.b, layout.out
        self.rows, self.m = layout.m, math.prod(layout.m)
        self.lines, self.n = math.prod(layout.n[:-1]), layout.n[-1]
        self.outer_columns = layout.n[:-1]
        self.lanes = max(min(vector // self.size, 2 ** (self.n - 1).bit_length()), 2)
        self._choose_blocks(layout.k)
        unrolled = bool(self.inner) and self.inner[-1] <= UNROLLED
        self.tile = best_tile(self.m, self.n, self.lanes, registers, unrolled)
        self.width = self.tile.vectors * self.lanes
        self._share()
        self._choose_copies()
        self.room = self.depth * self._panels * self.width * self.copies_b
        self.text = self._written()

    # --- choices ---

    def _choose_blocks(self, k: Ints) -> None:
        """Cut one of the summed axes into blocks; those before it are summed one by one."""
        self.k = math.prod(k)
        at = next(i for i in range(len(k)) if math.prod(k[i + 1 :]) * self.size <= BLOCK)
        self.before, self.cut, self.inner = k[:at], k[at], k[at + 1 :]
        self.each = math.prod(self.inner)
        parts = -(-self.cut * self.each * self.size // BLOCK)
        self.block = -(-self.cut // parts)
        self.blocks = math.prod(self.before) * -(-self.cut // self.block)
        self.depth = self.block * self.each

    def _share(self) -> None:
        """Cut the work into units and chunks."""
        matrices = math.prod(self.batch)
        count = matrices * self.m * self.lines * self.n * self.k
        wanted = max(1, min(MOST_CHUNKS, count // CHUNK))
        parts = -(-wanted // matrices) if matrices < wanted else 1
        rows, width = self.tile.rows, self.width
        # Wide units, as each copies its columns; but not too wide for the cache.
        columns = max(1, min(parts, self.n // (WIDE * width)))
        groups = min(-(-parts // columns), -(-self.m // rows))
        columns = max(columns, min(-(-parts // groups), -(-self.n // width)))
        self.unit_rows = min(-(-self.m // groups // rows) * rows, self.m)
        self.unit_columns = -(-self.n // columns // width) * width
        most = max(PANELS // (self.depth * self.size) // width, 1) * width
        self.unit_columns = min(self.unit_columns, most, self.n)
        self.row_units = -(-self.m // self.unit_rows)
        self.column_units = -(-self.n // self.unit_columns)
        self._panels = -(-self.unit_columns // width)
        self.units = matrices * self.row_units * self.column_units
        self.units_each = -(-self.units // wanted)
        self.chunks = -(-self.units // self.units_each)

    def _choose_copies(self) -> None:
        groups = -(-self.unit_rows // self.tile.rows)
        is_far = self.k * self.unit_columns * self.size > NEAR
        can_copy = self.lines == 1 and len(self.inner) < 2
        self.copies_b = self.b.columns[-1] != 1 or (is_far and groups > 3 and can_copy)

    # --- the function ---

    def _number(self, value: int) -> Value:
        return self.w.number(value, "i64")

    def _plus(self, x: Value, y: Value | int) -> Value:
        return self.w.logic("add", x, self._number(y) if isinstance(y, int) else y)

    def _times(self, x: Value, factor: int) -> Value:
        return self.w.logic("mul", x, self._number(factor))

    def _least(self, x: Value, most: Value | int) -> Value:
        end = self._number(most) if isinstance(most, int) else most
        return self.w.choose(self.w.compare("lt", x, end), x, end)

    def _at(self, pointer: Value, index: Value | int) -> Value:
        place = self._number(index) if isinstance(index, int) else index
        return self.w.offset(pointer, place, self.kind)

    def _written(self) -> str:
        w = self.w
        w.block = "begin"
        count = 4 if self.room else 3
        pointers = [data_of(w, i) for i in range(count)]
        self._from = [self._at(pointers[i], number_of(w, count + i)) for i in range(2)]
        self._to = pointers[2]
        chunk = Value("%chunk", "i64")
        if self.room:
            self._copy_b = self._at(pointers[3], self._times(chunk, self.room))
        first = self._times(chunk, self.units_each)
        last = self._least(self._plus(first, self.units_each), self.units)
        w.loop(first, last, 1, self._unit)
        w.say("ret void")
        lines = ["define void @NAME(ptr noalias %table, i64 %chunk) {", "entry:", *w.head]
        return "\n".join([*lines, "  br label %begin", "begin:", *w.lines, "}"])

    def _split(self, x: Value, n: int) -> tuple[Value, Value]:
        """The quotient and the rest."""
        by = self._number(n)
        return self.w.logic("udiv", x, by), self.w.logic("urem", x, by)

    def _offset(self, index: Value, lengths: Ints, steps: Ints) -> Value:
        """Where an element is whose index counts along several axes."""
        total, left = self._number(0), index
        for n, step in zip(lengths[:0:-1], steps[:0:-1], strict=True):
            left, i = self._split(left, n)
            total = self._plus(total, self._times(i, step))
        return self._plus(total, self._times(left, steps[0])) if steps else total

    def _unit(self, unit: Value) -> None:
        w = self.w
        rest, row = self._split(unit, self.row_units)
        matrix, column = self._split(rest, self.column_units)
        self._matrices = [
            self._at(start, self._offset(matrix, self.batch, x.batch))
            for start, x in zip((*self._from, self._to), (self.a, self.b, self.out), strict=True)
        ]
        first_row, first = self._times(row, self.unit_rows), self._times(column, self.unit_columns)
        last_row = self._least(self._plus(first_row, self.unit_rows), self.m)
        last = self._least(self._plus(first, self.unit_columns), self.n)

        def block(number: Value) -> None:
            at = len(self.before)
            outer, start = self._split(number, -(-self.cut // self.block))
            start = self._times(start, self.block)
            length = self._least(w.logic("sub", self._number(self.cut), start), self.block)
            if self.blocks == 1:
                length = self._number(self.cut)
            a, b = (
                self._at(
                    self._at(self._matrices[i], self._offset(outer, self.before, steps[:at])),
                    self._times(start, steps[at]),
                )
                for i, steps in enumerate((self.a.columns, self.b.rows))
            )
            is_first = w.compare("eq", number, self._number(0))
            if self.copies_b:
                w.loop(first, last, self.width, lambda j: self._copy_panel(b, j, first, length))

            def group(i: Value) -> None:
                i0 = self._least(i, self.m - self.tile.rows)

                def line(o: Value) -> None:
                    lines = self.outer_columns
                    columns = self._at(b, self._offset(o, lines, self.b.columns[:-1]))
                    to = self._at(self._matrices[2], self._offset(o, lines, self.out.columns[:-1]))

                    def tile(j: Value) -> None:
                        self._tile(a, columns, to, i, i0, j, first, length, is_first)

                    w.loop(first, last, self.width, tile)

                w.loop(self._number(0), self._number(self.lines), 1, line)

            w.loop(first_row, last_row, self.tile.rows, group)

        w.loop(self._number(0), self._number(self.blocks), 1, block)

    def _panel_start(self, j: Value) -> Value:
        return self._least(j, max(self.n - self.width, 0))

    # --- copies ---

    def _copy_panel(self, b: Value, j: Value, first: Value, length: Value) -> None:
        step = self.b.columns[-1]
        source = self._at(b, self._times(self._panel_start(j), step))
        to = self._at(self._copy_b, self._times(self.w.logic("sub", j, first), self.depth))
        valid, (along, *inner) = min(self.width, self.n), self.b.rows[len(self.before) :]
        if not inner:
            self._copy(source, step, along, to, self.width, valid, length)
            return
        each, step_to = self._number(self.each), self.each * self.width

        def lines(t: Value) -> None:
            here, there = (
                self._at(x, self._times(t, n)) for x, n in ((source, along), (to, step_to))
            )
            self._copy(here, step, inner[-1], there, self.width, valid, each)

        self.w.loop(self._number(0), length, 1, lines)

    def _copy(
        self, source: Value, across: int, along: int, to: Value, width: int, valid: int, n: Value
    ) -> None:
        """Copy n lines of some elements each, which become neighbours; the rest is zero.

        `across` is the distance of the elements of a line, `along` that of lines.
        """
        w = self.w
        shortest = self.each if self.inner else self.cut - (self.cut - 1) // self.block * self.block
        side = min(8 if self.size == 4 else 4, self.lanes)
        if along == 1 and across != 1 and valid == width >= side and shortest >= side:
            last = w.logic("sub", n, self._number(side))

            def square(k: Value) -> None:
                k0 = self._least(k, last)
                rows = [*range(0, width - side + 1, side)]
                rows += [width - side] if width % side else []
                for r in rows:
                    self._turn(self._at(source, k0), across, r, side, to, k0, width)

            w.loop(self._number(0), n, side, square)
            return

        def line(k: Value) -> None:
            here, there = self._at(source, self._times(k, along)), self._times(k, width)
            place = self._at(to, there)
            done = 0
            while done < width:
                lanes = 2 ** ((width - done).bit_length() - 1)
                lanes = min(lanes, self.lanes) if across == 1 and done < valid else 1
                while lanes > 1 and done + lanes > valid:
                    lanes //= 2
                lanes = lanes if lanes > 1 else 0
                if done < valid:
                    x = w.load(self._at(here, done * across), self.kind, lanes)
                else:
                    x = w.number(0, self.kind)
                w.store(x, self._at(place, done))
                done += max(lanes, 1)

        w.loop(self._number(0), n, 1, line)

    def _turn(
        self, source: Value, across: int, r: int, side: int, to: Value, k: Value, width: int
    ) -> None:
        """Transpose a square of elements in registers."""
        w = self.w
        rows = [w.load(self._at(source, (r + i) * across), self.kind, side) for i in range(side)]
        apart = 1
        while apart < side:
            for i in range(side):
                if not i & apart:
                    x, y = rows[i], rows[i + apart]
                    low = [e if not e & apart else side + e - apart for e in range(side)]
                    high = [e + apart if not e & apart else side + e for e in range(side)]
                    rows[i], rows[i + apart] = w.shuffle(x, y, low), w.shuffle(x, y, high)
            apart *= 2
        for i, x in enumerate(rows):
            w.store(x, self._at(to, self._plus(self._times(self._plus(k, i), width), r)))

    # --- a tile ---

    def _tile(
        self,
        a: Value,
        b: Value,
        to: Value,
        i: Value,
        i0: Value,
        j: Value,
        first: Value,
        length: Value,
        is_first: Value,
    ) -> None:
        w, lanes = self.w, self.lanes
        rows, vectors = self.tile
        j0 = self._panel_start(j)
        at = len(self.before)
        places = [self._offset(self._plus(i0, r), self.rows, self.a.rows) for r in range(rows)]
        starts, a_steps = [self._at(a, place) for place in places], self.a.columns[at:]
        if self.copies_b:
            b = self._at(self._copy_b, self._times(w.logic("sub", j, first), self.depth))
            b_steps = tuple(self.width * math.prod(self.inner[x:]) for x in range(len(a_steps)))
        else:
            b, b_steps = self._at(b, j0), self.b.rows[at:]
        sums = [[w.stack(self.kind, lanes) for _ in range(vectors)] for _ in range(rows)]
        for row in sums:
            for slot in row:
                w.store(w.number(0, self.kind, lanes), slot)
        tail = None if self.n >= self.width or not self.n % lanes else self._first(self.n % lanes)

        def step(axis: int, in_a: Value, in_b: Value, more_a: int, more_b: int) -> None:
            if axis < len(a_steps):
                by_a, by_b = a_steps[axis], b_steps[axis]
                if axis and math.prod(self.inner[axis - 1 :]) <= UNROLLED:
                    for t in range(self.inner[axis - 1]):
                        step(axis + 1, in_a, in_b, more_a + t * by_a, more_b + t * by_b)
                    return

                def again(t: Value) -> None:
                    next_a, next_b = self._times(t, by_a), self._times(t, by_b)
                    step(axis + 1, self._plus(in_a, next_a), self._plus(in_b, next_b), 0, 0)

                end = self._number(self.inner[axis - 1]) if axis else length
                w.loop(self._number(0), end, 1, again)
                return
            line = self._at(self._at(b, in_b), more_b)
            right = []
            for v in range(vectors):
                mask = tail if v == vectors - 1 and not self.copies_b else None
                right.append(w.load(self._at(line, v * lanes), self.kind, lanes, mask))
            for start, row in zip(starts, sums, strict=True):
                place = self._at(self._at(start, in_a), more_a)
                left = w.spread(w.load(place, self.kind, 0), lanes)
                for slot, x in zip(row, right, strict=True):
                    w.store(w.add(w.multiply(left, x), w.load(slot, self.kind, lanes)), slot)

        zero = self._number(0)
        step(0, zero, zero, 0, 0)
        row_step = self.out.rows[-1]
        to = self._at(to, self._plus(self._times(i0, row_step), j0))
        masks = self._masks(w.logic("sub", j, j0), tail)

        def store(r: int) -> None:
            for v, slot in enumerate(sums[r]):
                place = self._at(to, r * row_step + v * lanes)
                x = w.load(slot, self.kind, lanes)
                if self.blocks > 1:
                    before = w.load(place, self.kind, lanes, masks[v])
                    x = w.add(x, w.choose(is_first, w.like(x, 0), before))
                w.store(x, place, masks[v])

        skipped = w.logic("sub", i, i0)
        for r in range(rows):
            if self.m % rows and r < rows - 1:
                self._unless(w.compare("lt", self._number(r), skipped), store, r)
            else:
                store(r)

    def _masks(self, skipped: Value, tail: Value | None) -> list[Value | None]:
        """Which columns of a tile are written: not those that the panel before has."""
        w, lanes, vectors = self.w, self.lanes, self.tile.vectors
        is_shared = self.column_units > 1 or self.blocks > 1
        if self.n <= self.width or not self.n % self.width or not is_shared:
            return [*[None] * (vectors - 1), tail]
        found: list[Value | None] = []
        for v in range(vectors):
            from_here = w.spread(w.logic("sub", skipped, self._number(v * lanes)), lanes)
            found.append(w.compare("ge", w.steps(1, lanes), from_here))
        return found

    def _first(self, count: int) -> Value:
        """A mask with the first lanes."""
        inside = ", ".join(f"i1 {str(i < count).lower()}" for i in range(self.lanes))
        return Value(f"<{inside}>", "i1", self.lanes)

    def _unless(self, condition: Value, body: Callable[[int], None], r: int) -> None:
        w = self.w
        inside, after = w.name("do"), w.name("done")
        w.branch(condition, after, inside)
        w.start(inside)
        body(r)
        w.jump(after)
        w.start(after)


@functools.lru_cache(maxsize=256)
def tile_text(layout: Factors, vector: int, registers: int) -> TileText:
    """The text of a product, made once: for vectors of some bytes, and a number of registers."""
    return TileText(layout, vector, registers)
