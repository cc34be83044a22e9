"""The table of rules for NumPy's functions, and helpers that read NumPy's arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from .... import ops
from ....arrays.creation import from_sequence
from ....arrays.orders import as_unordered
from ....backends.arraylikes import ARRAY_LIKE
from ....core.array import AnyFunction

RULES: dict[AnyFunction, AnyFunction] = {}

# NumPy's default for an argument that was not passed.
NONE: Any = np._NoValue


def rule_for(*functions: AnyFunction) -> Callable[[AnyFunction], AnyFunction]:
    """A decorator: the function becomes the rule for these NumPy functions."""

    def register(rule: AnyFunction) -> AnyFunction:
        RULES.update(dict.fromkeys(functions, rule))
        return rule

    return register


def of_numpy(*names: str) -> list[AnyFunction]:
    """Those of NumPy's functions that the installed version has."""
    return [getattr(np, name) for name in names if hasattr(np, name)]


def under_names_of(function: AnyFunction, own: AnyFunction) -> AnyFunction:
    """Our function `own`, with NumPy's names for its positional-only arguments."""
    only = inspect.Parameter.POSITIONAL_ONLY
    taken = [p for p in inspect.signature(own).parameters.values() if p.kind is only]
    names = _parameters(function)[: len(taken)]

    @functools.wraps(own, updated=())  # with a signature of its own
    def rule(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            missing = [n for n in names[len(args) :] if n in kwargs]
            args += tuple(kwargs.pop(n) for n in missing)
        return own(*args, **kwargs)

    return rule if names else own


def laid_out_as_given(rule: AnyFunction) -> AnyFunction:
    """A rule whose results lie in another order than C, if the first argument does."""

    @functools.wraps(rule)
    def run(a: Any, *args: Any, **kwargs: Any) -> Any:
        result = rule(a, *args, **kwargs)
        if isinstance(result, tuple):
            return tuple(as_unordered(r, a) for r in result)
        return as_unordered(result, a)

    return run


def _parameters(function: AnyFunction) -> list[str]:
    """The names of a function's parameters; none for one in C that, in older versions, tells none.

    Those of which a rule is no more than ours under NumPy's names take arguments by position only.
    """
    try:
        return list(inspect.signature(function).parameters)
    except ValueError:
        return []


def refuse(name: str, **given: Any) -> None:
    """Raise if one of these arguments was passed."""
    for argument, value in given.items():
        if is_given(value):
            raise TypeError(f"numpy.{name}: {argument}= is not supported for arrays of arraygrad")


def array_of(x: Any) -> Any:
    """An argument as an array. It may be a number, a list, a list of tensors, or an array-like."""
    return x if hasattr(x, "dtype") and not ARRAY_LIKE[type(x)] else from_sequence(x)


def arrays_of(sequence: Any) -> list[Any]:
    """The items of a sequence, each as an array."""
    return [array_of(x) for x in sequence]


def in_dtype(x: Any, dtype: Any) -> Any:
    """The array with this dtype, or as it is if the dtype is None."""
    return x if dtype is None else ops.astype(x, dtype, copy=False)


def is_given(value: Any) -> bool:
    """Whether an argument was passed."""
    return value is not None and value is not NONE


def flag(value: Any) -> bool:
    """A boolean argument; False if it was not passed."""
    return value is not NONE and bool(value)
