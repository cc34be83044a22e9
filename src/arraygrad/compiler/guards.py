"""Guards notice that a variable from outside, which a traced function read, has changed.

A traced function is not run again, so it does not see that a variable was bound to another array or
number. Guards look at the variables of the function, and of the user's functions that it calls by
name: those of enclosing functions, and global ones. Elements that were written in place need no
guard: programs refer to the arrays themselves.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from numbers import Number
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from ..arrays.tensor import Tensor
from ..core.array import Array

_MISSING = object()


class Guards:
    """The variables that a function may read, with the values that they had.

    `masks` has pairs of masks and copies of them: the program depends on their elements.
    """

    def __init__(self, function: Any) -> None:
        self.masks: list[tuple[Any, Any]] = []
        self.seen = [
            (read, value, _state(value))
            for read, value in _variables(function, set())
            if isinstance(value, Array | np.ndarray | np.generic | Number | str | None)
        ]

    def hold(self) -> bool:
        """Whether all variables still have these values."""
        for read, value, state in self.seen:
            now = read()
            if now is not value and (type(now) is not type(value) or not _is_equal(now, value)):
                return False
            if state is not None and _state(now) != state:
                return False
        return all(np.array_equal(mask, copy) for mask, copy in self.masks)


def _state(value: Any) -> Any:
    """What may change of a tensor, besides its elements."""
    return (value.requires_grad, id(value.array)) if isinstance(value, Tensor) else None


def _is_equal(now: Any, value: Any) -> bool:
    return isinstance(value, Number | str) and repr(now) == repr(value)


Read = Callable[[], Any]


def _variables(function: Any, visited: set[int]) -> Iterator[tuple[Read, Any]]:
    """The variables of a function and of the functions that it names: how to read each, its value.

    Functions of installed packages are left out: they do not change what they compute.
    """
    while isinstance(function, functools.partial | MethodType) or hasattr(function, "__wrapped__"):
        if isinstance(function, functools.partial):
            function = function.func
        else:
            function = getattr(function, "__wrapped__", None) or function.__func__
    if not isinstance(function, FunctionType) or id(function) in visited:
        return
    visited.add(id(function))
    if "site-packages" in function.__code__.co_filename or _is_ours(function):
        return
    found: list[tuple[Read, Any]] = []
    for cell in function.__closure__ or ():
        contents: Read = functools.partial(getattr, cell, "cell_contents", _MISSING)
        found.append((contents, contents()))
    names = function.__globals__
    found += [
        (functools.partial(names.get, name, _MISSING), names[name])
        for name in sorted(_names(function.__code__))
        if name in names
    ]
    for read, value in found:
        yield read, value
        yield from _variables(value, visited)


def _is_ours(function: FunctionType) -> bool:
    return str(function.__module__).partition(".")[0] == __name__.partition(".")[0]


def _names(code: Any) -> set[str]:
    """The names that a function reads, with those of the functions written inside it."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            found |= _names(constant)
    return found
