"""A program of native kernels, prepared to run without Python: all tables of its kernels.

A table has the addresses of array objects, from which kernels read where the elements are. Here all
arrays have a stand-in for the object, of which only this part is set: for intermediate values once,
for arguments and results in each call.
"""

from __future__ import annotations

import ctypes
from typing import Any

from ..fuse.fusion import base_of
from ..llvm.objects import LAYOUT, address_of
from ..lower.core import Core
from .executable import Executable, Native
from .memory import Memory, shared_block
from .pool import Step


class Prepared:
    """The kernels of a program, which must all be native.

    Only one call at a time can use it, as it has the tables; and only one of all programs with the
    same memory for intermediate values.

    Attributes
    ----------
    is_busy : ctypes integer
        One while a call uses the memory, and other threads of Python may run.
    steps : ctypes array of Step
    flags : list of int
        The addresses of bools that a run sets if integers of an index array are out of range.
    """

    def __init__(self, executable: Executable) -> None:
        assert LAYOUT is not None
        self._executable = executable  # owns the code
        self._memory = Memory(shared_block(executable.memory))
        self.is_busy = self._memory.block.is_busy
        self._size = LAYOUT.data + 8
        self._places: dict[Any, int] = {}
        self._arrays: list[Any] = []
        launches = []
        for number, step in enumerate(executable.steps):
            assert isinstance(step, Native)
            for launch in step.launches:
                keys = [self._key(number, entry) for entry in launch.entries]
                launches.append((launch, keys))
        self._stand_ins = ctypes.create_string_buffer(self._size * max(len(self._places), 1))
        self._tables = []
        self.steps = (Step * len(launches))()
        for i, (launch, keys) in enumerate(launches):
            entries = [k if isinstance(k, int) else self._stand_in(k) for k in keys]
            table = (ctypes.c_void_p * len(entries))(*entries)
            self._tables.append(table)
            self.steps[i] = Step(launch.function.address, ctypes.addressof(table), launch.chunks)
        for number, step in enumerate(executable.steps):
            for x, buffer in step.buffers.items():
                self._set(x, buffer)
            for x, buffer in step.parts.items():
                self._set((number, x), buffer)
        self.flags = [self._address(base_of(x)) for x in executable.flags]

    def _key(self, number: int, entry: Any) -> Any:
        """What tells apart the memory of entries: a value, or a value of one step; or a number."""
        if isinstance(entry, int):
            return entry
        x, is_part = entry
        key = (number, x) if is_part else x
        self._places.setdefault(key, len(self._places))
        return key

    def _stand_in(self, key: Any) -> int:
        return ctypes.addressof(self._stand_ins) + self._size * self._places[key]

    def _set(self, key: Any, buffer: Any) -> None:
        if key in self._places:
            array = self._memory.array(buffer)
            self._arrays.append(array)
            ctypes.c_void_p.from_address(self.place(key)).value = address_of(array)

    def _address(self, key: Any) -> int:
        found = ctypes.c_void_p.from_address(self.place(key)).value
        assert found is not None
        return found

    def place(self, x: Core | Any) -> int:
        """Where to write the address of the elements of a value."""
        assert LAYOUT is not None
        return self._stand_in(x) + LAYOUT.data

    def reads(self, x: Core) -> bool:
        """Whether a kernel reads or writes a value."""
        return x in self._places
