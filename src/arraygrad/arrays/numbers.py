"""A check on arrays that become Python numbers. The conversions are methods of the array types."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..core import upward
from ..core.cpython import is_stored, lasting, running
from ..errors import NoGradientError

_REFUSED: ContextVar[bool] = ContextVar("arraygrad_numbers_refused", default=False)


@contextmanager
def numbers_keep_derivatives() -> Iterator[None]:
    """Make it an error that a number loses its derivative, where users would only be warned."""
    before = _REFUSED.get()
    try:
        _REFUSED.set(True)
        yield
    finally:
        _REFUSED.set(before)


def check_not_refused(kind: type) -> None:
    """Raise inside of `numbers_keep_derivatives`."""
    if _REFUSED.get():
        raise NoGradientError(
            f"{kind.__name__}() of a tensor that requires gradients, in a function that is "
            "differentiated, would lose them: keep it an array; if losing them is meant, call "
            "item(), or detach() first"
        )


def check_not_in_scipy() -> None:
    """Raise if a function of SciPy, or of pandas, is about to lose gradients."""
    reason = upward.what_runs() if "scipy" in sys.modules else None
    if reason is not None:
        raise NoGradientError(f"{reason}; if losing gradients is meant, call detach() first")


def is_drawn() -> bool:
    """Whether matplotlib asks for values, which nobody differentiates."""
    if "matplotlib" not in sys.modules:
        return False
    packages = (module.partition(".")[0] for module, *_ in running())
    return next((p for p in packages if p not in ("arraygrad", "numpy")), "") == "matplotlib"


def check_not_stored(depth: int) -> None:
    """Raise if a number is asked for in order to store it in an array that is not a tensor.

    For ``a[0] = x`` NumPy calls `float(x)`, and so does a user who prints the number. Only the
    first loses a gradient. `depth` says how many calls above this function the caller of `float`
    is.
    """
    if is_stored(depth + 1):
        raise lasting(
            NoGradientError(
                "an array that is differentiated, or inside a transform, cannot be stored in an "
                "array of NumPy: make that one by ag.zeros(), or by zeros_like() of a tensor; or "
                "join a list of arrays by stack(); if losing gradients is meant, store detach() "
                "or item()"
            )
        )
