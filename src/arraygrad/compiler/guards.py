"""Guards notice that something from outside, which a traced function read, has changed.

A traced function is not run again, so it does not see that a variable was bound to another value.
Guards look at all that the function may read: the variables of enclosing functions and global ones,
attributes of objects and items of containers that are reached from these, and the same for the
user's functions and methods that it calls by name.

A program refers to the arrays that it reads, so elements that are written need no guard. Only
arrays that the function has computed with by NumPy alone, as in ``c * 2``, are compared.
"""

from __future__ import annotations

import functools
import sys
import sysconfig
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from numbers import Number
from types import (
    BuiltinMethodType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any, NamedTuple

import numpy as np

from ..arrays.tensor import Tensor
from ..core.versions import refused_writes, writes_to
from .quick import Expression
from .tracing import WRITES_OUTSIDE

_MISSING = object()
_TAKEN_APART = (dict, list, tuple, MethodType)  # which may be made anew with the same parts
LARGEST = 256  # items of a container that is looked into
DEEPEST = 40  # containers and objects inside each other
MOST = 2000  # values that are looked into

Read = Callable[[], Any]


class Guards:
    """What a function may read from outside, with the values that it had.

    Parameters
    ----------
    function : callable
    static : iterable
        The values of static arguments, whose attributes the function may read.
    """

    def __init__(self, function: Any, static: Iterable[Any] = ()) -> None:
        # Pairs of arrays and copies of them: the program depends on their elements.
        self._elements: list[tuple[Any, Any]] = []
        self._same: list[tuple[Read, Any]] = []
        self._states: list[tuple[Read, Any]] = []
        self._tensors: list[Tensor] = []
        self._quick: Callable[[], bool] = bool  # false, before the trace
        roots = [functools.partial(_itself, value) for value in (function, *static)]
        for read, value, is_known in _reachable(roots):
            if not is_known:
                self._same.append((read, value))
            if (state := _state(value)) is not None:
                self._states.append((read, state))
            if isinstance(value, Tensor) and isinstance(value.array, np.ndarray):
                self._tensors.append(value)

    def refused_writes(self) -> AbstractContextManager[None]:
        """Refuse to write the tensors from outside: that would happen only while tracing."""
        memory = [writes_to(tensor.array) for tensor in self._tensors]
        return refused_writes([weakref.ref(writes) for writes in memory], _refuse)

    def traced(self, captured: Iterable[Any], masks: Iterable[tuple[Any, Any]]) -> None:
        """Take note of what the trace has shown, and done.

        Parameters
        ----------
        captured : iterable of arrays
            The arrays that the program refers to. The elements of others are compared.
        masks : iterable of pairs of arrays
            Arrays on whose elements shapes depend, and copies of them.
        """
        # A function may note its calls in a list, which happens only while it is traced.
        self._states = [(read, state) for read, state in self._states if _state(read()) == state]
        self._elements += masks
        owners = {id(_owner(array)) for array in captured}
        for _, value in self._same:
            if isinstance(value, np.ndarray) and id(_owner(value)) not in owners:
                self._elements.append((value, value.copy()))

        self._quick = self._expression().function()

    def _expression(self) -> Expression:
        found = Expression()
        for read, value in self._same:
            is_made_anew = isinstance(value, BuiltinMethodType | MethodWrapperType)
            (found.equal if is_made_anew else found.same)(read, value)
        for read, state in self._states:
            if state[0] in (list, tuple):
                found.length(read, *state)
            else:
                found.true(functools.partial(_has_state, read, state))
        for array, copy in self._elements:
            found.true(functools.partial(_has_elements, array, copy))
        return found

    def hold(self) -> bool:
        """Whether everything is as it was."""
        try:
            if self._quick():
                return True
        except Exception:  # something has gone
            pass
        for read, value in self._same:
            now = read()
            if now is not value and not _is_equal(now, value):
                return False
        for read, state in self._states:
            if _state(read()) != state:
                return False
        return all(_has_elements(array, copy) for array, copy in self._elements)


def _refuse() -> None:
    raise TypeError(WRITES_OUTSIDE)


def _itself(value: Any) -> Any:
    return value


def _is_equal(now: Any, value: Any) -> bool:
    """Whether two objects are the same number or text, or the same built-in method."""
    if isinstance(value, BuiltinMethodType | MethodWrapperType):  # made anew by each access
        return type(now) is type(value) and bool(now == value)
    return isinstance(value, Number | str) and type(now) is type(value) and repr(now) == repr(value)


def _state(value: Any) -> Any:
    """What may change of a container, but for its items, or of a tensor, but for its elements."""
    if isinstance(value, dict):
        return type(value), tuple(map(id, value))
    if isinstance(value, list | tuple):
        return type(value), len(value)
    return (value.requires_grad, id(value.array)) if isinstance(value, Tensor) else None


def _has_state(read: Read, state: Any) -> bool:
    return bool(_state(read()) == state)


def _owner(array: Any) -> Any:
    """The array whose memory an array is a part of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _has_elements(array: Any, copy: Any) -> bool:
    return np.array_equal(array, copy, equal_nan=array.dtype.kind in "fc")


# --- what a function may read --------------------------------------------------------------------


class _Found(NamedTuple):
    """A value that a function may read.

    `is_known` says that it is known by its parts, so that an equal one can take its place.
    """

    read: Read
    value: Any
    is_known: bool


def _reachable(roots: Iterable[Read]) -> list[_Found]:
    """All that functions and objects may read.

    Attributes are looked at if any of the functions has a name like theirs in it.
    """
    names: set[str] = set()
    while True:
        walk = _Walk(frozenset(names))
        found = [each for read in roots for each in walk.inside(read, read(), 0)]
        if walk.names <= names:
            return found
        names |= walk.names


class _Walk:
    """A walk over everything that can be reached."""

    def __init__(self, attributes: frozenset[str]) -> None:
        self.names: set[str] = set()  # in the functions that were met
        self._attributes = attributes
        self._visited: dict[int, Any] = {}

    def inside(self, read: Read, value: Any, depth: int) -> Iterator[_Found]:
        """What can be reached from a value."""
        self._visited[id(value)] = value
        for part in self._parts(read, value):
            found = part()
            if found is _MISSING or isinstance(found, ModuleType):
                continue
            is_new = self._goes_into(found, depth)
            yield _Found(part, found, is_new and isinstance(found, _TAKEN_APART))
            if is_new:
                yield from self.inside(part, found, depth + 1)

    def _goes_into(self, value: Any, depth: int) -> bool:
        if id(value) in self._visited or depth == DEEPEST or len(self._visited) >= MOST:
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
        elif isinstance(value, type):
            return
        else:
            # An object of arraygrad may say what of it can change.
            yield from (_Attribute(read, name) for name in getattr(value, "__guarded__", ()))
            if _is_users(type(value)):
                yield from self._of_object(read, value)
            elif hasattr(value, "__wrapped__"):
                yield _Attribute(read, "__wrapped__")

    def _variables(self, function: FunctionType) -> Iterator[Read]:
        for cell in function.__closure__ or ():
            yield functools.partial(getattr, cell, "cell_contents", _MISSING)
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
        own = getattr(value, "__dict__", {})
        kind = functools.partial(_itself, type(value))
        for name in sorted(self._attributes | {"__call__"}):
            if name in own or isinstance(getattr(type(value), name, None), MemberDescriptorType):
                yield _Attribute(read, name)
            elif hasattr(type(value), name):
                yield _Attribute(kind, name)


# Objects that hold functions, and the names of their parts.
_PARTS: dict[type, tuple[str, ...]] = {
    MethodType: ("__self__", "__func__"),
    functools.partial: ("func", "args", "keywords"),
    property: ("fget",),
}


class _Attribute:
    """Reads an attribute of what another object reads."""

    __slots__ = ("name", "of")

    def __init__(self, of: Read, name: str) -> None:
        self.of, self.name = of, name

    def __call__(self) -> Any:
        return getattr(self.of(), self.name, _MISSING)


class _Item:
    """Reads an item of the container that another object reads."""

    __slots__ = ("key", "of")

    def __init__(self, of: Read, key: Any) -> None:
        self.of, self.key = of, key

    def __call__(self) -> Any:
        try:
            return self.of()[self.key]
        except LookupError:
            return _MISSING


_INSTALLED = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib")})
_OURS = __name__.partition(".")[0]


@functools.lru_cache(4096)
def _is_of_user(module: str) -> bool:
    """Whether a module is the user's: those that are installed do not change what they compute."""
    if module.partition(".")[0] in (_OURS, "builtins"):
        return False
    place = getattr(sys.modules.get(module), "__file__", None) or ""
    return "site-packages" not in place and not place.startswith(_INSTALLED)


def _is_users(thing: Any) -> bool:
    return _is_of_user(str(thing.__module__))


def _names(code: Any) -> set[str]:
    """The names that a function reads, with those of the functions written inside it."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            found |= _names(constant)
    return found
