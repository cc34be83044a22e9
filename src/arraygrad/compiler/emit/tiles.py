"""The text of a matrix product: tiles of the result, each of which stays in registers.

All lengths and distances in memory are known, so the code has loops of fixed lengths:

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
NEAR = 16_000  # bytes of columns that are read as they are
APART = 4096  # bytes: rows at multiples of it share few lines of the cache


class Steps(NamedTuple):
    """The strides of a batch of matrices, in elements."""

    batch: tuple[int, ...]
    rows: int
    columns: int


@dataclass(frozen=True)
class Factors:
    """A product of matrices, m by k and k by n, of one type of elements.

    `a` and `b` are the strides of the two batches. The result is contiguous.
    """

    kind: str
    batch: tuple[int, ...]
    m: int
    n: int
    k: int
    a: Steps
    b: Steps


class Tile(NamedTuple):
    """Rows, and vectors of each row."""

    rows: int
    vectors: int


def best_tile(m: int, n: int, lanes: int, registers: int) -> Tile:
    """The tile that takes the fewest cycles for a result of m by n elements."""
    best, least = Tile(1, 1), math.inf
    for vectors in range(1, min(4, -(-n // lanes)) + 1):
        most = max(min(m, (registers - 2 - vectors) // vectors, 24), 1)
        rows = -(-m // -(-m // most))
        # The products and sums, or else the reads; eight sums must be under way at a time.
        cycles = max(rows * vectors, 1.2 * (rows + vectors), 8) + 2 * vectors
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
        self.batch, self.a, self.b = layout.batch, layout.a, layout.b
        self.m, self.n, self.k = layout.m, layout.n, layout.k
        self.lanes = max(min(vector // self.size, 2 ** (self.n - 1).bit_length()), 2)
        self.tile = best_tile(self.m, self.n, self.lanes, registers)
        self.width = self.tile.vectors * self.lanes
        blocks = -(-self.k * self.size // BLOCK)
        self.block = -(-self.k // blocks)
        self.blocks = -(-self.k // self.block)
        self._share()
        self._choose_copies()
        self._start_a = self.block * self._panels * self.width * self.copies_b
        self.room = self._start_a + self.block * self.tile.rows * self.copies_a
        self.text = self._written()

    # --- choices ---

    def _share(self) -> None:
        """Cut the work into units and chunks."""
        matrices = math.prod(self.batch)
        wanted = max(1, min(MOST_CHUNKS, matrices * self.m * self.n * self.k // CHUNK))
        parts = -(-wanted // matrices) if matrices < wanted else 1
        rows, width = self.tile.rows, self.width
        # Wide units, as each copies its columns; but not too wide for the cache.
        columns = max(1, min(parts, self.n // (WIDE * width)))
        groups = min(-(-parts // columns), -(-self.m // rows))
        columns = max(columns, min(-(-parts // groups), -(-self.n // width)))
        self.unit_rows = min(-(-self.m // groups // rows) * rows, self.m)
        self.unit_columns = -(-self.n // columns // width) * width
        most = max(PANELS // (self.block * self.size) // width, 1) * width
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
        self.copies_b = self.b.columns != 1 or (is_far and groups > 3)
        is_apart = self.a.columns != 1 or self.a.rows * self.size % APART == 0
        self.copies_a = is_apart and self.a.rows != 1 and self.k > 16 and self._panels > 1

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
            self._copy_a = self._at(self._copy_b, self._start_a)
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

    def _unit(self, unit: Value) -> None:
        w = self.w
        rest, row = self._split(unit, self.row_units)
        matrix, column = self._split(rest, self.column_units)
        starts = list(self._from)
        left = matrix
        for axis in reversed(range(len(self.batch))):
            left, index = self._split(left, self.batch[axis])
            starts = [
                self._at(start, self._times(index, x.batch[axis]))
                for start, x in zip(starts, (self.a, self.b), strict=True)
            ]
        self._matrices = [*starts, self._at(self._to, self._times(matrix, self.m * self.n))]
        first_row, first = self._times(row, self.unit_rows), self._times(column, self.unit_columns)
        last_row = self._least(self._plus(first_row, self.unit_rows), self.m)
        last = self._least(self._plus(first, self.unit_columns), self.n)

        def block(start: Value) -> None:
            length = self._least(w.logic("sub", self._number(self.k), start), self.block)
            if self.blocks == 1:
                start, length = self._number(0), self._number(self.k)
            if self.copies_b:
                w.loop(first, last, self.width, lambda j: self._copy_panel(j, first, start, length))

            def group(i: Value) -> None:
                i0 = self._least(i, self.m - self.tile.rows)
                if self.copies_a:
                    self._copy_group(i0, start, length)
                w.loop(
                    first,
                    last,
                    self.width,
                    lambda j: self._tile(i, i0, j, first, start, length),
                )

            w.loop(first_row, last_row, self.tile.rows, group)

        if self.blocks == 1:
            block(self._number(0))
        else:
            w.loop(self._number(0), self._number(self.k), self.block, block)

    def _panel_start(self, j: Value) -> Value:
        return self._least(j, max(self.n - self.width, 0))

    # --- copies ---

    def _copy_panel(self, j: Value, first: Value, start: Value, length: Value) -> None:
        source = self._at(self._matrices[1], self._times(start, self.b.rows))
        source = self._at(source, self._times(self._panel_start(j), self.b.columns))
        to = self._at(self._copy_b, self._times(self.w.logic("sub", j, first), self.block))
        valid = min(self.width, self.n)
        self._copy(source, self.b.columns, self.b.rows, to, self.width, valid, length)

    def _copy_group(self, i0: Value, start: Value, length: Value) -> None:
        source = self._at(self._matrices[0], self._times(i0, self.a.rows))
        source = self._at(source, self._times(start, self.a.columns))
        rows = self.tile.rows
        self._copy(source, self.a.rows, self.a.columns, self._copy_a, rows, rows, length)

    def _copy(
        self, source: Value, across: int, along: int, to: Value, width: int, valid: int, n: Value
    ) -> None:
        """Copy n lines of some elements each, which become neighbours; the rest is zero.

        `across` is the distance of the elements of a line, `along` that of lines.
        """
        w = self.w
        rest = self.k - (self.blocks - 1) * self.block  # the shortest block
        side = min(8 if self.size == 4 else 4, self.lanes)
        if along == 1 and across != 1 and valid == width >= side and min(rest, self.block) >= side:
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
        self, i: Value, i0: Value, j: Value, first: Value, start: Value, length: Value
    ) -> None:
        w, lanes = self.w, self.lanes
        rows, vectors = self.tile
        j0 = self._panel_start(j)
        if self.copies_a:
            a, a_row, a_step = self._copy_a, 1, rows
        else:
            a = self._at(self._matrices[0], self._times(i0, self.a.rows))
            a = self._at(a, self._times(start, self.a.columns))
            a_row, a_step = self.a.rows, self.a.columns
        if self.copies_b:
            b = self._at(self._copy_b, self._times(w.logic("sub", j, first), self.block))
            b_step = self.width
        else:
            b = self._at(self._matrices[1], self._plus(self._times(start, self.b.rows), j0))
            b_step = self.b.rows
        sums = [[w.stack(self.kind, lanes) for _ in range(vectors)] for _ in range(rows)]
        for row in sums:
            for slot in row:
                w.store(w.number(0, self.kind, lanes), slot)
        tail = None if self.n >= self.width or not self.n % lanes else self._first(self.n % lanes)

        def step(k: Value) -> None:
            line, column = self._at(b, self._times(k, b_step)), self._at(a, self._times(k, a_step))
            right = []
            for v in range(vectors):
                mask = tail if v == vectors - 1 and not self.copies_b else None
                right.append(w.load(self._at(line, v * lanes), self.kind, lanes, mask))
            for r, row in enumerate(sums):
                left = w.spread(w.load(self._at(column, r * a_row), self.kind, 0), lanes)
                for slot, x in zip(row, right, strict=True):
                    w.store(w.add(w.multiply(left, x), w.load(slot, self.kind, lanes)), slot)

        w.loop(self._number(0), length, 1, step)
        to = self._at(self._matrices[2], self._plus(self._times(i0, self.n), j0))
        masks = self._masks(w.logic("sub", j, j0), tail)
        is_first = w.compare("eq", start, self._number(0))

        def store(r: int) -> None:
            for v, slot in enumerate(sums[r]):
                place = self._at(to, r * self.n + v * lanes)
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
