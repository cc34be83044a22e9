"""The types of transformed functions, for type checkers.

A function that is written for tensors can be transformed and then called on any arrays. Its result
has the type of these arrays. For an argument that is a structure of arrays, the result has the type
of this structure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Literal,
    ParamSpec,
    Protocol,
    TypeVar,
    TypeVarTuple,
    overload,
)

from ..ops.define.signatures import AnyArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..arrays.tensor import Tensor
    from .reverse import Argnums

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
S = TypeVar("S")
X = TypeVar("X")
Y = TypeVar("Y")
Ts = TypeVarTuple("Ts")

First = Literal[0]
Both = tuple[Literal[0], Literal[1]]


class LikeFirst(Protocol[P]):
    """A function whose result has the type of its first argument."""

    @overload
    def __call__(self, x: NDArray[Any], /, *args: P.args, **kwargs: P.kwargs) -> NDArray[Any]: ...
    @overload
    def __call__(self, x: X, /, *args: P.args, **kwargs: P.kwargs) -> X: ...


class ValueAndLikeFirst(Protocol[P, R_co]):
    """A function that returns a value, and a result with the type of its first argument."""

    @overload
    def __call__(
        self, x: NDArray[Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> tuple[NDArray[Any], NDArray[Any]]: ...
    @overload
    def __call__(self, x: X, /, *args: P.args, **kwargs: P.kwargs) -> tuple[R_co, X]: ...


class Jacobian(Protocol):
    """A transform that gives a matrix of derivatives for a function that returns one array."""

    @overload
    def __call__(
        self,
        function: Callable[Concatenate[Tensor, P], AnyArray],
        argnums: First = 0,
        *,
        has_aux: Literal[False] = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
        sparse: Literal[False] = False,
        sparsity: None = None,
    ) -> LikeFirst[P]: ...
    @overload
    def __call__(
        self,
        function: Callable[Concatenate[X, P], AnyArray],
        argnums: First = 0,
        *,
        has_aux: Literal[False] = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
        sparse: Literal[False] = False,
        sparsity: None = None,
    ) -> Callable[Concatenate[X, P], X]: ...
    @overload
    def __call__(
        self,
        function: Callable[P, Any],
        argnums: Argnums = 0,
        *,
        has_aux: bool = False,
        holomorphic: bool = False,
        chunk_size: int | None = None,
        sparse: bool = False,
        sparsity: Any = None,
    ) -> Callable[P, Any]: ...


def gives_matrix(function: Callable[..., Any]) -> Jacobian:
    """Give a transform the type `Jacobian`."""
    return function
