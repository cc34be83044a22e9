"""`autograd.builtins`: tuples, lists and dicts of boxes, which are Python's own here.

>>> from arraygrad.compat.hips import builtins, grad
>>> grad(lambda x: builtins.tuple((x, 2 * x))[1])(1.0)
np.float64(2.0)
"""

from __future__ import annotations

import builtins as _python
from typing import Any

from .boxes import Box, getval
from .spaces import VSpace, vspace
from .structures import mapped

__all__ = [
    "ContainerVSpace", "DictBox", "DictVSpace", "ListVSpace", "NamedTupleVSpace", "SequenceBox",
    "SequenceVSpace", "TupleVSpace", "dict", "isinstance", "list", "tuple", "type",
]  # fmt: skip

# A container that has boxes in it is an ordinary one.
tuple, list, dict = _python.tuple, _python.list, _python.dict


def isinstance(value: Any, types: Any) -> bool:
    """Python's `isinstance` of the value in a box."""
    return _python.isinstance(getval(value), types)


def type(value: Any) -> Any:
    """Python's `type` of the value in a box."""
    return _python.type(getval(value))


class SequenceBox(Box, _python.tuple[Any, ...]):
    """A sequence of boxes that `new_box` made. Those that functions get are Python's own."""

    _trace: Any = None
    _node: Any = None


class DictBox(Box, _python.dict[Any, Any]):
    """A dict of boxes that `new_box` made. Those that functions get are Python's own."""

    _trace: Any = None
    _node: Any = None


class ContainerVSpace(VSpace):
    """The space of a structure: the sum of the spaces of its parts."""

    def __init__(self, value: Any) -> None:
        self.shape = _of_parts(value, vspace)

    @property
    def size(self) -> int:
        """The number of real dimensions."""
        return sum(space.size for space in self._spaces())

    def _spaces(self) -> Any:
        shape = self.shape
        return shape.values() if _python.isinstance(shape, _python.dict) else shape

    def _items(self) -> Any:
        shape = self.shape
        return shape.items() if _python.isinstance(shape, _python.dict) else enumerate(shape)

    def _map(self, function: Any, *values: Any) -> Any:
        return mapped(function, self.shape, *values)

    def zeros(self) -> Any:
        return self._map(lambda space: space.zeros())

    def ones(self) -> Any:
        return self._map(lambda space: space.ones())

    def randn(self) -> Any:
        return self._map(lambda space: space.randn())

    def standard_basis(self) -> Any:
        for place, space in self._items():
            for vector in space.standard_basis():
                yield self._subval(self.zeros(), place, vector)

    def _subval(self, value: Any, place: Any, part: Any) -> Any:
        """The value with another part at a place."""
        if _python.isinstance(value, _python.dict):
            return value | {place: part}
        items = [part if i == place else item for i, item in enumerate(value)]
        made = _python.type(value)
        return made(*items) if hasattr(value, "_fields") else made(items)

    def _add(self, x: Any, y: Any) -> Any:
        return self._map(lambda space, a, b: space._add(a, b), x, y)

    def _mut_add(self, x: Any, y: Any) -> Any:
        return self._map(lambda space, a, b: space._mut_add(a, b), x, y)

    def _scalar_mul(self, x: Any, a: Any) -> Any:
        return self._map(lambda space, part: space._scalar_mul(part, a), x)

    def _inner_prod(self, x: Any, y: Any) -> Any:
        products: _python.list[Any] = []
        self._map(lambda space, a, b: products.append(space._inner_prod(a, b)), x, y)
        return sum(products)

    def _covector(self, x: Any) -> Any:
        return self._map(lambda space, part: space._covector(part), x)


def _of_parts(value: Any, function: Any) -> Any:
    """The container with `function` of each of its items."""
    if _python.isinstance(value, _python.dict):
        return {key: function(item) for key, item in value.items()}
    made, items = _python.type(value), [function(item) for item in value]
    return made(*items) if hasattr(value, "_fields") else made(items)


class SequenceVSpace(ContainerVSpace):
    """The space of a sequence."""


class ListVSpace(SequenceVSpace):
    """The space of a list."""


class TupleVSpace(SequenceVSpace):
    """The space of a tuple."""


class NamedTupleVSpace(SequenceVSpace):
    """The space of a named tuple."""


class DictVSpace(ContainerVSpace):
    """The space of a dict."""


ListVSpace.register(list)
TupleVSpace.register(tuple)
DictVSpace.register(dict)
