"""Elements of arrays as Python's numbers."""

from __future__ import annotations

from ..core.cpython import is_stored
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
