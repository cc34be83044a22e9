"""Operators, attributes and methods of all array types, made of ops.

The methods that write in place are in `inplace`, those of NumPy's arrays only in `numpy_methods`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from .. import ops
from ..backends import backend_of
from ..core import upward
from ..core.array import Array
from ..ops.define.signatures import AnyArray, Operand, OperatorMethod, Unary
from ..ops.shape import _permute_dims
from .numbers import check_not_in_scipy
from .numpy_methods import NumPyMethods

# The revisions of the Array API standard that can be asked for: each contains those before it.
REVISIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")

# These return NotImplemented for an unknown type: the type may have an operator of its own.
_product: Any = ops.matmul.operator  # type: ignore[attr-defined]
_reflected: Any = ops.matmul.reflected  # type: ignore[attr-defined]


X = TypeVar("X")


class At(Generic[X]):
    """``x.at``, as in JAX: ``x.at[i]`` stands for the elements at an index.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 2.0, 3.0])
    >>> x.at[1:].set(0.0), x.at[ag.asarray([0, 0])].add(10.0)
    (tensor([1., 0., 0.]), tensor([21.,  2.,  3.]))
    """

    def __init__(self, array: X, index: Any = ...) -> None:
        self._array, self._index = array, index

    def __getitem__(self, index: Any) -> At[X]:
        return At(self._array, index)

    def get(self) -> X:
        """The elements."""
        return self._array[self._index]  # type: ignore[index,no-any-return]

    def set(self, values: Any) -> X:
        """A copy with other elements there."""
        changed: Any = ops.copy(self._array)  # type: ignore[call-overload]
        changed[self._index] = values
        return changed  # type: ignore[no-any-return]

    def add(self, values: Any) -> X:
        """A copy with values added there. If an element is named twice, both are added."""
        changed: Any = ops.copy(self._array)  # type: ignore[call-overload]
        np.add.at(changed, self._index, values)
        return changed  # type: ignore[no-any-return]


class ArrayMethods(NumPyMethods):
    """Operators and methods over `self._array`'s shape and dtype."""

    __slots__ = ()
    _array: Any

    # NumPy calls these methods for its functions and operators. `interop.numpy` sets them.
    __array_ufunc__: ClassVar[Any]
    __array_function__: ClassVar[Any]
    __array_priority__ = 1000
    __pandas_priority__ = 5000  # above that of its tables: they cannot hold tensors

    # --- the standard's protocols ---

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        """The namespace of functions for this array, at a revision of the standard.

        For NumPy arrays, this is the module `arraygrad`. For another library, it is a namespace
        with the same functions, except that `zeros` and the like create arrays of that library, on
        the device of this array.
        """
        if api_version is not None and api_version not in REVISIONS:
            raise ValueError(
                f"api_version must be one of {', '.join(REVISIONS)} or None, not {api_version!r}"
            )
        backend = backend_of(self)
        return upward.namespace(backend, backend.device(ops.plain(self)))

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:
        """The array for another library, by DLPack, without a copy where possible."""
        given: dict[str, Any] = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
        wanted = {name: value for name, value in given.items() if value is not None}
        return self._exported().__dlpack__(stream=stream, **wanted)

    def __dlpack_device__(self) -> tuple[Any, int]:
        """The type and number of the array's device, in DLPack's numbering."""
        device: tuple[Any, int] = ops.plain(self).__dlpack_device__()
        return device

    def _exported(self) -> Any:
        """The array that other libraries may see."""
        raise BufferError(
            f"a {type(self).__name__} array stands for values inside a transform and cannot be "
            "exported by DLPack: use arraygrad's functions on it"
        )

    def __dir__(self) -> list[str]:
        """The public names, without those by which transforms and ops work on an array."""
        hidden = {*vars(Array), "like", "operator"} - {"detach"}
        names = object.__dir__(self)
        return [n for n in names if n[:2] == "__" or (n[0] != "_" and n not in hidden)]

    # --- changed copies ---

    @property
    def at(self) -> At[Self]:
        """Copies that differ in some elements: ``x.at[i].set(value)``, ``x.at[i].add(value)``."""
        return At(self)

    # --- attributes ---

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return tuple(self._array.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._array.ndim  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> Any:
        """The data type of the elements, a dtype of the array's library."""
        return self._array.dtype

    @property
    def device(self) -> Any:
        """The device that the array is on."""
        return backend_of(self).device(ops.plain(self))

    @property
    def T(self) -> Self:  # noqa: N802  (the standard's name)
        """The array with its axes in reverse order, as in NumPy: for a matrix, the transpose."""
        return _permute_dims(self, axes=tuple(range(self.ndim))[::-1])  # type: ignore[no-any-return]

    @property
    def mT(self) -> Self:  # noqa: N802  (the standard's name)
        """The array with its last two axes swapped."""
        return ops.matrix_transpose(self)

    @property
    def real(self) -> Self:
        """The real part."""
        return ops.real(self)

    @real.setter
    def real(self, value: Any) -> None:
        ops.real(self)[...] = value

    @property
    def imag(self) -> Self:
        """The imaginary part."""
        return ops.imag(self)

    @imag.setter
    def imag(self, value: Any) -> None:
        if backend_of(self).kind(self.dtype) != "c":
            raise TypeError("a real array has no imaginary part to write: make it complex first")
        ops.imag(self)[...] = value

    # --- operators: the functions of `ops` themselves, as a method around them costs time ---

    __add__: OperatorMethod = ops.add.operator
    __radd__: OperatorMethod = ops.add.reflected
    __sub__: OperatorMethod = ops.subtract.operator
    __rsub__: OperatorMethod = ops.subtract.reflected
    __mul__: OperatorMethod = ops.multiply.operator
    __rmul__: OperatorMethod = ops.multiply.reflected
    __truediv__: OperatorMethod = ops.divide.operator
    __rtruediv__: OperatorMethod = ops.divide.reflected
    __floordiv__: OperatorMethod = ops.floor_divide.operator
    __rfloordiv__: OperatorMethod = ops.floor_divide.reflected
    __mod__: OperatorMethod = ops.remainder.operator
    __rmod__: OperatorMethod = ops.remainder.reflected
    __pow__: OperatorMethod = ops.pow.operator
    __rpow__: OperatorMethod = ops.pow.reflected
    __and__: OperatorMethod = ops.bitwise_and.operator
    __rand__: OperatorMethod = ops.bitwise_and.reflected
    __or__: OperatorMethod = ops.bitwise_or.operator
    __ror__: OperatorMethod = ops.bitwise_or.reflected
    __xor__: OperatorMethod = ops.bitwise_xor.operator
    __rxor__: OperatorMethod = ops.bitwise_xor.reflected
    __lshift__: OperatorMethod = ops.bitwise_left_shift.operator
    __rlshift__: OperatorMethod = ops.bitwise_left_shift.reflected
    __rshift__: OperatorMethod = ops.bitwise_right_shift.operator
    __rrshift__: OperatorMethod = ops.bitwise_right_shift.reflected
    __eq__: OperatorMethod = ops.equal.operator  # type: ignore[assignment]
    __ne__: OperatorMethod = ops.not_equal.operator  # type: ignore[assignment]
    __lt__: OperatorMethod = ops.less.operator
    __le__: OperatorMethod = ops.less_equal.operator
    __gt__: OperatorMethod = ops.greater.operator
    __ge__: OperatorMethod = ops.greater_equal.operator
    __neg__: Unary = ops.negative
    __pos__: Unary = ops.positive
    __abs__: Unary = ops.abs
    __invert__: Unary = ops.bitwise_invert
    __hash__ = object.__hash__

    if TYPE_CHECKING:

        def __getitem__(self, key: Any, /) -> Self: ...
        def __setitem__(self, key: Any, value: Any, /) -> None: ...
    else:
        __getitem__ = ops.getitem

    def __matmul__(self, other: AnyArray, /) -> Self:
        is_number = isinstance(other, int | float | complex)
        product: Any = NotImplemented if is_number else _product(self, other)
        return product  # type: ignore[no-any-return]

    def __rmatmul__(self, other: AnyArray, /) -> Self:
        is_number = isinstance(other, int | float | complex)
        product: Any = NotImplemented if is_number else _reflected(self, other)
        return product  # type: ignore[no-any-return]

    def __divmod__(self, other: Operand, /) -> tuple[Self, Self]:
        return self // other, self % other

    def __rdivmod__(self, other: Operand, /) -> tuple[Self, Self]:
        return other // self, other % self

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a 0-d array has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Self]:
        return ops.iterate(self)

    def __contains__(self, value: Any) -> bool:
        return bool(ops.any(ops.equal(self, value)))

    # --- methods ---

    abs = ops.abs
    acos = ops.acos
    acosh = ops.acosh
    all = ops.all
    any = ops.any
    argmax = ops.argmax
    argmin = ops.argmin
    argsort = ops.argsort
    asin = ops.asin
    asinh = ops.asinh
    astype = ops.astype
    atan = ops.atan
    atanh = ops.atanh
    broadcast_to = ops.broadcast_to
    ceil = ops.ceil
    clip = ops.clip
    conj = ops.conj
    cos = ops.cos
    cosh = ops.cosh
    cumulative_prod = ops.cumulative_prod
    cumulative_sum = ops.cumulative_sum
    diagonal = ops.diagonal
    dot = ops.dot
    exp = ops.exp
    expand_dims = ops.expand_dims
    expm1 = ops.expm1
    flip = ops.flip
    floor = ops.floor
    log = ops.log
    log10 = ops.log10
    log1p = ops.log1p
    log2 = ops.log2
    matmul = ops.matmul
    max = ops.max
    maximum = ops.maximum
    mean = ops.mean
    min = ops.min
    minimum = ops.minimum
    moveaxis = ops.moveaxis
    nonzero = ops.nonzero
    pow = ops.pow
    prod = ops.prod
    reciprocal = ops.reciprocal
    repeat = ops.repeat
    roll = ops.roll
    searchsorted = ops.searchsorted
    sign = ops.sign
    sin = ops.sin
    sinh = ops.sinh
    sqrt = ops.sqrt
    square = ops.square
    squeeze = ops.squeeze
    sum = ops.sum
    swapaxes = ops.swapaxes
    take = ops.take
    take_along_axis = ops.take_along_axis
    tan = ops.tan
    tanh = ops.tanh
    tile = ops.tile
    to_device = ops.to_device
    trace = ops.trace
    tril = ops.tril
    triu = ops.triu
    unstack = ops.unstack


class TransformMethods(ArrayMethods):
    """The methods of a tensor that batched and dual arrays share, or refuse."""

    __slots__ = ()

    def clone(self) -> Self:
        """A copy of the array."""
        return ops.copy(self)

    @property
    def requires_grad(self) -> bool:
        """False: only tensors can require gradients."""
        return False

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Refused: only a tensor can be a leaf, so make one over this array."""
        raise TypeError(
            f"a {type(self).__name__} array cannot itself require gradients: make a leaf over it, "
            "x = arraygrad.tensor(x, requires_grad=True), and differentiate with respect to that"
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        check_not_in_scipy()
        raise TypeError(
            f"a {type(self).__name__} array stands for values inside a transform and cannot "
            "become a NumPy array there: use arraygrad's functions on it"
        )
