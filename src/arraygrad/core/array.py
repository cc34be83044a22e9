"""The array types that carry a transform, as every op sees them, and the plain arrays inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from ..ops.define.op import Op

AnyFunction = Callable[..., Any]


class Array:
    """Base of the array types that carry a transform around another array.

    `level` orders them: an op on several goes to the one with the highest level, which sees the
    others as plain values. Every type of one level is a class of its own.
    """

    __slots__ = ()
    _array: Any
    level: ClassVar[float] = 0

    if TYPE_CHECKING:  # `ArrayMethods` has them

        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def ndim(self) -> int: ...
        @property
        def dtype(self) -> Any: ...

    @classmethod
    def apply(cls, op: Op, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """What an op means for this type, when at least one of `arrays` is of it."""
        raise NotImplementedError

    @classmethod
    def unary(cls, op: Op) -> AnyFunction:
        """A faster `apply` for an op on one array without keywords."""
        return lambda x: cls.apply(op, (x,), {})

    @classmethod
    def single(cls, op: Op) -> AnyFunction:
        """A faster `apply` for an op on one array, called with a dictionary of keywords."""
        return lambda x, params: cls.apply(op, (x,), params)

    @classmethod
    def binary(cls, op: Op, left: type, right: type) -> AnyFunction:
        """A faster `apply` for an op on two arrays without keywords."""
        return lambda x, y: cls.apply(op, (x, y), {})

    def detach(self) -> Any:
        """The same values, as constants for every derivative around."""
        raise NotImplementedError

    def constant(self, array: Any) -> Any:
        """A plain array as a constant among arrays of this type."""
        return array

    def over(self, function: AnyFunction) -> Any:
        """The same, over what `function` makes of each array inside."""
        return type(self)(function(self._array))  # type: ignore[call-arg]


def plain(x: Any) -> Any:
    """The array of the backend's own type under all transforms."""
    while isinstance(x, Array):
        x = x._array
    return x
