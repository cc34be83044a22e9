"""`VSpace`, the base of vector spaces, and `vspace`, which finds the space of a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.array import Array
from .boxes import getval
from .primitives import SparseObject

__all__ = ["VSpace", "vspace"]

AnyFunction = Callable[..., Any]


class VSpace:
    """The vector space that a value is in. Subclasses say what its operations are."""

    mappings: dict[type, AnyFunction] = {}  # noqa: RUF012  (HIPS's name)
    iscomplex = False

    def __init__(self, value: Any) -> None:
        pass

    def zeros(self) -> Any:
        """The zero vector."""
        raise NotImplementedError(repr(self))

    def ones(self) -> Any:
        """The sum of the basis vectors."""
        raise NotImplementedError(repr(self))

    def standard_basis(self) -> Any:
        """The basis vectors, one after the other."""
        raise NotImplementedError(repr(self))

    def randn(self) -> Any:
        """A random vector."""
        raise NotImplementedError(repr(self))

    def mut_add(self, x_prev: Any, x_new: Any) -> Any:
        """The sum of two vectors; of the second alone if the first is None."""
        return self._mut_add(self.zeros() if x_prev is None else x_prev, x_new)

    def add(self, x_prev: Any, x_new: Any) -> Any:
        """The sum of two vectors."""
        return self._add(x_prev, x_new)

    def scalar_mul(self, x: Any, a: Any) -> Any:
        """The product of a vector and a number."""
        return self._scalar_mul(x, a)

    def inner_prod(self, x: Any, y: Any) -> Any:
        """The inner product of two vectors, a real number."""
        return self._inner_prod(x, y)

    def covector(self, x: Any) -> Any:
        """The covector of a vector: its complex conjugate."""
        return self._covector(x)

    def _add(self, x: Any, y: Any) -> Any:
        return x + y

    def _mut_add(self, x: Any, y: Any) -> Any:
        x += y
        return x

    def _scalar_mul(self, x: Any, a: Any) -> Any:
        return x * a

    def _inner_prod(self, x: Any, y: Any) -> Any:
        raise NotImplementedError(repr(self))

    def _covector(self, x: Any) -> Any:
        return x

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}_{self.__dict__}"

    @classmethod
    def register(cls, value_type: type, vspace_maker: AnyFunction | None = None) -> None:
        """Make this the space of values of a type; or what `vspace_maker` makes of a value."""
        VSpace.mappings[value_type] = vspace_maker or cls


def vspace(value: Any) -> Any:
    """The vector space that a value is in."""
    maker = VSpace.mappings.get(type(value))
    if maker is not None:
        return maker(value)
    if isinstance(value, Array):
        return vspace(getval(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return VSpace.mappings[tuple](value)
    if isinstance(value, np.ndarray):
        return VSpace.mappings[np.ndarray](value)
    known = ", ".join(sorted(kind.__name__ for kind in VSpace.mappings))
    raise TypeError(
        f"Can't find vector space for value {value} of type {type(value)}. Valid types are {known}"
    )


VSpace.register(SparseObject, lambda x: x.vs)
