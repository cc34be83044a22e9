"""Native steps that follow each other, between those by NumPy: one call runs all of them.

Their tables are made once for each memory of intermediate values. In a call, only the arrays that
are not there are entered: arguments, results, and what NumPy's steps computed.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
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
_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)


class Group:
    """Native steps, run by one call.

    Parameters
    ----------
    steps : list of Native

    Attributes
    ----------
    writes : list of Core
    last : list of Core
        What no later step reads, and NumPy's memory holds.
    """

    def __init__(self, steps: Sequence[Any]) -> None:
        self.steps = list(steps)
        self.writes = [x for step in steps for x in step.writes]
        self.last = [x for step in steps for x in step.last]
        self._shares = any(launch.chunks > 1 for step in steps for launch in step.launches)
        self._new = [
            (x, x.shape, x.dtype) for step in steps for x in step.writes if x not in step.buffers
        ]

    def run(self, found: Arrays, memory: Memory) -> None:
        """Run the kernels on arrays, and add those that they write."""
        tables = memory.tables.get(self)
        if tables is None:
            tables = memory.tables[self] = Tables(self.steps, memory)
        for x, shape, dtype in self._new:
            found[x] = new_array(shape, dtype)
        found.update(tables.arrays)
        entries = tables.entries
        for i, x in tables.open:
            entries[i] = reference(found[x])
        if self._shares and not pool.has_threads():
            for step in tables.steps:
                threads.share(functools.partial(_run_chunk, step, tables, found), step.chunks)
            return
        if self._shares:
            pool.prepare_if_none()
        _run()(tables.steps, len(tables.steps), pool.pool_cell.value)


class Tables:
    """The tables of kernels, for one memory.

    Attributes
    ----------
    steps : ctypes array of Step
    entries : ctypes array
        The tables, one after the other.
    arrays : dict of Core to array
        What the kernels write to the memory.
    open : list of (int, Core)
        Where to enter arrays that are not in the memory.
    """

    def __init__(self, steps: Sequence[Any], memory: Memory) -> None:
        self.arrays: Arrays = {
            x: memory.array(buffer) for step in steps for x, buffer in step.buffers.items()
        }
        self.open: list[tuple[int, Core]] = []
        count = sum(len(launch.entries) for step in steps for launch in step.launches)
        self.entries = (ctypes.c_void_p * max(count, 1))()
        self._parts: list[Arrays] = []  # tables refer to these arrays
        made, i = [], 0
        for step in steps:
            parts = {x: memory.array(buffer) for x, buffer in step.parts.items()}
            self._parts.append(parts)
            for launch in step.launches:
                made.append(Step(launch.function.address, self.place(i), launch.chunks))
                for entry in launch.entries:
                    if isinstance(entry, int):
                        self.entries[i] = entry
                    else:
                        x, is_part = entry
                        arrays = parts if is_part else self.arrays
                        if x in arrays:
                            self.entries[i] = reference(arrays[x])
                        else:
                            self.open.append((i, x))
                    i += 1
        self.steps = (Step * len(made))(*made)

    def place(self, i: int) -> int:
        """The address of an entry."""
        return ctypes.addressof(self.entries) + ctypes.sizeof(ctypes.c_void_p) * i


def _run_chunk(step: Step, tables: Tables, found: Arrays, chunk: int) -> None:
    """Run a chunk of a kernel.

    `tables` and `found` are only kept alive: after an interrupt, a thread may outlive the call.
    """
    _KERNEL(step.function)(step.table, chunk)


@once
def _run() -> Callable[..., None]:
    signature = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
    return signature(pool.run_address())


def grouped(steps: Sequence[Any], is_native: Callable[[Any], bool]) -> list[Any]:
    """The steps, with groups for native ones that follow each other."""
    found: list[Any] = []
    for native, following in itertools.groupby(steps, is_native):
        group = list(following)
        found += [Group(group)] if native else group
    return found
