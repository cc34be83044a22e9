"""A native entry point: a function of Python that runs a program of kernels without Python code.

It checks its arguments, makes the arrays for the results, runs the kernels one after the other and
returns the results. If an argument is not what the program was compiled for, or another thread is
in the same program, it returns NotImplemented, and `Compiled` takes the general way.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from ..fuse.fusion import base_of
from ..llvm.objects import LAYOUT, READABLE, address_of
from ..llvm.python import EntryCode, EntryText, has_entries
from ..lower.core import Core, is_whole
from .executable import Executable, Native
from .groups import Tables
from .memory import Memory, shared_block
from .pool import pool_cell, prepare, run_address

LONG = 300_000  # the cost from which on other threads of Python may run meanwhile

Structure = Any  # the number of an output, or a tuple of structures


class Entry:
    """The entry point of a program. `call` is None if the program cannot have one.

    Parameters
    ----------
    executable : Executable
    structure : optional
        That of the result; by default, a tuple of all outputs.
    """

    def __init__(self, executable: Executable, structure: Structure | None = None) -> None:
        self.call: Any = None
        if not _can_have_one(executable):
            return
        if structure is None:
            structure = tuple(range(len(executable.outputs)))
        if any(step.nest.chunks > 1 for step in executable.steps):
            prepare()
        block = shared_block(executable.memory)
        tables = Tables(executable.steps, Memory(block))
        text = _ProgramText(executable, structure, tables, block.is_busy)
        # The executable owns the kernels and constants.
        self.call = EntryCode(text.text(), text.outside, executable, block, tables).function()


class Runner:
    """Runs a program: from the second call on by its native entry point, if it can have one."""

    def __init__(self, executable: Executable) -> None:
        self.executable = executable
        self._is_new = True
        self._entry: Entry | None = None

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """The outputs for some inputs."""
        if self._entry is None and not self._is_new:
            self._entry = Entry(self.executable)
        self._is_new = False
        if self._entry is not None and self._entry.call is not None:
            found = self._entry.call(*arrays)
            if found is not NotImplemented:
                return found  # type: ignore[no-any-return]
        return self.executable(arrays)


def _can_have_one(executable: Executable) -> bool:
    if executable.is_checked or not has_entries():  # Python runs the steps that are checked
        return False
    if not all(isinstance(step, Native) for step in executable.steps):
        return False
    written = {x for step in executable.steps for x in step.writes}
    bases = [base_of(x) for x in executable.outputs]
    if len(set(bases)) != len(bases) or not written.issuperset(bases):
        return False
    return all(x is base or is_whole(x) for x, base in zip(executable.outputs, bases, strict=True))


class _ProgramText(EntryText):
    """The text of an entry point."""

    def __init__(
        self, executable: Executable, structure: Structure, tables: Tables, is_busy: Any
    ) -> None:
        super().__init__()
        self.executable, self.structure, self.tables = executable, structure, tables
        self.is_busy = is_busy
        self.constants: list[str] = []

    def text(self) -> str:
        self._busy = self.at(ctypes.addressof(self.is_busy))
        release = self.function("Py_DecRef")
        self.require_equal("i64", self.let(f"load i64, ptr {self._busy}"), "0")
        self._check_arguments()
        self._make_outputs()
        self._run()
        if self.executable.flags:  # Python runs it again, and raises
            wrong = self.undone(*(f"{release}(ptr {x})" for x in self.outputs))
            for x in self.executable.flags:
                flag = self.at(address_of(self.tables.arrays[base_of(x)]))
                self.require_equal("i8", self.let(f"load i8, ptr {flag}"), "0", wrong)
        self.say(f"ret ptr {self._built(self.structure)}")
        return "\n".join([*self.constants, self.defined()])

    def _check_arguments(self) -> None:
        given = self.executable.given
        self.require_equal("i64", "%count", str(len(given)))
        self.objects: dict[Core, str] = {}
        for i, x in enumerate(given):
            self.objects[x] = self.argument(i)
        for x in self.executable.constants:
            self.objects[x] = self.at(id(x.node.array))  # type: ignore[attr-defined]
        for x, array in self.objects.items():
            self._check(x, array)

    def _check(self, x: Core, array: str) -> None:
        """Check that an array is what kernels expect."""
        assert LAYOUT is not None
        self.require_array(array, x.dtype, READABLE)
        self.require_equal("i32", self.load(array, LAYOUT.ndim, "i32"), str(len(x.shape)))
        if x.shape:
            lengths = self.load(array, LAYOUT.shape)
            for axis, n in enumerate(x.shape):
                self.require_equal("i64", self.load(lengths, 8 * axis, "i64"), str(n))

    def _make_outputs(self) -> None:
        self.outputs: list[str] = []
        for j, x in enumerate(self.executable.outputs):
            lengths = ", ".join(f"i64 {n}" for n in x.shape)
            self.constants.append(
                f"@shape{j} = internal constant [{len(x.shape)} x i64] [{lengths}]"
            )
            array = self.new_array(str(len(x.shape)), f"@shape{j}", x.dtype)
            self.outputs.append(array)
            self.objects[base_of(x)] = array

    def _run(self) -> None:
        """Tell the kernels where the arrays are, and run them."""
        entries = self.at(self.tables.place(0))
        for i, x in self.tables.open:
            self.store(f"ptr {self.objects[x]}", entries, 8 * i)
        steps = self.tables.steps
        is_long = sum(step.nest.cost for step in self.executable.steps) > LONG
        state = None
        if is_long:
            self.say(f"store i64 1, ptr {self._busy}")
            state = self.let(f"call ptr {self.function('PyEval_SaveThread')}()")
        pool = self.let(f"load ptr, ptr {self.at(ctypes.addressof(pool_cell))}")
        given = f"ptr {self.at(ctypes.addressof(steps))}, i64 {len(steps)}, ptr {pool}"
        self.say(f"call void {self.at(run_address())}({given})")
        if is_long:
            self.say(f"call void {self.function('PyEval_RestoreThread')}(ptr {state})")
            self.say(f"store i64 0, ptr {self._busy}")

    def _built(self, structure: Structure) -> str:
        """The result: an array, or a tuple, which takes over its items."""
        if isinstance(structure, int):
            return self.outputs[structure]
        items = [self._built(part) for part in structure]
        made = self.let(f"call ptr {self.function('PyTuple_New')}(i64 {len(items)})")
        self.require(self.let(f"icmp ne ptr {made}, null"), "failed")
        put = self.function("PyTuple_SetItem")
        for i, item in enumerate(items):
            self.let(f"call i32 {put}(ptr {made}, i64 {i}, ptr {item})")
        return made
