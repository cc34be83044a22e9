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


def numpy_name(name: str) -> Any:
    """The object of arraygrad for a name of NumPy; None if either of them does not have it."""
    if name not in np.__all__:  # others may warn, or import much
        return None
    if name in _JOINED:
        return _JOINED[name]
    found: Any = getattr(np, name)
    if name == "lib":  # its functions call ours, by NumPy's protocols
        return found
    try:
        return CALLS.get(found) if isinstance(found, np.ufunc) else rules().get(found)
    except TypeError:  # it cannot be hashed, so it is no function
        return None


def numpy_rule(function: AnyFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The rule of NumPy's function of the same name; None if that does not take the arguments.

    It is asked for arguments that `function` does not take, such as ``dtype=`` of `mean`.
    """
    name = function.__name__
    rule = numpy_name(name)
    if rule is None or getattr(ops, name, None) is not function:
        return None
    try:
        inspect.signature(getattr(np, name)).bind(*args, **kwargs)
    except (TypeError, ValueError):  # ValueError: an older NumPy does not know its signature
        return None
    return rule
