"""Two small kernels around those that collect sums in memory: fill it first, and combine parts.

Chunks of a kernel collect their parts of a fold in memory of their own. The parts are combined in
order, so results do not depend on the threads.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from ..llvm.objects import data_of, number_of
from ..llvm.vectors import TYPES, Module, Value, Writer
from ..lower.core import Fold

LANES = 8


def fill_text(module: Module, dtype: Any) -> str:
    """A kernel that fills an array. Its table has the array, its size, and the bits of a number."""
    w, kind = Writer(module), TYPES[dtype]
    w.block = "begin"
    data, size = data_of(w, 0), number_of(w, 1)
    place = w.let("getelementptr i64, ptr %table, i64 2", "ptr")
    value = w.load(place, kind, 0)
    _along(w, size, lambda i, n: w.store(w.spread(value, n), w.offset(data, i, kind)))
    return _function(w)


def bits_of(value: float, dtype: Any) -> int:
    """The bits of a number, as an integer."""
    raw = np.asarray(value, dtype).tobytes().ljust(8, b"\0")
    return int(struct.unpack("<Q" if np.little_endian else ">Q", raw)[0])


def combine_text(module: Module, fold: Fold, dtype: Any) -> str:
    """A kernel that folds parts. Its table has parts, the result, how many parts, and the size."""
    w, kind = Writer(module), TYPES[dtype]
    w.block = "begin"
    parts, data, count, size = data_of(w, 0), data_of(w, 1), *(number_of(w, i) for i in (2, 3))
    one = w.number(1, "i64")

    def at(i: Value, lanes: int) -> None:
        here = w.offset(data, i, kind)
        w.store(w.load(w.offset(parts, i, kind), kind, lanes), here)

        def part(c: Value) -> None:
            number = w.logic("add", w.logic("mul", c, size), i)
            x = w.load(w.offset(parts, number, kind), kind, lanes)
            w.store(fold.emit(w, w.load(here, kind, lanes), x), here)

        w.loop(one, count, 1, part)

    _along(w, size, at)
    return _function(w)


def _along(w: Writer, size: Value, at: Callable[[Value, int], None]) -> None:
    """All elements: several at a time, then the rest."""
    last = w.logic("sub", size, w.number(LANES - 1, "i64"))
    stopped = w.loop(w.number(0, "i64"), last, LANES, lambda i: at(i, LANES))
    w.loop(stopped, size, 1, lambda i: at(i, 0))


def _function(w: Writer) -> str:
    w.say("ret void")
    lines = ["define void @NAME(ptr noalias %table, i64 %chunk) {", "entry:", *w.head]
    return "\n".join([*lines, "  br label %begin", "begin:", *w.lines, "}"])
