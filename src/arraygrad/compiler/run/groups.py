"""Native steps that follow each other, between those by NumPy: one call runs all of them.

Their tables are made once for each memory of intermediate values. In a call, only the arrays that
are not there are entered: arguments, results, and what NumPy's steps computed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from ...backends.numpy import threads
from ...core.locks import once
from ..llvm.objects import reference
from ..lower.core import Core
from . import pool
from .memory import Memory, new_array
from .pool import Step

Arrays = dict[Core, Any]


class Group:
    """Native steps, run by one call.

    Parameters
    ----------
    steps : list of Native

    Attributes
    ----------
    last : list of Core
        What no later step reads, and NumPy's memory holds.
    """

    def __init__(self, steps: Sequence[Any]) -> None:
        self.steps = list(steps)
        self.last = [x for step in steps for x in step.last]
        self._shares = any(launch.chunks > 1 for step in steps for launch in step.launches)
        self._new = [
            (x, x.shape, x.dtype) for step in steps for x in step.writes if x not in step.buffers
        ]

    def run(self, found: Arrays, memory: Memory) -> None:
        """Run the kernels on arrays, and add those that they write."""
        tables = memory.tables.get(self)
        if tables is None:
            tables = memory.tables[self] = _Tables(self.steps, memory)
        for x, shape, dtype in self._new:
            found[x] = new_array(shape, dtype)
        found.update(tables.arrays)
        for table, i, x in tables.open:
            table[i] = reference(found[x])
        if self._shares and pool.pool_cell.value is None and threads.get_num_threads() > 1:
            pool.prepare()
        _run()(tables.steps, len(tables.steps), pool.pool_cell.value)


class _Tables:
    """The tables of kernels, for one memory.

    Attributes
    ----------
    steps : ctypes array of Step
    arrays : dict of Core to array
        What the kernels write to the memory.
    open : list of (table, int, Core)
        Where to enter arrays that are not in the memory.
    """

    def __init__(self, steps: Sequence[Any], memory: Memory) -> None:
        self.arrays: Arrays = {
            x: memory.array(buffer) for step in steps for x, buffer in step.buffers.items()
        }
        self.open: list[tuple[Any, int, Core]] = []
        self._tables: list[Any] = []
        self._parts: list[Arrays] = []  # tables refer to these arrays
        entries = []
        for step in steps:
            parts = {x: memory.array(buffer) for x, buffer in step.parts.items()}
            self._parts.append(parts)
            for launch in step.launches:
                table = self._table(launch.entries, parts)
                place = ctypes.addressof(table)
                entries.append(Step(launch.function.address, place, launch.chunks))
        self.steps = (Step * len(entries))(*entries)

    def _table(self, entries: Sequence[Any], parts: Arrays) -> Any:
        table = (ctypes.c_void_p * len(entries))()
        self._tables.append(table)
        for i, entry in enumerate(entries):
            if isinstance(entry, int):
                table[i] = entry
                continue
            x, is_part = entry
            arrays = parts if is_part else self.arrays
            if x in arrays:
                table[i] = reference(arrays[x])
            else:
                self.open.append((table, i, x))
        return table


@once
def _run() -> Callable[..., None]:
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
    return kind(pool.run_address())


def grouped(steps: Sequence[Any], is_native: Callable[[Any], bool]) -> list[Any]:
    """The steps, with groups for native ones that follow each other.

    Where no threads wait in native code, kernels for several threads stay steps of their own.
    """
    found: list[Any] = []
    group: list[Any] = []
    for step in [*steps, None]:
        if step is not None and is_native(step):
            chunks = max(launch.chunks for launch in step.launches)
            if chunks == 1 or pool.has_threads():
                group.append(step)
                continue
        if group:
            found.append(Group(group))
            group = []
        if step is not None:
            found.append(step)
    return found
