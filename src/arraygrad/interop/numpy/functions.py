"""NumPy's other functions on the array types of arraygrad: `__array_function__`.

The rules are in `rules.py`, which is loaded when the first of them is needed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.array import Array
from .values import as_tensors, holds_gradients, no_rule, plain_values

AnyFunction = Callable[..., Any]


@functools.cache
def _rules() -> dict[AnyFunction, AnyFunction]:
    from .rules import RULES

    return RULES


def array_function(
    self: Any,
    function: AnyFunction,
    types: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """What NumPy asks of an array type that takes part in one of its functions."""
    for kind in types:
        if not issubclass(kind, Array | np.ndarray | np.generic):
            return NotImplemented
    rule = _rules().get(function)
    if rule is not None:
        return rule(*args, **kwargs)
    if holds_gradients(args) or holds_gradients(kwargs):
        raise no_rule(_name(function))
    return as_tensors(function(*plain_values(args), **plain_values(kwargs)))


def _name(function: AnyFunction) -> str:
    return f"{getattr(function, '__module__', 'numpy')}.{getattr(function, '__name__', function)}"
