"""Writes to memory: which memory was written, and when. Saved values that changed are detected.

Nodes and writes take their numbers from the same counter. If an array that a node saved was written
after the node was made, the last write has the larger number, and the node would compute with wrong
values. Recording a node does nothing for this check: only memory that was written in place has an
entry. `Writes` keeps the number of the last write for each element, so a loop can fill an array and
use the elements that it has filled.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy import ndarray

from ..errors import WrittenError
from .nodes import LAST_WRITE, Node, next_number

# The memory that is written in the function that is run, if somebody wants to know.
_watched: ContextVar[list[weakref.ref[Writes]] | None] = ContextVar(
    "arraygrad_watched", default=None
)


@contextmanager
def watched_writes() -> Iterator[list[weakref.ref[Writes]]]:
    """Collect the memory that is written inside."""
    found: list[weakref.ref[Writes]] = []
    token = _watched.set(found)
    try:
        yield found
    finally:
        _watched.reset(token)


@contextmanager
def refused_writes(memory: list[weakref.ref[Writes]], refuse: Callable[[], None]) -> Iterator[None]:
    """Call `refuse`, which raises, before any of this memory is written inside."""
    alive = [writes for reference in memory if (writes := reference()) is not None]
    for writes in alive:
        writes.before.append(refuse)
    try:
        yield
    finally:
        for writes in alive:
            writes.before = [prepare for prepare in writes.before if prepare is not refuse]


class Writes:
    """The writes to one piece of memory.

    Attributes
    ----------
    last, whole : int
        The number of the last write, and the number of the last write to the whole memory.
    stamps : array or None
        For each element, the number of the last write to a part that contains it.
    """

    __slots__ = (
        "__weakref__",
        "before",
        "count",
        "last",
        "origins",
        "owner",
        "stamps",
        "start",
        "what",
        "whole",
    )

    def __init__(self, owner: Any, forget: Callable[[Any], object]) -> None:
        self.owner = weakref.ref(owner, forget)
        self.last = 0
        self.whole = 0
        self.count = 0
        self.stamps: Any = None
        self.start: int  # where the memory begins, if there are stamps
        self.what = ""
        self.origins: dict[int, str] = {}  # the lines of writes under anomaly detection
        # Called before the memory is written; see allow_mutation_on_saved_tensors.
        self.before: list[Callable[[], None]] = []

    def stamps_of(self, array: Any) -> Any:
        """The stamps of the elements of an array in this memory; None if there are no stamps."""
        owner = self.owner()
        if array is owner and self.stamps is not None:
            return self.stamps
        if owner is None or not (owner.flags.c_contiguous or owner.flags.f_contiguous):
            return None
        if self.stamps is None:
            order: Any = "C" if owner.flags.c_contiguous else "F"
            self.stamps = np.zeros(owner.shape, np.int64, order)
            self.start = _start(owner)
        if array is owner:
            return self.stamps
        start, unit = _start(array) - self.start, owner.itemsize
        for step in array.strides:
            if step % unit:  # a view with another dtype
                return None
        return ndarray(
            array.shape,
            np.int64,
            self.stamps if self.stamps.flags.c_contiguous else self.stamps.T,
            start // unit * 8,
            [step // unit * 8 for step in array.strides],
        )

    def prepare(self) -> None:
        """Call the functions in `before`: they keep the values before these change."""
        while self.before:
            self.before[0]()
            del self.before[0]

    def mark(
        self, array: Any, what: str, origin: str | None = None, index: tuple[Any, ...] | None = None
    ) -> None:
        """Note that `what` wrote to an array in this memory, or to its part at `index`."""
        self.count += 1
        watched = _watched.get()
        if watched is not None:
            watched.append(weakref.ref(self))
        number = self.last = LAST_WRITE[0] = next_number()
        self.what = what
        if origin is not None:
            self.origins[number] = origin
        if isinstance(array, ndarray) and (index is not None or array.base is not None):
            stamps = self.stamps_of(array)
            if stamps is not None:
                stamps[... if index is None else index] = number
                return
        self.whole = number

    def last_in(self, array: Any) -> int:
        """The number of the last write to any element of an array in this memory."""
        if self.stamps is None or self.whole == self.last or not array.size:
            return self.whole if array.size else 0
        stamps = self.stamps_of(array)
        if stamps is None:
            return self.last
        return max(self.whole, int(np.maximum.reduce(stamps, axis=None)))


def _start(array: Any) -> int:
    """The address of an array's first element."""
    return array.__array_interface__["data"][0]  # type: ignore[no-any-return]


_writes: dict[int, Writes] = {}


def owner_of(array: Any) -> Any:
    """The array that owns the memory of `array`."""
    while isinstance(array, ndarray) and isinstance(array.base, ndarray):
        array = array.base
    return array


def writes_to(array: Any) -> Writes:
    """The `Writes` of an array's memory, made if there is none."""
    owner = owner_of(array)
    key = id(owner)
    found = _writes.get(key)
    if found is None:
        found = _writes[key] = Writes(owner, lambda _: _writes.pop(key, None))
    return found


def about_to_write(array: Any) -> None:
    """Call the functions that keep the values of an array's memory before these change."""
    writes = last_write(array)
    if writes is not None and writes.before:
        writes.prepare()


def mark_written(array: Any, what: str, origin: str | None = None) -> None:
    """Note that `what` has just written to an array's memory, or replaced the array inside it."""
    writes_to(array).mark(array, what, origin)


def last_write(array: Any) -> Writes | None:
    """The `Writes` of an array's memory; None if there were no writes."""
    return _writes.get(id(owner_of(array))) if _writes else None


def version(array: Any) -> int:
    """How many times an array's memory has been written in place."""
    found = last_write(array)
    return 0 if found is None else found.count


def check_unwritten(node: Node, saved: Any) -> None:
    """Raise if an array that a node saved has been written since."""
    if type(node) is not Node:
        saved = node.unchanged(saved)
        places: Iterable[int] = range(len(saved))
    else:
        places = node.pullback.arrays  # type: ignore[union-attr]
    for place in places:
        value = saved[place]
        if type(value) is ndarray:
            owner = value if value.base is None else owner_of(value)
            writes = _writes.get(id(owner))
            if writes is not None and writes.last > node.number:
                if writes.last_in(value) > node.number:
                    check_array(node, value)
        elif isinstance(value, tuple):  # also the named tuples of decompositions
            for part in value:
                if hasattr(part, "dtype"):
                    check_array(node, part)
        elif hasattr(value, "level"):
            check_array(node, value)


def check_array(node: Node, array: Any, since: int | None = None, until: float = math.inf) -> None:
    """Raise if an array was written after a node saved it, or between `since` and `until`."""
    found = newest_write(array, node.number if since is None else since)
    if found is not None and found[1] < until:
        raise _written_error(node, array, *found)


def newest_write(array: Any, since: int) -> tuple[Writes, int] | None:
    """The last write to an array after `since`: its `Writes` and its number, or None."""
    for holder in _holders(array):
        writes = last_write(holder)
        if writes is not None and writes.last > since:
            last = writes.last_in(holder) if isinstance(holder, ndarray) else writes.last
            if last > since:
                return writes, last
    return None


def _holders(array: Any) -> Iterator[Any]:
    """The objects for which a write to an array may be noted.

    These are the array's memory, and the objects that hold the array under a transform: a write
    under a transform does not change memory but replaces the array in the object that holds it.
    """
    while hasattr(array, "level"):
        yield array
        origin = getattr(array, "_view", None) or getattr(array, "_linked", None)
        if origin is not None:
            yield origin.base
        array = array._array
    if isinstance(array, ndarray):
        yield array


def _written_error(node: Node, array: Any, writes: Writes, last: int) -> WrittenError:
    lines = ""
    if node.extras is not None and "traceback" in node.extras.metadata:
        lines += f" {node.name()} was recorded here:\n{node.extras.metadata['traceback']}"
    if last in writes.origins:
        lines += f" The write was here:\n{writes.origins[last]}"
    return WrittenError(
        f"{node.name()} needs a value of shape {tuple(array.shape)} and dtype {array.dtype} that "
        f"{writes.what} has changed in place since it was saved. Work on a clone() of it, or use "
        "the operation that makes a new tensor (x = x + y for x += y). "
        + (lines or "autograd.detect_anomaly() shows the lines.")
    )


def read_only(array: Any) -> Any:
    """A view of a NumPy array that cannot be written; any other object is returned unchanged.

    Users' rules and hooks get cotangents in this form, because another branch of the graph may need
    the same array.
    """
    if type(array) is not ndarray:
        return array
    view = array.view()
    view.flags.writeable = False
    return view
