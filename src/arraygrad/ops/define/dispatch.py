"""Dispatch: a table that maps the types of an op's arguments to the function that runs the op.

For plain arrays, this is the backend's kernel. For an `Array`, the array's type makes the function.
The table looks up types once, when arguments of these types first occur.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...backends import backend_of_type
from ...core.array import AnyFunction, Array

if TYPE_CHECKING:
    from .op import Op


class UnsupportedOperand(TypeError):
    """An operand is not an array of any known library."""

    function: Any = None  # the function whose argument it is, if the error names the argument


class Table(dict[tuple[type, ...], AnyFunction]):
    """The functions that run an op on one or two arrays, by the types of the arrays.

    A function takes the arrays. For one array, it also takes a dictionary of keywords, unless the
    op is `bare`.
    """

    def __init__(self, op: Op) -> None:
        self.op = op

    def __missing__(self, types: tuple[type, ...]) -> AnyFunction:
        op, ours = self.op, [kind for kind in types if issubclass(kind, Array)]
        for position, kind in enumerate(types):
            if not issubclass(kind, Array):
                check_operand(op, position, kind)
        if ours:
            found = max(ours, key=lambda kind: kind.level).caller(op, types)
        else:
            found = kernel = op.kernel(types)
            if len(types) == 1 and not op.is_bare:
                found = lambda x, params: kernel(x, **params)  # noqa: E731
        self[types] = found
        return found


def check_operand(op: Op, position: int, kind: type) -> None:
    """Raise unless an array library knows a type of operand."""
    try:
        backend_of_type(kind)
    except TypeError as error:
        name = op.input_name(position)
        raise UnsupportedOperand(f"{op.name}, argument {name}: {error}") from None
