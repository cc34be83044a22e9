"""Which code runs a call: tables from the types of an op's arguments to a function.

On plain arrays it is the backend's own function; on an `Array` it is what that type makes of the
op. Each is looked for once, when a type is first met.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...backends import backend_of_type
from ...core.array import Array, Function

if TYPE_CHECKING:
    from .op import Op


class UnsupportedOperand(TypeError):
    """An operand that no array library knows."""


class UnaryTable(dict[type, Function]):
    """For each type of argument, the function that runs the op."""

    def __init__(self, op: Op) -> None:
        self.op = op

    def __missing__(self, kind: type) -> Function:
        found = kind.unary(self.op) if issubclass(kind, Array) else self.op.kernel((kind,))
        self[kind] = found
        return found


class SingleTable(dict[type, Function]):
    """For each type of a single argument, the function of it and of the keywords."""

    def __init__(self, op: Op) -> None:
        self.op = op

    def __missing__(self, kind: type) -> Function:
        if issubclass(kind, Array):
            found = kind.single(self.op)
        else:
            kernel = self.op.kernel((kind,))
            found = lambda x, params: kernel(x, **params)  # noqa: E731
        self[kind] = found
        return found


class BinaryTable(dict[type, "_Right"]):
    """For each pair of types of arguments, the function that runs the op."""

    def __init__(self, op: Op) -> None:
        self.op = op

    def __missing__(self, left: type) -> _Right:
        found = self[left] = _Right(self.op, left)
        return found


class _Right(dict[type, Function]):
    def __init__(self, op: Op, left: type) -> None:
        self.op = op
        self.left = left

    def __missing__(self, right: type) -> Function:
        kinds = [k for k in (self.left, right) if issubclass(k, Array)]
        for position, k in enumerate((self.left, right)):
            if not issubclass(k, Array):
                check_operand(self.op, position, k)
        if kinds:
            found = max(kinds, key=lambda k: k.level).binary(self.op, self.left, right)
        else:
            found = self.op.kernel((self.left, right))
        self[right] = found
        return found


def check_operand(op: Op, position: int, kind: type) -> None:
    """Raise unless an array library knows a type of operand."""
    try:
        backend_of_type(kind)
    except TypeError as error:
        name = op.input_name(position)
        raise UnsupportedOperand(f"{op.name}, argument {name}: {error}") from None
