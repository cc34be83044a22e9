"""Guards as one Python expression, so that a small program is not dominated by them.

The expression is true only if everything is the same object as before. Else `Guards` looks closer.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from .reachable import MISSING, Read, itself


class Expression:
    """Python's text of reads from outside, and the objects that it names."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self._known: dict[int, str] = {}
        self.parts: list[str] = []

    def name(self, value: Any) -> str:
        """A name for an object."""
        if id(value) not in self._known:
            self._known[id(value)] = f"v{len(self.names)}"
            self.names[self._known[id(value)]] = value
        return self._known[id(value)]

    def same(self, read: Read, value: Any) -> None:
        """Ask for the same object."""
        self.parts.append(f"{self._read(read)} is {self.name(value)}")

    def equal(self, read: Read, value: Any) -> None:
        """Ask for an equal object."""
        self.parts.append(f"{self._read(read)} == {self.name(value)}")

    def tensor(self, tensor: Any, array: Any, requires_grad: bool) -> None:
        """Ask for the same array in a tensor, and whether it requires gradients."""
        name, word = self.name(tensor), "is not" if requires_grad else "is"
        self.parts.append(f"{name}._array is {self.name(array)} and {name}._node {word} None")

    def contents(self, read: Read, kind: type, items: Any, values: Any) -> None:
        """Ask for a container of some type with the same items, or keys and values."""
        parts = [f"type(c := {self._read(read)}) is {self.name(kind)} and len(c) == {len(items)}"]
        for now, before in (("c", items), ("c.values()", values)):
            if before:
                parts.append(f"all(map({self.name(operator.is_)}, {now}, {self.name(before)}))")
        self.parts.append(" and ".join(parts))

    def true(self, test: Callable[[], bool]) -> None:
        """Ask for the truth of a function without arguments."""
        self.parts.append(f"{self.name(test)}()")

    def _read(self, read: Any) -> str:
        """The text of a read: as far as it is known what it does, else a call."""
        if isinstance(read, functools.partial) and not read.keywords:
            if read.func is getattr and str(read.args[1]).isidentifier():
                return f"{self.name(read.args[0])}.{read.args[1]}"
            if read.func is itself:
                return self.name(read.args[0])
            return f"{self.name(read.func)}({', '.join(map(self.name, read.args))})"
        may_appear = getattr(read, "may_appear", False)
        of, name = getattr(read, "of", None), getattr(read, "name", None)
        if of is not None and hasattr(read, "key"):
            if may_appear:
                return f"{self._read(of)}.get({self.name(read.key)}, {self.name(MISSING)})"
            return f"{self._read(of)}[{self.name(read.key)}]"
        if of is not None and not may_appear and isinstance(name, str) and name.isidentifier():
            return f"{self._read(of)}.{name}"
        return f"{self.name(read)}()"

    def function(self) -> Callable[[], bool]:
        """A function that asks for all of it. What cannot be read is not the same."""
        text = f"""def make({", ".join(self.names)}):
    def quick():
        try:
            return {" and ".join(self.parts) or "True"}
        except Exception:
            return False
    return quick"""
        scope: dict[str, Any] = {}
        exec(text, scope)
        return scope["make"](*self.names.values())  # type: ignore[no-any-return]
