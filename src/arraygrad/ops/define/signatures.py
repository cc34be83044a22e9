"""Signatures of functions of arrays, for type checkers: a tensor in, a tensor out.

A function of arrays runs on whatever arrays it is given, and gives one of the same kind. Overloads
that say so would be a wall before each function. So each form is written once, as a class here, and
a decorator says which form a function has: its first parameters are arrays, and the others are
taken over as they stand. At run time, the function names an argument that should have been an array
and is not, see `arguments`.

==================  =============================================================================
`one_array`         one array, as in ``sum(x, axis=0)``
`two_arrays`        two arrays; one may be a number, as in ``vecdot(x, y, axis=0)``
`three_arrays`      three arrays; two may be numbers, as in ``where(condition, x, y)``
`joining`           one sequence of arrays, as in ``concat([x, y], axis=0)``
==================  =============================================================================

Used as a method, the function returns an array of the type that the method belongs to.

The type of a NumPy result is `NDArray[Any]`: type checkers do not follow its shape and dtype. A
NumPy scalar counts as an array without axes, as in NumPy's own annotations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    ParamSpec,
    Protocol,
    Self,
    SupportsIndex,
    TypeVar,
    overload,
)

from .arguments import named, naming

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...arrays.tensor import Tensor


class AnyArray(Protocol):
    """An array of any library, or a tensor."""

    @property
    def shape(self) -> Any:
        """The lengths of the axes."""

    @property
    def dtype(self) -> Any:
        """The data type of the elements."""


Number = int | float | complex
Operand = AnyArray | Number  # the other operand of an array
Axis = SupportsIndex | tuple[SupportsIndex, ...] | list[int] | None
Shape = SupportsIndex | Sequence[SupportsIndex]

P = ParamSpec("P")
A = TypeVar("A", bound=AnyArray)
S = TypeVar("S")


class Unary(Protocol):
    """An elementwise function of one array, or of a number."""

    @overload
    def __call__(self, x: NDArray[Any], /) -> NDArray[Any]: ...
    @overload
    def __call__(self, x: A, /) -> A: ...
    @overload
    def __call__(self, x: Number, /) -> Any: ...
    @overload
    def __get__(self, instance: None, owner: type, /) -> Self: ...
    @overload
    def __get__(self, instance: S, owner: Any, /) -> Callable[[], S]: ...


class OneArray(Protocol[P]):
    """A function of one array."""

    @overload
    def __call__(self, x: NDArray[Any], /, *args: P.args, **kwargs: P.kwargs) -> NDArray[Any]: ...
    @overload
    def __call__(self, x: A, /, *args: P.args, **kwargs: P.kwargs) -> A: ...
    @overload
    def __get__(self, instance: None, owner: type, /) -> Self: ...
    @overload
    def __get__(self, instance: S, owner: Any, /) -> Callable[P, S]: ...


class TwoArrays(Protocol[P]):
    """A function of two arrays, or of an array and a number."""

    # Where `x` may be of several types, it is an `A`. mypy finds overloads ambiguous if they treat
    # an argument whose type contains Any, such as NDArray[Any], differently.
    @overload
    def __call__(self, x: Tensor, y: Operand, /, *args: P.args, **kwargs: P.kwargs) -> Tensor: ...
    @overload
    def __call__(self, x: A, y: Tensor, /, *args: P.args, **kwargs: P.kwargs) -> Tensor: ...
    @overload
    def __call__(self, x: Number, y: Tensor, /, *args: P.args, **kwargs: P.kwargs) -> Tensor: ...
    @overload
    def __call__(
        self, x: NDArray[Any], y: NDArray[Any] | Number, /, *args: P.args, **kwargs: P.kwargs
    ) -> NDArray[Any]: ...
    @overload
    def __call__(
        self, x: Number, y: NDArray[Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> NDArray[Any]: ...
    @overload
    def __call__(self, x: A, y: Operand, /, *args: P.args, **kwargs: P.kwargs) -> A: ...
    @overload
    def __call__(self, x: Number, y: A, /, *args: P.args, **kwargs: P.kwargs) -> A: ...
    @overload
    def __call__(self, x: Number, y: Number, /, *args: P.args, **kwargs: P.kwargs) -> Any: ...
    @overload
    def __get__(self, instance: None, owner: type, /) -> Self: ...
    @overload
    def __get__(self, instance: S, owner: Any, /) -> Callable[Concatenate[Operand, P], S]: ...


class OperatorMethod(Protocol):
    """The method for a Python operator: of an array, and an array or a number."""

    def __call__(self, x: Any, y: Any, /) -> Any: ...
    @overload
    def __get__(self, instance: None, owner: type, /) -> Self: ...
    @overload
    def __get__(self, instance: S, owner: Any, /) -> Callable[[Operand], S]: ...


class ThreeArrays(Protocol[P]):
    """A function of three arrays; two of them may be numbers."""

    @overload
    def __call__(
        self, x: Tensor, y: Operand, z: Operand, /, *args: P.args, **kwargs: P.kwargs
    ) -> Tensor: ...
    @overload
    def __call__(
        self, x: Operand, y: Tensor, z: Operand, /, *args: P.args, **kwargs: P.kwargs
    ) -> Tensor: ...
    @overload
    def __call__(
        self, x: Operand, y: Operand, z: Tensor, /, *args: P.args, **kwargs: P.kwargs
    ) -> Tensor: ...
    @overload
    def __call__(
        self,
        x: NDArray[Any] | Number,
        y: NDArray[Any] | Number,
        z: NDArray[Any] | Number,
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> NDArray[Any]: ...
    @overload
    def __call__(self, x: Operand, y: Operand, z: A, /, *args: P.args, **kwargs: P.kwargs) -> A: ...
    @overload
    def __call__(self, x: Operand, y: A, z: Number, /, *args: P.args, **kwargs: P.kwargs) -> A: ...
    @overload
    def __call__(self, x: A, y: Number, z: Number, /, *args: P.args, **kwargs: P.kwargs) -> A: ...


class Joining(Protocol[P]):
    """A function of a sequence of arrays; if one of them is a tensor, the result is a tensor."""

    @overload
    def __call__(  # type: ignore[overload-overlap]  # only NumPy arrays come before a mixture
        self, arrays: Iterable[NDArray[Any]], /, *args: P.args, **kwargs: P.kwargs
    ) -> NDArray[Any]: ...
    @overload
    def __call__(
        self, arrays: Iterable[Tensor | NDArray[Any]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Tensor: ...
    @overload
    def __call__(self, arrays: Iterable[A], /, *args: P.args, **kwargs: P.kwargs) -> A: ...


def one_array(function: Callable[Concatenate[Any, P], Any]) -> OneArray[P]:
    """Say that a function takes one array, and gives one of that type."""
    return named(function, 1)


def two_arrays(function: Callable[Concatenate[Any, Any, P], Any]) -> TwoArrays[P]:
    """Say that a function takes two arrays, and gives one of their type."""
    return named(function, 2)


def three_arrays(function: Callable[Concatenate[Any, Any, Any, P], Any]) -> ThreeArrays[P]:
    """Say that a function takes three arrays, and gives one of their type."""
    return named(function, 3)


def joining(function: Callable[Concatenate[Any, P], Any]) -> Joining[P]:
    """Say that a function takes a sequence of arrays, and gives one of their type."""
    return naming("arrays[]")(function)
