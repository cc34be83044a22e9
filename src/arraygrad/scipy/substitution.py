"""Functions with other arrays: in their closures, in their defaults, in containers there."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

from ..core.array import Array
from ..core.cpython import assigned_from_closure

# SciPy's classes whose objects only hold arrays and functions.
_RECORDS = ("Bounds", "LinearConstraint", "NonlinearConstraint")


def is_record(item: Any) -> bool:
    """Whether an object of SciPy only holds arrays and functions, as attributes."""
    kind = type(item)
    return kind.__name__ in _RECORDS and kind.__module__.startswith("scipy.optimize")


def with_attributes(item: Any, attributes: dict[str, Any]) -> Any:
    """A copy of a record with other attributes."""
    new = copy.copy(item)
    vars(new).update(attributes)
    return new


def substituted(item: Any, replace: Callable[[Any], Any], known: dict[int, Any]) -> Any:
    """A copy with other arrays: in containers, in closures, in defaults of functions.

    What has no arrays in it stays the same object. `known` has the copies made so far.
    """
    if isinstance(item, Array):
        return replace(item)
    kind = type(item)
    if kind not in (list, tuple, dict, FunctionType, functools.partial) and not (
        (isinstance(item, tuple) and hasattr(item, "_fields")) or is_record(item)
    ):
        return item
    if id(item) in known:
        return known[id(item)][1]
    known[id(item)] = item, item  # also for what contains itself; the item must live

    def part(value: Any) -> Any:
        return substituted(value, replace, known)

    if kind is dict:
        new: Any = {key: part(value) for key, value in item.items()}
        same = all(new[key] is value for key, value in item.items())
    elif kind is FunctionType:
        new = _copied(item, part)
        same = new is item
    elif is_record(item):
        attributes = part(vars(item))
        same = attributes is vars(item)
        new = item if same else with_attributes(item, attributes)
    elif kind is functools.partial:
        args, keywords, function = part(item.args), part(item.keywords), part(item.func)
        same = args is item.args and keywords is item.keywords and function is item.func
        new = item if same else functools.partial(function, *args, **keywords)
    else:
        parts = [part(value) for value in item]
        same = all(a is b for a, b in zip(parts, item, strict=True))
        new = item if same else kind(*parts) if hasattr(item, "_fields") else kind(parts)
    result = item if same else new
    known[id(item)] = item, result
    return result


def _copied(function: FunctionType, part: Callable[[Any], Any]) -> FunctionType:
    cells = function.__closure__ or ()
    assigned = assigned_from_closure(function.__code__) if cells else ()
    closure = []
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        closure.append(cell if name in assigned else _cell(cell, part))
    defaults, keywords = part(function.__defaults__), part(function.__kwdefaults__)
    if (
        all(a is b for a, b in zip(closure, cells, strict=True))
        and defaults is function.__defaults__
        and keywords is function.__kwdefaults__
    ):
        return function
    new = FunctionType(
        function.__code__, function.__globals__, function.__name__, defaults, tuple(closure)
    )
    new.__kwdefaults__ = keywords
    new.__dict__.update(function.__dict__)
    new.__dict__.pop("__wrapped__", None)
    return new


def _cell(cell: CellType, part: Callable[[Any], Any]) -> CellType:
    try:
        contents = cell.cell_contents
    except ValueError:  # empty
        return cell
    new = part(contents)
    return cell if new is contents else CellType(new)
