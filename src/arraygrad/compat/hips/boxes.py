"""Boxes: what HIPS autograd calls the arrays that are differentiated.

A box is an array type of arraygrad with HIPS's manners: ``x += 1`` makes a new array, items cannot
be assigned, results without a derivative (``x > 0``) are plain arrays, and `_value` is the array
inside. There is one for reverse mode, one for forward mode, and one with a node of any type.
"""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any, ClassVar, TypeVar

import numpy as np

from ... import ops
from ...arrays.creation import from_sequence
from ...arrays.dual import Dual
from ...arrays.methods import ArrayMethods, TransformMethods
from ...arrays.tensor import Tensor
from ...core.array import Array, plain
from ...core.nodes import Node
from ...ops.define.op import Op

__all__ = [
    "ArrayBox", "Box", "NodeBox", "as_box", "forward_box", "getval", "isbox", "node_box", "number",
    "part_of", "reverse_box",
]  # fmt: skip


_Kind = TypeVar("_Kind")


class Box:
    """The base of all boxes."""

    __slots__ = ()
    # From types of arrays of other packages to ``maker(value, trace, node)``, which makes a box of
    # such a value, or raises an error. Packages add to it.
    type_mappings: ClassVar[dict[type, Any]] = {}

    @classmethod
    def register(cls, value_type: type) -> None:
        """Accept HIPS's call that makes values of a type differentiable; raise if they are not."""
        if not issubclass(value_type, _KNOWN):
            raise TypeError(
                f"{value_type.__name__} cannot be boxed: arraygrad differentiates with respect to "
                "arrays and numbers, and tuples, lists and dicts of these"
            )
        if issubclass(value_type, np.ndarray) and value_type is not np.ndarray:
            Box.type_mappings[value_type] = ArrayBox


_KNOWN = (np.ndarray, np.inexact, float, complex, tuple, list, dict)
new = object.__new__


class ArrayBox(Box):
    """An array that is differentiated. ``ArrayBox(value, trace, node)`` is one of a trace."""

    __slots__ = ()
    _array: Any
    level: ClassVar[float]

    def __new__(cls, value: Any, trace: Any = None, node: Any = None) -> Any:
        return new(node_box(trace) if cls is ArrayBox else cls)

    @property
    def _value(self) -> Any:
        return number(self._array)

    @property
    def _trace(self) -> float:
        return self.level

    def __str__(self) -> str:
        return f"Autograd ArrayBox with value {self._value}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def detach(self) -> Any:
        """The values, constant for every derivative in flight."""
        return getval(self)

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        return bool(self._array)

    # Without these methods, Python runs `x = x + y` for `x += y`.
    def __iadd__(self, other: Any) -> Any:
        return NotImplemented

    __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = __iadd__
    __iand__ = __ior__ = __ixor__ = __ilshift__ = __irshift__ = __imatmul__ = __iadd__

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError(
            "'ArrayBox' object does not support item assignment: make a new array, for example by "
            "np.where or np.concatenate"
        )

    def _change(self, function: Any, args: Any, kwargs: Any, name: str) -> None:
        raise TypeError(f"'ArrayBox' object cannot be written, as {name} does")

    def _assign(self, index: Any, value: Any, name: str) -> None:
        raise TypeError(f"'ArrayBox' object cannot be written, as {name} does")

    def item(self) -> Any:
        """Refused: a Python number would lose its derivative."""
        raise TypeError(
            "an ArrayBox cannot become a Python number without losing its derivative: keep it an "
            "array, or take its _value if that is meant"
        )

    tolist = __float__ = __int__ = __complex__ = item


class ReverseBox(ArrayBox, Tensor):
    """A box for reverse mode: it always has a node, and it has no views."""

    __slots__ = ()

    @classmethod
    def _bare(cls, out: Any, multiple: bool = False) -> Any:
        return tuple(map(number, out)) if multiple else number(out)

    def like(self, array: Any, node: Node | None = None) -> Any:
        return number(array) if node is None else reverse_box(self.level)(array, node)

    constant = like

    def _as_view(self, step: Any, result: Any) -> Any:
        return result

    def _as_slices(self, axis: int, parts: tuple[Any, ...]) -> tuple[Any, ...]:
        return parts

    def _shared(self, step: Any, source: Any, array: Any, node: Node | None) -> Any:
        if node is None:
            return number(array)
        box = new(type(self))
        box._array = array
        box._node = node
        return box

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self


class ForwardBox(ArrayBox, Dual):
    """A box for forward mode."""

    __slots__ = ()


class NodeBox(ArrayBox, TransformMethods, Array):
    """A box with a node of any type."""

    __slots__ = ("_array", "_node")

    def __init__(self, value: Any, trace: float, node: Any) -> None:
        if not isinstance(value, Array | np.ndarray | np.inexact | float | complex):
            raise TypeError(f"Can't differentiate w.r.t. type {type(value)}")
        self._array = value if isinstance(value, Array) else np.asarray(value)
        self._node = node

    @classmethod
    def apply(cls, op: Op, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        places = tuple(i for i, a in enumerate(arrays) if type(a) is cls)
        values = tuple(a._array if type(a) is cls else a for a in arrays)
        out = op.function(*values, **params)
        if not any(op.input_name(i) in op.rules for i in places):
            return tuple(map(number, out)) if op.multiple else number(out)
        parents = tuple(arrays[i]._node for i in places)
        node = type(parents[0])(out, op.function, values, params, places, parents)
        if not op.multiple:
            return cls(out, cls.level, node)
        return tuple(
            cls(part, cls.level, type(node)(part, part_of, (out, i), {}, (0,), (node,)))
            for i, part in enumerate(out)
        )

    def over(self, function: Any) -> Any:
        return type(self)(function(self._array), self.level, self._node)


def part_of(container: Any, index: Any) -> Any:
    """One item of a container: the operation of nodes that take a structure apart."""
    return container[index]


def _taking_lists(method: Any) -> Any:
    """The method of an operator, for which a list of numbers is an array."""

    def operator(self: Any, other: Any) -> Any:
        return method(self, from_sequence(other) if isinstance(other, _SEQUENCES) else other)

    return operator


_SEQUENCES = (list, tuple)
_SIGNS = "add sub mul truediv floordiv mod pow matmul"
for _name in [f"{_r}{_sign}" for _sign in _SIGNS.split() for _r in ("", "r")]:
    setattr(ArrayBox, f"__{_name}__", _taking_lists(getattr(ArrayMethods, f"__{_name}__")))
for _name in "lt le gt ge eq ne".split():
    setattr(ArrayBox, f"__{_name}__", _taking_lists(getattr(ArrayMethods, f"__{_name}__")))

_OPERATORS: dict[str, Any] = {
    "__add__": ops.add,
    "__sub__": ops.subtract,
    "__mul__": ops.multiply,
    "__truediv__": ops.divide,
    "__pow__": ops.pow,
}


def _at_level(kind: type[_Kind], level: float) -> type[_Kind]:
    """A type of boxes at a level."""
    members = {"__slots__": (), "level": level, "__module__": ArrayBox.__module__}
    return type("ArrayBox", (kind,), members)


@functools.cache
def reverse_box(level: float) -> type[ReverseBox]:
    """The type of boxes for reverse mode at a level."""
    made: Any = _at_level(ReverseBox, level)
    made._recorded = made
    for name, function in _OPERATORS.items():
        slow = SimpleNamespace(op=function.op, operator=_taking_lists(function.operator))
        setattr(made, name, made.operator(slow))
    return made  # type: ignore[no-any-return]


@functools.cache
def forward_box(level: float) -> type[ForwardBox]:
    """The type of boxes for forward mode at a level."""
    return _at_level(ForwardBox, level)


@functools.cache
def node_box(level: float) -> type[NodeBox]:
    """The type of boxes with a node of any type, at a level."""
    return _at_level(NodeBox, level)


def as_box(x: Any) -> Any:
    """A tensor that is no box as one, or as its plain value if it is constant; others as they are.

    Functions that write to a new tensor give such tensors.
    """
    if isinstance(x, Box) or not isinstance(x, Tensor):
        return x
    return number(x.array) if x._node is None else reverse_box(x.level)(x._array, x._node)


def isbox(x: Any) -> bool:
    """Whether a value is a box."""
    return isinstance(x, Box)


def getval(x: Any) -> Any:
    """The plain value in a box, or in boxes in boxes; anything else as it is."""
    return number(plain(x)) if isinstance(x, Array) else x


def number(x: Any) -> Any:
    """An array without axes as a number of NumPy, as HIPS autograd has it; others as they are."""
    return x[()] if type(x) is np.ndarray and not x.ndim else x
