"""Sets of input elements, one for each element of an array, and their unions.

`arrays.spread` says how an op changes the sets.
"""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.axes import kept


class Dependence(NamedTuple):
    """For each element of an array, a set of input elements.

    Elements may share a set, so moving elements changes `which` and leaves `sets` as it is.

    Attributes
    ----------
    which : ndarray
        The number of the set of each element, in the shape of the array.
    sets : csr_array
        The sets, one in each row, as booleans over the input elements. Row 0 is the empty set.
    """

    which: Any
    sets: Any

    def rows(self) -> Any:
        """The sets of all elements, one in each row."""
        return self.sets[self.which.reshape(-1)]

    def reshape(self, shape: tuple[int, ...]) -> Dependence:
        """The same elements in another shape."""
        return self._replace(which=self.which.reshape(shape))

    def broadcast_to(self, shape: tuple[int, ...]) -> Dependence:
        """The elements repeated, by the rules of broadcasting."""
        return self._replace(which=np.broadcast_to(self.which, shape))


def scipy_sparse() -> Any:
    """The module `scipy.sparse`."""
    try:
        return importlib.import_module("scipy.sparse")
    except ImportError:
        raise ImportError(
            "sparse derivatives need SciPy, which is not installed: pip install arraygrad[scipy]"
        ) from None


def seeds(shapes: Sequence[tuple[int, ...]]) -> list[Dependence]:
    """The dependence of inputs with these shapes: each element depends on itself."""
    total = sum(map(math.prod, shapes))
    one = np.ones(total, bool)
    rows = np.concatenate([[0, 0], np.arange(1, total + 1)])
    sets = scipy_sparse().csr_array((one, np.arange(total), rows), shape=(total + 1, total))
    starts = np.cumsum([1, *map(math.prod, shapes)])
    return [
        Dependence(np.arange(start, start + math.prod(shape)).reshape(shape), sets)
        for start, shape in zip(starts, shapes, strict=False)
    ]


def nothing(like: Dependence, shape: tuple[int, ...]) -> Dependence:
    """A dependence without any: no element depends on an input."""
    return Dependence(np.zeros(shape, np.intp), like.sets)


def everything(parts: Sequence[Dependence], shape: tuple[int, ...]) -> Dependence:
    """Full dependence: each element depends on every input element that occurs in the parts."""
    numbers, sets = joined(parts)
    flat = np.concatenate([n.reshape(-1) for n in numbers])
    return gathered(flat, sets, np.zeros_like(flat), ()).broadcast_to(shape)


def joined(parts: Sequence[Dependence]) -> tuple[list[Any], Any]:
    """The numbers of the sets of several arrays in one common table, and the table."""
    tables: list[Any] = []
    starts: dict[int, int] = {}
    total = 0
    for part in parts:
        if id(part.sets) not in starts:
            starts[id(part.sets)] = total
            tables.append(part.sets)
            total += part.sets.shape[0]
    sets = tables[0] if len(tables) == 1 else scipy_sparse().vstack(tables, format="csr")
    # Row 0 of each table is the empty set, so the joined table has several empty sets.
    return [part.which + starts[id(part.sets)] for part in parts], sets


def gathered(which: Any, sets: Any, targets: Any, shape: tuple[int, ...]) -> Dependence:
    """Unions of sets: set number `which[k]` is added to element number `targets[k]`."""
    which, targets = which.reshape(-1), targets.reshape(-1)
    some = which > 0
    size = math.prod(shape)
    member = scipy_sparse().csr_array(
        (np.ones(np.count_nonzero(some), bool), (targets[some] + 1, which[some])),
        shape=(size + 1, sets.shape[0]),
    )
    found = member @ sets
    found.sort_indices()
    return Dependence(np.arange(1, size + 1).reshape(shape), found)


def united(parts: Iterable[Dependence]) -> Dependence:
    """The unions of the sets of arrays of one shape, element by element."""
    return functools.reduce(_union, parts)


def _union(first: Dependence, second: Dependence) -> Dependence:
    if not second.which.any() or (
        first.sets is second.sets and np.array_equal(first.which, second.which)
    ):
        return first
    if not first.which.any():
        return second
    n = first.sets.shape[1]
    # Each pair of sets is united once. The pair of empty sets comes first and keeps number 0.
    pairs = np.concatenate([[0], (first.which * second.sets.shape[0] + second.which).reshape(-1)])
    unique, numbers = np.unique(pairs, return_inverse=True)
    a, b = np.divmod(unique, second.sets.shape[0])
    # Full sets become one set. Otherwise a dense result would have a full row for each element.
    full = (np.diff(first.sets.indptr)[a] == n) | (np.diff(second.sets.indptr)[b] == n)
    if full.any():
        alone = ~full
        alone[np.argmax(full)] = True
        place = np.cumsum(alone) - 1
        place[full] = place[np.argmax(full)]
        a, b, numbers = a[alone], b[alone], place[numbers]
    which = numbers.reshape(-1)[1:].reshape(first.which.shape)
    return Dependence(which, first.sets[a] + second.sets[b])


def along(x: Dependence, axes: tuple[int, ...] | None) -> Dependence:
    """Unions along axes, or along all axes if None. The axes stay, with length one."""
    shape = kept(x.which.shape, axes)
    targets = np.broadcast_to(np.arange(math.prod(shape)).reshape(shape), x.which.shape)
    return gathered(x.which, x.sets, targets, shape)


def running(x: Dependence, axis: int) -> Dependence:
    """Running unions along an axis: each element is united with all before it, by doubling."""
    step, n = 1, x.which.shape[axis]
    while step < n:
        shifted = np.zeros_like(x.which)
        before = (slice(None),) * axis
        shifted[(*before, slice(step, None))] = x.which[(*before, slice(None, -step))]
        x = _union(x, Dependence(shifted, x.sets))
        step *= 2
    return x
