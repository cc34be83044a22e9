"""NumPy's functions, other than ufuncs, on arrays of arraygrad: `__array_function__`.

The rules are in `rules`, which is imported when the first rule is needed. Ufuncs are in `ufuncs`.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...arrays.tensor import Tensor
from ...core.array import AnyFunction, Array
from .values import as_tensors, holds_gradients, no_rule, plain_values


@functools.cache
def rules() -> dict[AnyFunction, AnyFunction]:
    """The rules of NumPy's functions."""
    from .rules import RULES

    return RULES


def array_function(
    self: Any,
    function: AnyFunction,
    types: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """The method `__array_function__`, which NumPy calls if an argument is one of our arrays."""
    for kind in types:
        if not issubclass(kind, Array | np.ndarray | np.generic):
            return NotImplemented
    rule = rules().get(function)
    if rule is not None:
        out = rule(*args, **kwargs)
        # An array that stands for a plain one gives a plain one, as in NumPy's zeros_like().
        if isinstance(out, Tensor) and all(
            getattr(kind, "is_plain", True) is True for kind in types
        ):
            return out.array
        return out
    if holds_gradients(args) or holds_gradients(kwargs):
        raise no_rule(_name(function))
    return as_tensors(function(*plain_values(args), **plain_values(kwargs)))


def _name(function: AnyFunction) -> str:
    return f"{getattr(function, '__module__', 'numpy')}.{getattr(function, '__name__', function)}"
