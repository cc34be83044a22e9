"""NumPy's names and arguments for arraygrad's own functions, where the standard has others.

The rules that NumPy's functions have are what runs: ``ag.cumsum`` is the rule of ``np.cumsum``.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ... import ops
from ...core.array import AnyFunction
from .functions import rules
from .rules.common import array_of
from .ufuncs import CALLS


class _Joined:
    """`r_` and `c_`: arrays, numbers and slices, joined by indexing.

    NumPy's own objects of these names take only values.
    """

    def __init__(self, join: AnyFunction) -> None:
        self._join = join

    def __getitem__(self, items: Any) -> Any:
        items = items if isinstance(items, tuple) else (items,)
        if any(isinstance(item, str) for item in items):
            raise TypeError("a text among the items is not supported: use stack() or concat()")
        parts = [array_of(np.r_[item] if isinstance(item, slice) else item) for item in items]
        return self._join([ops.atleast_1d(part) for part in parts])


_JOINED = {"r_": _Joined(ops.concat), "c_": _Joined(ops.column_stack)}


# What calls our functions, by NumPy's protocols.
_CALLING = ("lib", "poly1d", "polynomial")


def numpy_attribute(module: str, name: str) -> Any:
    """What `arraygrad`, `arraygrad.linalg` or `arraygrad.fft` has under a name of NumPy."""
    _, _, part = module.partition(".")
    found = numpy_name(name, getattr(np, part) if part else np)
    if found is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    return found


def numpy_name(name: str, space: Any = np) -> Any:
    """The object of arraygrad for a name of NumPy; None if either of them does not have it."""
    if name not in space.__all__:  # others may warn, or import much
        return None
    if name in _JOINED:
        return _JOINED[name]
    found: Any = getattr(space, name)
    if name in _CALLING:
        return found
    try:
        if isinstance(found, type) and issubclass(found, np.number):
            return np.dtype(found)
        return CALLS.get(found) if isinstance(found, np.ufunc) else rules().get(found)
    except TypeError:  # it cannot be hashed, so it is no function; or it is an abstract dtype
        return None


def numpy_rule(function: AnyFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The rule of NumPy's function of the same name; None if that does not take the arguments.

    It is asked for arguments that `function` does not take, such as ``dtype=`` of `mean`.
    """
    name = function.__name__
    rule = numpy_name(name)
    if rule is None or rule is function or getattr(ops, name, None) is not function:
        return None
    try:
        inspect.signature(getattr(np, name)).bind(*args, **kwargs)
    except (TypeError, ValueError):  # ValueError: an older NumPy does not know its signature
        return None
    return rule
