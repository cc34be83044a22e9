"""Modules, and parameters, in lists and dictionaries."""

from __future__ import annotations

import functools
import itertools
import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from .module import Module
from .parameter import Parameter

__all__ = [
    "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential",
]  # fmt: skip


class _Parts(Module):
    """Modules, or parameters, in one of the dictionaries that each module has."""

    _place = "_modules"

    def _lines(self) -> list[str]:
        found = []
        for name, part in self._parameters.items():
            size = "x".join(map(str, part.shape))
            found.append(f"({name}): Parameter containing: [{part.dtype} of size {size}]")
        return found + super()._lines()

    def _items(self) -> OrderedDict[str, Any]:
        return self.__dict__[self._place]  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return len(self._items())


class _Listed(_Parts):
    """Parts in order, under the numbers of their places."""

    def _as_part(self, value: Any) -> Any:
        """A value as a part."""
        if not isinstance(value, Module):
            raise TypeError(f"{type(value).__name__} is not a Module subclass")
        return value

    def _put(self, values: Iterable[Any]) -> Self:
        """Replace all parts."""
        parts = [self._as_part(value) for value in values]
        self._items().clear()
        self._items().update((str(i), part) for i, part in enumerate(parts))
        return self

    def _at(self, key: int) -> int:
        """A place, counted from the front."""
        if not -len(self) <= operator.index(key) < len(self):
            raise IndexError(f"index {key} is out of range")
        return operator.index(key) % len(self)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items().values())

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            found = list(self._items().items())[key]
            return self._of(found)
        return list(self._items().values())[self._at(key)]

    def _of(self, items: list[tuple[str, Any]]) -> Any:
        """A container of this type with some of the parts."""
        return type(self)(part for _, part in items)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, slice):
            values = list(self)
            values[key] = value
            self._put(values)
        else:  # under the name that the part has
            self._items()[list(self._items())[self._at(key)]] = self._as_part(value)

    def __delitem__(self, key: Any) -> None:
        values = list(self)
        del values[key if isinstance(key, slice) else self._at(key)]
        self._put(values)

    def append(self, module: Any) -> Self:
        """Add a part at the end."""
        part = self._as_part(module)
        self._items()[str(len(self))] = part
        return self

    def extend(self, modules: Iterable[Any]) -> Self:
        """Add several parts at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"extend() should be called with an iterable, but got {modules!r}")
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Any) -> Self:
        """Add a part before a place."""
        values = list(self)
        values.insert(index, self._as_part(module))
        return self._put(values)

    def pop(self, key: int = -1) -> Any:
        """Take a part out."""
        found = self[key]
        del self[key]
        return found

    def __add__(self, other: Iterable[Any]) -> Self:
        return self._of([(str(i), part) for i, part in enumerate([*self, *other])])  # type: ignore[no-any-return]

    __iadd__ = extend


class Sequential(_Listed):
    """Modules one after the other."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def _of(self, items: list[tuple[str, Any]]) -> Any:
        return type(self)(OrderedDict(items))

    def forward(self, input: Any) -> Any:
        """Apply all modules."""
        for module in self:
            input = module(input)
        return input

    def __mul__(self, other: int) -> Self:
        return self._of([(str(i), part) for i, part in enumerate([*self] * _times(other))])  # type: ignore[no-any-return]

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Self:
        return self._put([*self] * _times(other))


def _times(count: Any) -> int:
    if not isinstance(count, int):
        raise TypeError(f"unsupported operand type(s) for *: Sequential and {type(count)}")
    if count <= 0:
        raise ValueError(f"Non-positive multiplication factor {count} for Sequential")
    return count


class ModuleList(_Listed):
    """A list of modules."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def _lines(self) -> list[str]:
        """Neighbours that look the same are one line."""
        groups = itertools.groupby(enumerate(map(repr, self._modules.values())), lambda x: x[1])
        found = [(text, [i for i, _ in members]) for text, members in groups]
        return [
            f"({at[0]}-{at[-1]}): {len(at)} x {text}" if len(at) > 1 else f"({at[0]}): {text}"
            for text, at in found
        ]


class ParameterList(_Listed):
    """A list of parameters."""

    _place = "_parameters"

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self.extend(() if values is None else values)

    def _as_part(self, value: Any) -> Any:
        return value if isinstance(value, Parameter) else Parameter(value)


class _Named(_Parts):
    """Parts by name, with the methods of a dict."""

    def __init__(self, parts: Any = None) -> None:
        super().__init__()
        self.update(parts or {})

    def update(self, parts: Any) -> None:
        """Add parts."""
        for name, part in parts.items() if isinstance(parts, Mapping | _Named) else parts:
            self[name] = part

    def __setitem__(self, name: str, part: Any) -> None:
        raise NotImplementedError

    def __iter__(self) -> Iterator[str]:
        return iter(self._items())


def _of_dict(name: str) -> Any:
    """The method that a dict has under a name, of the parts."""
    own = getattr(OrderedDict, name)

    @functools.wraps(own)
    def method(self: _Named, *args: Any) -> Any:
        return own(self._items(), *args)

    return method


for _name in "__getitem__ __delitem__ __contains__ get pop clear keys values items".split():
    setattr(_Named, _name, _of_dict(_name))


class ModuleDict(_Named):
    """Modules by name."""

    def __setitem__(self, name: str, part: Any) -> None:
        self.add_module(name, part)


class ParameterDict(_Named):
    """Parameters by name."""

    _place = "_parameters"

    def __setitem__(self, name: str, part: Any) -> None:
        self.register_parameter(name, part if isinstance(part, Parameter) else Parameter(part))
