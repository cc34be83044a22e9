"""The table of rules for NumPy's functions, and helpers that read NumPy's arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .... import ops
from ....arrays.creation import from_sequence
from ....arrays.orders import as_unordered
from ....backends.arraylikes import ARRAY_LIKE
from ....core.array import AnyFunction
from ..values import written

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
    """NumPy's functions of these names, as far as the installed version has them."""
    return [getattr(np, name) for name in names if hasattr(np, name)]


# NumPy's arguments that change no values here: they allow to overwrite, or a faster algorithm.
_WITHOUT_EFFECT = {"assume_unique", "hermitian", "kind", "overwrite_input", "subok"}


def with_arguments_of(function: AnyFunction, own: AnyFunction, arrays: int = 0) -> AnyFunction:
    """Our function `own`, with the arguments of NumPy's `function`, by place and by name.

    Parameters
    ----------
    function, own : callable
        NumPy's defaults stand for ours. NumPy's function may have more arguments: `dtype` converts
        the first array, the result is written to `out`, and most others are refused.
    arrays : int
        So many of the first arguments become arrays.
    """
    ours = inspect.signature(own).parameters.values()
    count = max(arrays, sum(p.kind is p.POSITIONAL_ONLY for p in ours))
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in ours)
    taken = {p.name for p in ours if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    takes_any_name = any(p.kind is p.VAR_KEYWORD for p in ours)
    theirs = _parameters(function)
    names = list(theirs or [p.name for p in ours])
    defaults = {n: theirs[n].default for n in taken & theirs.keys() - {"out"}}
    name = f"{function.__module__}.{function.__name__}".removeprefix("numpy.")

    @functools.wraps(own, updated=())  # with a signature of its own
    def rule(*args: Any, **kwargs: Any) -> Any:
        if len(args) == count and kwargs.keys() <= defaults.keys():  # the common case, in less time
            kwargs = {n: value for n, value in kwargs.items() if value is not defaults[n]}
            return own(*map(array_or_none, args[:arrays]), *args[arrays:], **kwargs)
        missing = [n for n in names[len(args) : count] if n in kwargs]
        args += tuple(kwargs.pop(n) for n in missing)
        if count < len(args) <= len(names) and not takes_any:
            more = dict(zip(names[count:], args[count:], strict=False))
            for n in more.keys() & kwargs.keys():
                raise TypeError(f"numpy.{name}: got two values for {n}")
            args, kwargs = args[:count], more | kwargs
        out, dtype = kwargs.pop("out", None), None
        for n, value in list(kwargs.items()):
            if n in theirs and value is theirs[n].default:
                del kwargs[n]
            elif n == "dtype" and n not in taken:
                dtype = kwargs.pop(n)
            elif n in _WITHOUT_EFFECT and n not in taken:
                del kwargs[n]
            elif n not in taken and not takes_any_name:
                refuse(name, **{n: value})
        operands = [*map(array_or_none, args[:arrays])]
        if dtype is not None:
            operands[0] = in_dtype(operands[0], dtype)
        return written(out, own(*operands, *args[arrays:], **kwargs), f"numpy.{name}")

    rule.__name__ = rule.__qualname__ = function.__name__
    return rule


def laid_out_as_given(rule: AnyFunction) -> AnyFunction:
    """A rule whose results lie in another order than C, if the first argument does."""

    @functools.wraps(rule)
    def run(a: Any, *args: Any, **kwargs: Any) -> Any:
        result = rule(a, *args, **kwargs)
        if isinstance(result, tuple):
            return tuple(as_unordered(r, a) for r in result)
        return as_unordered(result, a)

    return run


def _parameters(function: AnyFunction) -> Mapping[str, inspect.Parameter]:
    """The parameters of NumPy's function; none for one in C, of which older versions tell none."""
    try:
        return inspect.signature(function).parameters
    except ValueError:
        return {}


def refuse(name: str, **given: Any) -> None:
    """Raise if one of these arguments was passed."""
    for argument, value in given.items():
        if is_given(value):
            shown = repr(value) if isinstance(value, str) else ""
            raise TypeError(
                f"numpy.{name}: {argument}={shown} is not supported for arrays of arraygrad"
            )


def array_of(x: Any) -> Any:
    """An argument as an array. It may be a number, a list, a list of tensors, or an array-like."""
    return x if hasattr(x, "dtype") and not ARRAY_LIKE[type(x)] else from_sequence(x)


def array_or_none(x: Any) -> Any:
    """An argument as an array, if it was passed."""
    return x if x is None else array_of(x)


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
