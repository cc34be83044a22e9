"""Writes to any array in place: assignments, operators like `+=`, methods like `add_`.

It comes down to two methods. Tensors have them in `tensors`, arrays under transforms in
`transforms`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, Self, TypeVar, overload

import numpy as np

from ... import ops
from ...backends import backend_of
from ...backends.arraylikes import ARRAY_LIKE, values_of
from ...core.array import is_over
from ...core.axes import one_axis
from ...core.indices import as_view
from ...ops.define.signatures import OneArray, Operand, TwoArrays, Unary
from ...ops.elementwise import choose
from ...ops.indexing import split_index
from ...ops.placing import placed

P = ParamSpec("P")
S = TypeVar("S")


class InPlaceMethod(Protocol[P]):
    """A method that changes an array, and gives it back."""

    @overload
    def __get__(self, instance: None, owner: type, /) -> Self: ...
    @overload
    def __get__(self, instance: S, owner: Any, /) -> Callable[P, S]: ...


@overload
def _in_place(function: Unary) -> InPlaceMethod[[]]: ...
@overload
def _in_place(function: OneArray[P]) -> InPlaceMethod[P]: ...
@overload
def _in_place(function: TwoArrays[[]]) -> InPlaceMethod[[Operand]]: ...
def _in_place(function: Any) -> Any:
    """The method that replaces an array's values by `function` of them."""
    name = f"{function.__name__}_"

    @functools.wraps(function)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        self._change(function, args, kwargs, name)
        return self

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"`{function.__name__}`, in place."
    return method


def _operator(function: Any) -> InPlaceMethod[[Operand]]:
    """The operator like `+=` of an op: in place, but for numbers, which NumPy never changes."""
    name = f"{function.__name__}_"

    def operator(self: Any, other: Any) -> Any:
        is_memory = not self._is_replaced and type(self._array) is np.ndarray  # most often
        if not is_memory and self._is_number:
            return function(self, other)
        self._change(function, (other,), {}, name)
        return self

    return operator


class InPlace:
    """The methods and operators that write to an array.

    They call `_change` and `_assign`, of which tensors and arrays under transforms have their own.
    """

    __slots__ = ()
    _is_replaced = False  # whether a write replaces the array inside, and those of the views

    @property
    def _is_number(self) -> bool:
        """Whether NumPy would have a number here, not an array without axes."""
        raise NotImplementedError

    def _change(self, function: Any, args: Any, kwargs: Any, name: str) -> None:
        """Replace all values by `function` of the array, `args` and `kwargs`."""
        raise NotImplementedError

    def _assign(self, index: tuple[Any, tuple[Any, ...]], value: Any, name: str) -> None:
        """Write `value` to the part that an index names."""
        raise NotImplementedError

    def __setitem__(self, key: Any, value: Any) -> None:
        template, indices = split_index(self, key)
        if ARRAY_LIKE[type(value)]:
            value = values_of(value)
        if not indices:
            self._assign((as_view(template), ()), value, _ASSIGNMENT)
            return
        plain_indices = [_plain_index(i) for i in indices]
        if all(i is not None for i in plain_indices):
            self._assign((template, tuple(plain_indices)), value, _ASSIGNMENT)
            return
        # An index that differs over a batch can choose elements, but cannot list them.
        if all(_is_integer(i) for i in indices):
            given = (value, *indices)
            self._change(placed, given, {"template": template}, _ASSIGNMENT)
            return
        if (
            len(template) > 1
            or not _is_mask(self, indices[0])
            or (hasattr(value, "ndim") and value.ndim)
        ):
            raise TypeError(
                "an index that differs over a batch, or whose values are not known yet, can only "
                "consist of single integers and slices, or be a mask of the shape of the array if "
                "what is written there is a number: use where(), as in where(mask, value, x)"
            )
        self._change(_chosen, (indices[0], value), {}, _ASSIGNMENT)

    def copy_(self, source: Any) -> Self:
        """Take over the values of another tensor, array or number, which may broadcast."""
        self._assign(((Ellipsis,), ()), values_of(source), "copy_")
        return self

    def fill_(self, value: Any) -> Self:
        """Set all elements to one value."""
        if getattr(value, "ndim", 0):
            raise ValueError(f"fill_() takes a number, not an array of shape {value.shape}")
        return self.copy_(value)

    def zero_(self) -> Self:
        """Set all elements to zero."""
        return self.copy_(0)

    def fill(self, value: Any) -> None:
        """Set all elements to one value, as NumPy's method: see also `fill_`."""
        self.fill_(value)

    def sort(
        self,
        axis: int = -1,
        kind: str | None = None,
        order: None = None,
        *,
        stable: bool | None = None,
        descending: bool = False,
    ) -> None:
        """Sort the elements in place, as NumPy's method. `arraygrad.sort` gives a new array.

        The sort is stable, whatever `kind` and `stable` ask for.
        """
        if order is not None:
            raise ValueError("order is for arrays with fields, which arraygrad does not have")
        self._change(ops.sort, (), {"axis": axis, "descending": descending}, "sort")

    def partition(
        self, kth: Any, axis: int = -1, kind: str = "introselect", order: None = None
    ) -> None:
        """Bring the `kth` smallest element to its place, in place, and smaller ones before it.

        This sorts the array, which does it for all places.
        """
        self._change(ops.sort, (), {"axis": check_partition(self, kth, axis, kind, order)}, "sort")

    add_ = _in_place(ops.add)
    sub_ = subtract_ = _in_place(ops.subtract)
    mul_ = multiply_ = _in_place(ops.multiply)
    div_ = divide_ = _in_place(ops.divide)
    floor_divide_ = _in_place(ops.floor_divide)
    remainder_ = _in_place(ops.remainder)
    pow_ = _in_place(ops.pow)
    bitwise_and_ = _in_place(ops.bitwise_and)
    bitwise_or_ = _in_place(ops.bitwise_or)
    bitwise_xor_ = _in_place(ops.bitwise_xor)
    bitwise_left_shift_ = _in_place(ops.bitwise_left_shift)
    bitwise_right_shift_ = _in_place(ops.bitwise_right_shift)
    abs_ = _in_place(ops.abs)
    acos_ = _in_place(ops.acos)
    acosh_ = _in_place(ops.acosh)
    asin_ = _in_place(ops.asin)
    asinh_ = _in_place(ops.asinh)
    atan_ = _in_place(ops.atan)
    atan2_ = _in_place(ops.atan2)
    atanh_ = _in_place(ops.atanh)
    ceil_ = _in_place(ops.ceil)
    clamp_ = clip_ = _in_place(ops.clip)
    conj_ = _in_place(ops.conj)
    copysign_ = _in_place(ops.copysign)
    cos_ = _in_place(ops.cos)
    cosh_ = _in_place(ops.cosh)
    cumsum_ = cumulative_sum_ = _in_place(ops.cumulative_sum)
    cumprod_ = cumulative_prod_ = _in_place(ops.cumulative_prod)
    exp_ = _in_place(ops.exp)
    expm1_ = _in_place(ops.expm1)
    floor_ = _in_place(ops.floor)
    hypot_ = _in_place(ops.hypot)
    log_ = _in_place(ops.log)
    log10_ = _in_place(ops.log10)
    log1p_ = _in_place(ops.log1p)
    log2_ = _in_place(ops.log2)
    neg_ = negative_ = _in_place(ops.negative)
    reciprocal_ = _in_place(ops.reciprocal)
    round_ = _in_place(ops.round)
    sign_ = _in_place(ops.sign)
    sin_ = _in_place(ops.sin)
    sinh_ = _in_place(ops.sinh)
    sqrt_ = _in_place(ops.sqrt)
    square_ = _in_place(ops.square)
    tan_ = _in_place(ops.tan)
    tanh_ = _in_place(ops.tanh)
    tril_ = _in_place(ops.tril)
    triu_ = _in_place(ops.triu)
    trunc_ = _in_place(ops.trunc)
    __iadd__ = _operator(ops.add)
    __isub__ = _operator(ops.subtract)
    __imul__ = _operator(ops.multiply)
    __itruediv__ = _operator(ops.divide)
    __ifloordiv__ = _operator(ops.floor_divide)
    __imod__ = _operator(ops.remainder)
    __ipow__ = _operator(ops.pow)
    __iand__ = _operator(ops.bitwise_and)
    __ior__ = _operator(ops.bitwise_or)
    __ixor__ = _operator(ops.bitwise_xor)
    __ilshift__ = _operator(ops.bitwise_left_shift)
    __irshift__ = _operator(ops.bitwise_right_shift)
    __imatmul__ = _operator(ops.matmul)


_ASSIGNMENT = "an assignment to elements"


def _plain_index(index: Any) -> Any:
    """An array in an index as a NumPy array of its own.

    None if it differs over a batch, or if its values are not known yet. It is a copy: the graph
    keeps it, and the user may change the original.
    """
    while is_over(index):
        if index.ndim != index._array.ndim:
            return None
        index = index._array
    values = backend_of(index).known_values(index)
    return None if values is None else np.array(values)


def _is_integer(index: Any) -> bool:
    return not index.ndim and backend_of(index).kind(index.dtype) in "iu"


def _is_mask(x: Any, index: Any) -> bool:
    return tuple(index.shape) == tuple(x.shape) and backend_of(index).kind(index.dtype) == "b"


def _chosen(x: Any, mask: Any, value: Any) -> Any:
    return choose(mask, value, x)


def check_partition(x: Any, kth: Any, axis: int, kind: str, order: Any) -> int:
    """Raise for what NumPy would not accept. Returns the axis, counted from the front."""
    if kind != "introselect" or order is not None:
        raise ValueError("kind must be 'introselect', and order must be None")
    axis = one_axis(axis, x.ndim)
    n = x.shape[axis]
    places = np.asarray(kth)
    if places.dtype.kind not in "iu":
        raise TypeError(f"kth must be integers, not {places.dtype}")
    for k in np.ravel(places):
        if not -n <= k < n:
            raise ValueError(f"kth={k} is out of range for an axis of length {n}")
    return axis
