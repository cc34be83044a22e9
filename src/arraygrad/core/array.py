"""`Array`: the base of all array types that carry a transform. The types are in `arrays`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from ..ops.define.op import Op

AnyFunction = Callable[..., Any]


class Array:
    """Base of the array types that carry a transform around another array.

    `level` orders the types. An op on several arrays goes to the type with the highest level, and
    this type treats the other arrays as plain values. Each type has one class for each level.

    A type with `is_plain` has no other array inside: it takes the place of a library's array under
    all transforms, and has a backend of its own.
    """

    __slots__ = ()
    _array: Any
    level: ClassVar[float] = 0
    is_plain: ClassVar[bool] = False

    if TYPE_CHECKING:  # defined by `ArrayMethods`

        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def ndim(self) -> int: ...
        @property
        def dtype(self) -> Any: ...

    @classmethod
    def apply(cls, op: Op, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Run an op on `arrays`, of which at least one is of this type."""
        raise NotImplementedError

    @classmethod
    def caller(cls, op: Op, types: tuple[type, ...]) -> AnyFunction:
        """A faster `apply` for one or two arrays of known types, for the table of the op.

        It takes the arrays; for an op on one array that is not bare, also a dictionary of keywords.
        """
        if len(types) == 1 and not op.is_bare:
            return lambda x, params: cls.apply(op, (x,), params)
        return lambda *arrays: cls.apply(op, arrays, {})

    def detach(self) -> Any:
        """The same values, constant for every derivative in flight."""
        raise NotImplementedError

    def constant(self, array: Any) -> Any:
        """A plain array as a constant that meets arrays of this type in ops."""
        return array

    def concrete(self) -> Any:
        """The array to write to memory: this one, unless it stands for a plain array."""
        return self

    def kept(self) -> Any:
        """All that the array refers to; elements of arrays in it must not change unnoticed."""
        return self._array

    def is_outlived_by(self, leaf: Any) -> bool:
        """Whether a leaf of a graph was there before the array, which cannot be kept by it."""
        return False

    def over(self, function: AnyFunction) -> Any:
        """An array of the same type that holds `function(array)` for each array inside this one."""
        return type(self)(function(self._array))  # type: ignore[call-arg]


def is_transformed(x: Any) -> bool:
    """Whether an array carries a transform. Arrays below all transforms have a level below 0."""
    return isinstance(x, Array) and x.level > 0


def is_over(x: Any) -> bool:
    """Whether there is another array inside an array."""
    return isinstance(x, Array) and not x.is_plain


def plain(x: Any) -> Any:
    """The array of the backend's own type under all transforms."""
    while isinstance(x, Array) and not x.is_plain:
        x = x._array
    return x
