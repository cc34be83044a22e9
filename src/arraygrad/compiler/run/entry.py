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
from ..llvm.objects import LAYOUT, READABLE
from ..llvm.python import EntryCode, EntryText, has_entries
from ..lower.core import Core, is_whole
from .executable import Executable, Native
from .pool import pool_cell, prepare, run_address
from .prepared import Prepared

LONG = 300_000  # the cost from which on other threads of Python may run meanwhile

Structure = Any  # the number of an output, or a tuple of structures


class Entry:
    """The entry point of a program. `call` is None if the program cannot have one."""

    def __init__(self, executable: Executable, structure: Structure) -> None:
        self.call: Any = None
        if structure is None or not _can_have_one(executable):
            return
        if any(step.nest.chunks > 1 for step in executable.steps):
            prepare()
        prepared = Prepared(executable)  # owns the kernels and constants
        text = _ProgramText(executable, structure, prepared)
        self.call = EntryCode(text.text(), text.outside, prepared).function()


class Runner:
    """A program that runs by its native entry point, from the second call on, if it can have one.

    Parameters
    ----------
    executable : Executable
    is_checked : bool
        Whether its steps are checked, so that Python must run them.
    """

    def __init__(self, executable: Executable, is_checked: bool = False) -> None:
        self.executable = executable
        self._count = len(executable.outputs)
        self._is_new, self._is_checked = True, is_checked
        self._entry: Entry | None = None

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """The outputs for some inputs."""
        if self._entry is None and not self._is_new:
            structure = None if self._is_checked else tuple(range(self._count))
            self._entry = Entry(self.executable, structure)
        self._is_new = False
        if self._entry is not None and self._entry.call is not None:
            found = self._entry.call(*arrays)
            if found is not NotImplemented:
                return found  # type: ignore[no-any-return]
        return self.executable(arrays)


def _can_have_one(executable: Executable) -> bool:
    if not has_entries() or not all(isinstance(step, Native) for step in executable.steps):
        return False
    written = {x for step in executable.steps for x in step.writes}
    bases = [base_of(x) for x in executable.outputs]
    if len(set(bases)) != len(bases) or not written.issuperset(bases):
        return False
    return all(x is base or is_whole(x) for x, base in zip(executable.outputs, bases, strict=True))


class _ProgramText(EntryText):
    """The text of an entry point."""

    def __init__(self, executable: Executable, structure: Structure, prepared: Prepared) -> None:
        super().__init__()
        self.executable, self.structure, self.prepared = executable, structure, prepared
        self.constants: list[str] = []

    def text(self) -> str:
        self._busy = self.at(ctypes.addressof(self.prepared.is_busy))
        release = self.function("Py_DecRef")
        self.require_equal("i64", self.let(f"load i64, ptr {self._busy}"), "0")
        self._check_arguments()
        self._make_outputs()
        self._run()
        if self.prepared.flags:  # Python runs it again, and raises
            wrong = self.undone(*(f"{release}(ptr {x})" for x in self.outputs))
            for flag in self.prepared.flags:
                self.require_equal("i8", self.let(f"load i8, ptr {self.at(flag)}"), "0", wrong)
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
        assert LAYOUT is not None
        for x, array in self.objects.items():
            if self.prepared.reads(x):
                data = self.load(array, LAYOUT.data)
                self.say(f"store ptr {data}, ptr {self.at(self.prepared.place(x))}")
        steps = self.prepared.steps
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
