"""Numbers that alternate in memory: coordinates of points, parts of complex numbers.

Some instructions, or writes, are for every second to fourth number, each from another start. All of
them together are for neighbouring numbers, which vectors read and write at once. The processor
sorts the numbers of a few vectors faster than it reads them one by one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from ..llvm.vectors import Value, Writer
from .instructions import Address

STEPS = (2, 3, 4)


def groups(things: Iterable[tuple[Any, Address, Hashable]], variable: int) -> dict[int, list[Any]]:
    """For those of some things that alternate along a variable, by `id`: all of their group.

    A thing comes with its address, and with what must be the same within a group.
    """
    alike: dict[Any, dict[int, Any]] = {}
    for thing, at, kind in things:
        if at.steps.get(variable) in STEPS and not at.along and at.other is None:
            key = (at.memory, frozenset(at.steps.items()), kind)
            alike.setdefault(key, {})[at.start] = thing
    found: dict[int, list[Any]] = {}
    for (_, steps, _), by_start in alike.items():
        n = dict(steps)[variable]
        rest = sorted(by_start)
        while rest:
            group, rest = rest[:n], rest[n:]
            if len(group) == n and group[-1] - group[0] == n - 1:
                members = [by_start[start] for start in group]
                found.update((id(member), members) for member in members)
    return found


def separated(w: Writer, vectors: Sequence[Value]) -> list[Value]:
    """Every nth number of n vectors side by side, from each of the first n numbers on."""
    n, lanes = len(vectors), vectors[0].lanes
    places = [[divmod(n * j + k, lanes) for j in range(lanes)] for k in range(n)]
    return [_picked(w, vectors, chosen) for chosen in places]


def interleaved(w: Writer, vectors: Sequence[Value]) -> list[Value]:
    """The inverse of `separated`."""
    n, lanes = len(vectors), vectors[0].lanes
    every = [divmod(i, n) for i in range(n * lanes)]
    places = [[(k, j) for j, k in every[c * lanes : (c + 1) * lanes]] for c in range(n)]
    return [_picked(w, vectors, chosen) for chosen in places]


def repeated(w: Writer, mask: Value, n: int) -> list[Value]:
    """A mask for n vectors that interleave others, for each of which the mask is given."""
    lanes = mask.lanes
    return [w.shuffle(mask, mask, [(c * lanes + j) // n for j in range(lanes)]) for c in range(n)]


def _picked(w: Writer, vectors: Sequence[Value], places: list[tuple[int, int]]) -> Value:
    """A vector with one lane of one of several vectors in each of its lanes."""
    lanes = len(places)
    first, *others = sorted({v for v, _ in places})
    found = vectors[first]
    is_sorted = False
    for v in others:
        kept = range(lanes) if is_sorted else (j if u == first else 0 for u, j in places)
        chosen = [lanes + j if u == v else k for (u, j), k in zip(places, kept, strict=True)]
        found = w.shuffle(found, vectors[v], chosen)
        is_sorted = True
    return found
