"""What a function may read from outside: a walk over all that it reaches.

The walk goes through variables of enclosing functions and global variables, attributes of objects,
classes and the user's modules, and items of containers. It goes into the user's functions and
methods that are called by name, and the modules that they import. It looks at all attributes of an
object of an installed package: nobody knows which of them the package reads. The standard library's
objects are not looked into, but for containers, buffers and context variables.
"""

from __future__ import annotations

import builtins
import ctypes
import dis
import functools
import importlib.util
import re
import sys
from argparse import Namespace
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from numbers import Number
from operator import attrgetter, methodcaller
from types import (
    BuiltinMethodType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    NoneType,
    SimpleNamespace,
)
from typing import Any, NamedTuple
from weakref import ReferenceType

import numpy as np

from ...core.cpython import is_library_file
from ...ops.define.op import Op
from ...ops.define.rules import Rule
from .tracing import NotTraceable

MISSING = object()
_UNSET = object()  # the value of a context variable that has none
MAPPINGS = (dict, MappingProxyType)
CONTAINERS = (*MAPPINGS, list, tuple, set, frozenset, deque)
_TAKEN_APART = (*CONTAINERS, MethodType)  # which may be made anew with the same parts
_OF_C = (ctypes._SimpleCData, ctypes.Array, ctypes.Structure, ctypes.Union)
_BUFFERS = (array, bytearray, memoryview, *_OF_C)
DEEPEST = 40  # containers inside each other that may be made anew
MOST = 50_000  # values that are looked at

Read = Callable[[], Any]


def itself(value: Any) -> Any:
    """Reads a value that is always the same."""
    return value


class Found(NamedTuple):
    """A value that a function may read.

    `is_known` says that other guards notice if it is replaced: those of its parts, so that an equal
    value can take its place, or that of the container which it is an item of.
    """

    read: Read
    value: Any
    is_known: bool


class Reach(NamedTuple):
    """All that functions and objects may read.

    `names` are the names in the functions. `is_whole` says whether all of it was looked at.
    """

    found: list[Found]
    names: set[str]
    is_whole: bool


def reachable(*roots: Any) -> Reach:
    """All that functions and objects may read.

    Attributes are looked at if any of the functions has a name like theirs in it.
    """
    names: set[str] = set()
    texts: set[str] = set()
    while True:
        walk = _Walk(frozenset(names), frozenset(texts))
        walk.go_through(roots)
        is_last = walk.names <= names and walk.texts <= texts
        names |= walk.names
        texts |= walk.texts
        if is_last or not walk.chose:  # another walk would find the same
            return Reach(walk.found, names, len(walk.found) < MOST)


class _Walk:
    """A walk over everything that can be reached."""

    def __init__(self, attributes: frozenset[str], texts: frozenset[str]) -> None:
        self.found: list[Found] = []
        # The names in the functions that were met, and the texts by which they may read attributes.
        self.names: set[str] = set()
        self.texts: set[str] = set()
        self._attributes, self._texts = attributes | texts, texts
        self._by_text = not attributes.isdisjoint(_BY_TEXT)
        self.chose = False  # whether anything was met whose attributes are chosen by names
        self._visited: dict[int, Any] = {}

    def go_through(self, roots: Iterable[Any]) -> None:
        """Find what can be reached from some values."""
        rest: list[tuple[Read, Any, int]] = []
        for root in roots:
            _check(root)
            self._visited[id(root)] = root
            rest.append((functools.partial(itself, root), root, 0))
        while rest and len(self.found) < MOST:
            read, value, depth = rest.pop()
            for part in self._parts(read, value):
                found = part()
                if found is MISSING:
                    if isinstance(part, _Attribute | _Item) and part.may_appear:
                        self.found.append(Found(part, found, False))
                    continue
                _check(found)
                if isinstance(found, ModuleType) and not _is_of_user(found.__name__):
                    continue
                is_new = self._goes_into(found)
                if isinstance(found, _TAKEN_APART):
                    is_known = is_new and depth < DEEPEST
                else:
                    is_item = not isinstance(part, _Attribute) and getattr(part, "of", read) is read
                    is_known = is_item and isinstance(value, CONTAINERS)
                self.found.append(Found(part, found, is_known))
                if not is_new:
                    continue
                self._visited[id(found)] = found
                if is_known and isinstance(found, _TAKEN_APART):
                    rest.append((part, found, depth + 1))
                else:  # a guard asks for this very object
                    rest.append((functools.partial(itself, found), found, 0))

    def _goes_into(self, value: Any) -> bool:
        if id(value) in self._visited:
            return False
        return not (isinstance(value, FunctionType) and _is_installed(value))

    def _parts(self, read: Read, value: Any) -> Iterator[Read]:
        """How to read each part of a value."""
        if isinstance(value, FunctionType):
            yield from self._variables(value)
        elif isinstance(value, MAPPINGS):
            yield from (_Item(read, key) for key in value)
        elif isinstance(value, set | frozenset):
            yield from (functools.partial(itself, item) for item in value)
        elif isinstance(value, CONTAINERS):
            yield from (_Item(read, i) for i in range(len(value)))
        elif isinstance(value, _BUFFERS):
            yield functools.partial(bytes, value)
        elif isinstance(value, np.ndarray) and value.dtype.hasobject:
            items = [item for item in value.flat if not isinstance(item, Number | str | NoneType)]
            yield functools.partial(itself, items)
        elif isinstance(value, attrgetter | methodcaller):
            given = value.__reduce__()[1]
            self.names.update(n for text in given if isinstance(text, str) for n in text.split("."))
            yield functools.partial(itself, given)
        elif isinstance(value, ContextVar):
            yield functools.partial(value.get, _UNSET)
        elif isinstance(value, tuple(_PARTS)):
            if isinstance(value, BuiltinMethodType):
                self.names.add(value.__name__)  # `getattr` itself, as a value
            kind = next(kind for kind in _PARTS if isinstance(value, kind))
            yield from (_Attribute(read, name) for name in _PARTS[kind])
        elif isinstance(value, ModuleType):
            yield from (_Attribute(read, n) for n in self._names_in(vars(value)))
        elif isinstance(value, type):
            if is_users(value):
                own = {name for kind in value.__mro__[:-1] for name in vars(kind)}
                own = {*self._names_in(own), *filter(self._is_called_by_python, own)}
                yield from (_Attribute(read, n) for n in sorted(own))
            if is_users(type(value)):
                yield _Attribute(read, "__class__")
                yield from self._of_type(read, value, vars(value))
        elif isinstance(value, ReferenceType):
            yield value
        elif isinstance(value, Op):  # a program calls what computes a user's op; rules become steps
            names = () if value.is_library else ("rules", "slopes", "joint", "jvp", "own")
            yield from (_Attribute(read, name) for name in names)
        elif isinstance(value, Rule):
            yield _Attribute(read, "function")
        else:
            # An object of arraygrad may say what of it can change.
            yield from (_Attribute(read, name) for name in getattr(type(value), "__guarded__", ()))
            if is_users(type(value)) or type(value) in _NAMESPACES:
                yield from self._of_object(read, value)
            elif hasattr(value, "__wrapped__"):
                yield _Attribute(read, "__wrapped__")
            elif _is_of_package(type(value)):
                yield from (_Attribute(read, name) for name in _attributes_of(value))
        if isinstance(value, CONTAINERS) and is_users(type(value)):
            yield from self._of_object(read, value)

    def _is_called_by_python(self, name: str) -> bool:
        """Whether Python calls a method of a user: for operators, items, attributes, `with`, ..."""
        if name in _BY_FUNCTIONS:
            return name.strip("_") in self._attributes
        return name.startswith("__") and name.endswith("__") and name not in _NEVER_CALLED

    def _names_in(self, own: Iterable[str]) -> list[str]:
        """Which of some attributes a function may read. By a text, it may read any of them."""
        self.chose = True
        if self._by_text:
            return sorted(name for name in own if not name.startswith("__"))
        return sorted(self._attributes.intersection(own))

    def _variables(self, function: FunctionType) -> Iterator[Read]:
        op = getattr(function, "op", None)
        if isinstance(op, Op):  # the function that runs an op
            yield functools.partial(itself, op)
            return
        for cell in function.__closure__ or ():
            if _content(cell) is not MISSING:
                yield functools.partial(getattr, cell, "cell_contents")
        # By where it was written: a wrapper has the module of the function that it wraps.
        if not _is_of_user(str(function.__globals__.get("__name__"))):
            return
        yield functools.partial(getattr, function, "__code__")  # which reloading replaces
        if function.__dict__:
            read = functools.partial(itself, function)
            yield from (_Attribute(read, n) for n in self._names_in(function.__dict__))
        variables: set[str] = set()
        for code in _codes(function.__code__):
            names, implied = _reads(code)
            self.names.update(code.co_names, implied)
            variables |= names
            if not _MISSED.isdisjoint(code.co_names):
                self.texts.update(code.co_names)
            for name in _imported(code, function.__globals__.get("__package__")):
                yield _Item(functools.partial(itself, sys.modules), name, may_appear=True)
            if not _BY_TEXT.isdisjoint(code.co_names):
                texts = {c for c in code.co_consts if isinstance(c, str)}
                if not _RUNS_TEXT.isdisjoint(code.co_names):
                    texts = set(re.findall(r"\w+", " ".join(texts)))
                texts = {text for text in texts if text.isidentifier()}
                self.texts |= texts
                variables |= texts
        for name in sorted(variables):
            if name in function.__globals__:
                yield functools.partial(function.__globals__.get, name, MISSING)
                continue
            yield _Item(functools.partial(itself, function.__globals__), name, may_appear=True)
            if name not in _BUILT_IN:
                yield _Item(functools.partial(itself, vars(builtins)), name, may_appear=True)
        for name in ("__defaults__", "__kwdefaults__"):
            if getattr(function, name):
                yield functools.partial(getattr, function, name)

    def _of_object(self, read: Read, value: Any) -> Iterator[Read]:
        """The attributes of a user's object, and those of its type, as methods are."""
        own = getattr(value, "__dict__", {})
        if hasattr(value, "__dict__") and not _OF_ALL_NAMES.isdisjoint(self._attributes):
            yield _Attribute(read, "__dict__")
        else:
            yield from (_Attribute(read, name) for name in self._names_in(own))
        if not _OF_TYPES.isdisjoint(self._attributes):
            yield _Attribute(read, "__class__")
        yield from self._of_type(read, value, own)

    def _of_type(self, read: Read, value: Any, own: Any) -> Iterator[Read]:
        """The attributes that an object has by its type, not among its own."""
        kind = type(value)
        called = {
            name
            for base in kind.__mro__
            if is_users(base)
            for name, member in vars(base).items()
            if isinstance(member, FunctionType) and self._is_called_by_python(name)
        } - _OF_NEW_OBJECTS
        for name in sorted((self._attributes | called).difference(own)):
            where = [base for base in kind.__mro__ if name in vars(base)]
            if not where:
                if name in self._texts:  # as in getattr(value, name, default)
                    yield _Attribute(read, name, may_appear=True)
                continue
            first = vars(where[0])[name]
            if isinstance(first, MemberDescriptorType) or not hasattr(type(first), "__get__"):
                yield _Attribute(read, name)  # of the object, where it may appear later
                continue
            if is_users(kind) and isinstance(first, _METHODS):
                yield _Attribute(functools.partial(itself, kind), name)
            # A method may call that of a base, by super().
            for base in where[isinstance(first, _METHODS) :]:
                if is_users(base):
                    yield _Item(functools.partial(itself, vars(base)), name)
            if is_users(kind) and not hasattr(type(first), "__set__"):
                yield _Item(functools.partial(itself, own), name, may_appear=True)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a variable that has no value
        return MISSING


# Ways to read attributes by texts.
_RUNS_TEXT = {"eval", "exec"}
_BY_TEXT = {"getattr", "__getattribute__", "hasattr", "vars", "globals", "__dict__", "attrgetter"}
_BY_TEXT |= _RUNS_TEXT
_NAMESPACES = (SimpleNamespace, Namespace)

# Objects that hold functions, and the names of their parts.
_PARTS: dict[type, tuple[str, ...]] = {
    MethodType: ("__self__", "__func__"),
    BuiltinMethodType: ("__self__",),
    functools.partial: ("func", "args", "keywords"),
    classmethod: ("__func__",),
    staticmethod: ("__func__",),
    property: ("fget",),
    functools.cached_property: ("func",),
    type({}.keys()): ("mapping",),
    type({}.values()): ("mapping",),
    type({}.items()): ("mapping",),
}
_METHODS = (FunctionType, classmethod, staticmethod, property)
_OF_NEW_OBJECTS = {"__init__", "__new__", "__post_init__"}
_NEVER_CALLED = {"__del__", "__delattr__", "__reduce__", "__setattr__"}
_BY_FUNCTIONS = {"__hash__", "__repr__", "__str__"}  # called by `hash`, `repr`, `str`
_OF_TYPES = {"isinstance", "issubclass", "type"}  # functions that read the type of an object
_OF_ALL_NAMES = {"vars", "dir", "__dict__"}  # ways to find out which attributes there are
_MISSED = {"AttributeError", "Exception"}  # by which a function goes on if there is no attribute
_BUILT_IN = frozenset(vars(builtins))


def _check(value: Any) -> None:
    """Refuse an object that does not say what it is."""
    try:
        value.__class__  # noqa: B018
    except Exception as error:
        reason = f"reads from a {type(value).__name__}, whose __class__ cannot be read"
        raise NotTraceable(reason) from error


class _Attribute:
    """Reads an attribute of what another object reads."""

    __slots__ = ("may_appear", "name", "of")

    def __init__(self, of: Read, name: str, may_appear: bool = False) -> None:
        self.of, self.name, self.may_appear = of, name, may_appear

    def __call__(self) -> Any:
        try:
            return getattr(self.of(), self.name, MISSING)
        except Exception:  # of a property
            return MISSING


class _Item:
    """Reads an item of the container that another object reads."""

    __slots__ = ("key", "may_appear", "of")

    def __init__(self, of: Read, key: Any, may_appear: bool = False) -> None:
        self.of, self.key, self.may_appear = of, key, may_appear

    def __call__(self) -> Any:
        try:
            return self.of()[self.key]
        except LookupError:
            return MISSING


_OURS = __name__.partition(".")[0]
_MEMBERS = (MemberDescriptorType, GetSetDescriptorType)
# Modules of the standard library whose objects hold values of users.
_OF_CONTAINERS = {"collections", "configparser", "contextlib", "functools", "queue"}
_OF_CONTAINERS |= {"weakref", "_weakrefset"}


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


def _is_of_package(kind: type) -> bool:
    """Whether a class is of an installed package, or a container of the standard library."""
    top = str(kind.__module__).partition(".")[0]
    return top in _OF_CONTAINERS or (top != _OURS and top not in sys.stdlib_module_names)


def _attributes_of(value: Any) -> list[str]:
    """The names of all attributes that an object has itself."""
    slots = [getattr(kind, "__slots__", ()) for kind in type(value).__mro__]
    own = {name for names in slots for name in ([names] if isinstance(names, str) else names)}
    own.update(getattr(value, "__dict__", ()))
    if not isinstance(value, np.ndarray | np.generic | np.dtype | np.ufunc):
        for kind in type(value).__mro__[:-1]:  # what is written in C, if it is not made anew
            of_c = [n for n, x in vars(kind).items() if isinstance(x, _MEMBERS)]
            own.update(n for n in of_c if _is_kept(value, n))
    return sorted(own - {"__dict__", "__weakref__"})


def _is_kept(value: Any, name: str) -> bool:
    """Whether an attribute is the same object each time, and not a list of who shares memory."""
    read = _Attribute(functools.partial(itself, value), name)
    found = read()
    refers = isinstance(found, list) and any(isinstance(x, ReferenceType) for x in found)
    return found is read() and not refers


@functools.lru_cache(4096)
def _reads(code: Any) -> tuple[frozenset[str], frozenset[str]]:
    """The global variables of a function, and the functions that its syntax stands for.

    The variables are not the attributes, whose names may be equal.
    """
    variables: set[str] = set()
    functions: set[str] = set()
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL"):
            variables.add(step.argval)
        elif step.opname == "MATCH_CLASS":
            functions.update(("isinstance", "getattr"))
        elif step.opname.startswith(("FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC")):
            functions.update(("repr", "str"))
    return frozenset(variables), frozenset(functions)


@functools.lru_cache(4096)
def _imported(code: Any, package: str | None) -> frozenset[str]:
    """The modules that a function imports."""
    found: set[str] = set()
    if not {"import_module", "__import__"}.isdisjoint(code.co_names):
        found.update(c for c in code.co_consts if isinstance(c, str) and c in sys.modules)
    steps = list(dis.get_instructions(code))
    for i, step in enumerate(steps):
        if step.opname == "IMPORT_NAME":
            level = steps[i - 2].argval
            name = importlib.util.resolve_name("." * level + step.argval, package)
            found.update((name, name.partition(".")[0]))
    return frozenset(found)


def _codes(code: Any) -> Iterator[Any]:
    """The code of a function, and those of the functions written inside it."""
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            yield from _codes(constant)
