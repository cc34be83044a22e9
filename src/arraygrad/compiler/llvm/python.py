"""Functions of Python in native code: how they are written, and how Python gets to call them.

The text of such a function is ``PyObject *entry(self, PyObject **args, Py_ssize_t count)``. It
checks its arguments itself, and returns NotImplemented if they are not what it is for.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from .native import Addresses, Engine
from .objects import LAYOUT, new_array_address

_FASTCALL = 0x80  # called with an array of arguments, and their number


class _Method(ctypes.Structure):
    """Python's description of a native function."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class EntryCode:
    """The code of a native entry point, and what the code refers to.

    The function of Python is bound to it. So whoever can call the function, or is inside it, keeps
    all of this.
    """

    def __init__(self, text: str, outside: Addresses, *kept: Any) -> None:
        self._kept = kept
        self._engine = Engine(text, ["entry"], outside)
        self._method = _Method(b"compiled", self._engine.address("entry"), _FASTCALL, None)

    def function(self) -> Any:
        """The function of Python. When it goes, Python reads the description before `self` goes."""
        kind = ctypes.PYFUNCTYPE(
            ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p
        )
        make = kind(("PyCFunction_NewEx", ctypes.pythonapi))
        return make(ctypes.addressof(self._method), self, None)


def has_entries() -> bool:
    """Whether native code can take and make array objects."""
    return LAYOUT is not None and new_array_address() is not None


class EntryText:
    """Writes the text of a function of Python.

    At the label `other`, it returns NotImplemented; at `failed`, it raises the error that is set.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._head: list[str] = []  # memory on the stack
        self._ends: list[str] = []  # blocks that end somewhere else
        self.outside = Addresses()
        self._count = 0
        self.keep = self.function("Py_IncRef")
        self._other = self.at(id(NotImplemented))

    def defined(self) -> str:
        """The text of the function."""
        head = "define ptr @entry(ptr %self, ptr %args, i64 %count) {"
        refused = ["other:", f"  call void {self.keep}(ptr {self._other})"]
        refused += [f"  ret ptr {self._other}", "failed:", "  ret ptr null", "}"]
        return "\n".join([head, *self._head, *self.lines, *self._ends, *refused])

    def let(self, text: str) -> str:
        """Write an instruction that gives a value."""
        self._count += 1
        self.lines.append(f"  %t{self._count} = {text}")
        return f"%t{self._count}"

    def say(self, text: str) -> None:
        """Write an instruction that gives no value."""
        self.lines.append(f"  {text}")

    def stack(self, kind: str) -> str:
        """The address of memory on the stack."""
        self._count += 1
        self._head.append(f"  %t{self._count} = alloca {kind}, align 8")
        return f"%t{self._count}"

    def undone(self, *calls: str, then: str = "other") -> str:
        """A block that makes some calls, and goes to `other`, or to `failed`, which raises."""
        block = self.label()
        said = [f"  call void {call}" for call in calls]
        self._ends += [f"{block}:", *said, f"  br label %{then}"]
        return block

    def at(self, address: int) -> str:
        """An address outside of the module."""
        return self.let(f"load ptr, ptr {self.outside.place(address)}")

    def function(self, name: str) -> str:
        """A function of Python itself."""
        address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        assert address is not None
        return self.at(address)

    def load(self, base: str, offset: int, kind: str = "ptr") -> str:
        """What is in memory, some bytes after an address."""
        place = self.let(f"getelementptr i8, ptr {base}, i64 {offset}")
        return self.let(f"load {kind}, ptr {place}")

    def store(self, what: str, base: str, offset: int) -> None:
        """Write to memory."""
        place = self.let(f"getelementptr i8, ptr {base}, i64 {offset}")
        self.say(f"store {what}, ptr {place}")

    def label(self) -> str:
        """The name of a new block."""
        self._count += 1
        return f"b{self._count}"

    def start(self, block: str) -> None:
        """Begin a block of instructions."""
        self.lines.append(f"{block}:")

    def require(self, condition: str, otherwise: str = "other") -> None:
        """Go on only if a condition holds."""
        following = self.label()
        self.say(f"br i1 {condition}, label %{following}, label %{otherwise}")
        self.start(following)

    def require_equal(self, kind: str, found: str, wanted: str, otherwise: str = "other") -> None:
        """Go on only if two numbers are equal."""
        self.require(self.let(f"icmp eq {kind} {found}, {wanted}"), otherwise)

    def argument(self, index: int) -> str:
        """One of the arguments."""
        return self.load("%args", 8 * index)

    def require_array(self, array: str, dtype: Any, flags: int) -> None:
        """Go on only if an object is an array with a dtype, and has all of some flags."""
        assert LAYOUT is not None
        self.require_equal("ptr", self.load(array, LAYOUT.type), self.at(id(np.ndarray)))
        self.require_equal("ptr", self.load(array, LAYOUT.dtype), self.at(id(dtype)))
        found = self.let(f"and i32 {self.load(array, LAYOUT.flags, 'i32')}, {flags}")
        self.require_equal("i32", found, str(flags))

    def new_array(self, ndim: str, shape: str, dtype: Any, in_columns: str = "0") -> str:
        """A new array; its first axis is the innermost one if `in_columns` is not zero."""
        address = new_array_address()
        assert address is not None
        given = f"ptr {self.at(id(np.ndarray))}, i32 {ndim}, ptr {shape}, i32 {dtype.num}"
        rest = f"ptr null, ptr null, i32 0, i32 {in_columns}, ptr null"
        array = self.let(f"call ptr {self.at(address)}({given}, {rest})")
        self.require(self.let(f"icmp ne ptr {array}, null"), "failed")
        return array
