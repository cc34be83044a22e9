"""What a function may read from outside: a walk over all that it reaches.

That are the variables of enclosing functions and global ones, attributes of objects, classes and
the user's modules, items of containers that are reached from these, and the same for the user's
functions and methods that are called by name.
"""

from __future__ import annotations

import functools
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, MemberDescriptorType, MethodType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

from ...core.cpython import is_library_file
from ...ops.define.op import Op

_MISSING = object()
_TAKEN_APART = (dict, list, tuple, MethodType)  # which may be made anew with the same parts
LARGEST = 256  # items of a container that is looked into
DEEPEST = 40  # containers and objects inside each other
MOST = 2000  # values that are looked into

Read = Callable[[], Any]


def itself(value: Any) -> Any:
    """Reads a value that is always the same."""
    return value


class Found(NamedTuple):
    """A value that a function may read.

    `is_known` says that it is known by its parts, so that an equal one can take its place.
    """

    read: Read
    value: Any
    is_known: bool


def reachable(*roots: Any) -> tuple[list[Found], set[str]]:
    """All that functions and objects may read, and the names in the functions.

    Attributes are looked at if any of the functions has a name like theirs in it.
    """
    names: set[str] = set()
    reads = [functools.partial(itself, root) for root in roots]
    while True:
        walk = _Walk(frozenset(names))
        for read in reads:
            walk.go_inside(read, read(), 0)
        if walk.names <= names:
            return walk.found, names
        names |= walk.names


class _Walk:
    """A walk over everything that can be reached."""

    def __init__(self, attributes: frozenset[str]) -> None:
        self.found: list[Found] = []
        self.names: set[str] = set()  # in the functions that were met
        self._attributes = attributes
        self._by_text = not attributes.isdisjoint(_BY_TEXT)
        self._visited: dict[int, Any] = {}

    def go_inside(self, read: Read, value: Any, depth: int) -> None:
        """Find what can be reached from a value."""
        self._visited[id(value)] = value
        for part in self._parts(read, value):
            found = part()
            if found is _MISSING:
                if isinstance(part, _Attribute | _Item) and part.may_appear:
                    self.found.append(Found(part, found, False))
                continue
            if isinstance(found, ModuleType) and not _is_of_user(found.__name__):
                continue
            is_new = self._goes_into(found, depth)
            self.found.append(Found(part, found, is_new and isinstance(found, _TAKEN_APART)))
            if is_new:
                self.go_inside(part, found, depth + 1)

    def _goes_into(self, value: Any, depth: int) -> bool:
        if id(value) in self._visited or depth == DEEPEST or len(self._visited) >= MOST:
            return False
        if isinstance(value, FunctionType) and _is_installed(value):
            return False
        return not isinstance(value, dict | list | tuple) or len(value) <= LARGEST

    def _parts(self, read: Read, value: Any) -> Iterator[Read]:
        """How to read each part of a value."""
        if isinstance(value, FunctionType):
            yield from self._variables(value)
        elif isinstance(value, dict):
            yield from (_Item(read, key) for key in value)
        elif isinstance(value, list | tuple):
            yield from (_Item(read, i) for i in range(len(value)))
        elif isinstance(value, tuple(_PARTS)):
            kind = next(kind for kind in _PARTS if isinstance(value, kind))
            yield from (_Attribute(read, name) for name in _PARTS[kind])
        elif isinstance(value, ModuleType):
            yield from (_Attribute(read, n) for n in self._names_in(vars(value)))
        elif isinstance(value, type):
            if is_users(value):
                own = {name for kind in value.__mro__[:-1] for name in vars(kind)}
                yield from (_Attribute(read, n) for n in self._names_in(own))
        else:
            # An object of arraygrad may say what of it can change.
            yield from (_Attribute(read, name) for name in getattr(value, "__guarded__", ()))
            if is_users(type(value)) or type(value) in _NAMESPACES:
                yield from self._of_object(read, value)
            elif hasattr(value, "__wrapped__"):
                yield _Attribute(read, "__wrapped__")

    def _names_in(self, own: Iterable[str]) -> list[str]:
        """Which of some attributes a function may read. By a text, it may read any of them."""
        if self._by_text:
            return sorted(name for name in own if not name.startswith("__"))
        return sorted(self._attributes.intersection(own))

    def _variables(self, function: FunctionType) -> Iterator[Read]:
        op = getattr(function, "op", None)
        if isinstance(op, Op) and op.is_library:  # its tables grow, and it computes the same
            return
        for cell in function.__closure__ or ():
            if _content(cell) is not _MISSING:
                yield functools.partial(getattr, cell, "cell_contents")
        # By where it was written: a wrapper has the module of the function that it wraps.
        if not _is_of_user(str(function.__globals__.get("__name__"))):
            return
        names = _names(function.__code__)
        self.names |= names
        for name in sorted(names & function.__globals__.keys()):
            yield functools.partial(function.__globals__.get, name, _MISSING)
        for name in ("__defaults__", "__kwdefaults__"):
            if getattr(function, name):
                yield functools.partial(getattr, function, name)

    def _of_object(self, read: Read, value: Any) -> Iterator[Read]:
        """The attributes of a user's object, and those of its type, as methods are."""
        own, kind = getattr(value, "__dict__", {}), type(value)
        for name in self._names_in(own):
            yield _Attribute(read, name)
        for name in sorted((self._attributes | {"__call__"}).difference(own)):
            of_kind = getattr(kind, name, _MISSING)
            if of_kind is _MISSING:
                if self._by_text:  # as in getattr(value, name, default)
                    yield _Attribute(read, name, may_appear=True)
            elif isinstance(of_kind, MemberDescriptorType) or not hasattr(of_kind, "__get__"):
                yield _Attribute(read, name)  # of the object, where it may appear later
            elif is_users(kind):
                yield _Attribute(functools.partial(itself, kind), name)
                if not isinstance(of_kind, property):
                    yield _Item(functools.partial(itself, own), name, may_appear=True)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a variable that has no value
        return _MISSING


# Ways to read attributes by texts.
_BY_TEXT = {"getattr", "hasattr", "vars", "__dict__", "attrgetter"}
_NAMESPACES = (SimpleNamespace, Namespace)

# Objects that hold functions, and the names of their parts.
_PARTS: dict[type, tuple[str, ...]] = {
    MethodType: ("__self__", "__func__"),
    functools.partial: ("func", "args", "keywords"),
    property: ("fget",),
}


class _Attribute:
    """Reads an attribute of what another object reads."""

    __slots__ = ("may_appear", "name", "of")

    def __init__(self, of: Read, name: str, may_appear: bool = False) -> None:
        self.of, self.name, self.may_appear = of, name, may_appear

    def __call__(self) -> Any:
        return getattr(self.of(), self.name, _MISSING)


class _Item:
    """Reads an item of the container that another object reads."""

    __slots__ = ("key", "may_appear", "of")

    def __init__(self, of: Read, key: Any, may_appear: bool = False) -> None:
        self.of, self.key, self.may_appear = of, key, may_appear

    def __call__(self) -> Any:
        try:
            return self.of()[self.key]
        except LookupError:
            return _MISSING


_OURS = __name__.partition(".")[0]


@functools.lru_cache(4096)
def _is_of_user(module: str) -> bool:
    """Whether a module is the user's: those that are installed do not change what they compute."""
    if module.partition(".")[0] in (_OURS, "builtins"):
        return False
    place = getattr(sys.modules.get(module), "__file__", None) or ""
    return not is_library_file(place)


def _is_installed(function: FunctionType) -> bool:
    """Whether a function has its name in a module that is not the user's: it stays as it is."""
    module = function.__module__ or ""
    named = getattr(sys.modules.get(module), function.__name__, None)
    return named is function and not _is_of_user(module)


def is_users(thing: Any) -> bool:
    """Whether a class or a function was written by the user."""
    return _is_of_user(str(thing.__module__))


def _names(code: Any) -> set[str]:
    """The names that a function reads, with those of the functions written inside it.

    If it reads attributes by texts, these are names, too.
    """
    found = set(code.co_names)
    if found & _BY_TEXT:
        found |= {c for c in code.co_consts if isinstance(c, str) and c.isidentifier()}
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            found |= _names(constant)
    return found
