"""The past of memory: the values that writes have replaced, for nodes that saved them.

A write keeps a copy of the elements that it replaces, if anything but the written tensor and its
views refers to the memory. When a sweep comes to a node that saved memory which has been written
since, it undoes the writes in a copy of the memory, newest first. The sweep visits newer nodes
before older ones, so it undoes each write once.
"""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.lib.array_utils import byte_bounds

from .memory import Place, owner_of
from .nodes import Node


class Past:
    """The values that writes to one piece of memory have replaced.

    Attributes
    ----------
    writes : list of (number, place, part, values)
        In order of time: the number of a write; the place of the array that was written, or None
        if it was the owner of the memory; the index of the elements that were written, or None for
        all; and what was there before.
    lost : int
        The number of the last write of which nothing was kept.
    bytes, limit : int
        The memory that the values take, and how much makes it worth to look for unneeded ones.
    references, others : int
        The references to the memory at the last write; and when no node was among these.
    """

    __slots__ = ("bytes", "limit", "lost", "others", "references", "writes")

    def __init__(self) -> None:
        self.writes: list[tuple[int, Place | None, tuple[Any, ...] | None, Any]] = []
        self.lost = 0
        self.bytes = 0
        self.limit = 2**24
        self.references = self.others = 0

    def forget(self) -> None:
        """Forget all values, because of a write of which nothing is kept."""
        self.writes, self.bytes = [], 0

    def forget_unneeded(self, owner: Any) -> None:
        """Forget the writes that are older than all nodes that saved the memory of `owner`.

        What else refers to the memory may be a user's array, which needs no past. To look through
        all nodes takes long, so it is done only when what is kept has doubled.
        """
        if self.bytes > owner.nbytes:
            # Not `isinstance`, which asks the objects themselves: some are proxies that act on it.
            nodes = [found for found in gc.get_objects() if issubclass(type(found), Node)]
            holders = [node.number for node in nodes if _refers(node.kept(), owner)]
            self.others = 0 if holders else self.references
            oldest = min(holders, default=self.writes[-1][0])
            self.writes = [write for write in self.writes if write[0] > oldest]
            self.lost = max(self.lost, oldest)
            self.bytes = sum(OVERHEAD + values.nbytes for *_, values in self.writes)
        self.limit = max(self.limit, 2 * self.bytes, owner.nbytes)


OVERHEAD = 400  # the bytes of an entry of `Past.writes`, without its values


def _refers(kept: Any, owner: Any) -> bool:
    """Whether what a node keeps lies in the memory of `owner`."""
    if isinstance(kept, tuple | list):
        return any(_refers(part, owner) for part in kept)
    if isinstance(kept, ndarray):
        return owner_of(kept) is owner
    return hasattr(kept, "level") and _refers(kept.kept(), owner)


class Rewound:
    """A copy of a piece of memory, in which a sweep undoes the writes.

    Attributes
    ----------
    time : int
        The copy shows the memory just after the write with this number, or just before it once
        this write is undone.
    """

    __slots__ = ("_memory", "_owner", "_start", "_writes", "time")

    def __init__(self, owner: Any, past: Past) -> None:
        self._start, end = byte_bounds(owner)
        self._memory = np.empty(end - self._start, np.uint8)
        self._owner = Place.of(owner, self._start)
        self._owner.read(self._memory)[...] = owner
        self._writes = past.writes[:]
        self.time = self._writes[-1][0]

    def values(self, array: Any, number: int) -> Any:
        """The values of an array in this memory before the writes with larger numbers."""
        while self._writes and self._writes[-1][0] > number:
            self.time, place, part, values = self._writes.pop()
            written = (place or self._owner).read(self._memory)
            written[... if part is None else part] = values
        return np.array(Place.of(array, self._start).read(self._memory))
