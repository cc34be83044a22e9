"""A native entry point: a function of Python that runs a program of kernels without Python code.

It checks its arguments, makes the arrays for the results, runs the kernels one after the other and
returns the results. If an argument is not what the program was compiled for, or another thread is
in the same program, it returns NotImplemented, and `Compiled` takes the general way.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..fuse.fusion import base_of
from ..llvm.native import Addresses, Engine
from ..llvm.objects import LAYOUT, new_array_address
from ..lower.core import Core, is_whole
from .executable import Executable, Native
from .pool import pool_cell, prepare, run_address
from .prepared import Prepared

LONG = 300_000  # the cost from which on other threads of Python may run meanwhile
_READABLE = 0x101  # NumPy's flags of arrays that are C-contiguous and aligned

Structure = Any  # the number of an output, or a tuple of structures


class _Method(ctypes.Structure):
    """Python's description of a native function."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_FASTCALL = 0x80  # called with an array of arguments, and their number


class Entry:
    """The entry point of a program. `call` is None if the program cannot have one."""

    def __init__(self, executable: Executable, structure: Structure) -> None:
        self.call: Any = None
        if structure is None or not _can_have_one(executable):
            return
        if any(step.nest.chunks > 1 for step in executable.steps):
            prepare()
        self.call = _EntryCode(executable, structure).function()


class _EntryCode:
    """All that a native entry point refers to: its code, kernels, memory and constants.

    The function of Python is bound to it. So whoever can call the function, or is inside it, keeps
    all of this.
    """

    def __init__(self, executable: Executable, structure: Structure) -> None:
        self._prepared = Prepared(executable)  # owns the kernels and constants
        text = _EntryText(executable, structure, self._prepared)
        self._engine = Engine(text.text(), ["entry"], text.outside)
        self._method = _Method(b"compiled", self._engine.address("entry"), _FASTCALL, None)

    def function(self) -> Any:
        """The function of Python. When it goes, Python reads the description before `self` goes."""
        kind = ctypes.PYFUNCTYPE(
            ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p
        )
        make = kind(("PyCFunction_NewEx", ctypes.pythonapi))
        return make(ctypes.addressof(self._method), self, None)


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
    if LAYOUT is None or new_array_address() is None:
        return False
    if not all(isinstance(step, Native) for step in executable.steps):
        return False
    written = {x for step in executable.steps for x in step.writes}
    bases = [base_of(x) for x in executable.outputs]
    if len(set(bases)) != len(bases) or not written.issuperset(bases):
        return False
    return all(x is base or is_whole(x) for x, base in zip(executable.outputs, bases, strict=True))


class _EntryText:
    """LLVM's text of the function ``PyObject *entry(self, PyObject **args, Py_ssize_t count)``."""

    def __init__(self, executable: Executable, structure: Structure, prepared: Prepared) -> None:
        self.executable, self.structure, self.prepared = executable, structure, prepared
        self.lines: list[str] = []
        self.constants: list[str] = []
        self.outside = Addresses()
        self._count = 0

    def text(self) -> str:
        self._busy = self._at(ctypes.addressof(self.prepared.is_busy))
        other = self._at(id(NotImplemented))
        keep, release = self._function("Py_IncRef"), self._function("Py_DecRef")
        self._require("i64", self._let(f"load i64, ptr {self._busy}"), "0")
        self._check_arguments()
        self._make_outputs()
        self._run()
        for flag in self.prepared.flags:
            self._require("i8", self._let(f"load i8, ptr {self._at(flag)}"), "0", "wrong")
        self.lines.append(f"  ret ptr {self._built(self.structure)}")
        refused = ["other:", f"  call void {keep}(ptr {other})"]
        refused += [f"  ret ptr {other}", "failed:", "  ret ptr null"]
        if self.prepared.flags:  # Python runs it again, and raises
            released = [f"  call void {release}(ptr {x})" for x in self.outputs]
            refused = ["wrong:", *released, "  br label %other", *refused]
        head = "define ptr @entry(ptr %self, ptr %args, i64 %count) {"
        return "\n".join([*self.constants, head, *self.lines, *refused, "}"])

    def _let(self, text: str) -> str:
        self._count += 1
        self.lines.append(f"  %t{self._count} = {text}")
        return f"%t{self._count}"

    def _at(self, address: int) -> str:
        """An address outside of the module."""
        return self._let(f"load ptr, ptr {self.outside.place(address)}")

    def _function(self, name: str) -> str:
        """A function of Python itself."""
        address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        assert address is not None
        return self._at(address)

    def _load(self, base: str, offset: int, kind: str = "ptr") -> str:
        place = self._let(f"getelementptr i8, ptr {base}, i64 {offset}")
        return self._let(f"load {kind}, ptr {place}")

    def _require(self, kind: str, found: str, wanted: str, otherwise: str = "other") -> None:
        self._count += 1
        is_equal = self._let(f"icmp eq {kind} {found}, {wanted}")
        self.lines.append(f"  br i1 {is_equal}, label %b{self._count}, label %{otherwise}")
        self.lines.append(f"b{self._count}:")

    def _check_arguments(self) -> None:
        given = self.executable.given
        self._require("i64", "%count", str(len(given)))
        self.objects: dict[Core, str] = {}
        for i, x in enumerate(given):
            self.objects[x] = self._load("%args", 8 * i)
        for x in self.executable.constants:
            self.objects[x] = self._at(id(x.node.array))  # type: ignore[attr-defined]
        for x, array in self.objects.items():
            self._check(x, array)

    def _check(self, x: Core, array: str) -> None:
        """Check that an array is what kernels expect."""
        assert LAYOUT is not None
        self._require("ptr", self._load(array, LAYOUT.type), self._at(id(np.ndarray)))
        self._require("ptr", self._load(array, LAYOUT.dtype), self._at(id(x.dtype)))
        self._require("i32", self._load(array, LAYOUT.ndim, "i32"), str(len(x.shape)))
        if x.shape:
            lengths = self._load(array, LAYOUT.shape)
            for axis, n in enumerate(x.shape):
                self._require("i64", self._load(lengths, 8 * axis, "i64"), str(n))
        flags = self._load(array, LAYOUT.flags, "i32")
        masked = self._let(f"and i32 {flags}, {_READABLE}")
        self._require("i32", masked, str(_READABLE))

    def _make_outputs(self) -> None:
        self.outputs: list[str] = []
        for j, x in enumerate(self.executable.outputs):
            lengths = ", ".join(f"i64 {n}" for n in x.shape)
            self.constants.append(
                f"@shape{j} = internal constant [{len(x.shape)} x i64] [{lengths}]"
            )
            given = (
                f"ptr {self._at(id(np.ndarray))}, i32 {len(x.shape)}, ptr @shape{j}, "
                f"i32 {x.dtype.num}"
            )
            rest = "ptr null, ptr null, i32 0, i32 0, ptr null"
            address = new_array_address()
            assert address is not None
            array = self._let(f"call ptr {self._at(address)}({given}, {rest})")
            is_null = self._let(f"icmp eq ptr {array}, null")
            self._count += 1
            self.lines.append(f"  br i1 {is_null}, label %failed, label %b{self._count}")
            self.lines.append(f"b{self._count}:")
            self.outputs.append(array)
            self.objects[base_of(x)] = array

    def _run(self) -> None:
        """Tell the kernels where the arrays are, and run them."""
        assert LAYOUT is not None
        for x, array in self.objects.items():
            if self.prepared.reads(x):
                data = self._load(array, LAYOUT.data)
                self.lines.append(f"  store ptr {data}, ptr {self._at(self.prepared.place(x))}")
        steps = self.prepared.steps
        is_long = sum(step.nest.cost for step in self.executable.steps) > LONG
        state = None
        if is_long:
            self.lines.append(f"  store i64 1, ptr {self._busy}")
            state = self._let(f"call ptr {self._function('PyEval_SaveThread')}()")
        pool = self._let(f"load ptr, ptr {self._at(ctypes.addressof(pool_cell))}")
        given = f"ptr {self._at(ctypes.addressof(steps))}, i64 {len(steps)}, ptr {pool}"
        self.lines.append(f"  call void {self._at(run_address())}({given})")
        if is_long:
            self.lines.append(f"  call void {self._function('PyEval_RestoreThread')}(ptr {state})")
            self.lines.append(f"  store i64 0, ptr {self._busy}")

    def _built(self, structure: Structure) -> str:
        """The result: an array, or a tuple, which takes over its items."""
        if isinstance(structure, int):
            return self.outputs[structure]
        items = [self._built(part) for part in structure]
        made = self._let(f"call ptr {self._function('PyTuple_New')}(i64 {len(items)})")
        is_null = self._let(f"icmp eq ptr {made}, null")
        self._count += 1
        self.lines.append(f"  br i1 {is_null}, label %failed, label %b{self._count}")
        self.lines.append(f"b{self._count}:")
        put = self._function("PyTuple_SetItem")
        for i, item in enumerate(items):
            self._let(f"call i32 {put}(ptr {made}, i64 {i}, ptr {item})")
        return made
