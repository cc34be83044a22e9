"""`autograd.numpy.numpy_vspaces`: the vector spaces of arrays and numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..boxes import number
from ..spaces import VSpace

__all__ = ["ArrayVSpace", "ComplexArrayVSpace"]


class ArrayVSpace(VSpace):
    """The space of real arrays of a shape and dtype."""

    def __init__(self, value: Any) -> None:
        value = np.asarray(value)
        self.shape: tuple[int, ...] = value.shape
        self.dtype = value.dtype

    @property
    def size(self) -> int:
        """The number of real dimensions."""
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def zeros(self) -> Any:
        return np.zeros(self.shape, self.dtype)

    def ones(self) -> Any:
        return np.ones(self.shape, self.dtype)

    def standard_basis(self) -> Any:
        for index in np.ndindex(*self.shape):
            for unit in self._units():
                vector = self.zeros()
                vector[index] = unit
                yield vector

    def _units(self) -> tuple[Any, ...]:
        return (1,)

    def randn(self) -> Any:
        return np.asarray(np.random.randn(*self.shape)).astype(self.dtype)  # noqa: NPY002

    def _mut_add(self, x: Any, y: Any) -> Any:
        return x + y

    def _inner_prod(self, x: Any, y: Any) -> Any:
        return np.dot(np.ravel(x), np.ravel(y))


class ComplexArrayVSpace(ArrayVSpace):
    """The space of complex arrays, which has two real dimensions for each element."""

    iscomplex = True

    @property
    def size(self) -> int:
        return 2 * math.prod(self.shape)

    def ones(self) -> Any:
        return np.full(self.shape, 1 + 1j, self.dtype)

    def _units(self) -> tuple[Any, ...]:
        return (1, 1j)

    def randn(self) -> Any:
        real, imag = np.random.randn(2, *self.shape)  # noqa: NPY002
        return np.asarray(real + 1j * imag).astype(self.dtype)

    def _inner_prod(self, x: Any, y: Any) -> Any:
        return np.real(np.dot(np.conj(np.ravel(x)), np.ravel(y)))

    def _covector(self, x: Any) -> Any:
        return number(np.conj(x))


def _array_space(x: Any) -> ArrayVSpace:
    return (ComplexArrayVSpace if np.iscomplexobj(x) else ArrayVSpace)(x)


VSpace.register(np.ndarray, _array_space)
_kind: Any
for _kind in (float, np.longdouble, np.float64, np.float32, np.float16):
    ArrayVSpace.register(_kind)
for _kind in (complex, np.clongdouble, np.complex64, np.complex128):
    ComplexArrayVSpace.register(_kind)
