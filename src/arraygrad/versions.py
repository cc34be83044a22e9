"""Which memory was written, and when: so that a saved value that has changed is noticed.

Nodes and writes take their numbers from the same count. A node whose number is smaller than that
of the last write to an array it saved would compute with values that are not the ones it saw.
Recording costs nothing for this; only memory that was ever written in place has an entry.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .errors import WrittenError
from .graph import LAST_WRITE, Node, next_number


class Writes:
    """The writes to one piece of memory."""

    __slots__ = ("before", "count", "last", "origin", "owner")

    def __init__(self, owner: Any, forget: Callable[[Any], object]) -> None:
        self.owner = weakref.ref(owner, forget)
        self.last = 0
        self.count = 0
        self.origin: str | None = None
        # Called with the memory's owner before it is written; see allow_mutation_on_saved_tensors.
        self.before: list[Callable[[], None]] = []


_writes: dict[int, Writes] = {}


def owner_of(array: Any) -> Any:
    """The array that owns the memory of `array`."""
    while isinstance(array, np.ndarray) and isinstance(array.base, np.ndarray):
        array = array.base
    return array


def writes_to(array: Any) -> Writes:
    """The record of writes to an array's memory, made if there is none."""
    owner = owner_of(array)
    key = id(owner)
    found = _writes.get(key)
    if found is None:
        found = _writes[key] = Writes(owner, lambda _: _writes.pop(key, None))
    return found


def mark_written(array: Any, origin: str | None = None) -> None:
    """Note that an array's memory has just been written."""
    if isinstance(array, np.ndarray):
        record = writes_to(array)
        record.count += 1
        record.last = LAST_WRITE[0] = next_number()
        record.origin = origin


def last_write(array: Any) -> Writes | None:
    """The record of writes to an array's memory, if there were any."""
    return _writes.get(id(owner_of(array))) if _writes else None


def version(array: Any) -> int:
    """How many times an array's memory has been written in place."""
    found = last_write(array)
    return 0 if found is None else found.count


def check_unwritten(node: Node, saved: Any) -> None:
    """Raise if an array that a node saved has been written since."""
    assert node.pullback is not None
    for value, source in zip(saved, node.pullback.sources, strict=False):
        if source is not None:
            for array in value if isinstance(value, tuple) else (value,):
                check_array(node, array)


def check_array(node: Node, array: Any) -> None:
    """Raise if an array has been written since a node saved it."""
    record = last_write(array)
    if record is None or record.last < node.number:
        return
    where = "" if record.origin is None else f" The write was here:\n{record.origin}"
    raise WrittenError(
        f"{node.name()} needs a value of shape {tuple(array.shape)} and dtype {array.dtype} that "
        "has been changed by an in-place operation since it was saved. Work on a clone() of it, "
        "or use the operation that makes a new tensor (x = x + y for x += y). "
        "autograd.detect_anomaly() shows the lines." + where
    )
