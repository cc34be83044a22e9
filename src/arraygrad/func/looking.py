"""`tap`: shows a value to a Python function while a program runs, in compiled code, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..core.kinds import Opaque
from ..ops import copy
from ..ops.define.op import Own, declare
from .trees import as_function

T = TypeVar("T")


def tap(look: Callable[[Any], object], x: T) -> T:
    """Return an array as it is, and show its values to a function each time they are computed.

    `look` runs whenever a compiled function comes to this place, in each step of a loop.
    Derivatives are those of `x`. Inside `vmap`, `look` sees all members at once, along the first
    axis. Compiled code computes only what its result needs, and once what is the same in all steps
    of a loop: use what `tap` returns.

    Parameters
    ----------
    look : callable
        Called with the values, a plain array, which it may keep.
    x : array

    Returns
    -------
    array
        `x`.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> f = ag.compile(lambda x: ag.exp(ag.func.tap(lambda v: print("exponent", v), 2 * x)))
    >>> result = f(np.array(1.5))
    exponent 3.0
    """
    as_function(look, "tap")
    return _tap(x, look=look)  # type: ignore[no-any-return]


def _compute(xp: Any, x: Any, look: Any) -> Any:
    if not hasattr(x, "dtype"):
        look(x)
        return x
    # Copies: `look` may keep the values, the memory of `x` is used again, the result is written.
    look(copy(x))
    return copy(x)


_tap = declare(
    "tap",
    "x",
    kind=Opaque(leading=True),
    compute=_compute,
    keywords=("look",),
    vjp=lambda g: g,
    jvp=lambda t: t,
    own=Own(types=lambda inputs, params: [(inputs[0].shape, inputs[0].dtype)]),
)
