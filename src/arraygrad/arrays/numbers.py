"""Elements of arrays as Python's numbers."""

from __future__ import annotations

import cmath
import math
import types

from ..core.cpython import called, is_stored
from ..errors import NoGradientError


def check_not_stored(depth: int) -> None:
    """Raise if a number is wanted by an assignment to an element of somebody else's array.

    For ``a[0] = x`` NumPy asks for `float(x)`, as a user might who wants to print it. `depth` says
    how many calls up the one is that asks.
    """
    if is_stored(depth + 1):
        raise NoGradientError(
            "a tensor that requires gradients cannot be stored in an array that is no tensor, and "
            "would lose them: make that one by zeros_like() of a tensor, or join tensors by "
            "stack(); if losing them is meant, store detach() or item()"
        )


# Those that tell something about a number, or whose derivative is zero.
_HARMLESS = ("ceil", "floor", "isclose", "isfinite", "isinf", "isnan", "trunc")
_OF_NUMBERS = {
    function
    for module in (math, cmath)
    for name, function in vars(module).items()
    if callable(function) and name not in _HARMLESS
}


def check_not_computed_with(depth: int) -> None:
    """Raise if a number is wanted by a function of Python's `math` or `cmath`.

    The result would be a number without a gradient. `depth` is as in `check_not_stored`.
    """
    function = called(depth + 1)
    if isinstance(function, types.BuiltinFunctionType) and function in _OF_NUMBERS:
        name = f"{function.__module__}.{function.__name__}"
        raise NoGradientError(
            f"{name} computes with Python's numbers, and a tensor that requires gradients would "
            "lose them: use the function of arraygrad, or of NumPy; if losing them is meant, pass "
            "detach() or item()"
        )
