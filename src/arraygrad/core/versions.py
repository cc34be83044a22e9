"""Writes to memory: which memory was written, and when. Saved values that changed are detected.

Nodes and writes take their numbers from the same counter. If an array that a node saved was written
after the node was made, the last write has the larger number, and the node would compute with wrong
values: it needs those of before, which `past` restores. Recording a node does nothing for this:
only memory that was written in place has an entry. `Writes` keeps the number of the last write for
each element, so a loop can fill an array and use the elements that it has filled.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.lib.array_utils import byte_bounds

from ..errors import WrittenError
from .memory import Place, address, owner_of
from .nodes import LAST_WRITE, Node, next_number
from .past import OVERHEAD, Past, Rewound


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
    past : Past
        What the writes have replaced.
    """

    def __init__(self, owner: Any, forget: Callable[[Any], object]) -> None:
        self.owner = weakref.ref(owner, forget)
        self.last = 0
        self.whole = 0
        self.count = 0
        self.stamps: Any = None
        self.start: int  # where the memory begins, if there are stamps
        self.what = ""
        self.lines: dict[int, str] = {}  # the lines of writes under anomaly detection
        self.past = Past()
        self.before: list[Callable[[], None]] = []  # called before the memory is written

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
            self.start = address(owner)
        if array is owner:
            return self.stamps
        start, unit = address(array) - self.start, owner.itemsize
        if array.itemsize > unit or any(step % unit for step in array.strides):
            return None  # a view with another dtype
        return ndarray(
            array.shape,
            np.int64,
            self.stamps if self.stamps.flags.c_contiguous else self.stamps.T,
            start // unit * 8,
            [step // unit * 8 for step in array.strides],
        )

    def mark(
        self,
        array: Any,
        what: str,
        line: str | None = None,
        index: tuple[Any, ...] | None = None,
        replaced: Any = None,
    ) -> None:
        """Note that `what` wrote to an array in this memory, or to its part at `index`.

        `replaced` is a copy of what was there before, if anybody may need it.
        """
        self.count += 1
        number = self.last = LAST_WRITE[0] = next_number()
        self.what = what
        if line is not None:
            self.lines[number] = line
        past = self.past
        if replaced is not None:
            owner = self.owner()
            place = None if array is owner else _place(array, owner)
            past.writes.append((number, place, index, replaced))
            past.bytes += OVERHEAD + replaced.nbytes
            if past.bytes > past.limit:
                past.forget_unneeded(owner)
        else:
            past.lost = number
            if past.writes:
                past.forget()
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


def _place(array: Any, owner: Any) -> Place:
    """Where an array lies in the memory of its owner."""
    ordered = owner.flags.c_contiguous or owner.flags.f_contiguous
    return Place.of(array, address(owner) if ordered else byte_bounds(owner)[0])


_writes: dict[int, Writes] = {}
# The writes to memory that NumPy does not own, such as memory maps and arrays from `from_dlpack`.
# Several arrays may own this memory.
_foreign: dict[int, Writes] = {}


def writes_to(array: Any) -> Writes:
    """The `Writes` of an array's memory, made if there is none."""
    owner = array if type(array) is ndarray and array.base is None else owner_of(array)
    key = id(owner)
    found = _writes.get(key)
    # Another array's may be left there, if an interrupt came as it went.
    if found is None or found.owner() is not owner:
        found = _writes[key] = Writes(owner, lambda _: _forget(key))
        if isinstance(owner, ndarray) and owner.base is not None:
            _foreign[key] = found
    return found


def _forget(key: int) -> None:
    _writes.pop(key, None)
    _foreign.pop(key, None)


def _of_other_owners(array: Any) -> Iterator[Writes]:
    """The writes to an array's memory by way of other owners of it."""
    owner = owner_of(array)
    for writes in list((_foreign if owner.base is None else _writes).values()):
        other = writes.owner()
        if other is not owner and isinstance(other, ndarray) and np.may_share_memory(other, array):
            yield writes


def about_to_write(array: Any) -> None:
    """Raise if an array's memory must not be written now."""
    writes = last_write(array)
    if writes is not None:
        for refuse in writes.before:
            refuse()


def mark_written(array: Any, what: str, line: str | None = None) -> None:
    """Note that `what` has just written to an array's memory, or replaced the array inside it."""
    writes_to(array).mark(array, what, line)


def last_write(array: Any) -> Writes | None:
    """The `Writes` of an array's memory; None if there were no writes."""
    return _writes.get(id(owner_of(array))) if _writes else None


def version(array: Any) -> int:
    """How many times an array's memory has been written in place."""
    found = last_write(array)
    return 0 if found is None else found.count


def as_saved(node: Node, saved: Any, rewound: dict[Writes, Rewound] | None) -> Any:
    """The values that a node saved: those that have been written since, as they were before.

    Raises if they were not kept. `rewound` belongs to the sweep; None makes every write an error.
    """
    if type(node) is not Node:
        return node.as_saved(saved, lambda value, since: _restored(node, value, since, rewound))
    changed: list[Any] | None = None
    for place in node.pullback.arrays:  # type: ignore[union-attr]
        value = saved[place]
        if type(value) is ndarray:
            owner = value if value.base is None else owner_of(value)
            if owner.base is None and not _foreign:
                writes = _writes.get(id(owner))
                if writes is None or writes.last <= node.number:
                    continue
                if writes.last_in(value) <= node.number:
                    continue
        elif isinstance(value, tuple):
            for part in value:
                if hasattr(part, "dtype"):
                    break
            else:
                continue
        elif not hasattr(value, "level"):
            continue
        now = _restored(node, value, node.number, rewound)
        if now is not value:
            changed = changed or list(saved)
            changed[place] = now
    return saved if changed is None else tuple(changed)


def _restored(node: Node, value: Any, since: int, rewound: dict[Writes, Rewound] | None) -> Any:
    """A saved value, or tuple of values, as it was at the time of a number."""
    if isinstance(value, tuple | list):
        parts = [_restored(node, part, since, rewound) for part in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        # Decompositions have named tuples.
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if not hasattr(value, "dtype"):
        return value
    found = newest_write(value, since)
    if found is None:
        return value
    now = None if rewound is None else as_it_was(value, since, found[0], rewound)
    if now is None:
        raise written_error(node, value, *found)
    return now


def as_saved_alone(node: Node, value: Any, rewound: dict[Writes, Rewound] | None) -> Any:
    """A single value that a node saved, as it was."""
    return _restored(node, value, node.number, rewound)


def as_it_was(
    value: Any, since: int, writes: Writes, rewound: dict[Writes, Rewound] | None = None
) -> Any:
    """A written array as it was at the time of a number; None if the old values were not kept."""
    array, is_tensor = value, hasattr(value, "level")
    if is_tensor:
        if not hasattr(value, "like"):
            return None
        if value._node is not None and not getattr(value, "_fixed", False):
            return None  # its place in the graph may be another since
        array = value._array
    owner = writes.owner()
    if not isinstance(array, ndarray) or owner_of(array) is not owner or writes.past.lost > since:
        return None
    memory = None if rewound is None else rewound.get(writes)
    if memory is None or memory.time < since:
        memory = Rewound(owner, writes.past)
        if rewound is not None:
            rewound[writes] = memory
    array = memory.values(array, since)
    return value.like(array, value._node) if is_tensor else array


def newest_write(array: Any, since: int) -> tuple[Writes, int] | None:
    """The last write to an array after `since`: its `Writes` and its number, or None."""
    for holder in _holders(array):
        writes = last_write(holder)
        if writes is not None and writes.last > since:
            last = writes.last_in(holder) if isinstance(holder, ndarray) else writes.last
            if last > since:
                return writes, last
        if isinstance(holder, ndarray) and _writes:
            for writes in _of_other_owners(holder):
                if writes.last > since:
                    return writes, writes.last
    return None


def _holders(array: Any) -> Iterator[Any]:
    """The objects for which a write to an array may be noted.

    These are the array's memory, and the objects that hold the array under a transform: a write
    under a transform does not change memory but replaces the array in the object that holds it.
    """
    while hasattr(array, "level"):
        yield array
        view = getattr(array, "_view", None)
        if view is not None:
            yield view.base
        array = array._array
    if isinstance(array, ndarray):
        yield array


def written_error(node: Node, array: Any, writes: Writes, last: int) -> WrittenError:
    """The error for a node that saved an array which was written since."""
    lines = ""
    if node.extras is not None and "traceback" in node.extras.metadata:
        lines += f" {node.name()} was recorded here:\n{node.extras.metadata['traceback']}"
    if last in writes.lines:
        lines += f" The write was here:\n{writes.lines[last]}"
    error = WrittenError(
        f"{node.name()} needs a value of shape {tuple(array.shape)} and dtype {array.dtype} that "
        f"has been modified by an inplace operation since it was saved: {writes.what}. Work on a "
        "clone() of it, or use the operation that makes a new tensor (x = x + y for x += y). "
        + (lines or "autograd.detect_anomaly() shows the lines.")
    )
    error.place = node, None
    return error


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
