"""Lending: while a function is closed, variables of functions around it hold arrays of its body.

A branch or a body that may never run must not compute anything outside of itself: an op on arrays
from outside alone would be done in any case, and its derivative could be infinite times zero. So
these arrays must be arguments, too. They are found in the variables that the function, and the
functions that it refers to, share with the functions around them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import Any

from ...core.array import Array, plain
from ..trace.traced import Traced

OWN = __name__.split(".")[0]


@contextmanager
def lent(function: Any, lift: Callable[[Any], Any]) -> Iterator[None]:
    """Let variables that hold arrays of a trace hold what `lift` makes of them."""
    held = [(thing, name, getattr(thing, name)) for thing, name in _variables(function)]
    known: dict[int, Any] = {}

    def lifted(array: Any) -> Any:
        if id(array) not in known:  # which `held` keeps alive
            known[id(array)] = lift(array)
        return known[id(array)]

    try:
        for thing, name, value in held:
            setattr(thing, name, _replaced(value, lifted))
        yield
    finally:
        for thing, name, value in held:
            setattr(thing, name, value)


def _variables(function: Any) -> list[tuple[Any, str]]:
    """The variables of functions that hold traced arrays: objects, and names of attributes.

    These are the variables that a function shares with those around it, and defaults of arguments.
    """
    found: dict[tuple[int, str], tuple[Any, str]] = {}
    rest, seen = [function], set()
    while rest:
        thing = rest.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, MethodType):
            rest.append(thing.__func__)
        elif isinstance(thing, functools.partial):
            rest += [thing.func, *filter(callable, [*thing.args, *thing.keywords.values()])]
        elif "__wrapped__" in getattr(thing, "__dict__", ()):
            rest.append(thing.__wrapped__)
        if not isinstance(thing, FunctionType):
            continue
        is_own = (thing.__module__ or "").split(".")[0] == OWN
        places: list[tuple[Any, str]] = [(thing, "__defaults__"), (thing, "__kwdefaults__")]
        places += [(cell, "cell_contents") for cell in thing.__closure__ or ()]
        for place in places:
            try:
                leaves = _leaves(getattr(*place))
            except ValueError:  # it has no value yet
                continue
            rest += filter(callable, leaves)
            if not is_own and any(map(_is_traced, leaves)):
                found[id(place[0]), place[1]] = place
    return list(found.values())


def _is_traced(value: Any) -> bool:
    """Whether a value belongs to a trace: then no other thread uses the variable."""
    return isinstance(value, Array) and isinstance(plain(value), Traced)


def _leaves(value: Any) -> list[Any]:
    if type(value) in (tuple, list, dict):
        import optree

        return optree.tree_leaves(value)
    return [value]


def _replaced(value: Any, lift: Callable[[Any], Any]) -> Any:
    if type(value) in (tuple, list, dict):
        import optree

        return optree.tree_map(lambda x: lift(x) if _is_traced(x) else x, value)
    return lift(value)
