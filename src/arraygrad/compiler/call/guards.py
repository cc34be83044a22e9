"""Guards notice that something from outside, which a traced function read, has changed.

A traced function is not run again, so it does not see that a variable was bound to another value.
Guards look at all that the function may read (see `reachable`).

A program refers to the tensors that it reads, so elements that are written need no guard. NumPy's
arrays are compared bit by bit, as nobody sees what NumPy computes from them; so are tensors whose
values Python has read.
"""

from __future__ import annotations

import ctypes
import functools
import io
import os
import random
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from numbers import Number
from types import (
    BuiltinMethodType,
    MethodWrapperType,
)
from typing import Any, NamedTuple

import numpy as np

from ...arrays.tensor import Tensor
from ...core.array import plain
from ...core.modes import is_tracing
from ...core.nodes import record, recorder, stage
from ...core.structures import taken_apart
from ...core.versions import refused_writes, writes_to
from ..llvm.objects import addresses_of
from ..trace.traced import Traced
from .quick import Expression
from .reachable import CONTAINERS, MAPPINGS, Read, is_users, reachable
from .tracing import WRITES_OUTSIDE, NotTraceable

SMALL = 4096  # bytes of an array that are compared as one object of Python

_OF_TENSORS = {"array", "_array", "data"}  # the parts of tensors that give their values to NumPy


def _of_numpy(source: Any = np.random) -> Any:
    """The state of a source of NumPy's older kind: that of `numpy.random.normal`, or another."""
    state: Any = source.get_state()
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
        # Arrays, and copies of them from before the trace: the program depends on their elements.
        self._elements: dict[int, tuple[Any, Any]] = {}
        self._before: list[tuple[Any, Any]] = []  # containers, and copies of them
        # Sources of random numbers, as functions that give their states, and these states.
        self._sources: list[tuple[Read, Any]] = []
        self._same: list[tuple[Read, Any]] = []
        self._contents: list[tuple[Read, Contents]] = []
        # Tensors, with their arrays, and whether they require gradients.
        self._tensors: dict[int, tuple[Tensor, Any, bool]] = {}
        self.quick: Callable[[], bool] = bool  # false, before the trace
        found, names, is_whole = reachable(function, *static)
        if not is_whole:
            raise NotTraceable("reads too much from outside to notice all changes")
        self._reads_arrays = not names.isdisjoint(_OF_TENSORS)
        if not names.isdisjoint(_DRAWS):  # else another thread may be who draws
            self._sources += [(read, read()) for read in _OF_ALL]
        for root in (function, *static):
            self._remember(root)
        for read, value, is_known in found:
            is_file = isinstance(value, io.IOBase)  # to print to
            if isinstance(value, Iterator) and not is_file and not is_users(type(value)):
                raise NotTraceable(f"reads from a {type(value).__name__}")
            if (source := _source(value)) is not None:
                self._sources.append((source, source()))
            self._remember(value)
            if isinstance(value, CONTAINERS):
                self._contents.append((read, Contents.of(value)))
            if isinstance(value, np.ndarray):
                self._elements[id(value)] = value, _kept(value, value)
            if not is_known:
                self._same.append((read, value))
            if isinstance(value, Tensor):
                self._note(value)

    def _remember(self, value: Any) -> None:
        """Copy a container, or the attributes of a user's object, which the function may change."""
        attributes = getattr(value, "__dict__", None) if is_users(type(value)) else None
        for found in (value, attributes):
            if isinstance(found, list | dict | set | deque):
                self._before.append((found, found.copy()))

    def _note(self, tensor: Tensor) -> None:
        if isinstance(tensor._array, np.ndarray | np.generic):
            self._tensors[id(tensor)] = tensor, tensor.array, tensor.requires_grad

    def refused_writes(self) -> AbstractContextManager[None]:
        """Refuse to write the tensors from outside: that would happen only while tracing."""
        memory = [writes_to(array) for _, array, _ in self._tensors.values()]
        return refused_writes([weakref.ref(writes) for writes in memory], _refuse)

    def traced(
        self,
        captured: Iterable[Tensor] = (),
        read: Iterable[tuple[Any, Any]] = (),
        reads: Iterable[tuple[Read, Any]] = (),
    ) -> None:
        """Take note of what the trace has shown, and done.

        Parameters
        ----------
        captured : iterable of Tensor
            The tensors from outside that the function has met.
        read : iterable of pairs of arrays
            Arrays whose elements the function has read, and copies of them.
        reads : iterable of pairs
            Functions that read what the function has read of tensors, with what it was.
        """
        self._same += reads
        self._check_leaks()
        if any(repr(read()) != repr(state) for read, state in self._sources):
            warnings.warn(
                "a compiled function draws random numbers, which happens only while it is traced: "
                "each call has the same numbers. Pass them as an argument, or draw them by "
                "arraygrad.random from a key",
                stacklevel=2,
            )
        self._sources.clear()
        for tensor in captured:
            self._note(tensor)
        pairs = list(read)
        if self._reads_arrays:
            pairs += [(array, array) for _, array, _ in self._tensors.values()]
        for array, copy in pairs:
            self._elements.setdefault(id(array), (array, _kept(array, copy)))
        self.quick = self._expression().function()

    def _check_leaks(self) -> None:
        """Raise if the function has put an array into something from outside; and take it out."""
        leaked = any(_leaks(read, value) for read, value in self._same)
        for now, before in self._before:
            found, known = (x.values() if isinstance(x, dict) else x for x in (now, before))
            old = set(map(id, known))
            if any(id(v) not in old and _has_traced(v) for v in found):
                leaked = True
                now.clear()
                now.extend(before) if isinstance(now, list | deque) else now.update(before)
        self._before.clear()
        if leaked:
            raise NotTraceable("puts arrays into a variable, a container or an object from outside")

    def _expression(self) -> Expression:
        found = Expression()
        found.same(stage, record if self._records else None)
        for tensor, array, requires_grad in self._tensors.values():
            found.tensor(tensor, array, requires_grad)
        for read, value in self._same:
            (found.equal if isinstance(value, _MADE_ANEW) else found.same)(read, value)
        for read, contents in self._contents:
            found.contents(read, *contents)
        for array, copy in self._elements.values():
            if copy.nbytes <= SMALL:
                found.equal(array.tobytes, copy.tobytes())
                found.equal(functools.partial(getattr, array, "shape"), copy.shape)
                found.same(functools.partial(getattr, array, "dtype"), array.dtype)
            else:
                found.true(functools.partial(_has_bits, array, copy))
        return found

    def compared(self) -> list[Any]:
        """The arrays from outside whose elements are compared in each call."""
        return [array for array, _ in self._elements.values()]

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
        if not all(contents.are_in(read()) for read, contents in self._contents):
            return False
        return all(_has_bits(array, copy) for array, copy in self._elements.values())


def _has_traced(value: Any) -> bool:
    """Whether there is an array of a trace in a value."""
    return any(isinstance(plain(leaf), Traced) for leaf in taken_apart(value)[0])


def _leaks(read: Read, value: Any) -> bool:
    """Whether an array of a trace has taken the place of what was read from outside."""
    try:
        now = read()
    except Exception:  # it is gone
        return False
    return now is not value and _has_traced(now)


def _refuse() -> None:
    raise TypeError(WRITES_OUTSIDE)


# What each access makes anew: built-in methods, and the bytes of a buffer.
_MADE_ANEW = (BuiltinMethodType, MethodWrapperType, bytes)


def _is_equal(now: Any, value: Any) -> bool:
    """Whether two objects are the same number or text, or the same built-in method."""
    if isinstance(value, _MADE_ANEW):
        return type(now) is type(value) and bool(now == value)
    return isinstance(value, Number | str) and type(now) is type(value) and repr(now) == repr(value)


class Contents(NamedTuple):
    """The type of a container, and its items; of a mapping its keys, and its values."""

    kind: type
    items: tuple[Any, ...]
    values: tuple[Any, ...]

    @classmethod
    def of(cls, container: Any) -> Contents:
        """The contents that a container has."""
        values = tuple(container.values()) if isinstance(container, MAPPINGS) else ()
        return cls(type(container), tuple(container), values)

    def are_in(self, container: Any) -> bool:
        """Whether a container has equal objects. Containers inside it have guards of their own."""
        now = Contents.of(container)
        if now.kind is not self.kind or len(now.items) != len(self.items):
            return False
        pairs = zip((*now.items, *now.values), (*self.items, *self.values), strict=True)
        return all(a is b or isinstance(b, CONTAINERS) or _is_equal(a, b) for a, b in pairs)


def _source(value: Any) -> Read | None:
    """A function that gives the state of a source of random numbers; None for other objects."""
    if isinstance(value, np.random.Generator):
        return functools.partial(getattr, value.bit_generator, "state")
    if isinstance(value, np.random.RandomState):
        return functools.partial(_of_numpy, value)
    return value.getstate if isinstance(value, random.Random) else None


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
