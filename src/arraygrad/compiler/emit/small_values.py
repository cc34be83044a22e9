"""The numbers of each sort of value, in the order of memory: for loops over few numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..llvm.vectors import TYPES, Value, Writer
from ..lower.core import (
    Alias,
    Core,
    Elements,
    Filled,
    Gather,
    Padded,
    Product,
    Reduction,
    Scatter,
    Stored,
    View,
    Whole,
    address,
    strides,
)
from ..trace.program import Shape

Known = dict[Core, list[Value]]


def _elements(w: Writer, x: Any, known: Known) -> list[Value]:
    return [x.scalar.emit(w, *args) for args in zip(*(known[a] for a in x.args), strict=True)]


def _view(w: Writer, x: Any, known: Known) -> list[Value]:
    start, steps = address(x.map, x.args[0].shape)
    source = known[x.args[0]]
    return [
        source[start + sum(steps.get(axis, 0) * i for axis, i in enumerate(index))]
        for index in np.ndindex(x.shape)
    ]


def _padded(w: Writer, x: Any, known: Known) -> list[Value]:
    inner = x.args[0]
    found = []
    for index in np.ndindex(x.shape):
        places = tuple((None, i, 0) for i in index)
        inside, conditions = x.unpadded(places)
        if all(0 <= start < length for (_, start, _), length in conditions):
            found.append(known[inner][address(inside, inner.shape)[0]])
        else:
            found.append(w.number(0, TYPES[x.dtype]))
    return found


def _reduced(w: Writer, x: Any, known: Known) -> list[Value]:
    found = [w.number(x.fold.start, TYPES[x.dtype]) for _ in range(x.size)]
    steps = [0 if axis in x.axes else s for axis, s in enumerate(strides(x.shape))]
    for number, index in enumerate(np.ndindex(x.args[0].shape)):
        place = sum(s * i for s, i in zip(steps, index, strict=True))
        found[place] = x.fold.emit(w, found[place], known[x.args[0]][number])
    return found


def _product(w: Writer, x: Any, known: Known) -> list[Value]:
    a, b = x.args
    k, n = b.shape[-2:]
    m = a.shape[-2]
    found = []
    for number in range(x.size):
        batch, (i, j) = number // (m * n), divmod(number % (m * n), n)
        total = w.number(0, TYPES[x.dtype])
        for p in range(k):
            pair = known[a][(batch * m + i) * k + p], known[b][(batch * k + p) * n + j]
            total = w.add(total, w.multiply(*pair))
        found.append(total)
    return found


def _dynamic(w: Writer, x: Any, indices: list[list[Value]], shape: Shape) -> list[Value]:
    """Where elements of an array are that are read or written at integers: one for each of them."""
    found = []
    for number, index in enumerate(np.ndindex(x.args[-1].shape)):
        total = w.number(0, "i64")
        for place, step in zip(x.places, strides(shape), strict=True):
            if isinstance(place, int):
                at = indices[place][number]
            else:
                axis, start, by = place
                at = w.number(start + (0 if axis is None else by * index[axis]), "i64")
            total = w.add(total, w.multiply(at, w.number(step, "i64")))
        found.append(total)
    return found


def _gathered(w: Writer, x: Any, known: Known) -> list[Value]:
    source = known[x.source]
    places = _dynamic(w, x, [known[a] for a in x.args[1:]], x.source.shape)
    return [_at(w, source, place) for place in places]


def _at(w: Writer, numbers: list[Value], place: Value) -> Value:
    """One of several numbers."""
    found = numbers[0]
    for k, value in enumerate(numbers[1:], 1):
        found = w.choose(w.compare("eq", place, w.number(k, "i64")), value, found)
    return found


def _scattered(w: Writer, x: Any, known: Known) -> list[Value]:
    values = known[x.args[0]]
    places = _dynamic(w, x, [known[a] for a in x.args[1:]], x.shape)
    found = [w.number(x.fold.start, TYPES[x.dtype]) for _ in range(x.size)]
    for value, place in zip(values, places, strict=True):
        for k in range(x.size):
            is_here = w.compare("eq", place, w.number(k, "i64"))
            found[k] = w.choose(is_here, x.fold.emit(w, found[k], value), found[k])
    return found


NUMBERS: dict[type, Callable[[Writer, Any, Known], list[Value]]] = {
    Stored: lambda w, x, known: known[x],  # it has been read
    Filled: lambda w, x, known: [w.number(x.value, TYPES[x.dtype])] * x.size,
    Elements: _elements,
    View: _view,
    Padded: _padded,
    Alias: lambda w, x, known: known[x.args[0]],
    Reduction: _reduced,
    Product: _product,
    Whole: lambda w, x, known: [],  # only its elements at some places are read
    Gather: _gathered,
    Scatter: _scattered,
}
