"""A check on arrays that become Python numbers. The conversions are methods of the array types."""

from __future__ import annotations

from ..core.cpython import is_stored
from ..errors import NoGradientError


def check_not_stored(depth: int) -> None:
    """Raise if a number is asked for in order to store it in an array that is not a tensor.

    For ``a[0] = x`` NumPy calls `float(x)`, and so does a user who prints the number. Only the
    first loses a gradient. `depth` says how many calls above this function the caller of `float`
    is.
    """
    if is_stored(depth + 1):
        raise NoGradientError(
            "a tensor that requires gradients cannot be stored in an array that is no tensor, and "
            "would lose them: make that one by zeros_like() of a tensor, or join tensors by "
            "stack(); if losing them is meant, store detach() or item()"
        )
