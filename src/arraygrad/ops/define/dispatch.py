"""Dispatch: tables that map the types of an op's arguments to the function that runs the op.

For plain arrays, this is the backend's kernel. For an `Array`, the array's type makes the function.
A table looks up each type once, when an argument of this type first occurs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...backends import backend_of_type
from ...core.array import AnyFunction, Array

if TYPE_CHECKING:
    from .op import Op


class UnsupportedOperand(TypeError):
    """An operand is not an array of any known library."""


class UnaryTable(dict[type, AnyFunction]):
    """The function that runs an op on one array without keywords, by the array's type."""

    def __init__(self, op: Op) -> None:
        self.op = op

    def __missing__(self, kind: type) -> AnyFunction:
        found = kind.unary(self.op) if issubclass(kind, Array) else self.op.kernel((kind,))
        self[kind] = found
        return found


class SingleTable(dict[type, AnyFunction]):
    """The function that runs an op on one array and a dictionary of keywords, by array type."""

    def __init__(self, op: Op) -> None:
        self.op = op

    def __missing__(self, kind: type) -> AnyFunction:
        self[kind] = found = self._function(kind)
        return found

    def _function(self, kind: type) -> AnyFunction:
        if issubclass(kind, Array):
            return kind.single(self.op)
        kernel = self.op.kernel((kind,))
        return lambda x, params: kernel(x, **params)


class BinaryTable(dict[type, "_Right"]):
    """The function that runs an op on two arrays, by the types of both: `table[left][right]`."""

    def __init__(self, op: Op) -> None:
        self.op = op

    def __missing__(self, left: type) -> _Right:
        found = self[left] = _Right(self.op, left)
        return found


class _Right(dict[type, AnyFunction]):
    def __init__(self, op: Op, left: type) -> None:
        self.op = op
        self.left = left

    def __missing__(self, right: type) -> AnyFunction:
        self[right] = found = self._function(right)
        return found

    def _function(self, right: type) -> AnyFunction:
        kinds = [k for k in (self.left, right) if issubclass(k, Array)]
        for position, k in enumerate((self.left, right)):
            if not issubclass(k, Array):
                check_operand(self.op, position, k)
        if kinds:
            return max(kinds, key=lambda k: k.level).binary(self.op, self.left, right)
        return self.op.kernel((self.left, right))


def check_operand(op: Op, position: int, kind: type) -> None:
    """Raise unless an array library knows a type of operand."""
    try:
        backend_of_type(kind)
    except TypeError as error:
        name = op.input_name(position)
        raise UnsupportedOperand(f"{op.name}, argument {name}: {error}") from None
