"""The past of memory: the values that writes have replaced, for nodes that saved them.

A write keeps a copy of the elements that it replaces, if anything but the written tensor and its
views refers to the memory. When a sweep comes to a node that saved memory which has been written
since, it undoes the writes in a copy of the memory, newest first. The sweep visits newer nodes
before older ones, so it undoes each write once.
"""

from __future__ import annotations

import gc
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray
from numpy.lib.array_utils import byte_bounds

from .memory import Place, owner_of
from .nodes import Node


class Replaced(NamedTuple):
    """The values that a write replaced.

    Attributes
    ----------
    number : int
        The number of the write.
    place : Place or None
        Where the array that was written lies; None if it was the owner of the memory.
    part : tuple or None
        Which of its elements were written; None for all.
    values : array
        What was there before.
    """

    number: int
    place: Place | None
    part: tuple[Any, ...] | None
    values: Any


class Past:
    """The values that writes to one piece of memory have replaced.

    Attributes
    ----------
    writes : list of Replaced
        In order of time.
    lost : int
        The number of the last write of which nothing was kept.
    """

    __slots__ = ("_bytes", "_limit", "lost", "writes")

    def __init__(self) -> None:
        self.writes: list[Replaced] = []
        self.lost = 0
        self._bytes = 0
        self._limit = 0

    def add(self, owner: Any, replaced: Replaced) -> None:
        """Keep what a write to the memory of `owner` replaced."""
        self.writes.append(replaced)
        self._bytes += replaced.values.nbytes + _OVERHEAD
        if self._bytes > max(self._limit, _FEW, owner.nbytes):
            self._forget_unneeded(owner)
            self._limit = 2 * self._bytes

    def forget(self, number: int) -> None:
        """Forget everything before a write of which nothing is kept."""
        self.lost = number
        if self.writes:
            self.writes, self._bytes = [], 0

    def _forget_unneeded(self, owner: Any) -> None:
        """Forget the writes that are older than all nodes that saved this memory.

        What else refers to the memory may be a user's array, which needs no past. To look through
        all nodes takes long, so it is done only when what is kept has doubled.
        """
        nodes = [found for found in gc.get_objects() if isinstance(found, Node)]
        holders = [node.number for node in nodes if _refers(node.kept(), owner)]
        oldest = min(holders, default=self.writes[-1].number)
        if oldest > self.writes[0].number:
            self.writes = [replaced for replaced in self.writes if replaced.number > oldest]
            self.lost = max(self.lost, oldest)
            self._bytes = sum(r.values.nbytes + _OVERHEAD for r in self.writes)


# Replaced values that take less memory than this are not looked through for unneeded ones.
_FEW = 2**20
_OVERHEAD = 400  # the bytes of a `Replaced`, without its values


def _refers(kept: Any, owner: Any) -> bool:
    """Whether what a node keeps lies in the memory of `owner`."""
    if isinstance(kept, tuple | list):
        return any(_refers(part, owner) for part in kept)
    if isinstance(kept, ndarray):
        return owner_of(kept) is owner
    return hasattr(kept, "level") and _refers(kept._array, owner)


def values_at(array: Any, index: tuple[Any, ...] | None) -> Any:
    """A copy of the elements of an array that a write is about to replace."""
    if index is None:
        return np.array(array)
    values = array[index]
    return values if getattr(values, "base", None) is None else np.array(values)


class Rewound:
    """A copy of a piece of memory, in which a sweep undoes the writes.

    Attributes
    ----------
    time : int
        The copy is as the memory was after the write with this number, or before it and after the
        one before.
    """

    __slots__ = ("_memory", "_owner", "_start", "_writes", "time")

    def __init__(self, owner: Any, past: Past) -> None:
        self._start, end = byte_bounds(owner)
        self._memory = np.empty(end - self._start, np.uint8)
        self._owner = Place.of(owner, self._start)
        self._owner.read(self._memory)[...] = owner
        self._writes = past.writes[:]
        self.time = self._writes[-1].number

    def values(self, array: Any, number: int) -> Any:
        """The values of an array in this memory before the writes with larger numbers."""
        while self._writes and self._writes[-1].number > number:
            replaced = self._writes.pop()
            written = (replaced.place or self._owner).read(self._memory)
            written[... if replaced.part is None else replaced.part] = replaced.values
            self.time = replaced.number
        return np.array(Place.of(array, self._start).read(self._memory))
