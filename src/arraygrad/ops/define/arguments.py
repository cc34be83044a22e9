"""Arguments that a function does not take: an error names them, or NumPy's rule takes them.

Functions of arrays look at shapes and dtypes at once. An argument without shape or dtype makes
them fail somewhere inside. Only then it is worth to find out which argument it was, and whether
NumPy's function of the same name takes these arguments.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from numbers import Number
from typing import Any, TypeVar

from ...core import upward
from .dispatch import UnsupportedOperand

F = TypeVar("F", bound=Callable[..., Any])

_FROM_INSIDE = (AttributeError, IndexError, TypeError, ValueError)
_NEVER = (str, bytes, dict, set, frozenset, type(None))


def naming(*names: str) -> Callable[[F], F]:
    """Have a function name its arguments that should be arrays and are not.

    ``"*arrays"`` stands for all arguments of that name, ``"arrays[]"`` for the items of one.
    """

    def decorate(function: F) -> F:
        return named(function, names)

    return decorate


def named(function: F, names: tuple[str, ...] | int) -> F:
    """The function with errors for `names`, or for its first few parameters."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except _FROM_INSIDE as error:
            if not isinstance(error, TypeError) or _takes(function, args, kwargs):
                told = _told(function, names, args, kwargs, error)
                if told is None:
                    raise
                raise told from None
            by_numpy = upward.numpy_rule(run, args, kwargs)
            if by_numpy is None:
                raise
        return by_numpy(*args, **kwargs)

    return run  # type: ignore[return-value]


def _told(
    function: Callable[..., Any],
    names: tuple[str, ...] | int,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    error: Exception,
) -> UnsupportedOperand | None:
    """The error to raise in the place of one from inside; None if all that should be are arrays."""
    if isinstance(error, UnsupportedOperand) and error.function is function:
        return None  # the function called itself, and the error names the argument already
    if isinstance(names, int):
        names = tuple(inspect.signature(function).parameters)[:names]
    for name, value in _values(function, names, args, kwargs):
        is_sequence = name.endswith("[]")
        if is_sequence or _is_wrong(value, error):
            what = "a sequence of arrays" if is_sequence else "an array"
            given = f"{function.__name__.strip('_')}: {name.removesuffix('[]')} must be {what}"
            can_be_one = not is_sequence and isinstance(value, list | tuple | Number)
            way = ": make it one by asarray()" if can_be_one else ""
            told = UnsupportedOperand(f"{given}, not {type(value).__name__}{way}")
            told.function = function
            return told
    return None


def _takes(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a function has parameters for these arguments."""
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _values(
    function: Callable[..., Any],
    names: tuple[str, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Iterable[tuple[str, Any]]:
    """The value passed for each name; for items of an argument without items, the argument."""
    given = inspect.signature(function).bind(*args, **kwargs).arguments
    for name in names:
        bare = name.strip("*[]")
        if bare not in given:
            continue
        if bare == name:
            yield name, given[name]
        elif isinstance(given[bare], list | tuple):
            yield from ((f"{bare}[{i}]", item) for i, item in enumerate(given[bare]))
        elif isinstance(given[bare], (*_NEVER, Number)):
            yield name, given[bare]


def _is_wrong(value: Any, error: Exception) -> bool:
    """Whether a value is no array, and an error can come from it."""
    if hasattr(value, "dtype") or hasattr(value, "__array_namespace__"):
        return False
    if isinstance(value, _NEVER):
        return True
    if isinstance(error, AttributeError | UnsupportedOperand):
        return not (isinstance(value, Number) and isinstance(error, UnsupportedOperand))
    return isinstance(error, TypeError) and not isinstance(value, Number)
