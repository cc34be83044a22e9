"""Guards notice that something from outside, which a traced function read, has changed.

A traced function is not run again, so it does not see that a variable was bound to another value.
Guards look at all that the function may read: the variables of enclosing functions and global ones,
attributes of objects, classes and the user's modules, and items of containers that are reached from
these, and the same for the user's functions and methods that it calls by name.

A program refers to the tensors that it reads, so elements that are written need no guard. NumPy's
arrays are compared bit by bit, as nobody sees what NumPy computes from them; so are tensors whose
values Python has read.
"""

from __future__ import annotations

import ctypes
import functools
import os
import random
import sys
import sysconfig
import warnings
import weakref
from argparse import Namespace
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
    SimpleNamespace,
)
from typing import Any, NamedTuple

import numpy as np

from ...arrays.tensor import Tensor
from ...core.array import plain
from ...core.modes import is_tracing
from ...core.nodes import record, recorder, stage
from ...core.versions import refused_writes, writes_to
from ...ops.define.op import Op
from ..llvm.objects import addresses_of
from ..trace.traced import Traced
from .quick import Expression, itself
from .tracing import WRITES_OUTSIDE, NotTraceable

_MISSING = object()
_TAKEN_APART = (dict, list, tuple, MethodType)  # which may be made anew with the same parts
LARGEST = 256  # items of a container that is looked into
DEEPEST = 40  # containers and objects inside each other
MOST = 2000  # values that are looked into
SMALL = 4096  # bytes of an array that are compared as one object of Python

Read = Callable[[], Any]


def _of_numpy() -> Any:
    """The state of NumPy's own source of random numbers, for `numpy.random.normal` and others."""
    state: Any = np.random.get_state()  # noqa: NPY002  (it is what users draw from)
    return state[1].tobytes(), *state[2:]


_OF_ALL: tuple[Read, ...] = (_of_numpy, random.getstate)  # sources that any function can draw from
_DRAWS = frozenset(dir(np.random)) | frozenset(dir(random))


class Guards:
    """What a function may read from outside, with the values that it had.

    Parameters
    ----------
    function : callable
    static : iterable
        The values of static arguments, whose attributes the function may read.

    Attributes
    ----------
    quick : callable
        Whether everything is the very same: the shortest way to say that the guards hold.

    Raises
    ------
    NotTraceable
        If the function reads from an iterator, which has another state in each call.
    """

    def __init__(self, function: Any, static: Iterable[Any] = ()) -> None:
        self._records = recorder() is not None
        # Pairs of arrays and copies of them: the program depends on their elements.
        self._elements: list[tuple[Any, Any]] = []
        self._before: list[tuple[Any, Any]] = []  # containers, and copies of them
        # Sources of random numbers, as functions that give their states, and these states.
        self._sources: list[tuple[Read, Any]] = []
        self._same: list[tuple[Read, Any]] = []
        self._states: list[tuple[Read, Any]] = []
        # Tensors, with their arrays, and whether they require gradients.
        self._tensors: dict[int, tuple[Tensor, Any, bool]] = {}
        self.quick: Callable[[], bool] = bool  # false, before the trace
        roots = [functools.partial(itself, value) for value in (function, *static)]
        found, names = _reachable(roots)
        self._reads_arrays = not names.isdisjoint(_OF_TENSORS)
        if not names.isdisjoint(_DRAWS):  # else another thread may be who draws
            self._sources += [(read, read()) for read in _OF_ALL]
        for read, value, is_known in found:
            if isinstance(value, Iterator) and not _is_users(type(value)):
                raise NotTraceable(f"reads from a {type(value).__name__}")
            if isinstance(value, np.random.Generator):
                read_state = functools.partial(getattr, value.bit_generator, "state")
                self._sources.append((read_state, read_state()))
            if isinstance(value, list | dict):
                self._before.append((value, value.copy()))
            if not is_known:
                self._same.append((read, value))
            if (state := _state(value)) is not None:
                self._states.append((read, state))
            if isinstance(value, Tensor):
                self._note(value)

    def _note(self, tensor: Tensor) -> None:
        if isinstance(tensor._array, np.ndarray | np.generic):
            self._tensors[id(tensor)] = tensor, tensor.array, tensor.requires_grad

    def refused_writes(self) -> AbstractContextManager[None]:
        """Refuse to write the tensors from outside: that would happen only while tracing."""
        memory = [writes_to(array) for _, array, _ in self._tensors.values()]
        return refused_writes([weakref.ref(writes) for writes in memory], _refuse)

    def traced(self, captured: Iterable[Tensor], read: Iterable[tuple[Any, Any]]) -> None:
        """Take note of what the trace has shown, and done.

        Parameters
        ----------
        captured : iterable of Tensor
            The tensors from outside that the function has met.
        read : iterable of pairs of arrays
            Arrays whose elements the function has read, and copies of them.
        """
        self._check_containers()
        if any(repr(read()) != repr(state) for read, state in self._sources):
            warnings.warn(
                "a compiled function draws random numbers, which happens only while it is traced: "
                "each call has the same numbers. Pass them as an argument, or draw them by "
                "arraygrad.random from a key",
                stacklevel=2,
            )
        self._sources.clear()
        # A function may note its calls in a list, which happens only while it is traced.
        self._states = [(read, state) for read, state in self._states if _state(read()) == state]
        for tensor in captured:
            self._note(tensor)
        pairs = list(read)
        arrays = [value for _, value in self._same if isinstance(value, np.ndarray)]
        if self._reads_arrays:
            arrays += [array for _, array, _ in self._tensors.values()]
        pairs += [(array, array) for array in arrays]
        distinct = {id(array): (array, copy) for array, copy in pairs}
        self._elements = [(array, _kept(array, copy)) for array, copy in distinct.values()]
        self.quick = self._expression().function()

    def _check_containers(self) -> None:
        """Raise if the function has put an array into a container from outside; and take it out."""
        leaked = False
        for now, before in self._before:
            values = now.values() if isinstance(now, dict) else now
            if any(isinstance(plain(v), Traced) for v in values):
                leaked = True
                if isinstance(now, dict):
                    now.clear()
                    now.update(before)
                else:
                    now[:] = before
        self._before.clear()
        if leaked:
            raise NotTraceable("puts arrays into a list or dictionary from outside")

    def _expression(self) -> Expression:
        found = Expression()
        found.same(stage, record if self._records else None)
        for tensor, array, requires_grad in self._tensors.values():
            found.tensor(tensor, array, requires_grad)
        for read, value in self._same:
            is_made_anew = isinstance(value, BuiltinMethodType | MethodWrapperType)
            (found.equal if is_made_anew else found.same)(read, value)
        for read, state in self._states:
            if state[0] in (list, tuple):
                found.length(read, *state)
            else:
                found.true(functools.partial(_has_state, read, state))
        for array, copy in self._elements:
            if copy.nbytes <= SMALL:
                found.equal(array.tobytes, copy.tobytes())
            else:
                found.true(functools.partial(_has_bits, array, copy))
        return found

    def compared(self) -> list[Any]:
        """The arrays from outside whose elements are compared in each call."""
        return [array for array, _ in self._elements]

    def hold(self) -> bool:
        """Whether everything is as it was."""
        if self.quick():
            return True
        if is_tracing() or (recorder() is not None) is not self._records:
            return False
        try:
            return self._is_same()
        except Exception:
            return False

    def _is_same(self) -> bool:
        for tensor, array, requires_grad in self._tensors.values():
            if tensor.array is not array or tensor.requires_grad is not requires_grad:
                return False
        for read, value in self._same:
            now = read()
            if now is not value and not _is_equal(now, value):
                return False
        for read, state in self._states:
            if _state(read()) != state:
                return False
        return all(_has_bits(array, copy) for array, copy in self._elements)


def _refuse() -> None:
    raise TypeError(WRITES_OUTSIDE)


def _is_equal(now: Any, value: Any) -> bool:
    """Whether two objects are the same number or text, or the same built-in method."""
    if isinstance(value, BuiltinMethodType | MethodWrapperType):  # made anew by each access
        return type(now) is type(value) and bool(now == value)
    return isinstance(value, Number | str) and type(now) is type(value) and repr(now) == repr(value)


def _state(value: Any) -> Any:
    """What may change of a container, but for its items."""
    if isinstance(value, dict):
        return type(value), tuple(map(id, value))
    return (type(value), len(value)) if isinstance(value, list | tuple) else None


def _has_state(read: Read, state: Any) -> bool:
    return bool(_state(read()) == state)


_memcmp = (ctypes.cdll.msvcrt if os.name == "nt" else ctypes.CDLL(None)).memcmp
_memcmp.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


# Copies of arrays, by their identities: several programs of a function share one.
_copies: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def _kept(array: Any, values: Any) -> Any:
    """A copy of the values that an array has, or had when they were read."""
    found = _copies.get(id(array))
    if found is None or not _has_bits(values, found):
        found = _copies[id(array)] = np.array(values, order="C")
    return found


def _has_bits(array: Any, copy: Any) -> bool:
    """Whether the elements are the same, bit by bit: -0.0 is not 0.0, and NaN is NaN."""
    if array.shape != copy.shape or array.dtype != copy.dtype:
        return False
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    return not copy.nbytes or _memcmp(*addresses_of((array, copy)), copy.nbytes) == 0


# --- what a function may read --------------------------------------------------------------------


class _Found(NamedTuple):
    """A value that a function may read.

    `is_known` says that it is known by its parts, so that an equal one can take its place.
    """

    read: Read
    value: Any
    is_known: bool


def _reachable(roots: Iterable[Read]) -> tuple[list[_Found], set[str]]:
    """All that functions and objects may read, and the names in the functions.

    Attributes are looked at if any of the functions has a name like theirs in it.
    """
    names: set[str] = set()
    while True:
        walk = _Walk(frozenset(names))
        found = [each for read in roots for each in walk.inside(read, read(), 0)]
        if walk.names <= names:
            return found, names
        names |= walk.names


class _Walk:
    """A walk over everything that can be reached."""

    def __init__(self, attributes: frozenset[str]) -> None:
        self.names: set[str] = set()  # in the functions that were met
        self._attributes = attributes
        self._by_text = not attributes.isdisjoint(_BY_TEXT)
        self._visited: dict[int, Any] = {}

    def inside(self, read: Read, value: Any, depth: int) -> Iterator[_Found]:
        """What can be reached from a value."""
        self._visited[id(value)] = value
        for part in self._parts(read, value):
            found = part()
            if found is _MISSING:
                if isinstance(part, _Attribute | _Item) and part.may_appear:
                    yield _Found(part, found, False)
                continue
            if isinstance(found, ModuleType) and not _is_of_user(found.__name__):
                continue
            is_new = self._goes_into(found, depth)
            yield _Found(part, found, is_new and isinstance(found, _TAKEN_APART))
            if is_new:
                yield from self.inside(part, found, depth + 1)

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
            if _is_users(value):
                own = {name for kind in value.__mro__[:-1] for name in vars(kind)}
                yield from (_Attribute(read, n) for n in self._names_in(own))
        else:
            # An object of arraygrad may say what of it can change.
            yield from (_Attribute(read, name) for name in getattr(value, "__guarded__", ()))
            if _is_users(type(value)) or type(value) in _NAMESPACES:
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
            elif _is_users(kind):
                yield _Attribute(functools.partial(itself, kind), name)
                if not isinstance(of_kind, property):
                    yield _Item(functools.partial(itself, own), name, may_appear=True)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a variable that has no value
        return _MISSING


# Ways to read attributes by texts, and the parts of tensors that give their values to NumPy.
_BY_TEXT = {"getattr", "hasattr", "vars", "__dict__", "attrgetter"}
_OF_TENSORS = {"array", "_array", "data"}
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


_INSTALLED = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib")})
_OURS = __name__.partition(".")[0]


@functools.lru_cache(4096)
def _is_of_user(module: str) -> bool:
    """Whether a module is the user's: those that are installed do not change what they compute."""
    if module.partition(".")[0] in (_OURS, "builtins"):
        return False
    place = getattr(sys.modules.get(module), "__file__", None) or ""
    return "site-packages" not in place and not place.startswith(_INSTALLED)


def _is_installed(function: FunctionType) -> bool:
    """Whether a function has its name in a module that is not the user's: it stays as it is."""
    module = function.__module__ or ""
    named = getattr(sys.modules.get(module), function.__name__, None)
    return named is function and not _is_of_user(module)


def _is_users(thing: Any) -> bool:
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
